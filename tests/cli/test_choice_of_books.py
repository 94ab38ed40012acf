"""Which rulebooks the command line picks, seen from outside."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from .conftest import Done

if TYPE_CHECKING:
    import pytest

Command = Callable[..., Done]


def ids(done: Done) -> list[str]:
    assert done.code == 0, done.err
    return [book["id"] for book in json.loads(done.out)["rulebooks"]]


def test_flag_environment_project_file_and_default_in_that_order(
    command: Command, example: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(example.parent)
    assert ids(command(example, "--format", "json")) == ["ppo"]
    Path("rl-diagnose.toml").write_text('rules = ["dqn"]\n', "utf-8")
    assert ids(command(example, "--format", "json")) == ["dqn"]
    monkeypatch.setenv("RL_DIAGNOSE_RULES", "core")
    assert ids(command(example, "--format", "json")) == ["core"]
    assert ids(command(example, "--format", "json", "--rules", "golden_five")) == ["golden_five"]


def test_a_mistyped_book_in_the_environment_is_traced_back_to_it(
    command: Command, example: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(example.parent)
    monkeypatch.setenv("RL_DIAGNOSE_RULES", "pqo")
    done = command(example)
    assert done.code == 2
    assert "RL_DIAGNOSE_RULES: no rulebook 'pqo'" in done.err


def test_the_project_file_suppresses_and_the_exit_code_follows(
    command: Command, example: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(example.parent)
    before = command(example, "--format", "json", "--fail-at", "0.5")
    assert before.code == 1
    faults = [c["id"] for c in json.loads(before.out)["runs"][0]["causes"] if (c["probability"] or 0) >= 0.5]
    text = "".join(f'[[suppress]]\ncause = "{fault}"\nreason = "an example"\n' for fault in faults)
    Path("rl-diagnose.toml").write_text(text, "utf-8")
    after = command(example, "--fail-at", "0.5")
    assert after.code == 0
    assert "suppressed" in after.out
    assert "an example" in after.out


def test_a_deprecated_book_says_what_to_use_instead(command: Command, example: Path, tmp_path: Path) -> None:
    book = tmp_path / "old.yaml"
    head = 'schema: rulebook/v1\nid: old\nversion: "1.0.0"\ntitle: Old\n'
    book.write_text(f"{head}status: deprecated\nreplaced_by: ppo\nextends: [ppo]\n", "utf-8")
    assert "the rulebook 'old' 1.0.0 is deprecated; use 'ppo'" in command(example, "--rules", book).out
