"""From records (one mapping a row, numbers or texts) to a `Table`: shared by readers of row-wise formats."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from .points import Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rl_diagnose.signals.run import LogIssue

__all__ = ["flatten", "number", "table_from_records"]

MAX_DEPTH = 16
_WORDS = {
    "nan": math.nan,
    "null": math.nan,
    "infinity": math.inf,
    "inf": math.inf,
    "-infinity": -math.inf,
    "-inf": -math.inf,
}


def number(value: object) -> float | None:
    """`value` as a float: numbers, booleans, and the words that loggers write for non-finite numbers; else None."""
    if isinstance(value, bool | int | float):
        try:
            return float(value)
        except OverflowError:  # an integer beyond the range of float64
            return math.inf if value > 0 else -math.inf
    if isinstance(value, str):
        text = value.strip().lower()
        if text in _WORDS:
            return _WORDS[text]
        try:
            return float(text)
        except ValueError:
            return None
    return None


def flatten(record: Mapping[str, object], prefix: str = "", depth: int = 0) -> dict[str, object]:
    """Nested mappings as one level, keys joined by ``/``. Lists are left as they are; deeper than 16 levels is cut."""
    flat: dict[str, object] = {}
    for key, value in record.items():
        name = f"{prefix}/{key}" if prefix else str(key)
        if isinstance(value, dict) and depth < MAX_DEPTH:
            flat.update(flatten(value, name, depth + 1))
        else:
            flat[name] = value
    return flat


def table_from_records(
    file: str, records: Sequence[Mapping[str, object]], *, comment: str = "", issues: Iterable[LogIssue] = ()
) -> Table:
    """A `Table` whose columns are all keys of all records, in order of first appearance.

    A column is numeric when each of its values is a number (or a word for a non-finite one); otherwise it is text. A
    key that is absent from a record, or None there, is a blank cell.
    """
    rows = len(records)
    numbers: dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]] = {}
    texts: dict[str, list[str]] = {}
    non_finite: dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]] = {}
    for row, record in enumerate(records):
        for key, value in record.items():
            if value is None or isinstance(value, dict | list):
                continue
            parsed = number(value)
            if parsed is None:
                texts.setdefault(key, [""] * rows)[row] = str(value)
                continue
            column = numbers.get(key)
            if column is None:
                column = numbers[key] = np.full(rows, np.nan)
            if math.isfinite(parsed):
                column[row] = parsed
            else:
                marks = non_finite.get(key)
                if marks is None:
                    marks = non_finite[key] = np.zeros(rows)
                marks[row] = parsed
    for key in texts:  # a column with a word in it is a text column, whatever else it holds
        numbers.pop(key, None)
        non_finite.pop(key, None)
    return Table(
        file=file,
        rows=rows,
        numbers=dict(numbers),
        non_finite=dict(non_finite),
        texts={key: tuple(values) for key, values in texts.items()},
        comment=comment,
        issues=tuple(issues),
    )
