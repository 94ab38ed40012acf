"""Sparklines: a curve in one line of text, on a step axis shared by all curves of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..diagnosis.model import Curve

__all__ = ["Spark", "marked_cells", "spark"]

BLOCKS = "▁▂▃▄▅▆▇█"
ASCII_BLOCKS = "_.-=+*%#"
# Above this ratio of the largest to the typical value a linear axis shows one spike and a flat floor.
LOG_RATIO = 50.0


@dataclass(frozen=True, slots=True)
class Spark:
    """One line of cells, and whether their height is logarithmic."""

    cells: str
    log: bool


def spark(curve: Curve, first: float, last: float, width: int, *, ascii_only: bool = False) -> Spark:
    """`curve` as `width` cells over the steps `first` … `last`.

    A cell shows the mean of its points; between two points the earlier one is held; blank before the first and after
    the last point; ``×`` (ASCII ``x``) where every point of the cell is non-finite.
    """
    if curve.step.size == 0 or width < 1:
        return Spark(" " * width, log=False)
    cell = _cells(curve.step, first, last, width)
    finite = np.isfinite(curve.value)
    values = curve.value[finite]
    log = bool(values.size and values.min() > 0.0 and values.max() > LOG_RATIO * np.median(values))
    heights = np.log10(values) if log else values
    total = np.bincount(cell[finite], weights=heights, minlength=width)
    points = np.bincount(cell[finite], minlength=width)
    seen = np.bincount(cell, minlength=width) > 0
    mean = np.divide(total, points, out=np.full(width, np.nan), where=points > 0)
    blocks = ASCII_BLOCKS if ascii_only else BLOCKS
    low, high = (float(np.nanmin(mean)), float(np.nanmax(mean))) if values.size else (0.0, 0.0)
    level = np.zeros(width, dtype=int)
    if high - low > 1e-9 * max(abs(low), abs(high)):
        level = np.nan_to_num((mean - low) / (high - low) * len(blocks)).astype(int).clip(0, len(blocks) - 1)
    ends = np.flatnonzero(seen)
    line, held = [], " "
    for i in range(width):
        if seen[i]:
            held = blocks[level[i]] if points[i] else ("x" if ascii_only else "×")
        line.append(held if ends[0] <= i <= ends[-1] else " ")
    return Spark("".join(line), log=log)


def marked_cells(interval: tuple[float, float], first: float, last: float, width: int) -> tuple[int, int]:
    """Cells [start, stop) of the line that the steps of `interval` fall into; at least one cell."""
    start, stop = (int(c) for c in _cells(np.asarray(interval, dtype=float), first, last, width))
    return start, max(stop, start) + 1


def _cells(step: np.ndarray, first: float, last: float, width: int) -> np.ndarray:
    span = max(last - first, 1e-12)
    return ((step - first) / span * width).astype(int).clip(0, width - 1)
