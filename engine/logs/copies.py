"""Copies of a log beside it, as a second download or a file manager leaves them: the same bytes under a longer name."""

from __future__ import annotations

import filecmp
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

__all__ = ["without_copies"]

_MARK = re.compile(r"( \(\d+\)| - Copy( \(\d+\))?| copy( \d+)?| \(copy\)|\.bak|\.orig|~)(?=\.[^.]*$|$)", re.IGNORECASE)


def without_copies(files: Sequence[Path], report: Callable[[Path, str], None]) -> list[Path]:
    """The files of one folder without those that are called a copy of another and hold the same; each is reported."""
    by_name = {file.name: file for file in files}
    kept: list[Path] = []
    for file in files:
        original = by_name.get(_MARK.sub("", file.name, count=1))
        if original is not None and original != file and _same(file, original):
            report(file, f"a copy of {original.name}, which is read instead")
        else:
            kept.append(file)
    return kept


def _same(one: Path, other: Path) -> bool:
    try:
        return filecmp.cmp(one, other, shallow=False)
    except OSError:  # a file that cannot be opened is dealt with where it is read
        return False
