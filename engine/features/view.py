"""What a statistic looks at: the finite points of one signal inside one window of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..signals.run import NonFinite, Series
    from .windows import Window

    Floats = NDArray[np.float64]

__all__ = ["Span", "View", "cut"]


@dataclass(frozen=True, slots=True)
class Span:
    """First and last step of a run: windows that are fractions refer to it, not to the single signal."""

    start: float
    end: float

    @property
    def length(self) -> float:
        """Length in steps; at least a tiny positive number."""
        return max(self.end - self.start, 1e-12)


@dataclass(frozen=True, slots=True)
class View:
    """Finite points in a window: `step`, `value` of shape (n,); `total` counts the points of the window with the
    non-finite ones; `non_finite` is the evidence for the whole signal, `span` that of the run.
    """

    step: Floats
    value: Floats
    total: int
    non_finite: NonFinite
    span: Span

    @property
    def n(self) -> int:
        """Number of finite points."""
        return int(self.value.size)

    @property
    def range(self) -> float:
        """Largest minus smallest value; 0 without points."""
        return float(self.value.max() - self.value.min()) if self.n else 0.0


def cut(series: Series, window: Window, span: Span, onset: float | None) -> View:
    """The part of `series` in `window`. `onset` is the step of the signal's own change, for windows that start there;
    without one such a window is empty.
    """
    low, high = -np.inf, np.inf
    axis = series.step
    if window.unit == "onset":
        low = np.inf if onset is None else onset
    else:
        low = -np.inf if window.start is None else window.start
        high = np.inf if window.end is None else window.end
        if window.unit == "fraction":
            low, high = span.start + low * span.length, span.start + high * span.length
        elif window.unit == "iterations":
            axis = series.iteration
    inside: slice | NDArray[np.bool_]
    if axis is series.step:  # sorted
        inside = slice(int(axis.searchsorted(low, "left")), int(axis.searchsorted(high, "right")))
    else:
        with np.errstate(invalid="ignore"):
            inside = (axis >= low) & (axis <= high)
    step, value = series.step[inside], series.value[inside]
    finite = np.isfinite(value)
    if finite.all():
        return View(step, value, int(value.size), series.non_finite, span)
    return View(step[finite], value[finite], int(value.size), series.non_finite, span)
