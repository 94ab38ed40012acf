"""`rules docs` writes a page a cause: true to the book, safe to read, and kept up to date."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from markdown_it import MarkdownIt

from rl_diagnose.report.cause_pages import INDEX, MARK
from rl_diagnose.rules.library import load_book

from .conftest import ROOT, Done

if TYPE_CHECKING:
    from markdown_it.token import Token

Command = Callable[..., Done]
PAGES = ROOT / "docs" / "causes"
HEAD = 'schema: rulebook/v1\nid: house\nversion: "1.0.0"\ntitle: House\n'
BOOK = f"""{HEAD}
symptoms:
  low: {{title: Return low, feature: reward.train.late.median, falling: {{low: 1, high: 2}}, base_rate: 0.1}}
  big: {{title: Rate big, config: learning_rate, rising: {{low: 1e-3, high: 1e-2}}, scale: log, base_rate: 0.2}}
causes:
  first:
    title: The first
    prior: 0.05
    evidence: [{{symptom: low, seen: 0.8}}, {{symptom: big, seen: 0.9, absence: ignore}}]
  second: {{title: The second, prior: 0.1, excludes: [first], evidence: [{{symptom: low, seen: 0.9}}]}}
"""


def tokens(text: str) -> Iterator[Token]:
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        yield token
        yield from token.children or ()


def test_the_pages_of_the_built_in_books_are_up_to_date(command: Command) -> None:
    done = command("rules", "docs", "--output", PAGES, "--check")
    assert (done.code, done.out) == (0, ""), "run: rl-diagnose rules docs --output docs/causes"


def test_every_cause_of_every_built_in_book_has_a_page_and_every_link_a_target() -> None:
    for page in PAGES.rglob("*.md"):
        for token in tokens(page.read_text("utf-8")):
            target = str(token.attrs.get("href", "")) if token.type == "link_open" else ""
            if target and not target.startswith("https://"):
                assert (page.parent / target).resolve().is_file(), f"{page}: {target}"
    index = (PAGES / INDEX).read_text("utf-8")
    for cause in load_book("ppo").causes:
        assert f"| `{cause.id}` |" in index


def test_a_cause_that_a_book_has_from_another_is_described_there() -> None:
    assert (PAGES / "core" / "non_finite_values.md").is_file()
    assert not (PAGES / "ppo" / "non_finite_values.md").exists()
    # The book about PPO says something else about it than the one it extends.
    assert (PAGES / "ppo" / "environment_changed.md").is_file()


def test_the_weights_can_be_worked_out_from_the_rates(command: Command, tmp_path: Path) -> None:
    book = tmp_path / "house.yaml"
    book.write_text(BOOK, "utf-8")
    assert command("rules", "docs", book, "--output", tmp_path / "out").code == 0
    page = (tmp_path / "out" / "house" / "first.md").read_text("utf-8")
    rows = re.findall(r"\| ([\d.]+) % \| ([\d.]+) % \| ([-+][\d.]+) dB \| ([-+][\d.]+|does not count)", page)
    assert len(rows) == 2
    for seen, base, there, absent in rows:
        p, q = float(seen) / 100, float(base) / 100
        assert float(there) == pytest.approx(10 * math.log10(p / q), abs=0.06)
        if absent != "does not count":
            assert float(absent) == pytest.approx(10 * math.log10((1 - p) / (1 - q)), abs=0.06)
    assert "`reward.train.late.median` below 1 (absent above 2)" in page
    assert "the setting `learning_rate` above 0.01 (absent below 0.001, logarithmic between)" in page
    assert "[The second](second.md) (excluded)" in page


def test_stale_missing_and_superfluous_pages_are_named_and_mended(command: Command, tmp_path: Path) -> None:
    book, out = tmp_path / "house.yaml", tmp_path / "out"
    book.write_text(BOOK, "utf-8")
    words = ("rules", "docs", book, "--output", out)
    assert command(*words, "--check").code == 1
    assert not out.exists()
    assert command(*words).code == 0
    assert command(*words, "--check").code == 0
    book.write_text(BOOK.replace("prior: 0.05", "prior: 0.06").replace("second:", "third:"), "utf-8")
    done = command(*words, "--check")
    assert done.code == 1
    named = {Path(line.removeprefix("stale: ")).name for line in done.out.splitlines()}
    assert named == {INDEX, "first.md", "second.md", "third.md"}
    assert command(*words).code == 0
    assert not (out / "house" / "second.md").exists()
    assert command(*words, "--check").code == 0


def test_what_the_command_did_not_make_is_never_touched(command: Command, tmp_path: Path) -> None:
    book, own = tmp_path / "house.yaml", tmp_path / "out" / "house"
    book.write_text(BOOK, "utf-8")
    own.mkdir(parents=True)
    (own / "notes.md").write_text("my own\n", "utf-8")
    words = ("rules", "docs", book, "--output", tmp_path / "out")
    assert command(*words).code == 0
    assert (own / "notes.md").read_text("utf-8") == "my own\n"
    (own / "first.md").write_text("my own, too\n", "utf-8")
    done = command(*words)
    assert done.code == 2
    assert "not a page of rules docs" in done.err
    assert (own / "first.md").read_text("utf-8") == "my own, too\n"


EVIL = [
    "<script>alert(1)</script>",
    "</td><img src=x onerror=alert(1)>",
    "[here](javascript:alert(1))",
    "![x](https://example.org/track.png)",
    "<https://example.org>",
    "# a heading",
    "``` fence ```",
    "~~~",
    "a | b | c",
    "**bold** _it_ `code`",
    "- item",
    "1. item",
    "&lt;b&gt; &#60;b&#62;",
    "\\[x\\](y)",
    "line\n\n# break\n\n<b>x</b>",
    "[x]: https://example.org",
    "--- \n***",
    "\u202egnp.exe\u200b",
]


@pytest.mark.parametrize("text", EVIL)
def test_no_text_of_a_book_is_markup(command: Command, tmp_path: Path, text: str) -> None:
    quoted = "'" + text.replace("'", "''").replace("\n\n", "\n\n\n") + "'"
    quoted = quoted.replace("\n", "\n          ") if "\n" in text else quoted
    if not text.isprintable() and "\n" not in text:
        quoted = '"' + text.encode("unicode_escape").decode() + '"'
    book = tmp_path / "house.yaml"
    book.write_text(
        f"""schema: rulebook/v1
id: house
version: "1.0.0"
title: {quoted}
description: {quoted}
symptoms:
  low: {{title: {quoted}, description: {quoted}, issue: {quoted}, rising: {{low: 0, high: 1}}, base_rate: 0.1}}
causes:
  first:
    title: {quoted}
    description: {quoted}
    prior: 0.05
    evidence: [{{symptom: low, seen: 0.8}}]
    remedies: [{{knob: learning_rate, summary: {quoted}, relative: {quoted}, patch: {{sb3: {quoted}}}}}]
    tell_apart: {quoted}
    references: [{quoted}]
  second: {{title: {quoted}, prior: 0.1, evidence: [{{symptom: low, seen: 0.9}}]}}
""",
        "utf-8",
    )
    assert command("rules", "docs", book, "--output", tmp_path / "out").code == 0, command("rules", "check", book).out
    for name in (INDEX, "house/first.md", "house/second.md"):
        page = (tmp_path / "out" / name).read_text("utf-8")
        assert page.startswith(MARK)
        assert not re.search("[\u202a-\u202e\u200b]", page)
        found = list(tokens(page.removeprefix(MARK)))
        assert not [t for t in found if t.type in {"html_inline", "html_block", "image", "code_block", "em_open", "hr"}]
        targets = {str(t.attrs["href"]) for t in found if t.type == "link_open"}
        pages = {"house/first.md", "house/second.md", "first.md", "second.md"}
        # Addresses in references are links, as they stand there; nothing else is.
        addresses = set(re.findall(r"https://[a-z./]+[a-z]", text)) if name == "house/first.md" else set()
        assert targets <= pages | addresses
        headings = sum(t.type == "heading_open" for t in found)
        assert headings == {INDEX: 2, "house/first.md": 7, "house/second.md": 4}[name]
        widths = {}
        for i, token in enumerate(found):
            if token.type in {"thead_open", "tr_open"}:
                widths[i] = 0
            elif token.type in {"th_open", "td_open"} and widths:
                widths[max(widths)] += 1
        assert set(widths.values()) <= {0, 2, 3, 4, 5}
