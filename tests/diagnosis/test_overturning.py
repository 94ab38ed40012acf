"""A finding that hangs on what the log does not show says so, and says what to log."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rl_diagnose import RunDiagnosis, diagnose_run, load_run
from rl_diagnose.diagnosis.overturning import OVERTURNED_AT, Overturn, overturning_words
from rl_diagnose.signals.run import Run

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "collapsed-ppo"


@pytest.fixture(scope="module")
def example() -> Run:
    return load_run(EXAMPLE)


def without(run: Run, *names: str) -> Run:
    return replace(run, series={name: one for name, one in run.series.items() if name not in names})


def doubts(found: RunDiagnosis) -> list[str]:
    return [remark for remark in found.remarks if "hangs on what the log does not show" in remark]


def test_a_log_with_everything_leaves_no_doubt(example: Run) -> None:
    found = diagnose_run(example)
    assert found.verdict == "finding"
    assert doubts(found) == []


def test_another_cause_that_comes_up_because_a_signal_is_missing_says_so(example: Run) -> None:
    """Without its learning rate the run looks like one whose learning rate was too high all along."""
    found = diagnose_run(without(example, "optim.learning_rate"))
    assert found.top is not None
    assert found.top.id == "learning_rate_too_high"
    (remark,) = doubts(found)
    assert "should “Learning rate jumped up during the run” show" in remark
    assert "log optim.learning_rate" in remark
    assert "keep the hyper-parameters beside the log (learning_rate)" in remark


def test_nothing_is_said_where_nothing_was_found(example: Run) -> None:
    found = diagnose_run(without(example, *(set(example.series) - {"reward.train"})))
    assert found.verdict != "finding"
    assert doubts(found) == []


def test_the_sentence_names_the_most_decisive_and_counts_the_rest(example: Run) -> None:
    symptoms = {symptom.id: symptom for symptom in diagnose_run(example).symptoms}
    found = [
        Overturn(name, present=k % 2 == 0, probability=0.05 + 0.1 * k) for k, name in enumerate(sorted(symptoms)[:4])
    ]
    words = overturning_words(found, symptoms, example)
    first, second, third, fourth = (symptoms[one.symptom].title for one in found)
    assert f"5 % should “{first}” show" in words
    assert f"15 % should “{second}” be ruled out" in words
    assert third in words
    assert fourth not in words
    assert "and 1 more" in words
    assert overturning_words([], symptoms, example) == ""


def test_signs_that_the_kind_of_actions_cannot_show_are_no_doubt(example: Run) -> None:
    """The spread of a Gaussian policy is nothing that a discrete one could have logged."""
    assert example.action_space.kind == "discrete"
    for missing in ("policy.kl", "value.loss", "optim.learning_rate", "policy.entropy"):
        for remark in doubts(diagnose_run(without(example, missing))):
            assert "spread" not in remark
    assert 0 < OVERTURNED_AT < 0.5
