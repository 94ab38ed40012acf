"""Rows of the table on sweeps: many runs from path to diagnosis, and the features of one typical run."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from rl_diagnose.diagnosis.pipeline import default_books, diagnose, load_run
from rl_diagnose.features.derived import RunSignals
from rl_diagnose.features.extract import Plan, extract
from rl_diagnose.rules.needs import required_features

from .event_files import read_with_tbparse
from .event_logs import write_event_file
from .measure import Goal, Row, cpu_seconds, wall_seconds

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["TAGS", "feature_rows", "jobs_rows", "sweep_rows"]

TAGS = (
    "rollout/ep_len_mean", "rollout/ep_rew_mean", "time/fps", "train/approx_kl", "train/clip_fraction",
    "train/clip_range", "train/entropy_loss", "train/explained_variance", "train/learning_rate", "train/loss",
    "train/policy_gradient_loss", "train/value_loss",
)  # fmt: skip
"""What Stable-Baselines3's PPO logs."""
POINTS = 500


def sweep_rows(*, quick: bool) -> Iterator[Row]:
    """Diagnosing a folder of runs against reading its bytes, and against reading it with tbparse."""
    runs = 20 if quick else 200
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        files = _write(Path(folder), runs)
        _read_by_tbparse(files[:1])  # imports what it needs
        diagnose(files[0].parent)
        seconds = cpu_seconds(
            {
                "ours": lambda: diagnose(folder),
                "tbparse": lambda: _read_by_tbparse(files),
                "bytes": lambda: [file.read_bytes() for file in files],
            },
            rounds=5,
            budget=1.0 if quick else 20.0,
        )
    ratios = {
        "× reading the bytes": seconds["ours"] / seconds["bytes"],
        "× faster than tbparse reads": seconds["tbparse"] / seconds["ours"],
    }
    goals = {
        "× reading the bytes": Goal(60, at_most=True, met_yet=False),
        "× faster than tbparse reads": Goal(40, met_yet=False),
    }
    name = f"sweep, {runs} runs, {len(TAGS)} × {POINTS}"
    yield Row(name, f"{1e3 * seconds['ours'] / runs:.1f} ms/run", ratios, goals)


def jobs_rows(*, quick: bool) -> Iterator[Row]:
    """A sweep shared by two processes against one, on the clock, their start included."""
    runs = 60 if quick else 800
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        files = _write(Path(folder), runs)
        diagnose(files[0].parent)
        seconds = wall_seconds(
            {"one": lambda: diagnose(folder, jobs=1), "two": lambda: diagnose(folder, jobs=2)}, rounds=3 if quick else 5
        )
    name = "× the time of --jobs 1"
    # Two of two cores; what is not shared (finding the runs, taking the answers) leaves about two thirds.
    goals = {} if quick else {name: Goal(0.75, at_most=True, met_yet=False)}
    yield Row(
        f"sweep with --jobs 2, {runs} runs", f"{1e3 * seconds['two'] / runs:.1f} ms/run",
        {name: seconds["two"] / seconds["one"]}, goals,
    )  # fmt: skip


def feature_rows(*, quick: bool) -> Iterator[Row]:
    """The features that the rulebooks of a typical run ask for, in milliseconds of processor time."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        (file,) = _write(Path(folder), 1)
        run = load_run(file.parent)
    plans = [Plan.build(required_features(book), book.windows) for book in default_books(run)]
    calls = 20 if quick else 200

    def ours() -> None:
        for _ in range(calls):
            signals = RunSignals(run)
            for plan in plans:
                extract(run, plan, signals)

    milliseconds = 1e3 * cpu_seconds({"ours": ours}, rounds=5, budget=20.0)["ours"] / calls
    name = f"features of a run, {len(TAGS)} × {POINTS}"
    goals = {"ms": Goal(0.5, at_most=True, met_yet=False)}
    yield Row(name, f"{milliseconds:.2f} ms", {"ms": milliseconds}, goals)


def _write(folder: Path, runs: int) -> list[Path]:
    """One event file in a folder of its own for each run, all alike."""
    files: list[Path] = []
    for number in range(runs):
        file = folder / f"PPO_{number}" / "events.out.tfevents.1700000000.host.1.0"
        file.parent.mkdir()
        if files:
            file.write_bytes(files[0].read_bytes())
        else:
            write_event_file(file, "simple", len(TAGS), POINTS, TAGS)
        files.append(file)
    return files


def _read_by_tbparse(files: Sequence[Path]) -> None:
    for file in files:
        read_with_tbparse(file, "scalars")
