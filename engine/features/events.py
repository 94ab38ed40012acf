"""Statistics of what happens at some time: falls, spikes, jumps, periods, stairs, change points."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .middle import median
from .trends import smooth

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .view import View

    Floats = NDArray[np.float64]

__all__ = [
    "at_best_fraction",
    "change_delta",
    "change_fraction",
    "change_size",
    "change_step",
    "constant_fraction",
    "drawdown",
    "drawdown_final",
    "noise",
    "noise_abs",
    "period",
    "periodicity",
    "spike_ratio",
    "staircase",
]

_MAX_GRID = 4096
_TINY = 1e-12


def noise_abs(v: View) -> float:
    """Level of point-to-point noise in the signal's unit: robust deviation of first differences over √2."""
    d = np.diff(v.value)
    return float(1.4826 * median(np.abs(d - median(d))) / np.sqrt(2.0))


def noise(v: View) -> float:
    """Point-to-point noise as a share of the range; 0 for a constant."""
    return noise_abs(v) / v.range if v.range else 0.0


def _falls(v: View) -> tuple[Floats, float]:
    """How far the smoothed signal is below its best so far, and its range."""
    value = smooth(v.value)
    spread = float(value.max() - value.min())
    return np.maximum.accumulate(value) - value, spread


def drawdown(v: View) -> float:
    """Deepest fall of the smoothed signal from its best so far, as a share of its range."""
    fall, spread = _falls(v)
    return float(fall.max() / spread) if spread else 0.0


def drawdown_final(v: View) -> float:
    """Fall of the smoothed signal from its best to its end, as a share of its range."""
    fall, spread = _falls(v)
    return float(fall[-1] / spread) if spread else 0.0


def at_best_fraction(v: View) -> float:
    """Share of points within a tenth of the range from the best (largest) value."""
    return float(np.mean(v.value >= v.value.max() - 0.1 * v.range))


def spike_ratio(v: View) -> float:
    """Largest distance from the median over a robust spread (at least a thousandth of the median): 1 is ordinary."""
    middle = median(v.value)
    away = np.abs(v.value - middle)
    scale = max(1.4826 * median(away), 1e-3 * abs(float(middle)), _TINY)
    return float(away.max() / (3.0 * scale))


def constant_fraction(v: View) -> float:
    """Share of points equal to the one before."""
    return float(np.mean(np.diff(v.value) == 0.0))


def _change(v: View) -> tuple[int, float]:
    """Index before which the mean changes most (CUSUM, Page 1954), and the change of the mean there."""
    s = np.cumsum(v.value - v.value.mean())[:-1]
    k = int(np.argmax(np.abs(s))) + 1
    return k, float(v.value[k:].mean() - v.value[:k].mean())


def change_size(v: View) -> float:
    """Change of the mean at the change point, in units of point-to-point noise (never negative)."""
    _, delta = _change(v)
    return abs(delta) / max(noise_abs(v), 1e-9 * abs(delta), _TINY)


def change_step(v: View) -> float:
    """Step of the change point."""
    return float(v.step[_change(v)[0]])


def change_fraction(v: View) -> float:
    """Where in the run the change point lies, from 0 to 1."""
    return (change_step(v) - v.span.start) / v.span.length


def change_delta(v: View) -> float:
    """Change of the mean at the change point, in the signal's unit."""
    return _change(v)[1]


def _autocorrelation(v: View) -> tuple[Floats, float]:
    """Autocorrelation at lags 0… of the detrended signal on an even grid, and the grid's spacing in steps."""
    n = min(v.n, _MAX_GRID)
    grid = np.linspace(v.step[0], v.step[-1], n)
    y = np.interp(grid, v.step, v.value)
    x = grid - grid.mean()
    y = y - y.mean()
    y = y - x * (float(x @ y) / max(float(x @ x), _TINY))
    low, high = np.quantile(y, [0.01, 0.99])
    y = np.clip(y, low, high)  # one outlier is no period
    y = y - y.mean()
    spectrum = np.fft.rfft(y, 2 * n)
    raw = np.fft.irfft(spectrum * np.conj(spectrum))[:n]
    spacing = float(grid[1] - grid[0]) if n > 1 else 0.0
    if raw[0] <= n * (1e-10 * float(np.abs(v.value).max())) ** 2:  # rounding, not a signal
        return np.zeros(n), spacing
    return raw / raw[0] * n / np.maximum(n - np.arange(n), 1), spacing


def _period(v: View) -> tuple[float, float]:
    """Height of the clearest autocorrelation peak beyond the first zero crossing (lags to a third), and its lag."""
    r, spacing = _autocorrelation(v)
    top = r.size // 3
    below = np.flatnonzero(r[:top] < 0)
    if not below.size:
        return 0.0, float("nan")
    start = max(int(below[0]), 3)
    part = r[start:top]
    if part.size < 3:
        return 0.0, float("nan")
    peaks = np.flatnonzero((part[1:-1] >= part[:-2]) & (part[1:-1] > part[2:])) + 1
    if not peaks.size:
        return 0.0, float("nan")
    if part[peaks].max() <= 0:
        return 0.0, float("nan")
    best = int(peaks[part[peaks] >= 0.9 * part[peaks].max()][0])  # multiples of a period peak nearly as high
    height = float(part[best])
    significant = height > 1.96 / np.sqrt(r.size)
    return (min(height, 1.0), (start + best) * spacing) if significant else (0.0, float("nan"))


def periodicity(v: View) -> float:
    """Height (0…1) of the strongest autocorrelation peak of the detrended signal; 0 when none is significant."""
    return _period(v)[0]


def period(v: View) -> float:
    """Lag of that peak in steps; null when there is none."""
    return _period(v)[1]


def staircase(v: View) -> float:
    """How far a few jumps explain the rise: 1 = flat treads between few jumps, 0 = an even rise, or no rise."""
    d = np.diff(v.value)
    rise, travel = float(v.value[-1] - v.value[0]), float(np.abs(d).sum())
    if rise <= 0 or travel == 0:
        return 0.0
    few = max(1, d.size // 5)
    share = float(np.sort(d)[-few:].sum()) / travel
    even = few / d.size
    return float(np.clip((share - even) / (1 - even), 0.0, 1.0)) * min(1.0, rise / travel)
