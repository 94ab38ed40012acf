"""Symptoms are dated by their rulebook, by the level they look at, or by a change of their signal."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rl_diagnose.diagnosis.dating import date
from rl_diagnose.diagnosis.described import Describer, features_of, is_setting
from rl_diagnose.diagnosis.pipeline import diagnose_run
from rl_diagnose.features.derived import RunSignals
from rl_diagnose.features.windows import Window
from rl_diagnose.rules.book import All, Condition, Leaf, Not, OnsetSpec, Ramp, Symptom, SymptomRef
from rl_diagnose.signals.run import ActionSpace, NonFinite

from .books import BOOK, run

COLLAPSE = np.r_[np.full(60, 0.6), np.full(40, 0.01)]
RISING, FALLING = Ramp("rising", 0.1, 0.3), Ramp("falling", 0.1, 0.3)


def symptom(condition: Condition, onset: OnsetSpec | None = None) -> Symptom:
    return Symptom("s", "S", condition, 0.1, onset)


def feature(name: str, ramp: Ramp = FALLING) -> Leaf:
    return Leaf("feature", name, ramp)


RUN = run(policy__entropy=COLLAPSE, policy__kl=np.r_[np.full(50, 0.01), 5.0, np.full(49, 0.01)])


@pytest.mark.parametrize(
    ("made", "signal", "start", "end"),
    [
        (symptom(feature("policy.entropy.late.median")), "policy.entropy", 6000, 9900),
        (symptom(feature("policy.kl.max", RISING)), "policy.kl", 5000, 5000),
        (symptom(feature("policy.entropy.fraction_below(0.05)", RISING)), "policy.entropy", 6000, 9900),
        (
            symptom(All((feature("policy.entropy.mid.slope"), feature("policy.entropy.last")))),
            "policy.entropy",
            6000,
            9900,
        ),
        (symptom(feature("policy.entropy.slope", FALLING)), "policy.entropy", 6000, 9900),
        (symptom(feature("policy.kl.median"), OnsetSpec("policy.entropy", "above", 0.5)), "policy.entropy", 0, 5900),
    ],
)
def test_the_bad_interval_is_found(made: Symptom, signal: str, start: float, end: float) -> None:
    assert date(made, BOOK, RUN) == (signal, start, end)


def test_a_referred_symptom_dates_and_a_negated_one_does_not() -> None:
    inner = replace(symptom(feature("policy.entropy.late.median")), id="inner")
    book = replace(BOOK, symptoms=(*BOOK.symptoms, inner))
    assert date(symptom(SymptomRef("inner")), book, RUN) == ("policy.entropy", 6000, 9900)
    assert date(symptom(Not(SymptomRef("inner"))), book, RUN) is None


def test_a_stretch_that_was_over_before_the_rule_looked_is_not_the_one() -> None:
    kl = np.r_[np.full(30, 0.001), np.full(40, 0.02), np.full(30, 0.001)]
    where = run(policy__kl=kl)
    late = symptom(feature("policy.kl.late.median", Ramp("falling", 0.004, 0.006)))
    whole = symptom(feature("policy.kl.median", Ramp("falling", 0.004, 0.006)))
    assert date(late, BOOK, where) == ("policy.kl", 7000, 9900)
    assert date(whole, BOOK, where) == ("policy.kl", 0, 2900)


def test_a_fallen_return_is_dated_by_its_fall_and_not_by_its_rise() -> None:
    reward = np.r_[np.linspace(0, 100, 60), np.full(40, 5.0)]
    found = date(symptom(feature("reward.train.drawdown_final", RISING)), BOOK, run(reward__train=reward))
    assert found is not None
    assert found.signal == "reward.below_best"
    assert 5900 <= found.start <= 6500


def test_non_finite_values_are_dated_by_the_first_one() -> None:
    broken = run(policy__entropy=COLLAPSE)
    series = replace(broken.series["policy.entropy"], non_finite=NonFinite(nan=3, first_step=7000.0))
    broken = replace(broken, series={"policy.entropy": series})
    found = date(symptom(feature("policy.entropy.non_finite", RISING)), BOOK, broken)
    assert found == ("policy.entropy", 7000, 9900)


@pytest.mark.parametrize(
    "condition",
    [
        Leaf("config", "entropy_coef", FALLING),
        Leaf("issue", "restart", RISING),
        feature("value.loss.median"),
        feature("policy.entropy.late.median", Ramp("falling", 1e-6, 1e-5)),
        feature("policy.entropy.median", Ramp("band", 0.1, 0.9)),
    ],
)
def test_what_nothing_dates_has_no_date(condition: Leaf) -> None:
    flat = run(policy__entropy=np.full(100, 0.6))
    assert date(symptom(condition), BOOK, flat) is None


def test_numbers_are_described_with_signal_unit_and_steps() -> None:
    book = replace(BOOK, windows=(Window("head", "steps", 0, 999),))
    describe = Describer(RunSignals(RUN), book)
    about = describe(feature("policy.entropy.late.median"))
    assert (about.signal, about.unit) == ("policy.entropy", "nats")
    assert about.steps is not None
    assert about.steps[0] == pytest.approx(7500, abs=100)
    assert describe(feature("policy.entropy.head.slope")).unit == "nats per step"
    assert describe(feature("policy.entropy.head.slope")).steps == (0, 900)
    assert describe(feature("value.loss.median")).steps is None
    assert describe(Leaf("config", "gamma", RISING)).signal is None


def test_a_derived_number_names_the_signal_that_stands_first_in_it() -> None:
    text = "value.loss.max / (1.0 + gradient)"
    book = replace(BOOK, derived=(("gradient", "optim.grad_norm.median * 2"), ("odd", text)))
    assert [f.signal for f in features_of(Leaf("derived", "odd", RISING), book)] == ["value.loss", "optim.grad_norm"]


@pytest.mark.parametrize(
    ("leaf", "setting"),
    [
        (Leaf("config", "gamma", RISING), True),
        (Leaf("issue", "restart", RISING), True),
        (feature("optim.learning_rate.max"), True),
        (feature("policy.kl.max"), False),
        (Leaf("derived", "share_of_best", RISING), False),
    ],
)
def test_settings_are_told_from_signs(leaf: Leaf, *, setting: bool) -> None:
    assert is_setting(leaf, BOOK) == setting


def test_the_primary_symptom_cites_entropy_its_maximum_and_where_the_actions_are_known_from() -> None:
    reward = np.r_[np.linspace(10, 195, 60), np.full(40, 70.0)]
    where = run({"entropy_coef": 0.001}, policy__entropy=COLLAPSE, reward__train=reward)
    where = replace(where, action_space=ActionSpace("discrete", 4, origin="config", detail="config.yml"))
    said = diagnose_run(where, [BOOK])
    primary = said.primary_symptom
    assert said.verdict == "finding"
    assert primary is not None
    assert (primary.id, primary.onset_step, primary.end_step) == ("entropy_low", 6000, 9900)
    assert primary.value == pytest.approx(0.01)
    assert primary.max_value == pytest.approx(1.3863, abs=1e-4)
    assert primary.ratio == pytest.approx(0.01 / 1.3863, abs=1e-5)
    assert primary.statement.startswith(
        "policy.entropy is 0.01 nats of at most 1.386 (ratio 0.00721; 4 discrete actions, from the configuration) "
        "over steps 6,000–9,900. Rule: "
    )
    assert all(curve.bad == (6000, 9900) for curve in said.curves)


def test_a_setting_is_primary_only_when_nothing_else_is_seen() -> None:
    where = run({"entropy_coef": 0.0}, policy__entropy=np.full(100, 0.6), reward__train=np.linspace(0, 1, 100))
    strong = replace(BOOK.causes[0], prior=0.45)
    said = diagnose_run(where, [replace(BOOK, causes=(strong,))])
    assert said.primary_symptom is None or said.primary_symptom.id == "coef_small"
