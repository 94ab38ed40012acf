"""Points per key as a table with one row a step, for logs that no tag map knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rl_diagnose.errors import LogError

from .readers.points import Table

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from .readers.points import EventFile

__all__ = ["STEP", "event_table", "head_table"]

STEP = "step"
"""The column of the steps."""


def event_table(events: EventFile, path: Path) -> Table:
    """The scalars in order of steps; of two values of a key at one step the later counts.

    Raises `LogError` where there is no scalar.
    """
    steps = np.unique(np.concatenate([points.step for points in events.scalars.values()] or [np.empty(0)]))
    if not steps.size:
        raise LogError("it holds no scalar", place=path, hint="the run stopped before it logged any")
    numbers, non_finite = {STEP: steps}, {}
    for key, points in events.scalars.items():
        at = np.searchsorted(steps, points.step)
        cells = np.full(steps.size, np.nan)
        cells[at] = points.value
        logged = np.zeros(steps.size, dtype=bool)
        logged[at] = True
        odd = logged & ~np.isfinite(cells)
        numbers[key] = np.where(odd, np.nan, cells)
        if odd.any():
            non_finite[key] = np.where(odd, cells, 0.0)
    return Table(path.name, steps.size, numbers, non_finite, issues=events.issues)


def head_table(name: str, keys: Iterable[str]) -> Table:
    """The columns that a log will have, without a row: enough to see whether their names are known."""
    return Table(name, 0, {STEP: np.empty(0), **{key: np.empty(0) for key in sorted(keys)}})
