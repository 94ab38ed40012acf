"""The median of short arrays: numpy's own spends most of its time on what a window of a run never has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["median"]


def median(values: NDArray[np.float64]) -> float:
    """Median of an array of shape (n,), to the last bit what `np.median` gives; NaN where one value is, and of none."""
    if not values.size:
        return float("nan")
    half, odd = divmod(values.size, 2)
    if odd:
        part = np.partition(values, (half, -1))
        middle = float(part[half])
    else:
        part = np.partition(values, (half - 1, half, -1))
        middle = float((part[half - 1] + part[half]) / 2.0)
    return float("nan") if np.isnan(part[-1]) else middle  # NaN is sorted to the end
