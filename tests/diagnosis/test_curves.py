"""The five curves, and thinning that keeps every peak and dip."""

from __future__ import annotations

from dataclasses import replace

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
    assert thin(np.arange(5.0)).tolist() == [0, 1, 2, 3, 4]


@settings(max_examples=50, deadline=None)
@given(
    arrays.arrays(np.float64, st.integers(300, 5000), elements=st.floats(-1e6, 1e6) | st.just(float("nan"))),
    st.integers(10, 240),
)
def test_thinning_keeps_ends_extremes_and_order(value: np.ndarray, limit: int) -> None:
    kept = thin(value, limit)
    shown = value[kept]
    assert kept.size <= limit
    assert (np.diff(kept) > 0).all()
    assert (kept[0], kept[-1]) == (0, value.size - 1)
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
    kept = thin(value, 20)
    assert kept.size <= 20
    assert not np.isfinite(value[kept][-1])
    assert np.isfinite(value[kept][0])


def test_iterations_are_shown_where_the_log_tells_all_of_them() -> None:
    value = np.sin(np.arange(1000.0))
    told = replace(series("policy.kl", value), iteration=np.arange(1000.0) // 2)
    (curve,) = display_curves([told], None)
    assert curve.iteration is not None
    assert np.array_equal(curve.iteration, curve.step // 2)
    partly = replace(told, iteration=np.append(np.arange(999.0), np.nan))
    assert display_curves([partly], None)[0].iteration is None
    assert display_curves([replace(told, x_axis="iterations")], None)[0].iteration is None
