"""Statistics of the direction in which a signal goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .middle import median

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .view import View

    Floats = NDArray[np.float64]

__all__ = [
    "ema",
    "growth_decades",
    "relative_change",
    "slope",
    "slope_per_10k",
    "slope_per_run",
    "slope_robust",
    "slope_t",
    "smooth",
    "steepest_rise",
    "steepest_slope",
]

_BINS = 32


def _ols(step: Floats, value: Floats) -> tuple[float, float]:
    """Slope and its standard error by ordinary least squares; NaN where the steps do not differ."""
    x = step - step.mean()
    sxx = float(x @ x)
    if sxx == 0.0:
        return float("nan"), float("nan")
    y = value - value.mean()
    b = float(x @ y) / sxx
    residual = y - b * x
    freedom = max(value.size - 2, 1)
    return b, float(np.sqrt(residual @ residual / freedom / sxx))


def slope(v: View) -> float:
    """Slope by least squares, per step."""
    return _ols(v.step, v.value)[0]


def slope_t(v: View) -> float:
    """|slope| in units of its standard error; infinite for an exact line."""
    b, error = _ols(v.step, v.value)
    scale = float(np.abs(v.value).max(initial=0.0)) * 1e-12 / v.span.length
    return float("inf") if error <= scale else abs(b) / error


def slope_per_10k(v: View) -> float:
    """Slope by least squares, per 10,000 steps."""
    return slope(v) * 1e4


def slope_per_run(v: View) -> float:
    """Slope by least squares, per length of the run."""
    return slope(v) * v.span.length


def slope_robust(v: View) -> float:
    """Theil–Sen slope per step: the median slope between all pairs of (up to 32) bin medians (Theil 1950, Sen 1968)."""
    step, value = _binned(v.step, v.value, _BINS)
    i, j = np.triu_indices(step.size, 1)
    gap = step[j] - step[i]
    keep = gap > 0
    return median((value[j] - value[i])[keep] / gap[keep]) if keep.any() else float("nan")


def _binned(step: Floats, value: Floats, bins: int) -> tuple[Floats, Floats]:
    if step.size <= bins:
        return step, value
    parts = np.array_split(np.arange(step.size), bins)
    return np.array([step[p].mean() for p in parts]), np.array([median(value[p]) for p in parts])


def _window_slopes(v: View, width: float) -> Floats:
    """OLS slope over each window of `width` steps that starts at a point and holds at least 3; by prefix sums."""
    x, y = v.step - v.step[0], v.value - v.value.mean()  # centred first: prefix sums cancel badly otherwise
    stop = np.searchsorted(v.step, v.step + width, side="right")
    start = np.arange(v.n)
    n = (stop - start).astype(np.float64)
    sums = [np.concatenate([[0.0], np.cumsum(part)]) for part in (x, y, x * x, x * y)]
    sx, sy, sxx, sxy = (s[stop] - s[start] for s in sums)
    whole = (n >= 3) & (v.step + width <= v.step[-1] + 1e-9 * v.span.length)
    spread = sxx - sx * sx / np.maximum(n, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        b = (sxy - sx * sy / np.maximum(n, 1)) / spread
    slopes: Floats = b[whole & (spread > 0)]
    return slopes


def steepest_slope(v: View, width: float) -> float:
    """Most negative slope per step over windows of `width` steps; the whole window's slope when it is shorter."""
    slopes = _window_slopes(v, width)
    return float(slopes.min()) if slopes.size else slope(v)


def steepest_rise(v: View, width: float) -> float:
    """Most positive slope per step over windows of `width` steps; the whole window's slope when it is shorter."""
    slopes = _window_slopes(v, width)
    return float(slopes.max()) if slopes.size else slope(v)


def _ends(v: View) -> tuple[float, float]:
    k = max(1, v.n // 5)
    return median(v.value[:k]), median(v.value[-k:])


def relative_change(v: View) -> float:
    """Last fifth minus first fifth (medians), over the largest of both and the range: between −2 and 2."""
    a, b = _ends(v)
    scale = max(abs(a), abs(b), v.range)
    return (b - a) / scale if scale else 0.0


def growth_decades(v: View) -> float:
    """log₁₀ of the last fifth's over the first fifth's magnitude (medians); null when either is 0."""
    a, b = (abs(x) for x in _ends(v))
    return float(np.log10(b / a)) if a and b else float("nan")


def ema(v: View, alpha: float) -> float:
    """Last value of the exponential moving average ``ema[t] = alpha·ema[t−1] + (1 − alpha)·x[t]``, ema[0] = x[0]."""
    weights = (1 - alpha) * alpha ** np.arange(v.n - 1, -1, -1.0)
    weights[0] = alpha ** (v.n - 1.0)
    return float(weights @ v.value)


def smooth(value: Floats) -> Floats:
    """Centred moving mean over about a fiftieth of the points (at least 3, and an odd number); ends are shortened."""
    width = max(3, value.size // 50 | 1)
    if value.size < width:
        return value
    half = width // 2
    total = np.concatenate([[0.0], np.cumsum(value - value.mean())])
    index = np.arange(value.size)
    low, high = np.maximum(index - half, 0), np.minimum(index + half + 1, value.size)
    result: Floats = (total[high] - total[low]) / (high - low) + value.mean()
    return result
