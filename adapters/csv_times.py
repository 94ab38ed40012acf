"""Absolute times in a column: seconds or milliseconds since the epoch, or dates as text."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .readers.points import Table

__all__ = ["wall_times"]

_EARLIEST = datetime(2000, 1, 1, tzinfo=UTC).timestamp()
_LATEST = datetime(2100, 1, 1, tzinfo=UTC).timestamp()
_UNITS = (1.0, 1e3, 1e6, 1e9)


def wall_times(table: Table, column: str) -> NDArray[np.float64] | None:
    """Seconds since the epoch, float64 (rows,), NaN where a cell is blank; None when the column holds no absolute
    times.

    Numbers must lie between the years 2000 and 2100 in seconds, milli-, micro- or nanoseconds; texts must be ISO 8601
    dates, taken as UTC where they name no time zone.
    """
    if column in table.texts:
        return _dates(table.texts[column])
    values = table.numbers[column]
    known = values[np.isfinite(values)]
    for unit in _UNITS:
        if known.size and known.min() >= _EARLIEST * unit and known.max() <= _LATEST * unit:
            return values / unit
    return None


def _dates(texts: tuple[str, ...]) -> NDArray[np.float64] | None:
    seconds = np.full(len(texts), np.nan)
    for row, text in enumerate(texts):
        if not text:
            continue
        try:
            date = datetime.fromisoformat(text)
        except ValueError:
            return None
        seconds[row] = (date if date.tzinfo is not None else date.replace(tzinfo=UTC)).timestamp()
    return seconds if np.isfinite(seconds).any() else None
