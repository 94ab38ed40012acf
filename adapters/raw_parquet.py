"""Raw Parquet: tables without a framework, one file one run."""

from __future__ import annotations

import re

from .named_columns import NamedColumns
from .readers.parquet import PARQUET_NAMES, read_parquet

__all__ = ["ADAPTER"]

ADAPTER = NamedColumns(
    name="parquet",
    title="Parquet tables (columns recognised by name, or by --map)",
    read_file=read_parquet,
    file_names=re.compile(PARQUET_NAMES),
    quiet=True,
)
