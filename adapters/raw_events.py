"""Raw event files: what a training loop of one's own wrote with a SummaryWriter; one file is one run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rl_diagnose.errors import LogError

from .event_table import event_table, head_table
from .named_columns import NamedColumns
from .readers.event_files import read_event_file
from .readers.event_framing import peek_tags

if TYPE_CHECKING:
    from pathlib import Path

    from .readers.points import Table

__all__ = ["ADAPTER", "read_event_table"]

_MARK = "tfevents"


def read_event_table(path: Path, *, head: int | None = None) -> Table:
    """The scalars of an event file as a table; with `head` only the names of the first tags are read.

    Raises `LogError` when the file is no event file or holds no scalar.
    """
    if _MARK not in path.name:
        raise LogError("this is no event file", place=path)
    return event_table(read_event_file(path), path) if head is None else head_table(path.name, peek_tags(path))


ADAPTER = NamedColumns(
    name="tensorboard",
    title="TensorBoard event files (tags recognised by name, or by --map)",
    read_file=read_event_table,
    file_names=re.compile(rf".*{_MARK}.*"),
    quiet=True,
)
