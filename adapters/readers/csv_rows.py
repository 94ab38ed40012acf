"""The rows of a text table: which lines are data, and what is odd about them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rl_diagnose.errors import LogError
from rl_diagnose.signals.run import LogIssue

from .cells import is_number

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Literal

    from .csv_layout import Layout

__all__ = ["NUMBER_STARTS", "Rows"]

NUMBER_STARTS = frozenset("0123456789+-.")
"""How a line of numbers begins; one that begins so is taken as another header by nobody."""


@dataclass(slots=True)
class Rows:
    """Makes rows as long as the header, and remembers what was odd about them. Lines are counted from 1 in the file.

    `header` is the header that holds at present (empty for a table without one), `names` its names and `width` its
    length; `kept` counts the rows of data. They may have `most` cells in all, those that are filled up with blanks
    included: a row of one byte under a header of ten thousand names takes as much memory as a whole one.
    """

    layout: Layout
    path: Path
    most: int
    header: tuple[str, ...] = field(init=False)
    width: int = field(init=False)
    names: frozenset[str] = field(init=False)
    columns: set[str] = field(init=False)
    kept: int = 0
    short: int = 0
    long: int = 0
    longest: int = 0
    first_ragged: int | None = None
    repeated: list[int] = field(default_factory=list)
    changed: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.header = self.layout.header
        self.names = frozenset(self.header)
        self.width = len(self.layout.names)
        self.columns = set(self.layout.names)

    def fit(self, cells: list[str], line: int) -> list[str] | None:
        """The cells of a row of data, padded, or shortened by blank cells; None for a blank line, a comment, and a row
        that is too long. Raises `LogError` where the table would have too many cells.
        """
        if cells and cells[0].startswith(self.layout.prefix):
            return None
        if len(cells) <= 1 and not "".join(cells).strip():
            return None
        if len(cells) > self.width and any(cell.strip() for cell in cells[self.width :]):
            self.long += 1
            self.longest = max(self.longest, len(cells))
            self.first_ragged = self.first_ragged or line
            return None
        if len(cells) < self.width:
            self.short += 1
            self.first_ragged = self.first_ragged or line
            cells = cells + [""] * (self.width - len(cells))
        self.kept += 1
        if self.kept * len(self.columns) > self.most:
            fact = (
                f"{self.kept:,} rows and {len(self.columns):,} columns, nearly all of them blank, are too many to read"
            )
            raise LogError(fact, place=self.path, hint="give a table whose rows are as long as its header")
        return cells[: self.width]

    def header_again(self, cells: Sequence[str], line: int) -> Literal["same", "other"] | None:
        """Whether a line is the header once more, or another header: names only, at least half of them known, the first
        of which does not begin like a number."""
        if not cells or (cells[0].strip() not in self.names and cells[-1].strip() not in self.names):
            return None
        names = tuple(cell.strip() for cell in cells)
        if names == self.header:
            self.repeated.append(line)
            return "same"
        if len(names) < 2 or len(set(names)) < len(names) or not all(names) or names[0][0] in NUMBER_STARTS:
            return None
        if any(is_number(name, self.layout.separator) for name in names):
            return None
        if 2 * len(self.names.intersection(names)) < len(names):
            return None
        self.changed.append(line)
        self.header, self.names, self.width = names, frozenset(names), len(names)
        self.columns.update(names)
        return "other"

    def issues(self, file: str) -> list[LogIssue]:
        """What was odd about the rows."""
        found: list[LogIssue] = []
        if self.repeated:
            text = f"the header comes again {_times(self.repeated)}: a restart, or a file that was appended to"
            found.append(LogIssue("header_repeated", text, file))
        if self.changed:
            text = f"another header comes {_times(self.changed)}: the rows below it are read by its names"
            found.append(LogIssue("header_changed", text, file))
        if self.short or self.long:
            short = [f"{self.short} rows are shorter than the header (their end is blank)"] if self.short else []
            long = [f"{self.long} rows are longer than the header and were left out"] if self.long else []
            text = " and ".join([*short, *long]) + f"; the first is line {self.first_ragged}"
            found.append(LogIssue("ragged_rows", text, file))
        if not self.kept and not self.long:
            found.append(LogIssue("no_rows", "there is a header, but no row yet", file, severity="info"))
        return found


def _times(lines: Sequence[int]) -> str:
    return f"in line {lines[0]}" + (f" and {len(lines) - 1} times more" if len(lines) > 1 else "")
