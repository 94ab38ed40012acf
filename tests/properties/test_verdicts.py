"""What must not change a verdict: other runs, names, the order of files, signals that no rule knows, the machine."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rl_diagnose
from rl_diagnose import Run, RunDiagnosis
from rl_diagnose.diagnosis.pipeline import diagnose_runs

ROOT = Path(__file__).resolve().parents[2]
PLACES = (ROOT / "examples" / "collapsed-ppo", ROOT / "tests" / "data" / "sb3")
FILES = [file for place in PLACES for file in sorted(place.rglob("*"))]
# The folders in which a framework logged a table or events.
LOGS = sorted({file.parent for file in FILES if "tfevents" in file.name or file.name == "progress.csv"})
RUNS = [rl_diagnose.load_run(path) for path in LOGS]
ALONE = [rl_diagnose.diagnose_run(run) for run in RUNS]
# What is about the scale itself: the return against a critic's estimates of it and against SAC's entropy bonus, which
# were not scaled with it, and rewards so small that an optimiser does not see them.
OF_THE_SCALE = {
    "critic_sees_larger_rewards",
    "critic_sees_smaller_rewards",
    "q_beyond_returns",
    "returns_tiny",
    "reward_signal_tiny",
    "temperature_dominates",
    "temperature_ran_away",
}


def said(run: RunDiagnosis) -> dict[str, Any]:
    """Everything that is said of a run, but for where it lies and what could not be understood in it."""
    (document,) = rl_diagnose.Diagnosis("", (), (run,)).to_dict()["runs"]
    return {key: value for key, value in document.items() if key not in {"id", "path", "files", "unmapped"}}


def test_there_are_runs_of_each_verdict_to_hold_this_on() -> None:
    assert {run.verdict for run in ALONE} >= {"finding", "cannot_tell"}


@given(st.permutations(range(len(RUNS))))
@settings(max_examples=5)
def test_a_run_is_judged_alike_alone_and_among_others_in_any_order(order: list[int]) -> None:
    together = diagnose_runs([RUNS[i] for i in order])
    for place, run in zip(order, together, strict=True):
        assert said(run) == said(ALONE[place])


@pytest.mark.parametrize("number", range(len(RUNS)))
def test_a_signal_that_no_rule_knows_changes_nothing(number: int) -> None:
    run = RUNS[number]
    if not run.series:
        pytest.skip("a run without signals has no steps to put one on")
    like = next(iter(run.series.values()))
    noise = np.random.default_rng(number).standard_normal(len(like)) * 1e9
    other = replace(like, signal="raw.house/temperature", value=noise)
    more = replace(run, series={**run.series, other.signal: other})
    assert said(rl_diagnose.diagnose_run(more)) == said(ALONE[number])


def scaled(run: Run, factor: float) -> Run:
    """The run with all its returns and rewards multiplied: a power of two changes no digit of a ratio."""
    series = {
        name: replace(one, value=one.value * factor) if name.startswith("reward.") else one
        for name, one in run.series.items()
    }
    return replace(run, series=series)


@pytest.mark.parametrize("factor", [2.0**-7, 2.0**9])
@pytest.mark.parametrize("number", range(len(RUNS)))
def test_the_unit_of_the_return_decides_no_verdict(number: int, factor: float) -> None:
    after = rl_diagnose.diagnose_run(scaled(RUNS[number], factor))
    before = ALONE[number]
    assert after.verdict == before.verdict
    assert (after.top and after.top.id) == (before.top and before.top.id)
    memberships = {symptom.id: symptom.membership for symptom in after.symptoms}
    for symptom in before.symptoms:
        if symptom.id not in OF_THE_SCALE:
            assert memberships[symptom.id] == pytest.approx(symptom.membership, abs=1e-6), symptom.id


def test_the_names_of_folders_and_the_order_of_their_files_decide_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, source in zip("zyxwvutsrqponmlkjihgfedcba", LOGS, strict=False):
        shutil.copytree(source, tmp_path / name)
    before = {run.id: said(run) for run in rl_diagnose.diagnose(tmp_path).runs}
    scandir = os.scandir

    class Backwards:
        def __init__(self, path: Any) -> None:
            with scandir(path) as entries:
                self._entries = list(entries)[::-1]

        def __enter__(self) -> Iterator[os.DirEntry[str]]:
            return iter(self._entries)

        def __exit__(self, *_: object) -> None:
            """Nothing is open."""

        def __iter__(self) -> Iterator[os.DirEntry[str]]:
            return iter(self._entries)

    monkeypatch.setattr(os, "scandir", Backwards)
    assert {run.id: said(run) for run in rl_diagnose.diagnose(tmp_path).runs} == before


def test_two_processes_write_the_same_bytes(tmp_path: Path) -> None:
    """Whatever the hashes of strings and the number of threads are."""
    for name, source in zip("abcdefgh", LOGS, strict=False):
        shutil.copytree(source, tmp_path / name)
    written = []
    for seed, threads in (("1", "1"), ("77", "4")):
        environment = os.environ | {
            "PYTHONHASHSEED": seed,
            "OPENBLAS_NUM_THREADS": threads,
            "OMP_NUM_THREADS": threads,
            "POLARS_MAX_THREADS": threads,
        }
        done = subprocess.run(  # noqa: S603 - this program
            [sys.executable, "-m", "rl_diagnose", str(tmp_path), "--format", "json"],
            env=environment,
            capture_output=True,
            check=True,
        )
        document = json.loads(done.stdout)
        lines = [line for line in done.stdout.splitlines() if not line.startswith(b'  "created":')]
        assert len(lines) == len(done.stdout.splitlines()) - 1
        assert document["runs"]
        written.append(lines)
    assert written[0] == written[1]
