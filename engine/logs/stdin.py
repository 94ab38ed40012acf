"""A log from standard input: spooled into a temporary file, since readers look at a log more than once."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import LogError, UsageError

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

__all__ = ["NAME", "STANDARD_INPUT", "spool"]

STANDARD_INPUT = "-"
"""The path that means standard input."""
NAME = "standard input"
_FILE = "stdin"


def spool(folder: TemporaryDirectory[str]) -> Path:
    """Standard input as a file in `folder`. Raises `UsageError` where it is a terminal, `LogError` where it is empty
    or there is no room for it.
    """
    closed = sys.stdin is None or sys.stdin.closed
    if closed or sys.stdin.isatty():
        fact = f"standard input is {'closed' if closed else 'a terminal'}: there is nothing to read"
        raise UsageError(fact, place=STANDARD_INPUT, hint="pipe a log into it: rl-diagnose - < train.log")
    path = Path(folder.name) / _FILE
    try:
        with path.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
    except OSError as error:
        fact = f"it cannot be kept in {folder.name}: {error.strerror or error}"
        raise LogError(fact, place=NAME, hint="write the log to a file and give its path") from None
    if not path.stat().st_size:
        raise LogError("it is empty", place=NAME, hint="the command before the pipe printed nothing")
    return path
