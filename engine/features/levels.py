"""Statistics of the values themselves, whatever their order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from . import middle

if TYPE_CHECKING:
    from .view import View

__all__ = [
    "abs_median",
    "count",
    "first",
    "fraction_above",
    "fraction_below",
    "iqr",
    "last",
    "longest_above",
    "longest_below",
    "maximum",
    "mean",
    "median",
    "minimum",
    "negative_fraction",
    "non_finite",
    "non_finite_first_step",
    "std",
]


def mean(v: View) -> float:
    """Arithmetic mean."""
    return float(v.value.mean())


def median(v: View) -> float:
    """Median."""
    return middle.median(v.value)


def abs_median(v: View) -> float:
    """Median of the absolute values."""
    return middle.median(np.abs(v.value))


def minimum(v: View) -> float:
    """Smallest value."""
    return float(v.value.min())


def maximum(v: View) -> float:
    """Largest value."""
    return float(v.value.max())


def first(v: View) -> float:
    """First value."""
    return float(v.value[0])


def last(v: View) -> float:
    """Last value."""
    return float(v.value[-1])


def std(v: View) -> float:
    """Standard deviation (over n)."""
    return float(v.value.std())


def iqr(v: View) -> float:
    """Distance between the quartiles."""
    low, high = np.quantile(v.value, [0.25, 0.75])
    return float(high - low)


def count(v: View) -> float:
    """Number of finite points."""
    return float(v.n)


def fraction_above(v: View, bound: float) -> float:
    """Share of points above the bound."""
    return float(np.mean(v.value > bound))


def fraction_below(v: View, bound: float) -> float:
    """Share of points below the bound."""
    return float(np.mean(v.value < bound))


def negative_fraction(v: View) -> float:
    """Share of points below 0."""
    return float(np.mean(v.value < 0))


def longest_above(v: View, bound: float) -> float:
    """Longest unbroken stretch above the bound, as a share of the points."""
    return _longest(v.value > bound)


def longest_below(v: View, bound: float) -> float:
    """Longest unbroken stretch below the bound, as a share of the points."""
    return _longest(v.value < bound)


def _longest(mask: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> float:
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.astype(np.int8), [0]])))
    return float((edges[1::2] - edges[::2]).max(initial=0) / mask.size)


def non_finite(v: View) -> float:
    """Number of NaN and infinite values in the whole signal, without those that healthy runs write too."""
    return float(v.non_finite.harmful)


def non_finite_first_step(v: View) -> float:
    """Step of the first NaN or infinite value of the whole signal; null when all are finite."""
    step = v.non_finite.first_step
    return float("nan") if step is None else float(step)
