"""Relations between two signals: ratios, correlation, phase lag, which left its band first."""

from __future__ import annotations

from math import erf
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .middle import median
from .onset import normal_band_onset

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..signals.run import Series
    from .view import View

    Floats = NDArray[np.float64]

__all__ = [
    "Pair",
    "correlation",
    "correlation_changes",
    "lag_iterations",
    "lag_peak",
    "lag_significance",
    "lag_steps",
    "non_finite_before",
    "onset_before",
    "ratio",
]

_GRID = 256
_TINY = 1e-12


class Pair(NamedTuple):
    """Two signals in one window, the whole series, and the mean episode length where known (for reward windows)."""

    a: View
    b: View
    series_a: Series
    series_b: Series
    episode_length: float | None


def ratio(p: Pair) -> float:
    """Median of |a| over median of |b|; null when the latter is 0."""
    below = median(np.abs(p.b.value))
    return median(np.abs(p.a.value)) / below if below else float("nan")


def _grid(p: Pair) -> tuple[Floats, Floats, float]:
    """Both signals on a common even grid over the steps that both cover, and its spacing; empty without overlap."""
    start, end = max(p.a.step[0], p.b.step[0]), min(p.a.step[-1], p.b.step[-1])
    n = min(_GRID, p.a.n, p.b.n)
    if end <= start or n < 8:
        return np.empty(0), np.empty(0), float("nan")
    grid = np.linspace(start, end, n)
    return np.interp(grid, p.a.step, p.a.value), np.interp(grid, p.b.step, p.b.value), float(grid[1] - grid[0])


def _ranks(x: Floats) -> Floats:
    """Ranks with ties averaged."""
    _, inverse, counts = np.unique(x, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    result: Floats = ((ends - counts + ends - 1) / 2.0)[inverse]
    return result


def _pearson(x: Floats, y: Floats) -> float:
    x, y = x - x.mean(), y - y.mean()
    scale = float(np.sqrt((x @ x) * (y @ y)))
    return float(x @ y) / scale if scale > _TINY else float("nan")


def correlation(p: Pair) -> float:
    """Spearman's rank correlation of the levels on a common grid, −1…1; null when either is constant."""
    x, y, _ = _grid(p)
    return _pearson(_ranks(x), _ranks(y)) if x.size else float("nan")


def correlation_changes(p: Pair) -> float:
    """Pearson correlation of the changes over 32 bins, −1…1: do they move together, whatever their trends?"""
    x, y, _ = _grid(p)
    if not x.size:
        return float("nan")
    parts = np.array_split(np.arange(x.size), min(32, x.size // 2))
    dx, dy = (np.diff([s[i].mean() for i in parts]) for s in (x, y))
    return _pearson(dx, dy) if dx.size > 2 else float("nan")


def _detrended(x: Floats) -> Floats:
    t = np.linspace(-1.0, 1.0, x.size)
    x = x - x.mean()
    result: Floats = x - t * (float(t @ x) / float(t @ t))
    return result


def _cross(p: Pair) -> tuple[float, float, float]:
    """Lag in steps (positive: a leads b), peak height, and significance 0…1 of the cross-correlation.

    Detrended, lags up to half the overlap. The significance compares the peak with the variance that two independent
    signals with these autocorrelations would give (Bartlett 1946), for the number of lags that were searched.
    """
    x, y, spacing = _grid(p)
    if not x.size:
        return float("nan"), float("nan"), float("nan")
    x, y = _detrended(x), _detrended(y)
    scale = float(np.sqrt((x @ x) * (y @ y)))
    if scale <= _TINY:
        return float("nan"), float("nan"), float("nan")
    n, half = x.size, x.size // 2
    fx, fy = np.fft.rfft(x, 2 * n), np.fft.rfft(y, 2 * n)
    both = np.fft.irfft(np.conj(fx) * fy) / scale
    lags = np.arange(-half, half + 1)
    r = both[lags % (2 * n)]
    k = int(np.argmax(np.abs(r)))
    auto = [np.fft.irfft(f * np.conj(f))[:half] for f in (fx, fy)]
    rho = auto[0] / auto[0][0] * (auto[1] / auto[1][0])
    deviation = np.sqrt(max((1 + 2 * float(rho[1:].sum())) / n, 1 / n))
    inside = erf(abs(float(r[k])) / deviation / np.sqrt(2.0))
    independent = max(lags.size / max(n * deviation**2, 1.0), 1.0)  # lags searched, in units of the signals' own memory
    return (float(lags[k]) * spacing - _window_delay(p), float(r[k]), float(inside**independent))


def _window_delay(p: Pair) -> float:
    """Steps by which b is delayed against a only because it is a mean over past episodes: half the window's length."""
    if p.episode_length is None:
        return 0.0
    delay = [
        (s.semantics.window_episodes or 0) * p.episode_length / 2.0 if (s.semantics.window_episodes or 0) > 1 else 0.0
        for s in (p.series_a, p.series_b)
    ]
    return delay[1] - delay[0]


def lag_steps(p: Pair) -> float:
    """Phase lag in steps, positive when a leads b; corrected for the averaging windows of returns."""
    return _cross(p)[0]


def lag_iterations(p: Pair) -> float:
    """The phase lag in training iterations; null where iterations are unknown."""
    s = p.series_a
    gaps = np.diff(s.iteration)
    known = np.isfinite(gaps) & (gaps > 0)
    if not known.any():
        return float("nan")
    return lag_steps(p) / median(np.diff(s.step)[known] / gaps[known])


def lag_peak(p: Pair) -> float:
    """Height of the cross-correlation at the lag, −1…1."""
    return _cross(p)[1]


def lag_significance(p: Pair) -> float:
    """How sure the lag is not chance, 0…1 (Bartlett's variance)."""
    return _cross(p)[2]


def onset_before(p: Pair) -> float:
    """By which part of the run a left its early band before b (negative: after); never leaving counts as the end."""
    a, b = normal_band_onset(p.series_a), normal_band_onset(p.series_b)
    if a is None and b is None:
        return float("nan")
    span = p.a.span
    return ((span.end if b is None else b) - (span.end if a is None else a)) / span.length


def non_finite_before(p: Pair) -> float:
    """By which part of the run a became NaN or infinite before b; null when neither did."""
    a, b = p.series_a.non_finite.first_step, p.series_b.non_finite.first_step
    if a is None and b is None:
        return float("nan")
    span = p.a.span
    return ((span.end if b is None else b) - (span.end if a is None else a)) / span.length
