"""`watch` from the command line."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Done

Command = Callable[..., Done]


def test_it_stops_when_a_cause_reaches_the_limit_and_says_what_changed(command: Command, example: Path) -> None:
    done = command("watch", example, "--fail-at", "0.5")
    assert done.code == 1
    assert "Learning rate jumped" in done.out
    assert "reached --fail-at 0.5" in done.err


def test_a_command_is_told_the_news(command: Command, example: Path, tmp_path: Path) -> None:
    script = tmp_path / "tell.py"
    script.write_text(f"import sys; open({str(tmp_path / 'news.txt')!r}, 'w').write(sys.argv[-1])", "utf-8")
    command("watch", example, "--fail-at", "0.5", "--command", f'"{sys.executable}" "{script}"', "--bell")
    assert "Learning rate jumped" in (tmp_path / "news.txt").read_text("utf-8")


@pytest.mark.parametrize(
    ("words", "fact"),
    [
        (("absent",), "no such file or folder"),
        ((".", "--every", "0"), "is not a number of seconds"),
        ((".", "--fail-at", "2"), "is not a probability"),
    ],
)
def test_what_cannot_be_meant_is_refused(command: Command, words: tuple[str, ...], fact: str) -> None:
    done = command("watch", *words)
    assert done.code == 2
    assert fact in done.err
