"""A resolved book is the same book without `extends`, and each of its lines says where it comes from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rl_diagnose.errors import UsageError
from rl_diagnose.report.resolved_book import resolved_text
from rl_diagnose.rules.book import Book
from rl_diagnose.rules.library import list_books, load_book
from rl_diagnose.rules.resolved import resolved

from .made import Write

BASE = """\
windows: {startup: {steps: {from: 0, to: 5000}}}
derive: {room: "policy.entropy.startup.median - entropy_coef"}
symptoms:
  s: {title: S, base_rate: rare, derived: room, rising: {low: 0, high: 1}}
  t: {title: "T: a 'quoted' # title", base_rate: 0.2, config: gamma, rising: {low: 1.0e-7, high: 1e20}}
causes:
  a:
    title: A
    prior: 0.1
    excludes: [b]
    evidence:
      - {symptom: s, seen: often}
      - {symptom: t, seen: often}
  b: {title: "off", prior: 0.2, evidence: [{symptom: t, seen: often}], references: ["yes", "1e3", "- x", ""]}
"""
CHILD = """\
extends: [base.yaml]
symptoms: {u: {title: U, base_rate: rare, any: [{symptom: s}, {not: {symptom: t}}]}}
override:
  symptoms: {t: {base_rate: {replace: common}}}
  causes:
    a:
      evidence: {append: [{symptom: u, seen: always, absence: ignore}]}
"""


def same(book: Book) -> Book:
    return replace(book, sha256="", path="", extends=())


def written(reference: str | Path, tmp_path: Path) -> Path:
    book = load_book(reference)
    path = tmp_path / "resolved.yaml"
    path.write_text(resolved_text([], resolved(reference, book)).plain, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", [book.id for book in list_books()])
def test_what_is_written_out_is_the_same_book(name: str, tmp_path: Path) -> None:
    assert same(load_book(written(name, tmp_path))) == same(load_book(name))


def test_odd_texts_and_numbers_survive(write: Write, tmp_path: Path) -> None:
    write(BASE.replace(', ""]', "]"), "base.yaml")
    house = write(CHILD)
    assert same(load_book(written(house, tmp_path))) == same(load_book(house))


@pytest.fixture
def lines(write: Write) -> dict[str, tuple[str, str]]:
    """Each line of the house book: text → (origin, remark)."""
    write(BASE.replace(', ""]', "]"), "base.yaml")
    house = write(CHILD)
    return {line.text.strip(): (line.origin, line.remark) for line in resolved(house, load_book(house)).lines}


def test_each_value_has_the_file_and_line_it_was_written_at(lines: dict[str, tuple[str, str]]) -> None:
    # A book begins four lines above its body.
    assert lines["id: house"][0] == "house.yaml:3"
    assert lines["startup: {steps: {from: 0, to: 5000}}"][0] == "base.yaml:5"
    assert lines["room: policy.entropy.startup.median - entropy_coef"][0] == "base.yaml:6"
    assert lines["base_rate: common"] == ("house.yaml:8", "= 0.3")
    assert lines["prior: 0.1"] == ("base.yaml:13", "-9.5 dB before any evidence")
    assert lines["- {symptom: s, seen: often}"][0] == "base.yaml:16"
    assert lines["- {symptom: u, seen: always, absence: ignore}"][0] == "house.yaml:11"


def test_each_piece_of_evidence_has_its_weight(lines: dict[str, tuple[str, str]]) -> None:
    assert lines["- {symptom: s, seen: often}"][1] == (
        "0.6 with the cause, 0.03 without: +13.0 dB where seen, -3.8 dB where not"
    )
    assert lines["- {symptom: t, seen: often}"][1] == (
        "0.6 with the cause, 0.3 without: +3.0 dB where seen, -2.4 dB where not"
    )
    assert lines["- {symptom: u, seen: always, absence: ignore}"][1] == (
        "0.95 with the cause, 0.03 without: +15.0 dB where seen, absence says nothing"
    )


def test_what_is_off_is_not_there(write: Write, tmp_path: Path) -> None:
    write(BASE.replace(', ""]', "]"), "base.yaml")
    house = write("extends: [base.yaml]\noverride: {symptoms: {t: off}, causes: {b: off}}\n")
    book = load_book(written(house, tmp_path))
    assert [s.id for s in book.symptoms] == ["s"]
    assert [(c.id, c.excludes, [link.symptom for link in c.links]) for c in book.causes] == [("a", (), ["s"])]


def test_files_that_end_alike_are_told_apart(write: Write) -> None:
    write(BASE.replace(', ""]', "]"), "parts/house.yaml")
    house = write("extends: [parts/house.yaml]\n")
    assert [short for short, _ in resolved(house, load_book(house)).files] == [
        "/".join(house.parts[-2:]),
        "parts/house.yaml",
    ]


def test_one_cause_comes_with_the_symptoms_that_it_rests_on(write: Write) -> None:
    write(BASE.replace(', ""]', "]"), "base.yaml")
    house = write(CHILD)
    book = load_book(house)
    texts = [line.text for line in resolved(house, book, "b").lines]
    assert "  t:" in texts
    assert "  b:" in texts
    assert not {"  s:", "  u:", "  a:"} & set(texts)
    # u is made of s and t
    assert {"  s:", "  t:", "  u:"} <= {line.text for line in resolved(house, book, "a").lines}
    with pytest.raises(UsageError, match="has no cause 'c'"):
        resolved(house, book, "c")
