"""Symptoms cite signal, value and steps; ledgers add up to the probability; gaps in the data are no evidence."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rl_diagnose.diagnosis.findings import Described, Measured, cause_finding, ramp_words, symptom_finding
from rl_diagnose.diagnosis.model import CauseFinding, SymptomFinding
from rl_diagnose.rules.book import Leaf, Ramp
from rl_diagnose.rules.membership import memberships
from rl_diagnose.rules.scoring import score

from .books import BOOK, MadeRow, numbers, run

GOOD = {
    "policy.entropy.late.median": 0.01,
    "policy.kl.late.median": 0.003,
    "reward.train.late.median": 30.0,
    "reward.train.max": 100.0,
}


def describe(leaf: Leaf) -> Described:
    if leaf.kind != "feature":
        return Described(None, "", None)
    signal, _, _ = leaf.name.rpartition(".")
    return Described(signal.removesuffix(".late"), "nats", (7500.0, 9900.0))


def said(
    features: dict[str, float], config: dict[str, float] | None = None, available: frozenset[str] | None = None
) -> tuple[dict[str, SymptomFinding], dict[str, CauseFinding]]:
    found = memberships(BOOK, numbers([MadeRow(features)], [run(config)]), 1)
    have = frozenset({"policy.entropy", "policy.kl"}) if available is None else available
    scores = score(BOOK, found.mu, found.known, [have], np.ones((1, 3), dtype=bool))
    measured = Measured(BOOK, found).of_run(0, describe)
    symptoms = {s.id: symptom_finding(s, measured[s.id], float(found.mu[0, i])) for i, s in enumerate(BOOK.symptoms)}
    causes = {
        c.id: cause_finding(BOOK, c, scores, 0, symptoms, [r for r in c.requires if r not in have]) for c in BOOK.causes
    }
    return symptoms, causes


def test_a_symptom_cites_its_number_its_rule_and_its_steps() -> None:
    symptoms, _ = said(GOOD)
    assert symptoms["entropy_low"].membership == 1.0
    assert symptoms["entropy_low"].signal == "policy.entropy"
    assert symptoms["entropy_low"].statement.startswith(
        "policy.entropy.late.median is 0.01 nats over steps 7,500–9,900 (yes below 0.02, no above 0.1)"
    )


def test_a_negated_part_counts_the_other_way_round() -> None:
    symptoms, _ = said(GOOD)
    entropy, best = symptoms["entropy_low"].measurements
    assert (entropy.membership, best.membership) == (1.0, 1.0)
    assert best.ramp == "yes below 0.8, no above 0.95"


def test_a_missing_number_is_said_to_be_missing_and_weighs_nothing() -> None:
    symptoms, causes = said(GOOD)
    assert symptoms["grad_odd"].statement == "optim.grad_norm not in the log"
    line = next(e for e in causes["bonus_weak"].evidence if e.symptom == "grad_odd")
    assert (line.missing, line.membership, line.decibans) == (True, None, 0.0)
    assert causes["bonus_weak"].coverage < 1.0


def test_the_ledger_starts_at_the_prior_and_ends_at_the_single_cause_probability() -> None:
    _, causes = said(GOOD, {"entropy_coef": 0.0})
    ledger = causes["bonus_weak"].evidence
    odds = math.log(0.1 / 0.9) + sum(e.decibans for e in ledger) * math.log(10) / 10
    assert ledger[-1].running_probability == pytest.approx(1 / (1 + math.exp(-odds)))
    weights = [abs(e.decibans) for e in ledger if not e.missing]
    assert weights == sorted(weights, reverse=True)
    assert ledger[-1].missing


def test_competition_is_the_difference_between_ledger_and_probability() -> None:
    cause = said(GOOD, {"entropy_coef": 0.0})[1]["bonus_weak"]
    assert cause.probability is not None
    logit = math.log(cause.probability / (1 - cause.probability)) * 10 / math.log(10)
    alone = cause.evidence[-1].running_probability
    assert logit - math.log(alone / (1 - alone)) * 10 / math.log(10) == pytest.approx(cause.explained_away_decibans)


def test_a_cause_without_its_required_signal_has_no_probability() -> None:
    _, causes = said(GOOD, available=frozenset({"policy.entropy"}))
    assert (causes["steps_large"].status, causes["steps_large"].probability) == ("not_assessable", None)
    assert causes["steps_large"].missing == ("policy.kl",)


def test_a_cause_with_little_of_its_evidence_is_not_judged() -> None:
    _, causes = said({"optim.grad_norm.median": 1.0})
    assert causes["bonus_weak"].coverage < 0.3
    assert causes["bonus_weak"].status == "insufficient_data"


def test_an_uncalibrated_book_says_so() -> None:
    assert not said(GOOD)[1]["bonus_weak"].calibrated


def test_configuration_and_log_issues_are_cited_by_name() -> None:
    symptoms, _ = said(GOOD, {"entropy_coef": 0.001})
    assert symptoms["coef_small"].statement == "entropy_coef is 0.001 (yes below 0, no above 0.005)"
    assert symptoms["restarted"].statement == "log issue 'restart' is 0 (no below 0, yes above 1)"


@pytest.mark.parametrize(
    ("ramp", "plain", "negated"),
    [
        (Ramp("rising", 1, 2), "no below 1, yes above 2", "yes below 1, no above 2"),
        (Ramp("falling", 1, 2), "yes below 1, no above 2", "no below 1, yes above 2"),
        (Ramp("band", 1, 9, 3, 7), "no outside 1 to 9, yes from 3 to 7", "yes outside 1 to 9, no from 3 to 7"),
        (Ramp("band", 1, 9), "no outside 1 to 9, yes from 1 to 9", "yes outside 1 to 9, no from 1 to 9"),
    ],
)
def test_a_rule_reads_in_words(ramp: Ramp, plain: str, negated: str) -> None:
    assert (ramp_words(ramp), ramp_words(ramp, negated=True)) == (plain, negated)
