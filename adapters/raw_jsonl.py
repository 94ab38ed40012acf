"""Raw JSON lines: one object a line, without a framework; one file one run."""

from __future__ import annotations

import re

from .named_columns import NamedColumns
from .readers.json_lines import read_json_lines

__all__ = ["ADAPTER"]

ADAPTER = NamedColumns(
    name="jsonl",
    title="JSON lines (keys recognised by name, or by --map)",
    read_file=read_json_lines,
    file_names=re.compile(r".*\.(jsonl?|ndjson)(\.gz)?"),
    weight=0.9,
    quiet=True,
)
