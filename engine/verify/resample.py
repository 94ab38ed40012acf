"""Noise within a run: copies of it whose curves have the same course and other residuals (residual block bootstrap).

The course of a curve is its running median; what remains is cut into blocks of neighbouring points, so that
correlated noise stays correlated, and blocks drawn with replacement are put back on the course (Künsch 1989).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..signals.run import Run

    Floats = NDArray[np.float64]

__all__ = ["course", "resampled", "resampled_values"]

_SPAN = 0.1
_LEAST_SPAN = 5
_FEWEST = 8


def resampled(run: Run, count: int, seed: int) -> list[Run]:
    """`count` copies of `run`, the same for the same seed. Curves with fewer than 8 points stay as they are."""
    generator = np.random.default_rng(seed)
    drawn = {name: resampled_values(series.value, count, generator) for name, series in sorted(run.series.items())}
    return [
        replace(run, series={name: replace(run.series[name], value=values[i]) for name, values in drawn.items()})
        for i in range(count)
    ]


def resampled_values(values: Floats, count: int, generator: np.random.Generator) -> Floats:
    """`count` draws of a curve, float64 of shape (count, n); NaN stays where it is."""
    known = np.isfinite(values)
    n = int(known.sum())
    draws = np.repeat(values[np.newaxis, :], count, axis=0)
    if n < _FEWEST:
        return draws
    middle = course(values[known])
    residual = values[known] - middle
    length = max(2, round(n ** (1 / 3)))
    blocks = -(-n // length)
    starts = generator.integers(0, n - length + 1, size=(count, blocks))
    at = (starts[:, :, np.newaxis] + np.arange(length)).reshape(count, -1)[:, :n]
    draws[:, known] = middle + residual[at]
    return draws


def course(values: Floats) -> Floats:
    """The running median of a tenth of the points around each (at least 5), shorter at the ends."""
    n = values.size
    half = max(_LEAST_SPAN, round(_SPAN * n)) // 2
    padded = np.concatenate([np.full(half, np.nan), values, np.full(half, np.nan)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * half + 1)
    return np.asarray(np.nanmedian(windows, axis=1), dtype=np.float64)
