"""Raw W&B: the datastore of a run (``run-….wandb``) whose keys no tag map knows; one file one run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rl_diagnose.errors import LogError

from .named_columns import NamedColumns
from .readers.wandb_beside import beside_wandb
from .readers.wandb_file import read_wandb_file

if TYPE_CHECKING:
    from pathlib import Path

    from .readers.points import Table

__all__ = ["ADAPTER", "read_history"]

_ENDING = ".wandb"


def read_history(path: Path, *, head: int | None = None) -> Table:  # noqa: ARG001 - records have no order of size
    """The history of a run as a table. Raises `LogError` for another, an empty or a foreign file."""
    if path.suffix != _ENDING:
        raise LogError("this is no W&B datastore", place=path)
    return read_wandb_file(path).history


ADAPTER = NamedColumns(
    name="wandb",
    title="W&B offline runs (keys recognised by name, or by --map)",
    read_file=read_history,
    file_names=re.compile(rf".*\{_ENDING}"),
    covers=beside_wandb,
)
