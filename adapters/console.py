"""What a training script printed: tables and lines with names and numbers, without a framework; one file one run."""

from __future__ import annotations

import re

from .named_columns import NamedColumns
from .readers.console import read_console_file

__all__ = ["ADAPTER", "FILE_NAMES"]

FILE_NAMES = re.compile(r".*\.(log|out|txt)(\.gz)?")

ADAPTER = NamedColumns(
    name="console",
    title="console output (tables and lines such as 'step 100 reward: 1.2')",
    read_file=read_console_file,
    file_names=FILE_NAMES,
    weight=0.2,
    quiet=True,
)
