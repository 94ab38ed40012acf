"""From records (one mapping a row, numbers or texts) to a `Table`: shared by readers of row-wise formats."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rl_diagnose.signals.run import LogIssue

from .points import Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

__all__ = ["flatten", "number", "table_from_records"]

MAX_DEPTH = 16
MAX_COLUMNS = 10_000
MAX_CELLS = 50_000_000
_FEWEST = 16
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
    key that is absent from a record, or None there, is a blank cell. Of more than `MAX_COLUMNS` keys, or so many that
    the table would not fit into memory, those with the most values are kept (issue ``too_many_keys``).
    """
    rows = len(records)
    cells: dict[str, tuple[list[int], list[object]]] = {}
    for row, record in enumerate(records):
        for key, value in record.items():
            if value is None or isinstance(value, dict | list):
                continue
            column = cells.get(key)
            if column is None:
                column = cells[key] = ([], [])
            column[0].append(row)
            column[1].append(value)
    found = list(issues)
    most = min(MAX_COLUMNS, max(_FEWEST, MAX_CELLS // max(rows, 1)))
    if len(cells) > most:
        kept = set(sorted(cells, key=lambda key: -len(cells[key][0]))[:most])
        text = f"it has {len(cells):,} keys: the {most:,} with the most values are read"
        found.append(LogIssue("too_many_keys", text, file))
        cells = {key: column for key, column in cells.items() if key in kept}
    numbers: dict[str, NDArray[np.float64]] = {}
    non_finite: dict[str, NDArray[np.float64]] = {}
    texts: dict[str, tuple[str, ...]] = {}
    for key, (places, values) in cells.items():
        parsed = [number(value) for value in values]
        if None in parsed:  # a column with a word in it is a text column, whatever else it holds
            words = [""] * rows
            for place, value in zip(places, values, strict=True):
                words[place] = str(value) if number(value) is None else words[place]
            texts[key] = tuple(words)
            continue
        written = np.zeros(rows)
        filled = np.zeros(rows, dtype=bool)
        written[places] = np.array(parsed, dtype=np.float64)
        filled[places] = True
        odd = ~np.isfinite(written)
        numbers[key] = np.where(filled & ~odd, written, np.nan)
        if odd.any():
            non_finite[key] = np.where(odd, written, 0.0)
    return Table(file, rows, numbers, non_finite, texts, comment, issues=tuple(found))
