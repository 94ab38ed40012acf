"""When something begins: the first lasting stretch beyond a bound, and when a signal leaves its own early band."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from .middle import median

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..signals.run import Series

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

__all__ = ["Onset", "find_onset", "normal_band_onset"]


class Onset(NamedTuple):
    """First and last step of a lasting stretch."""

    start: float
    end: float


def find_onset(
    step: Floats,
    value: Floats,
    *,
    direction: Literal["above", "below"],
    bound: float,
    min_points: int = 3,
    min_fraction: float = 0.05,
) -> Onset | None:
    """The first stretch of `value` beyond `bound`, of at least `min_points` points and `min_fraction` of the steps.

    `step` (sorted) and `value` have shape (n,); NaN values are left out. Single points on the other side do not end a
    stretch. None when there is no such stretch.
    """
    finite = np.isfinite(value)
    step, value = step[finite], value[finite]
    if value.size == 0:
        return None
    mask = _despeckled(value > bound if direction == "above" else value < bound)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.astype(np.int8), [0]])))
    needed = min(min_points, value.size)
    for start, stop in zip(edges[::2], edges[1::2] - 1, strict=True):
        if stop - start + 1 >= needed and step[stop] - step[start] >= min_fraction * (step[-1] - step[0]):
            return Onset(float(step[start]), float(step[stop]))
    return None


def _despeckled(mask: Bools) -> Bools:
    """Single points that differ from both neighbours are taken as their neighbours."""
    if mask.size < 5:
        return mask
    result = mask.copy()
    result[1:-1] = np.where(mask[:-2] == mask[2:], mask[:-2], mask[1:-1])
    return result


def normal_band_onset(series: Series) -> float | None:
    """The step at which a signal leaves the band of its early values for good; None when it never does.

    The band is median ± 5 robust deviations of the first fifth (at least 5 points), at least a hundredth of the whole
    range wide. "For good" means that four in five of the points from there on are outside.
    """
    finite = np.isfinite(series.value)
    step, value = series.step[finite], series.value[finite]
    if value.size < 10:
        return None
    early = value[: max(5, value.size // 5)]
    middle = median(early)
    width = max(5 * 1.4826 * median(np.abs(early - middle)), 0.01 * float(value.max() - value.min()))
    outside = _despeckled(np.abs(value - middle) > width)
    remaining = np.cumsum(outside[::-1])[::-1] / np.arange(value.size, 0, -1)
    leaves = np.flatnonzero(outside & (remaining >= 0.8))
    return float(step[leaves[0]]) if leaves.size and value.size - leaves[0] >= 3 else None
