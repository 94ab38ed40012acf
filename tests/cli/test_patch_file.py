"""`--patch-file` writes the change that a finding asks for, and never over a file that is not its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Done

Command = Callable[..., Done]


def test_the_script_is_written_beside_the_report(command: Command, example: Path, tmp_path: Path) -> None:
    fix = tmp_path / "fix.py"
    done = command(example, "--patch-file", fix)
    assert done.code == 0
    assert "FINDING" in done.out
    assert done.err.startswith(f"{fix}: ")
    text = fix.read_text("utf-8")
    assert text.startswith("# rl-diagnose patch\n")
    assert "model.lr_schedule = lambda progress_remaining:" in text
    compile(text, "fix", "exec")


def test_its_own_script_is_replaced(command: Command, example: Path, tmp_path: Path) -> None:
    fix = tmp_path / "fix.py"
    assert [command(example, "--patch-file", fix).code for _ in range(2)] == [0, 0]


def test_a_file_of_the_user_is_never_replaced(command: Command, example: Path, tmp_path: Path) -> None:
    mine = tmp_path / "train.py"
    mine.write_text("model.learn(10)\n", "utf-8")
    done = command(example, "--patch-file", mine)
    assert done.code == 2
    assert done.out == ""
    assert mine.read_text("utf-8") == "model.learn(10)\n"


def test_a_log_that_is_read_is_never_replaced(command: Command, example: Path) -> None:
    log = next(path for path in sorted(example.rglob("*")) if path.is_file())
    content = log.read_bytes()
    assert command(example, "--patch-file", log).code == 2
    assert log.read_bytes() == content


@pytest.mark.parametrize("name", ["-", "same.md"])
def test_script_and_report_need_files_of_their_own(command: Command, example: Path, tmp_path: Path, name: str) -> None:
    target = name if name == "-" else tmp_path / name
    done = command(example, "--patch-file", target, "-o", tmp_path / "same.md")
    assert done.code == 2
    assert not (tmp_path / "same.md").exists()


def test_without_a_finding_nothing_is_written_and_the_reason_is_said(command: Command, tmp_path: Path) -> None:
    log = tmp_path / "progress.csv"
    rows = "".join(f"{1000 * i},{10 + 2 * i}\n" for i in range(100))
    log.write_text("time/total_timesteps,rollout/ep_rew_mean\n" + rows, "utf-8")
    fix = tmp_path / "fix.py"
    done = command(log, "--patch-file", fix)
    assert done.code == 0
    assert f"{fix} is not written: no run has a finding" in done.err
    assert not fix.exists()
