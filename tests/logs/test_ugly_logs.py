"""What real log folders look like: each ugliness once, on files that Stable-Baselines3 wrote, through the whole reader.

The readers' own tests go further into each; here it is shown that the run is still read, what is lost is told, and
nothing is invented.
"""

from __future__ import annotations

import gzip
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rl_diagnose import diagnose
from rl_diagnose.errors import LogError, NoReadableRunError
from rl_diagnose.logs.load import find_runs, load_run
from rl_diagnose.signals.run import Run

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "collapsed-ppo"
EVENTS = next(EXAMPLE.glob("events*"))
TABLE = EXAMPLE / "progress.csv"
posix = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX links and permissions")


@pytest.fixture(scope="module")
def whole() -> Run:
    """The run as it was logged."""
    return load_run(EVENTS)


def codes(run: Run) -> set[str]:
    return {issue.code for issue in run.issues}


def is_part_of(run: Run, whole: Run) -> bool:
    """True when every point of `run` is a point of `whole`."""
    for name, series in run.series.items():
        known = set(zip(whole.series[name].step.tolist(), whole.series[name].value.tolist(), strict=True))
        points = set(zip(series.step.tolist(), series.value.tolist(), strict=True))
        if not {p for p in points if not np.isnan(p[1])} <= known:
            return False
    return True


def events(folder: Path, content: bytes, name: str = EVENTS.name) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)
    return folder


def table(folder: Path, content: str | bytes, name: str = "progress.csv") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return folder / name


def edited(edit: Callable[[list[list[str]]], list[list[str]]]) -> str:
    """The example's table with its cells changed."""
    rows = [line.split(",") for line in TABLE.read_text("utf-8").splitlines()]
    return "".join(",".join(row) + "\n" for row in edit(rows))


def test_an_event_file_that_was_cut_keeps_what_was_whole(tmp_path: Path, whole: Run) -> None:
    run = load_run(events(tmp_path / "run", EVENTS.read_bytes()[:30_001]))
    assert 20 < len(run.series["reward.train"]) < len(whole.series["reward.train"])
    assert is_part_of(run, whole)
    assert "truncated_tail" in codes(run)


def test_zeros_at_the_end_of_an_event_file_are_told_and_cost_nothing(tmp_path: Path, whole: Run) -> None:
    run = load_run(events(tmp_path / "run", EVENTS.read_bytes() + bytes(5000)))
    assert len(run.series["reward.train"]) == len(whole.series["reward.train"])
    assert codes(run) - codes(whole)


def test_flipped_bytes_in_an_event_file_are_told_and_give_no_false_point(tmp_path: Path, whole: Run) -> None:
    content = bytearray(EVENTS.read_bytes())
    content[20_000] ^= 0x40
    run = load_run(events(tmp_path / "run", bytes(content)))
    assert is_part_of(run, whole)
    assert codes(run) - codes(whole)


def test_after_a_restart_the_later_session_counts(tmp_path: Path, whole: Run) -> None:
    folder = events(tmp_path / "run", EVENTS.read_bytes()[:30_001], "events.out.tfevents.1.host.1.0")
    shutil.copy(EVENTS, folder / "events.out.tfevents.2.host.2.0")
    run = load_run(folder)
    steps = run.series["reward.train"].step
    assert (np.diff(steps) > 0).all()
    assert steps.size == len(whole.series["reward.train"])


def test_several_runs_below_one_folder_stay_apart(tmp_path: Path) -> None:
    for name in ("PPO_1", "PPO_2", "PPO_10"):
        shutil.copytree(EXAMPLE, tmp_path / "runs" / name)
    assert {run.id for run in find_runs(tmp_path / "runs").sources} == {"PPO_1", "PPO_2", "PPO_10"}


def test_tables_of_several_runs_in_one_folder_are_not_merged(tmp_path: Path) -> None:
    for seed in (1, 2):
        table(tmp_path / "runs", TABLE.read_bytes(), f"seed_{seed}.csv")
    assert len(find_runs(tmp_path / "runs").sources) == 2


@pytest.mark.parametrize("name", ["progress.csv", EVENTS.name, "train.log", "monitor.csv", "metrics.jsonl"])
def test_an_empty_file_is_named(tmp_path: Path, name: str) -> None:
    path = table(tmp_path / "run", b"", name)
    with pytest.raises((NoReadableRunError, LogError)) as caught:
        load_run(path)
    assert name in str(caught.value)


@pytest.mark.parametrize("name", ["progress.csv", EVENTS.name])
def test_a_git_lfs_pointer_is_called_by_its_name(tmp_path: Path, name: str) -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 53825\n"
    with pytest.raises((NoReadableRunError, LogError), match="Git LFS pointer"):
        load_run(table(tmp_path / "run", pointer, name))


def test_nan_and_infinity_become_null_and_are_counted(tmp_path: Path) -> None:
    def spoil(rows: list[list[str]]) -> list[list[str]]:
        rows[40][rows[0].index("train/loss")] = "nan"
        rows[50][rows[0].index("train/loss")] = "inf"
        return rows

    run = load_run(table(tmp_path / "run", edited(spoil)))
    loss = run.series["loss.total"]
    assert (loss.non_finite.nan, loss.non_finite.positive_inf) == (1, 1)
    assert loss.non_finite.first_step == 40 * 1024
    assert np.isnan(loss.value).sum() == 2


def test_columns_that_are_blank_for_a_hundred_rows_are_still_numbers(tmp_path: Path) -> None:
    head, *rows = edited(lambda rows: [row[:3] for row in rows]).splitlines()
    lines = [head, *(f"{i},{i},9.5" for i in range(1, 101)), *rows]
    late = [f"{line},{'late' if i == 0 else '' if i <= 100 else i}" for i, line in enumerate(lines)]
    run = load_run(table(tmp_path / "run", "\n".join(late) + "\n", "mine.csv"))
    assert len(run.series["raw.late"]) == len(rows)


def test_rows_that_outgrew_a_frozen_header_are_left_out_and_told(tmp_path: Path) -> None:
    def freeze(rows: list[list[str]]) -> list[list[str]]:
        return [rows[0][:6], *([*row[:6], "1.5"] if i > 5 else row[:6] for i, row in enumerate(rows[1:]))]

    run = load_run(table(tmp_path / "run", edited(freeze), "mine.csv"))
    assert len(run.series["reward.train"]) == 6
    assert "73" in next(issue.message for issue in run.issues if issue.code == "ragged_rows")


def test_of_columns_with_one_name_each_is_kept_and_told(tmp_path: Path) -> None:
    run = load_run(table(tmp_path / "run", edited(lambda rows: [[*row, row[5]] for row in rows]), "mine.csv"))
    assert "duplicate_columns" in codes(run)
    assert len(run.series["reward.train"]) == 79


def test_a_last_line_that_was_half_written_is_left_out_and_told(tmp_path: Path) -> None:
    run = load_run(table(tmp_path / "run", TABLE.read_bytes().rstrip()[:-40]))
    assert run.series["reward.train"].step[-1] == 78 * 1024
    assert "partial_last_line" in codes(run)


def test_three_columns_are_enough_to_be_read(tmp_path: Path) -> None:
    run = load_run(table(tmp_path / "run", "step,reward,kl\n1,0.5,0.01\n2,0.6,0.02\n", "mine.csv"))
    assert {"reward.train", "policy.kl"} <= set(run.series)


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8-sig", "utf-16"])
def test_other_encodings_and_byte_order_marks_are_read(tmp_path: Path, encoding: str) -> None:
    content = "step,reward,größe\n1,0.5,3\n2,0.6,4\n".encode(encoding)
    run = load_run(table(tmp_path / "run", content, "mine.csv"))
    assert run.series["reward.train"].value.tolist() == [0.5, 0.6]
    assert "raw.größe" in run.series


def test_decimal_commas_are_numbers(tmp_path: Path) -> None:
    run = load_run(table(tmp_path / "run", "step;reward;kl\n1;0,5;0,01\n2;0,6;0,02\n", "mine.csv"))
    assert run.series["reward.train"].value.tolist() == [0.5, 0.6]


def test_a_compressed_table_is_read(tmp_path: Path) -> None:
    run = load_run(table(tmp_path / "run", gzip.compress(TABLE.read_bytes()), "mine.csv.gz"))
    assert len(run.series["reward.train"]) == 79


def test_steps_that_go_back_are_told_and_the_later_rows_count(tmp_path: Path) -> None:
    run = load_run(table(tmp_path / "run", edited(lambda rows: [*rows[:60], *rows[40:]])))
    assert (np.diff(run.series["reward.train"].step) > 0).all()
    assert len(run.series["reward.train"]) == 79
    assert codes(run) & {"backward_steps", "duplicate_steps", "restart"}


def test_a_clock_that_jumps_changes_no_curve(tmp_path: Path) -> None:
    def jump(rows: list[list[str]]) -> list[list[str]]:
        clock = rows[0].index("time/time_elapsed")
        for i, row in enumerate(rows[1:]):
            row[clock] = str(-(10**6) if 20 < i < 40 else i)
        return rows

    plain, jumped = load_run(TABLE), load_run(table(tmp_path / "run", edited(jump)))
    assert {k: v.value.tolist() for k, v in plain.series.items() if "time" not in k and k != "value.loss"} == {
        k: v.value.tolist() for k, v in jumped.series.items() if "time" not in k and k != "value.loss"
    }


@posix
def test_a_loop_of_links_ends_and_every_run_is_found_once(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLE, tmp_path / "runs" / "PPO_1")
    (tmp_path / "runs" / "again").symlink_to(tmp_path / "runs", target_is_directory=True)
    (tmp_path / "runs" / "PPO_1" / "up").symlink_to(tmp_path, target_is_directory=True)
    assert len(find_runs(tmp_path / "runs").sources) == 1


@posix
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may open everything")
def test_a_file_that_may_not_be_read_is_named_and_the_other_runs_are_diagnosed(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLE, tmp_path / "runs" / "good")
    bad = table(tmp_path / "runs" / "bad", TABLE.read_bytes())
    bad.chmod(0)
    result = diagnose(tmp_path / "runs")
    assert any(run.verdict != "unreadable" for run in result.runs)
    assert "bad" in " ".join([*(run.path for run in result.runs), *result.notes])


def test_a_run_that_is_being_written_is_read_up_to_its_last_whole_record(tmp_path: Path, whole: Run) -> None:
    content = EVENTS.read_bytes()
    path = events(tmp_path / "run", b"") / EVENTS.name
    sizes = []
    with path.open("ab") as file:
        for start in range(0, len(content), 9001):
            file.write(content[start : start + 9001])
            file.flush()
            run = load_run(path)
            assert is_part_of(run, whole)
            sizes.append(len(run.series["reward.train"]))
    assert sizes == sorted(sizes)
    assert sizes[-1] == len(whole.series["reward.train"])


@pytest.mark.parametrize(
    "name", ["progress.csv", EVENTS.name, "train.log", "x.jsonl", "evaluations.npz", "monitor.csv"]
)
def test_binary_junk_is_refused_without_a_traceback(tmp_path: Path, name: str) -> None:
    junk = np.random.default_rng(0).integers(0, 256, 20_000).astype(np.uint8).tobytes()
    with pytest.raises((NoReadableRunError, LogError)) as caught:
        load_run(table(tmp_path / "run", junk, name))
    assert "Traceback" not in str(caught.value)
