"""Parquet files as `Table`, read by polars."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rl_diagnose.errors import LogError

from .points import Table

if TYPE_CHECKING:
    from pathlib import Path

    from polars import Series

__all__ = ["PARQUET_NAMES", "read_parquet"]

MAX_ROWS = 50_000_000
MAX_COLUMNS = 10_000
_HEAD_ROWS = 64
_SHOWN = 200
PARQUET_NAMES = r"(?!completions_\d+\.).*\.(parquet|pq)"
"""Names (in lower case) of files that may be logs; TRL's ``completions_<step>.parquet`` hold texts."""


def read_parquet(path: Path, *, head: int | None = None) -> Table:
    """The columns of numbers and texts of a Parquet file; nested columns are left out, a null is a blank cell.

    With `head` only the first rows are read. Raises `LogError` for a file that is no Parquet file, is damaged, or has
    more than 50 million rows or 10 000 columns.
    """
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except OSError as error:
        raise LogError(f"the file cannot be read: {error.strerror or error}", place=path) from None
    if magic != b"PAR1":
        raise LogError("this is no Parquet file: its first bytes are not 'PAR1'", place=path)
    import polars as pl

    try:
        lazy = pl.scan_parquet(path, glob=False, hive_partitioning=False)  # the name is a name, not a pattern
        if len(lazy.collect_schema()) > MAX_COLUMNS:
            raise LogError(f"the file has more than {MAX_COLUMNS:,} columns", place=path, hint="give those of the run")
        frame = lazy.head(_HEAD_ROWS).collect() if head is not None else lazy.collect()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError) as error:
        # PanicException, which is no PolarsError: damage that polars takes for a mistake of its own
        reason = str(error).partition("\n")[0][:_SHOWN]
        raise LogError(f"the Parquet file is damaged: {reason}", place=path) from None
    if frame.height > MAX_ROWS:
        raise LogError(f"the file has more than {MAX_ROWS:,} rows", place=path, hint="give a thinned-out log")
    numbers, non_finite, texts = {}, {}, {}
    for column in frame:
        if column.dtype == pl.String:
            texts[column.name] = tuple(column.fill_null("").to_list())
        elif column.dtype.is_numeric() or column.dtype == pl.Boolean:
            values, odd = _numbers(column)
            numbers[column.name] = values
            if odd is not None:
                non_finite[column.name] = odd
    return Table(path.name, frame.height, numbers, non_finite, texts)


def _numbers(column: Series) -> tuple[np.ndarray, np.ndarray | None]:
    """Values with NaN for blank and non-finite cells, and the cells that held a non-finite number (0 elsewhere)."""
    import polars as pl

    blank = column.is_null().to_numpy()
    raw = column.cast(pl.Float64).fill_null(0.0).to_numpy()
    odd = ~np.isfinite(raw) & ~blank
    values = np.where(blank | odd, np.nan, raw)
    return values, np.where(odd, raw, 0.0) if odd.any() else None
