"""The tutorial is true: its files are written, its commands run in order, and what it shows is what they print."""

from __future__ import annotations

import re
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rl_diagnose.cli import main

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tutorial-first-rulebook.md").read_text("utf-8")
FENCE = re.compile(r"(?:<!-- (?P<remark>.*?) -->\n)?```(?P<kind>\w+)\n(?P<text>.*?)```\n", re.DOTALL)
CODE = re.compile(r"\s+# exit code (\d)$")


@dataclass(frozen=True)
class Step:
    """A block of the page: what it asks for before (a file to write, a text to replace), its kind and its text."""

    remark: str
    kind: str
    text: str


STEPS = [Step(found["remark"] or "", found["kind"], found["text"]) for found in FENCE.finditer(PAGE)]


def prepare(step: Step) -> None:
    """Do what a reader does with the editor."""
    verb, _, rest = step.remark.partition(" ")
    if verb == "file:":
        Path(rest).write_text(step.text, "utf-8")
    elif verb == "in":
        name, _, change = rest.partition(": ")
        old, arrow, new = change.partition(" -> ")
        text = Path(name).read_text("utf-8")
        assert arrow
        assert text.count(old) == 1, f"'{old}' stands {text.count(old)} times in {name}"
        Path(name).write_text(text.replace(old, new), "utf-8")


def squeezed(text: str) -> str:
    """Without the spaces and frames that depend on the width."""
    return " ".join(re.sub(r"[│╭╮╰╯─]", " ", text).split())


def run(line: str, capfd: pytest.CaptureFixture[str]) -> str:
    found = CODE.search(line)
    words = shlex.split(CODE.sub("", line))
    assert words[0] == "rl-diagnose"
    try:
        code = main(words[1:])
    except SystemExit as stop:
        code = int(stop.code or 0)
    done = capfd.readouterr()
    assert code == (int(found[1]) if found else 0), done.out + done.err
    return done.out + done.err


def test_the_tutorial_can_be_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("RL_DIAGNOSE_RULES", raising=False)
    printed = ""
    for step in STEPS:
        prepare(step)
        if step.kind == "shell":
            printed = "".join(run(line, capfd) for line in step.text.splitlines())
        elif step.kind == "text":
            for line in step.text.splitlines():
                expected = squeezed(line.replace("\\", "/"))
                assert expected in squeezed(printed.replace("\\", "/")), f"{expected!r} is not in\n{printed}"
    assert (tmp_path / "handbook" / "causes" / "house" / "house_scheduler_restarted.md").is_file()


def test_every_command_of_the_page_is_run() -> None:
    outside = FENCE.sub("", PAGE)
    assert not re.search(r"^\s*\$? *rl-diagnose ", outside, re.MULTILINE)
    commands = [line for step in STEPS if step.kind == "shell" for line in step.text.splitlines()]
    for name in ("rules new", "rules check", "rules test", "rules show", "rules docs", "explain", "diagnose"):
        assert any(line.startswith(f"rl-diagnose {name} ") for line in commands), name
    assert {step.kind for step in STEPS} == {"shell", "text", "yaml", "toml"}


def test_every_page_that_it_names_exists() -> None:
    for target in re.findall(r"\]\(([^)#]+)", PAGE):
        assert (ROOT / "docs" / target).is_file(), target
    for folder in re.findall(r"`(examples/[\w/-]+)`", PAGE):
        assert (ROOT / folder).is_dir(), folder
