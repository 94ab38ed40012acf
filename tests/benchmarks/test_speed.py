"""The speed benchmark: what it times, how it judges, and a row of it on a small file."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import speed
from timed import event_files, sweeps
from timed.event_logs import LAYOUTS, write_event_file
from timed.measure import Goal, Row, child_cpu_seconds, cpu_seconds, peak_megabytes, wall_seconds

from rl_diagnose.adapters.readers.event_files import read_event_file


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_files_that_are_timed_hold_what_they_should(tmp_path: Path, layout: str) -> None:
    path = tmp_path / "events.out.tfevents.1"
    write_event_file(path, layout, 3, 1001)
    events = read_event_file(path)
    assert events.issues == ()
    share = 0.6 if layout == "jagged" else 1.0
    assert [points.step.size for points in events.scalars.values()] == pytest.approx([1001 * share] * 3, rel=0.1)
    assert all(np.isfinite(points.value).all() for points in events.scalars.values())
    assert bool(events.texts) == bool(events.hparams) == (layout == "mixed")


def test_methods_take_turns_and_a_slow_one_is_called_less_often() -> None:
    calls: list[str] = []

    def busy() -> None:
        calls.append("busy")
        sum(range(100_000))

    seconds = cpu_seconds({"busy": busy, "quick": lambda: calls.append("quick")}, rounds=3, budget=0.0)
    assert calls[:2] == ["busy", "quick"]
    assert calls.count("busy") == 1
    assert seconds["busy"] > seconds["quick"] >= 0


@pytest.mark.parametrize(
    ("goal", "ratio", "tolerance", "met"),
    [
        (Goal(20), 20, 1.0, True),
        (Goal(20), 19, 1.0, False),
        (Goal(20), 12.5, 0.6, True),
        (Goal(20), 11.5, 0.6, False),
        (Goal(25, at_most=True), 25, 1.0, True),
        (Goal(25, at_most=True), 26, 1.0, False),
        (Goal(25, at_most=True), 41, 0.6, True),
        (Goal(25, at_most=True), 42, 0.6, False),
    ],
)
def test_a_goal_is_met_or_missed(goal: Goal, ratio: float, tolerance: float, met: bool) -> None:
    assert goal.met(ratio, tolerance) == met


@pytest.mark.skipif(os.name == "nt", reason="this system does not tell peak memory")
def test_peak_memory_grows_with_what_is_held() -> None:
    small = peak_megabytes("x = bytearray(1)", [])
    large = peak_megabytes("x = b'1' * int(sys.argv[1])", ["100000000"])
    assert small is not None
    assert large is not None
    assert 90 < large - small < 120


def rows_with(ratio: float) -> Callable[..., Iterator[Row]]:
    def rows(*, quick: bool) -> Iterator[Row]:
        yield Row("a row", "1 ms" if quick else "2 ms", {"× faster": ratio}, {"× faster": Goal(100)})

    return rows


@pytest.mark.parametrize(("ratio", "code", "marked"), [(100, 0, False), (70, 0, True), (50, 1, True)])
def test_a_ratio_far_below_its_goal_fails_the_check(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], ratio: float, code: int, marked: bool
) -> None:
    monkeypatch.setattr(speed, "GROUPS", {"one": rows_with(ratio)})
    assert speed.main(["--check", "--quick"]) == code
    assert ("MISSED" in capsys.readouterr().out) == marked
    assert speed.main([]) == 0
    assert "2 ms" in capsys.readouterr().out


def test_an_unknown_group_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        speed.main(["--only", "nothing"])
    assert caught.value.code == 2
    assert "event-files" in capsys.readouterr().err


def test_a_row_compares_with_tbparse_and_with_the_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    case = event_files._Case("simple", 2, 50, 1.0)  # noqa: SLF001
    monkeypatch.setattr(event_files, "_QUICK", (case,))
    (row,) = event_files.rows(quick=True)
    assert row.name == "event file, simple, 2 × 50"
    assert len(row.ratios) == 2
    assert all(ratio > 0 for ratio in row.ratios.values())


def test_a_goal_not_met_yet_is_shown_and_fails_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def rows(*, quick: bool) -> Iterator[Row]:
        yield Row("a row", "1 ms", {"× faster": 1.0}, {"× faster": Goal(100, met_yet=not quick)})

    monkeypatch.setattr(speed, "GROUPS", {"one": rows})
    assert speed.main(["--quick", "--check"]) == 0
    assert "(≥ 100)  not met yet" in capsys.readouterr().out
    assert speed.main(["--check"]) == 1
    assert "MISSED" in capsys.readouterr().out


@pytest.mark.skipif(os.name == "nt", reason="this system does not tell the time of ended processes")
def test_the_time_of_processes_is_their_own() -> None:
    def program(code: str) -> Callable[[], object]:
        return lambda: subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603 - our own interpreter

    seconds = child_cpu_seconds({"busy": program("sum(range(10**7))"), "idle": program("pass")}, rounds=1)
    assert seconds["busy"] > 2 * seconds["idle"] > 0


def test_the_rows_on_features_have_their_goal() -> None:
    (row,) = sweeps.feature_rows(quick=True)
    assert row.ratios["ms"] > 0
    assert row.goals["ms"].bound == 0.5


def test_time_on_the_clock_counts_waiting() -> None:
    seconds = wall_seconds({"waits": lambda: time.sleep(0.05), "quick": lambda: None}, rounds=3)
    assert seconds["waits"] >= 0.05 > seconds["quick"]


def test_the_row_on_jobs_has_a_ratio(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(sweeps, "diagnose", lambda _path, jobs=0: asked.append(jobs))
    (row,) = sweeps.jobs_rows(quick=True)
    assert asked == [0, 1, 2, 1, 2, 1, 2]
    assert set(row.ratios) == {"× the time of --jobs 1"}


def test_the_files_of_a_sweep_are_read_as_runs_of_stable_baselines(tmp_path: Path) -> None:
    path = tmp_path / "events.out.tfevents.1"
    write_event_file(path, "simple", len(sweeps.TAGS), 5, sweeps.TAGS)
    assert set(read_event_file(path).scalars) == set(sweeps.TAGS)
