"""Raw event files: what a training loop of one's own wrote with a SummaryWriter; one file is one run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from rl_diagnose.errors import LogError

from .named_columns import NamedColumns
from .readers.event_files import read_event_file
from .readers.event_framing import peek_tags
from .readers.points import Table

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["ADAPTER", "read_event_table"]

_STEP = "step"
_MARK = "tfevents"


def read_event_table(path: Path, *, head: int | None = None) -> Table:
    """The scalars of an event file as a table with one row a step, in order of steps; of two values the later counts.

    With `head` only the names of the first tags are read, and the columns are empty. Raises `LogError` when the file
    is no event file or holds no scalar.
    """
    if _MARK not in path.name:
        raise LogError("this is no event file", place=path)
    if head is not None:
        return Table(path.name, 0, {_STEP: np.empty(0), **{tag: np.empty(0) for tag in sorted(peek_tags(path))}})
    events = read_event_file(path)
    steps = np.unique(np.concatenate([points.step for points in events.scalars.values()] or [np.empty(0)]))
    if not steps.size:
        raise LogError("the event file holds no scalar", place=path, hint="the run stopped before it logged any")
    numbers, non_finite = {_STEP: steps}, {}
    for tag, points in events.scalars.items():
        cells = np.full(steps.size, np.nan)
        cells[np.searchsorted(steps, points.step)] = points.value
        logged = np.zeros(steps.size, dtype=bool)
        logged[np.searchsorted(steps, points.step)] = True
        odd = logged & ~np.isfinite(cells)
        numbers[tag] = np.where(odd, np.nan, cells)
        if odd.any():
            non_finite[tag] = np.where(odd, cells, 0.0)
    return Table(path.name, steps.size, numbers, non_finite, issues=events.issues)


ADAPTER = NamedColumns(
    name="tensorboard",
    title="TensorBoard event files (tags recognised by name, or by --map)",
    read_file=read_event_table,
    file_names=re.compile(rf".*{_MARK}.*"),
    quiet=True,
)
