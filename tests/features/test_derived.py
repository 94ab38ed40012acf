"""Derived signals against the published relations."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from rl_diagnose.features.derived import DERIVED, get_series, implied_clip_fraction, implied_kl
from rl_diagnose.signals.run import ActionSpace
from rl_diagnose.signals.taxonomy import signal_specs

from .made import run, series

# Clip fraction that a KL implies for log r ~ N(−δ, 2δ), to two digits.
KL = [0.001, 0.003, 0.005, 0.01, 0.015, 0.02, 0.03, 0.05, 0.1]
TABLE = {
    0.1: [0.03, 0.20, 0.32, 0.48, 0.56, 0.62, 0.68, 0.75, 0.83],
    0.2: [0.00, 0.01, 0.05, 0.15, 0.24, 0.31, 0.41, 0.52, 0.66],
    0.3: [0.00, 0.00, 0.00, 0.03, 0.08, 0.13, 0.21, 0.33, 0.49],
}


def test_every_derived_signal_of_the_taxonomy_can_be_computed() -> None:
    assert set(DERIVED) == {spec.id for spec in signal_specs().values() if spec.derived}


@pytest.mark.parametrize("epsilon", TABLE)
def test_the_clip_fraction_implied_by_a_kl_is_that_of_the_table(epsilon: float) -> None:
    assert implied_clip_fraction(np.array(KL), epsilon) == pytest.approx(TABLE[epsilon], abs=0.006)


def test_the_clip_fraction_is_that_of_a_normal_log_ratio() -> None:
    normal = stats.norm(-0.02, math.sqrt(0.04))
    wanted = normal.cdf(math.log(0.8)) + normal.sf(math.log(1.2))
    assert implied_clip_fraction(np.array([0.02]), 0.2)[0] == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("epsilon", [0.1, 0.2, 0.4])
def test_the_implied_kl_inverts_it_and_tiny_fractions_imply_nothing(epsilon: float) -> None:
    kl = np.array([0.01, 0.02, 0.05, 0.2])
    assert implied_kl(implied_clip_fraction(kl, epsilon), epsilon) == pytest.approx(kl, rel=0.01)
    assert math.isnan(implied_kl(np.array([1e-4]), epsilon)[0])


def test_heavy_tails_show_in_the_residual() -> None:
    clip = implied_clip_fraction(np.full(10, 0.01), 0.2)
    ordinary = get_series(
        run({"policy.kl": np.full(10, 0.01), "policy.clip_fraction": clip}, config={"clip_range": 0.2}),
        "policy.kl_residual",
    )
    heavy = get_series(
        run({"policy.kl": np.full(10, 1.0), "policy.clip_fraction": clip}, config={"clip_range": 0.2}),
        "policy.kl_residual",
    )
    assert ordinary is not None
    assert heavy is not None
    assert ordinary.value == pytest.approx(0.0, abs=0.01)
    assert heavy.value == pytest.approx(2.0, abs=0.01)


def test_the_logged_clip_range_wins_over_the_configured_one_and_without_any_there_is_nothing() -> None:
    curves = {"policy.kl": np.full(4, 0.02), "optim.clip_range": np.array([0.2, 0.2, 0.1, 0.1])}
    scaled = get_series(run(curves, config={"clip_range": 0.3}), "policy.kl_scaled")
    assert scaled is not None
    assert scaled.value == pytest.approx([1.0, 1.0, 4.0, 4.0])
    assert get_series(run({"policy.kl": np.full(4, 0.02)}), "policy.kl_scaled") is None


def test_steps_of_a_rollout_are_those_between_iterations_and_unknown_where_iterations_are() -> None:
    losses = run({"value.loss": np.ones(4)}).series["value.loss"]
    step, iteration = np.array([64.0, 128.0, 320.0, 320.0]), np.array([0.0, 1.0, 4.0, 4.0])
    counted = replace(run({}), series={"value.loss": replace(losses, step=step, iteration=iteration)})
    found = get_series(counted, "time.rollout_steps")
    assert found is not None
    assert found.value == pytest.approx([64.0, 64.0])
    uncounted = replace(counted, series={"value.loss": replace(losses, iteration=np.full(4, np.nan))})
    assert get_series(uncounted, "time.rollout_steps") is None
    by_updates = replace(counted, series={"value.loss": replace(losses, iteration=iteration, x_axis="updates")})
    assert get_series(by_updates, "time.rollout_steps") is None


def test_entropy_is_normalised_by_the_action_space_only_where_it_is_known() -> None:
    curves = {"policy.entropy": np.array([math.log(4), 0.018])}
    found = get_series(run(curves, space=ActionSpace("discrete", 4)), "policy.entropy_ratio")
    assert found is not None
    assert found.value == pytest.approx([1.0, 0.013], abs=5e-4)
    assert get_series(run(curves), "policy.entropy_ratio") is None
    assert get_series(run(curves, space=ActionSpace("continuous", 2)), "policy.entropy_ratio") is None


def test_the_width_of_a_gaussian_policy_follows_from_its_entropy() -> None:
    sigma = np.concatenate([np.full(10, 1.0), np.full(90, 0.1)])
    entropy = 3 * (stats.norm(0, 1).entropy() + np.log(sigma))
    space = ActionSpace("continuous", 3, low=-2.0, high=2.0)
    ratio = get_series(run({"policy.entropy": entropy}, space=space), "policy.sigma_ratio")
    width = get_series(run({"policy.entropy": entropy}, space=space), "policy.sigma_range")
    assert ratio is not None
    assert width is not None
    assert ratio.value[-1] == pytest.approx(0.1)
    assert width.value[[0, -1]] == pytest.approx([0.5, 0.05])


def test_the_gap_is_taken_at_the_steps_of_the_evaluations() -> None:
    train = series("reward.train", np.linspace(0, 100, 11), np.arange(11) * 100.0)
    evaluation = series("reward.eval", [50.0, 20.0], [500.0, 700.0])
    gap = get_series(run({"reward.train": train, "reward.eval": evaluation}), "reward.gap")
    assert gap is not None
    assert gap.value == pytest.approx([0.0, 0.5])
    assert gap.step.tolist() == [500.0, 700.0]


def test_the_distance_below_the_best_grows_with_a_collapse_and_a_constant_has_none() -> None:
    collapse = np.concatenate([np.linspace(0, 100, 50), np.full(50, 25.0)])
    below = get_series(run({"reward.train": collapse}), "reward.below_best")
    assert below is not None
    assert below.value[-1] == pytest.approx(0.75, abs=0.02)
    assert get_series(run({"reward.train": np.ones(20)}), "reward.below_best") is None


def test_value_loss_is_compared_with_the_spread_of_returns() -> None:
    returns = np.array([0.0, 2.0, 0.0, 2.0])
    found = get_series(run({"value.loss": np.full(4, 5.0), "reward.train": returns}), "value.loss_scaled")
    assert found is not None
    assert found.value == pytest.approx(np.full(4, 5.0))
