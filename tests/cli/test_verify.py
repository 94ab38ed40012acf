"""`verify` from the command line: both ways to name the runs, the earlier report, exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Done

Command = Callable[..., Done]


def test_one_log_is_split_and_the_exit_code_says_that_it_is_not_fixed(command: Command, example: Path) -> None:
    done = command("verify", example, "--at", "60000")
    assert done.code == 1
    assert "PARTLY FIXED" in done.out
    assert "kept" in done.out


def test_the_json_holds_the_numbers(command: Command, example: Path) -> None:
    document = json.loads(command("verify", example, example, "--format", "json").out)
    assert document["schema"] == "rl-diagnose/verification/v1"
    assert document["outcome"] == "unchanged"
    assert document["changes"][0]["before"] == 1.0


def test_an_earlier_report_stands_for_the_run_before(command: Command, example: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    command(example, "--output", report)
    done = command("verify", example, "--from", report)
    assert done.code == 1
    assert "UNCHANGED" in done.out


def test_a_healthy_start_cannot_be_verified(command: Command, example: Path) -> None:
    done = command("verify", example, "--at", "38000")
    assert done.code == 5
    assert "CANNOT TELL" in done.out


@pytest.mark.parametrize(
    ("words", "fact"),
    [
        ((), "two runs are compared, here 1 are given"),
        (("--at", "-5"), "nothing was logged up to step"),
        (("again", "--at", "5"), "--at splits one log"),
        (("--from", "nowhere.json"), "the report cannot be read"),
    ],
)
def test_words_that_do_not_name_two_runs_are_refused(
    command: Command, example: Path, words: tuple[str, ...], fact: str
) -> None:
    done = command("verify", example, *words)
    assert done.code == 2
    assert fact in done.err
