"""Raw CSV and TSV: tables without a framework, one file one run."""

from __future__ import annotations

import re

from .named_columns import NamedColumns
from .readers.csv_table import read_table

__all__ = ["ADAPTER"]

ADAPTER = NamedColumns(
    name="csv",
    title="CSV and TSV tables (columns recognised by name, or by --map)",
    read_file=read_table,
    file_names=re.compile(r"(.*\.[ct]sv|progress\.txt)(\.gz)?"),
)
