"""The taxonomy is complete, closed and documented."""

from __future__ import annotations

from pathlib import Path

import pytest

from rl_diagnose.signals.reference import reference_markdown
from rl_diagnose.signals.taxonomy import (
    hyperparameters,
    is_known_signal,
    signal,
    signal_specs,
    suggest_hyperparameter,
    suggest_signal,
)

DESIGN_SIGNALS = [
    "reward.train",
    "reward.eval",
    "reward.train_std",
    "episode.length",
    "policy.entropy",
    "policy.kl",
    "policy.kl_ref",
    "policy.clip_fraction",
    "policy.loss",
    "policy.std",
    "policy.ratio_max",
    "value.loss",
    "value.explained_variance",
    "value.mean",
    "loss.total",
    "optim.learning_rate",
    "optim.grad_norm",
    "optim.clip_range",
    "optim.entropy_coef",
    "optim.kl_coef",
    "q.mean",
    "critic.loss",
    "actor.loss",
    "alpha",
    "exploration.epsilon",
    "llm.response_length",
    "llm.truncated_fraction",
    "llm.zero_std_fraction",
    "time.fps",
]


def test_the_taxonomy_holds_every_signal_of_the_design() -> None:
    assert set(DESIGN_SIGNALS) <= set(signal_specs())


def test_every_signal_is_documented_in_full() -> None:
    for spec in signal_specs().values():
        assert all((spec.title, spec.meaning, spec.unit, spec.sign, spec.algorithms, spec.missing)), spec.id


def test_derived_signals_name_known_sources_and_only_they_do() -> None:
    for spec in signal_specs().values():
        assert bool(spec.sources) == spec.derived, spec.id
        assert all(source in signal_specs() for source in spec.sources), spec.id


def test_unknown_keys_are_signals_only_behind_raw() -> None:
    assert is_known_signal("raw.my key")
    assert not is_known_signal("raw.")
    assert not is_known_signal("my.key")
    assert signal("raw.my key").title == "my key"
    with pytest.raises(KeyError):
        signal("my.key")


@pytest.mark.parametrize(("typo", "meant"), [("policy.entropi", "policy.entropy"), ("value_loss", "value.loss")])
def test_a_typo_gets_a_suggestion(typo: str, meant: str) -> None:
    assert suggest_signal(typo) == meant


def test_nonsense_gets_no_suggestion() -> None:
    assert suggest_signal("zzzzzz") is None
    assert suggest_hyperparameter("zzzzzz") is None
    assert suggest_hyperparameter("learnin_rate") == "learning_rate"


def test_hyperparameter_bounds_are_ordered_and_their_signals_exist() -> None:
    for knob in hyperparameters().values():
        if knob.low is not None:
            assert knob.high is not None
            assert knob.low < knob.high, knob.name
            assert knob.step_limit is not None
            assert knob.step_limit > 1, knob.name
        assert knob.signal is None or knob.signal in signal_specs()


def test_the_reference_page_is_current() -> None:
    page = Path(__file__).resolve().parents[2] / "docs" / "signals.md"
    assert page.read_text("utf-8") == reference_markdown(), (
        "run: python -m rl_diagnose.signals.reference > docs/signals.md"
    )
