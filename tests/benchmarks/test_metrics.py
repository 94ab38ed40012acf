"""The figures over made outcomes, each worked out by hand."""

from __future__ import annotations

import json
import re

import pytest
from labelled.corpus import Label
from labelled.metrics import Share, evaluate
from labelled.outcomes import Outcome, Said
from labelled.report import as_document, as_text


def outcome(
    fault: str,
    harmed: str,
    *said: tuple[str, float],
    acceptable: tuple[str, ...] = (),
    verdict: str = "finding",
    framework: str = "sb3",
    algorithm: str = "PPO",
    env: str = "",
) -> Outcome:
    label = Label(f"r{fault}{harmed}{len(said)}", framework, algorithm, fault, "", harmed, env)  # type: ignore[arg-type]
    return Outcome(label, frozenset(acceptable), verdict, tuple(Said(cause, p, 0.5) for cause, p in said), 0.25)


OUTCOMES = [
    outcome("rate_high", "yes", ("rate", 0.9), ("bonus", 0.2), acceptable=("rate", "update")),
    outcome("rate_high", "yes", ("bonus", 0.6), ("critic", 0.3), ("update", 0.2), acceptable=("rate", "update")),
    outcome("rate_high", "yes", ("bonus", 0.3), verdict="cannot_tell", acceptable=("rate",)),
    outcome("rate_high", "yes", verdict="unreadable", acceptable=("rate",)),
    outcome("rate_high", "no", ("rate", 0.7), acceptable=("rate",), algorithm="A2C"),
    outcome("rate_high", "unclear", ("rate", 0.9), acceptable=("rate",)),
    outcome("healthy", "no", ("bonus", 0.1), verdict="nothing_found"),
    outcome("healthy", "no", ("bonus", 0.85)),
]


def test_hits_are_counted_over_harmed_runs_and_an_unreadable_one_is_a_miss() -> None:
    result = evaluate(OUTCOMES)

    assert (result.top1, result.top3) == (Share(1, 4), Share(2, 4))
    assert result.found == Share(1, 4)
    assert (result.runs, result.unreadable) == (8, 1)
    (row,) = result.by_fault
    assert (row.fault, row.top1, row.top3) == ("rate_high", Share(1, 4), Share(2, 4))


def test_an_acceptable_cause_in_third_place_is_among_the_first_three() -> None:
    third = outcome("f", "yes", ("a", 0.9), ("b", 0.8), ("right", 0.1), ("c", 0.05), acceptable=("right",))
    fourth = outcome("f", "yes", ("a", 0.9), ("b", 0.8), ("c", 0.1), ("right", 0.05), acceptable=("right",))

    assert evaluate([third, fourth]).top3 == Share(1, 2)


def test_alarms_are_counted_where_silence_was_right_and_split_by_group() -> None:
    result = evaluate(OUTCOMES)

    assert result.alarms == Share(2, 3)
    assert (result.alarms_healthy, result.alarms_harmless) == (Share(1, 2), Share(1, 1))
    assert dict(result.alarms_by_group) == {"sb3 A2C": Share(1, 1), "sb3 PPO": Share(1, 2)}
    assert dict(result.alarm_causes) == {"rate": 1, "bonus": 1}


def test_precision_counts_everything_that_is_said_and_leaves_unclear_runs_out() -> None:
    result = evaluate(OUTCOMES)

    # Said at 0.5: rate 0.9 (right), bonus 0.6, rate 0.7 on a harmless run, bonus 0.85 on a healthy one.
    assert result.precision == Share(1, 4)
    assert result.precision_sure == Share(1, 2)


def test_of_two_acceptable_causes_the_less_probable_one_is_neither_right_nor_wrong() -> None:
    both = outcome("f", "yes", ("rate", 0.9), ("update", 0.3), ("bonus", 0.2), acceptable=("rate", "update"))

    result = evaluate([both])

    assert result.calibration.pairs == 2
    assert result.calibration.brier == pytest.approx((0.1**2 + 0.2**2) / 2)


def test_the_most_probable_fault_is_calibrated_by_itself() -> None:
    result = evaluate([OUTCOMES[0], OUTCOMES[7]])

    assert result.calibration_top.pairs == 2
    assert result.calibration_top.brier == pytest.approx((0.1**2 + 0.85**2) / 2)
    assert result.calibration_top.ece == pytest.approx((0.1 + 0.85) / 2)


def test_faults_that_reports_show_are_calibrated_by_themselves() -> None:
    result = evaluate([outcome("healthy", "no", ("a", 0.3), ("b", 0.01), ("c", 0.009))])

    assert (result.calibration.pairs, result.calibration_shown.pairs) == (3, 2)
    assert result.calibration_shown.brier == pytest.approx((0.3**2 + 0.01**2) / 2)


def test_each_environment_has_a_row_with_its_own_figures() -> None:
    result = evaluate(
        [
            outcome("f", "yes", ("right", 0.9), acceptable=("right",), env="A"),
            outcome("f", "yes", ("wrong", 0.6), ("right", 0.2), acceptable=("right",), env="A"),
            outcome("healthy", "no", ("wrong", 0.7), env="B"),
            outcome("healthy", "no", ("wrong", 0.1), env="B"),
            outcome("healthy", "no", ("wrong", 0.1)),
        ]
    )

    first, second = result.by_env
    assert (first.env, first.top1, first.top3, first.precision) == ("A", Share(1, 2), Share(2, 2), Share(1, 2))
    assert (second.env, second.top1, second.alarms) == ("B", Share(0, 0), Share(1, 2))
    assert "environment" in as_text(result, {"predictions": "x.csv", "seconds": 0.0})


def test_abstention_coverage_and_verdicts_are_over_readable_runs() -> None:
    result = evaluate(OUTCOMES)

    assert result.abstained == Share(1, 7)
    assert result.coverage == pytest.approx(0.5)
    assert result.not_assessable == pytest.approx(0.25)
    assert dict(result.verdicts)["unreadable"] == 1


def test_the_confusion_table_puts_a_cause_below_one_half_in_brackets() -> None:
    table = {(fault, cause): n for fault, cause, n in evaluate(OUTCOMES).confusion}

    assert table["rate_high, harmed yes", "rate"] == 1
    assert table["rate_high, harmed yes", "(bonus)"] == 1
    assert table["rate_high, harmed yes", "(nothing assessed)"] == 1
    assert sum(table.values()) == len(OUTCOMES)


def test_a_corpus_without_harmed_runs_gives_empty_shares_and_valid_json() -> None:
    outcomes = [outcome("healthy", "no", verdict="nothing_found")]
    about = {"rules": "default", "config": "unknown", "calibration": "book", "seconds": 0.1}
    result = evaluate(outcomes)

    assert result.top1.value is None
    document = json.loads(json.dumps(as_document(result, about, outcomes), allow_nan=False))
    assert document["result"]["calibration"]["brier"] is None
    assert re.search(r"–\s+\(0 of 0\)", as_text(result, about))


def test_the_text_names_every_fault_and_its_hits() -> None:
    text = as_text(
        evaluate(OUTCOMES), {"rules": ["golden_five"], "config": "known", "calibration": "none", "seconds": 2.0}
    )

    assert "rules golden_five, config known, calibration none" in text
    assert "acceptable cause first (harmed=yes)" in text
    assert "25.0 %  (1 of 4)" in text
    assert "rate_high, harmed no" in text
