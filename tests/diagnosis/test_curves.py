"""The five curves, and thinning that keeps every peak and dip."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from rl_diagnose.diagnosis.curves import DISPLAY_POINTS, display_curves, shown_signals, thin
from rl_diagnose.signals.run import Run, Semantics, Series


def series(signal: str, value: np.ndarray) -> Series:
    steps = np.arange(value.size, dtype=float)
    return Series(signal, steps, value, steps, steps, Semantics(signal))


def run(*names: str) -> Run:
    return Run("r", "r", "sb3", {name: series(name, np.ones(3)) for name in names})


def test_on_policy_runs_show_reward_value_loss_entropy_kl_and_learning_rate() -> None:
    names = ("optim.learning_rate", "policy.kl", "policy.entropy", "value.loss", "reward.train", "loss.total", "raw.x")
    assert shown_signals(run(*names)) == [
        "reward.train",
        "value.loss",
        "policy.entropy",
        "policy.kl",
        "optim.learning_rate",
    ]


def test_off_policy_runs_show_critic_actor_and_exploration() -> None:
    assert shown_signals(run("reward.train", "critic.loss", "actor.loss", "alpha", "optim.learning_rate")) == [
        "reward.train",
        "critic.loss",
        "actor.loss",
        "alpha",
        "optim.learning_rate",
    ]
    assert shown_signals(run("reward.eval", "critic.loss", "exploration.epsilon")) == [
        "reward.eval",
        "critic.loss",
        "exploration.epsilon",
    ]


def test_a_log_without_known_curves_shows_none() -> None:
    assert shown_signals(run("raw.x")) == []


def test_short_curves_are_left_alone() -> None:
    step, value = thin(np.arange(5.0), np.arange(5.0))
    assert step.size == value.size == 5


@settings(max_examples=50, deadline=None)
@given(
    arrays.arrays(np.float64, st.integers(300, 5000), elements=st.floats(-1e6, 1e6) | st.just(float("nan"))),
    st.integers(10, 240),
)
def test_thinning_keeps_ends_extremes_and_order(value: np.ndarray, limit: int) -> None:
    step = np.arange(value.size, dtype=float)
    kept, shown = thin(step, value, limit)
    assert kept.size <= limit
    assert (np.diff(kept) > 0).all()
    assert (kept[0], kept[-1]) == (step[0], step[-1])
    assert np.array_equal(shown, value[kept.astype(int)], equal_nan=True)
    if np.isfinite(value).any():
        assert np.nanmin(shown) == np.nanmin(value)
        assert np.nanmax(shown) == np.nanmax(value)


def test_a_spike_of_one_point_survives() -> None:
    value = np.zeros(100_000)
    value[54_321] = 1.0
    (curve,) = display_curves([series("policy.kl", value)], (1.0, 2.0))
    assert curve.value.max() == 1.0
    assert curve.step.size <= DISPLAY_POINTS
    assert (curve.title, curve.unit, curve.bad) == ("KL(old ‖ new)", "nats", (1.0, 2.0))


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_non_finite_values_stay_visible(bad: float) -> None:
    value = np.zeros(1000)
    value[500:] = bad
    _, shown = thin(np.arange(1000.0), value, 20)
    assert not np.isfinite(shown[-1])
    assert np.isfinite(shown[0])
