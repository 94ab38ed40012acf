"""What a training script printed: tables and lines with names and numbers, without a framework; one file one run."""

from __future__ import annotations

from .named_columns import NamedColumns
from .readers.console import read_console_file

__all__ = ["ADAPTER", "ENDINGS"]

ENDINGS = (".log", ".out", ".txt", ".log.gz", ".out.gz", ".txt.gz")

ADAPTER = NamedColumns(
    name="console",
    title="console output (tables and lines such as 'step 100 reward: 1.2')",
    read_file=read_console_file,
    endings=ENDINGS,
    weight=0.2,
    quiet=True,
)
