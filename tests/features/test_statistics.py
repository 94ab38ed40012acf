"""Each statistic against an independent computation with numpy or scipy, and what must hold for any curve."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy import stats

from rl_diagnose.features import events, levels, trends
from rl_diagnose.features.view import Span, View
from rl_diagnose.features.vocabulary import STATISTICS
from rl_diagnose.signals.run import NonFinite

Floats = NDArray[np.float64]


def view(value: Floats, step: Floats | None = None) -> View:
    steps: Floats = np.arange(value.size, dtype=np.float64) * 10 if step is None else step
    return View(steps, value, value.size, NonFinite(), Span(float(steps[0]), float(steps[-1])))


NOISE = np.random.default_rng(0).normal(size=300)
CURVES = {
    "noise": NOISE,
    "trend": 0.02 * np.arange(300) + NOISE,
    "wave": np.sin(np.arange(300) / 8) + 0.1 * NOISE,
    "huge": NOISE * 1e30,
    "few": np.array([3.0, 1.0, 4.0, 1.0, 5.0, 9.0]),
}
STEPS = {name: np.cumsum(np.random.default_rng(1).uniform(1, 9, curve.size)) for name, curve in CURVES.items()}


def literal_ema(x: Floats, alpha: float) -> float:
    level = x[0]
    for value in x[1:]:
        level = alpha * level + (1 - alpha) * value
    return float(level)


def literal_longest(x: Floats, bound: float) -> float:
    best = current = 0
    for value in x:
        current = current + 1 if value > bound else 0
        best = max(best, current)
    return best / x.size


def literal_change(x: Floats) -> float:
    """The split that the CUSUM statistic prefers, by trying each."""
    k = max(range(1, x.size), key=lambda i: abs(float(np.sum(x[:i] - x.mean()))))
    return float(x[k:].mean() - x[:k].mean())


def literal_steepest(step: Floats, x: Floats, width: float) -> float:
    found = []
    for i in range(x.size):
        inside = (step >= step[i]) & (step <= step[i] + width)
        if inside.sum() >= 3 and step[i] + width <= step[-1]:
            found.append(stats.linregress(step[inside], x[inside]).slope)
    return float(min(found)) if found else float(stats.linregress(step, x).slope)


ORACLES: dict[str, Callable[[Floats, Floats], tuple[float, float]]] = {
    "mean": lambda _, x: (levels.mean(view(x)), float(np.mean(x))),
    "median": lambda _, x: (levels.median(view(x)), float(np.percentile(x, 50))),
    "abs_median": lambda _, x: (levels.abs_median(view(x)), float(np.percentile(np.abs(x), 50))),
    "min": lambda _, x: (levels.minimum(view(x)), min(x)),
    "max": lambda _, x: (levels.maximum(view(x)), max(x)),
    "std": lambda _, x: (levels.std(view(x)), float(np.sqrt(np.mean((x - np.mean(x)) ** 2)))),
    "iqr": lambda _, x: (levels.iqr(view(x)), float(stats.iqr(x))),
    "fraction_above": lambda _, x: (levels.fraction_above(view(x), 0.5), sum(v > 0.5 for v in x) / len(x)),
    "longest_above": lambda _, x: (levels.longest_above(view(x), 0.0), literal_longest(x, 0.0)),
    "longest_below": lambda _, x: (levels.longest_below(view(x), 0.0), literal_longest(-x, 0.0)),
    "slope": lambda t, x: (trends.slope(view(x, t)), float(stats.linregress(t, x).slope)),
    "slope_t": lambda t, x: (
        trends.slope_t(view(x, t)),
        abs(float(stats.linregress(t, x).slope / stats.linregress(t, x).stderr)),
    ),
    "steepest_slope": lambda t, x: (trends.steepest_slope(view(x, t), 60.0), literal_steepest(t, x, 60.0)),
    "steepest_rise": lambda t, x: (trends.steepest_rise(view(x, t), 60.0), -literal_steepest(t, -x, 60.0)),
    "ema": lambda _, x: (trends.ema(view(x), 0.99), literal_ema(x, 0.99)),
    "change_delta": lambda _, x: (events.change_delta(view(x)), literal_change(x)),
}


@pytest.mark.parametrize("curve", CURVES)
@pytest.mark.parametrize("name", ORACLES)
def test_a_statistic_equals_an_independent_computation(name: str, curve: str) -> None:
    got, wanted = ORACLES[name](STEPS[curve], CURVES[curve])
    assert got == pytest.approx(wanted, rel=1e-6, abs=1e-9 * float(np.abs(CURVES[curve]).max()))


def test_the_robust_slope_is_scipys_theil_sen_for_few_points_and_ignores_outliers() -> None:
    step, value = STEPS["few"], CURVES["few"]
    assert trends.slope_robust(view(value, step)) == pytest.approx(stats.theilslopes(value, step).slope)
    line = 0.5 * np.arange(200.0)
    line[[20, 90, 150]] += 1e4
    assert trends.slope_robust(view(line)) == pytest.approx(0.05, rel=1e-3)


def test_the_units_of_slopes_agree() -> None:
    v = view(np.arange(11.0))  # 1 each 10 steps, over 100 steps
    assert (trends.slope(v), trends.slope_per_10k(v), trends.slope_per_run(v)) == pytest.approx((0.1, 1000.0, 10.0))


def test_drawdown_is_the_fall_from_the_best_as_a_share_of_the_range() -> None:
    collapsed = np.concatenate([np.linspace(0, 200, 100), np.full(100, 50.0)])
    assert events.drawdown(view(collapsed)) == pytest.approx(0.75, abs=0.02)
    assert events.drawdown_final(view(collapsed)) == pytest.approx(0.75, abs=0.02)
    assert events.drawdown(view(np.linspace(0, 1, 100))) == 0.0
    recovered = np.concatenate([collapsed, np.linspace(50, 200, 100)])
    assert events.drawdown(view(recovered)) == pytest.approx(0.75, abs=0.02)
    assert events.drawdown_final(view(recovered)) == pytest.approx(0.0, abs=0.02)


def test_a_step_is_found_where_it_is_and_is_large_in_units_of_noise() -> None:
    value = np.concatenate([np.zeros(120), np.full(80, 5.0)]) + 0.1 * NOISE[:200]
    v = view(value)
    assert events.change_step(v) == pytest.approx(1200.0, abs=20)
    assert events.change_fraction(v) == pytest.approx(120 / 199, abs=0.01)
    assert events.change_delta(v) == pytest.approx(5.0, abs=0.1)
    assert events.change_size(v) > 20
    assert events.change_size(view(NOISE)) < 2


def test_a_period_is_found_with_its_length_and_noise_has_none() -> None:
    wave = np.sin(2 * np.pi * np.arange(300) / 25) + 0.2 * NOISE
    assert events.periodicity(view(wave)) > 0.8
    assert events.period(view(wave)) == pytest.approx(250.0, rel=0.05)
    assert events.periodicity(view(np.random.default_rng(3).normal(size=300))) < 0.3
    assert events.periodicity(view(np.linspace(0, 1, 300))) < 0.3
    single = np.zeros(300)
    single[100] = 50.0
    assert events.periodicity(view(single + 0.01 * NOISE)) < 0.4


def test_stairs_are_told_from_an_even_rise() -> None:
    stairs = np.repeat(np.arange(10.0), 10)
    assert events.staircase(view(stairs)) > 0.9
    assert events.staircase(view(np.linspace(0, 9, 100))) < 0.1
    assert events.staircase(view(stairs[::-1].copy())) == 0.0


def test_noise_is_measured_without_the_trend() -> None:
    assert events.noise_abs(view(0.5 * np.arange(300) + NOISE)) == pytest.approx(1.0, abs=0.15)
    assert events.noise(view(np.zeros(10))) == 0.0


def test_growth_is_in_decades_and_relative_change_is_bounded() -> None:
    assert trends.growth_decades(view(np.logspace(0, 4, 500))) == pytest.approx(3.2, abs=0.01)
    assert trends.relative_change(view(np.array([1.0, 1, 1, 1, -1, -1, -1, -1, -1, -1]))) == pytest.approx(-1.0)


curves = arrays(np.float64, st.integers(1, 60), elements=st.floats(-1e6, 1e6, allow_nan=False, width=32))


@settings(max_examples=60)
@given(value=curves)
@pytest.mark.parametrize("name", STATISTICS)
def test_any_curve_gives_a_number_or_null_without_a_warning(name: str, value: Floats) -> None:
    spec = STATISTICS[name]
    if value.size < spec.points:
        return
    arguments = {"bound": 0.0, "width": 50.0, "alpha": 0.9}
    got = spec.function(view(value), *(arguments[a] for a in spec.arguments))
    assert isinstance(got, float)
    assert not math.isinf(got)


SCALE_FREE = ["drawdown", "drawdown_final", "periodicity", "staircase", "relative_change", "change_fraction", "noise"]


@settings(max_examples=40)
@given(seed=st.integers(0, 10_000), factor=st.floats(1e-3, 1e3))
@pytest.mark.parametrize("name", SCALE_FREE)
def test_scale_free_statistics_do_not_change_with_the_unit_of_the_signal(name: str, seed: int, factor: float) -> None:
    value = np.cumsum(np.random.default_rng(seed).normal(size=80))
    function = STATISTICS[name].function
    assert function(view(value * factor)) == pytest.approx(function(view(value)), rel=1e-6, abs=1e-9)
