"""Platt scaling finds the distortion it is meant to undo; the figures are right on known cases."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rl_diagnose.rules.calibration import apply_platt, brier, ece, fit_platt, log_loss, reliability_bins


def drawn(n: int, a: float, b: float) -> tuple[np.ndarray, np.ndarray]:
    """Stated probabilities, and truths drawn with σ(a·logit p + b)."""
    rng = np.random.default_rng(3)
    stated = rng.uniform(0.01, 0.99, n)
    return stated, (rng.random(n) < apply_platt(stated, a, b)).astype(float)


def test_the_identity_changes_nothing() -> None:
    p = np.array([1e-9, 0.01, 0.5, 0.99])
    assert apply_platt(p, 1.0, 0.0) == pytest.approx(p)


def test_unknown_probabilities_stay_unknown() -> None:
    assert np.isnan(apply_platt(np.array([np.nan, 0.3]), 0.7, 0.1)).tolist() == [True, False]


@given(st.lists(st.floats(0, 1), min_size=2, max_size=8), st.floats(0.01, 50), st.floats(-50, 50))
def test_calibration_keeps_the_order_and_stays_a_probability(p: list[float], a: float, b: float) -> None:
    calibrated = apply_platt(np.sort(np.array(p)), a, b)
    assert (np.diff(calibrated) >= 0).all()
    assert ((calibrated >= 0) & (calibrated <= 1)).all()


def test_the_fit_finds_the_distortion() -> None:
    stated, present = drawn(20_000, 0.5, -0.8)
    assert fit_platt(stated, present) == pytest.approx((0.5, -0.8), abs=0.08)


def test_the_fit_of_little_data_stays_near_the_identity() -> None:
    a, b = fit_platt([0.6, 0.3], [1.0, 0.0], shrinkage=10.0)
    assert (a, b) == pytest.approx((1.0, 0.0), abs=0.15)
    assert fit_platt([], []) == (1.0, 0.0)


@pytest.mark.parametrize("present", [[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]])
def test_the_fit_is_finite_where_the_data_leave_it_open(present: list[float]) -> None:
    assert np.isfinite(fit_platt([1.0, 0.0, 0.5], present)).all()


def test_the_slope_stays_positive_even_where_the_order_is_wrong() -> None:
    stated, _ = drawn(500, 1.0, 0.0)
    a, _ = fit_platt(stated, (stated < 0.5).astype(float))
    assert a > 0


def test_fitting_lowers_the_log_loss_on_what_it_was_fitted_to() -> None:
    stated, present = drawn(2_000, 0.4, 1.0)
    better = apply_platt(stated, *fit_platt(stated, present))
    assert log_loss(better, present) < log_loss(stated, present)
    assert brier(better, present) < brier(stated, present)
    assert ece(better, present) < ece(stated, present)


def test_brier_and_log_loss_on_cases_by_hand() -> None:
    assert brier([1.0, 0.0], [1.0, 0.0]) == 0.0
    assert brier([0.8, 0.5], [1.0, 0.0]) == pytest.approx((0.04 + 0.25) / 2)
    assert log_loss([0.8, 0.5], [1.0, 0.0]) == pytest.approx(-(np.log(0.8) + np.log(0.5)) / 2)
    assert np.isfinite(log_loss([0.0], [1.0]))


def test_unknown_probabilities_are_left_out_of_every_figure() -> None:
    p, y = [0.8, float("nan"), 0.5], [1.0, 1.0, 0.0]
    assert brier(p, y) == brier([0.8, 0.5], [1.0, 0.0])
    assert log_loss(p, y) == log_loss([0.8, 0.5], [1.0, 0.0])
    assert ece(p, y) == ece([0.8, 0.5], [1.0, 0.0])


def test_bins_hold_equal_counts_from_the_lowest_probability_up() -> None:
    table = reliability_bins(np.linspace(0.995, 0.005, 100), np.zeros(100), bins=10)
    assert [n for n, _, _ in table] == [10] * 10
    assert [round(stated, 3) for _, stated, _ in table] == pytest.approx(np.linspace(0.05, 0.95, 10))


def test_the_calibration_error_is_zero_for_shares_that_come_true_and_the_gap_otherwise() -> None:
    present = [1.0, 0.0, 0.0, 0.0] * 5
    assert ece([0.25] * 20, present, bins=5) == pytest.approx(0.0)
    assert ece([0.75] * 20, present, bins=1) == pytest.approx(0.5)


def test_figures_of_nothing_are_unknown() -> None:
    assert all(np.isnan(figure([], [])) for figure in (brier, log_loss, ece))


def test_with_a_fixed_offset_the_slope_alone_is_fitted() -> None:
    rng = np.random.default_rng(2)
    p = rng.uniform(0.02, 0.98, 4000)
    y = (rng.random(4000) < apply_platt(p, 0.5, 1.0)).astype(float)
    a, b = fit_platt(p, y, fixed_b=0.0)

    assert b == 0.0
    losses = {slope: log_loss(apply_platt(p, slope, 0.0), y) for slope in (a - 0.05, a, a + 0.05)}
    assert min(losses, key=lambda slope: losses[slope]) == a
