"""Which runs can be given a report, and what is said where none can, or the tracker's package is missing."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import pytest

from rl_diagnose import UsageError, diagnose
from rl_diagnose.attaching import mlflow as to_mlflow
from rl_diagnose.attaching.report import attach_all, tracked_runs
from rl_diagnose.diagnosis.model import Diagnosis
from rl_diagnose.signals.run import TrackedRun

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "collapsed-ppo"


@pytest.fixture(scope="module")
def plain() -> Diagnosis:
    return diagnose(EXAMPLE)


def tracked(diagnosis: Diagnosis, tracker: TrackedRun) -> Diagnosis:
    return dataclasses.replace(
        diagnosis, runs=tuple(dataclasses.replace(run, tracked=tracker) for run in diagnosis.runs)
    )


def test_runs_of_nobodys_get_none(plain: Diagnosis) -> None:
    with pytest.raises(UsageError, match="none of 1 run was read from the files of W&B or MLflow"):
        tracked_runs(plain)


@pytest.mark.parametrize("tracker", ["wandb", "mlflow"])
def test_a_package_that_is_missing_is_named_with_the_way_to_get_it(
    plain: Diagnosis, monkeypatch: pytest.MonkeyPatch, tracker: str, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, tracker, None)
    run = TrackedRun("wandb" if tracker == "wandb" else "mlflow", "id", str(tmp_path / "a" / "b"))
    with pytest.raises(UsageError) as raised:
        list(attach_all(tracked(plain, run)))
    assert f"rl-diagnose[{tracker}]" in str(raised.value)


def test_what_the_client_raises_is_said_of_that_run(plain: Diagnosis, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> str:
        raise RuntimeError("no\x1b[31m route")

    monkeypatch.setattr(to_mlflow, "attach", fail)
    ((words, done),) = attach_all(tracked(plain, TrackedRun("mlflow", "id", "x")))
    assert not done
    assert words.startswith("collapsed-ppo: the report was not attached: RuntimeError: no")
    assert "\x1b" not in words
