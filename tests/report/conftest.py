"""Diagnoses of a real log, for reports that show curves."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from rl_diagnose.diagnosis.model import Diagnosis
from rl_diagnose.diagnosis.pipeline import diagnose

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "collapsed-ppo"


@pytest.fixture(scope="package")
def one() -> Diagnosis:
    """The diagnosis of the example."""
    return diagnose(EXAMPLE)


@pytest.fixture(scope="package")
def many(one: Diagnosis) -> Diagnosis:
    """Three runs, one of them without a finding."""
    (run,) = one.runs
    quiet = dataclasses.replace(
        run, id="quiet", verdict="nothing_found", verdict_reason="nothing", primary_symptom=None
    )
    return dataclasses.replace(one, runs=(dataclasses.replace(run, id="b"), run, quiet))
