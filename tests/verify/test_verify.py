"""Outcomes on real runs: a log that broke half-way, and labelled pairs of the corpus."""

from __future__ import annotations

from pathlib import Path

import pytest

from rl_diagnose.logs.load import load_run
from rl_diagnose.verify.check import verify_runs
from rl_diagnose.verify.split import split_at

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "collapsed-ppo"


def test_a_run_against_itself_is_unchanged() -> None:
    run = load_run(EXAMPLE)
    found = verify_runs(run, run)
    assert found.outcome == "unchanged"
    assert found.cause == "learning_rate_jumped"
    assert found.probability_before == found.probability_after


def test_where_the_symptom_went_and_the_damage_stayed_it_is_partly_fixed() -> None:
    before, after = split_at(load_run(EXAMPLE), 60_000)
    found = verify_runs(before, after)
    assert found.outcome == "partly"
    assert found.changes[0].primary
    assert found.changes[0].before == 1.0
    assert found.changes[0].after < 0.01
    assert found.promises[0].kept


def test_where_nothing_was_wrong_there_is_nothing_to_verify() -> None:
    healthy, broken = split_at(load_run(EXAMPLE), 38_000)
    found = verify_runs(healthy, broken)
    assert found.outcome == "cannot_tell"
    assert "nothing to verify" in found.reason


def test_a_cause_that_cannot_be_assessed_is_named() -> None:
    run = load_run(EXAMPLE)
    assert "'no_such_cause' cannot be assessed" in verify_runs(run, run, cause="no_such_cause").reason


def test_what_went_away_in_reruns_without_the_fix_is_no_proof() -> None:
    before, after = split_at(load_run(EXAMPLE), 60_000)
    found = verify_runs(before, after, controls=[after, after])
    assert (found.controls, found.controls_without) == (2, 2)
    assert found.outcome != "fixed"


@pytest.mark.corpus
def test_a_healthy_run_after_a_harmed_one_is_fixed_and_a_rerun_of_the_fault_is_not(shared: Path) -> None:
    runs = shared / "corpus" / "runs"
    assert verify_runs(load_run(runs / "r0371"), load_run(runs / "r0085")).outcome == "fixed"
    assert verify_runs(load_run(runs / "r0085"), load_run(runs / "r0371")).outcome == "cannot_tell"
