"""Whatever is wrong with the input: the documented exit code, one message with the way out, no traceback."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import EXAMPLE, Done

Command = Callable[..., Done]


def missing(folder: Path) -> Path:
    return folder / "nowhere"


def empty_folder(folder: Path) -> Path:
    (folder / "empty").mkdir()
    return folder / "empty"


def folder_without_logs(folder: Path) -> Path:
    (folder / "notes.txt").write_text("nothing to see", "utf-8")
    return folder


def empty_file(folder: Path) -> Path:
    (folder / "progress.csv").touch()
    return folder / "progress.csv"


def header_only(folder: Path) -> Path:
    (folder / "progress.csv").write_text("time/total_timesteps,rollout/ep_rew_mean\n", "utf-8")
    return folder


def binary_file(folder: Path) -> Path:
    (folder / "progress.csv").write_bytes(bytes(range(256)) * 20)
    return folder


def event_file_of_nothing(folder: Path) -> Path:
    (folder / "events.out.tfevents.1.host").write_bytes(b"\x00" * 4)
    return folder


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (missing, 2),
        (empty_folder, 4),
        (folder_without_logs, 4),
        (empty_file, 4),
        (header_only, 4),
        (binary_file, 4),
        (event_file_of_nothing, 4),
    ],
)
@pytest.mark.parametrize("words", [(), ("inspect",), ("--format", "json")])
def test_what_cannot_be_read_is_said(
    command: Command, tmp_path: Path, make: Callable[[Path], Path], code: int, words: tuple[str, ...]
) -> None:
    done = command(*words, make(tmp_path))
    assert done.code == code
    assert done.err.startswith("rl-diagnose: ")
    assert str(tmp_path) in done.err
    assert "\n  → " in done.err
    assert "Traceback" not in done.out + done.err


def test_a_truncated_event_file_is_read_up_to_its_last_whole_record(command: Command, tmp_path: Path) -> None:
    (source,) = EXAMPLE.glob("events*")
    data = source.read_bytes()
    (tmp_path / source.name).write_bytes(data[: len(data) // 2 + 3])
    done = command(tmp_path)
    assert done.code == 0
    assert "Traceback" not in done.out + done.err


def test_three_points_are_too_few_to_tell(command: Command, tmp_path: Path) -> None:
    lines = (EXAMPLE / "progress.csv").read_text("utf-8").splitlines(keepends=True)
    (tmp_path / "progress.csv").write_text("".join(lines[:4]), "utf-8")
    done = command(tmp_path)
    assert done.code == 0
    assert "CANNOT TELL" in done.out


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("schema: rulebook/v1\nid: [", "error[RB003]"),
        ("schema: rulebook/v1\nid: house\nversion: 1.0\n", "error["),
        ("", "error["),
    ],
)
def test_a_broken_rulebook_is_exit_3_with_file_and_line(
    command: Command, tmp_path: Path, text: str, words: str
) -> None:
    book = tmp_path / "house.yaml"
    book.write_text(text, "utf-8")
    done = command(EXAMPLE, "--rules", book)
    assert done.code == 3
    assert words in done.err
    assert "house.yaml" in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("words", "fact"),
    [
        ([], "no path is given"),
        (["--nonsense"], "unrecognized arguments: --nonsense"),
        (["--format", "pdf"], "invalid choice: 'pdf'"),
        (["--fail-at", "1.5"], "not a probability"),
        (["--fail-at", "nan"], "not a probability"),
        (["--width", "7"], "not a whole number"),
        (["--map", "reward"], "is not KEY=SIGNAL"),
        (["--map", "rollout/ep_rew_mean=reward.trian", str(EXAMPLE)], "'reward.trian' is not a signal"),
        (["--action-space", "discrete", str(EXAMPLE)], "'discrete' is no action space"),
        (["--action-space", "discrete:0", str(EXAMPLE)], "'discrete:0' is no action space"),
        (["--rules", "nobook", str(EXAMPLE)], "no rulebook 'nobook'"),
        (["--rules", "ppo@99", str(EXAMPLE)], "no version 99"),
        (["-o", "report.pdf", str(EXAMPLE)], "does not say which format"),
        (["completion", "tcsh"], "invalid choice: 'tcsh'"),
    ],
)
def test_a_command_line_that_cannot_be_meant_is_exit_2(command: Command, words: list[str], fact: str) -> None:
    done = command(*words)
    assert done.code == 2
    assert fact in done.err
    assert "->" in done.err or "→" in done.err
    assert "Traceback" not in done.err


def test_a_name_with_escape_sequences_cannot_act_on_the_terminal(command: Command, tmp_path: Path) -> None:
    folder = tmp_path / "\x1b[31mred"
    try:
        shutil.copytree(EXAMPLE, folder)
    except OSError:
        pytest.skip("this file system does not allow such names")
    for words in ((folder,), ("inspect", folder), (folder / "nowhere",)):
        done = command(*words)
        assert "\x1b" not in done.out + done.err
