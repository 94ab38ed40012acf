"""A book says which features, configuration values and signals it looks at, wherever it does so."""

from __future__ import annotations

from collections.abc import Callable

from rl_diagnose.rules.book import All, Book, Leaf, Not, Ramp, SymptomRef
from rl_diagnose.rules.needs import leaves, required_config, required_features, signals_of

BODY = """\
windows: {startup: {steps: {from: 0, to: 5000}}}
derive: {room: "policy.entropy.startup.median - tau", air: "room * correlation(policy.kl, reward.train)"}
symptoms:
  a: {title: A, base_rate: rare, derived: air, falling: {low: 0, high: 1}, onset: {signal: value.loss, above: 1}}
  b: {title: B, base_rate: rare, not: {mean: [{feature: policy.kl.max, rising: {low: 0, high: 1}}, {symptom: a}]}}
  c: {title: C, base_rate: rare, issue: restart, rising: {low: 0, high: 1}}
causes:
  d:
    title: D
    prior: 0.1
    requires: [policy.clip_fraction]
    evidence: [{config: gamma, rising: {low: 0, high: 1}, base_rate: rare, seen: often}]
    remedies:
      - knob: entropy_coef
        summary: S
        set: "max(entropy_coef * 3, q.mean.last)"
        values: {floor: "learning_rate / 2 + air"}
        expect: [{feature: critic.loss.last, falls_to: 1}]
"""


def test_features_are_found_in_symptoms_derived_numbers_and_remedies(loaded: Callable[[str], Book]) -> None:
    assert required_features(loaded(BODY)) == (
        "correlation(policy.kl, reward.train)",
        "critic.loss.last",
        "policy.entropy.startup.median",
        "policy.kl.max",
        "q.mean.last",
    )


def test_configuration_values_are_found_beside_derived_numbers(loaded: Callable[[str], Book]) -> None:
    assert required_config(loaded(BODY)) == ("entropy_coef", "gamma", "learning_rate", "tau")


def test_signals_are_those_of_features_requirements_and_onsets(loaded: Callable[[str], Book]) -> None:
    assert signals_of(loaded(BODY)) == (
        "critic.loss",
        "policy.clip_fraction",
        "policy.entropy",
        "policy.kl",
        "q.mean",
        "reward.train",
        "value.loss",
    )


def test_leaves_come_in_order_without_those_of_other_symptoms() -> None:
    x, y = (Leaf("feature", name, Ramp("rising", 0, 1)) for name in "xy")
    assert list(leaves(All((y, Not(All((x, SymptomRef("s")))))))) == [y, x]
