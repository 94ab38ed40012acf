"""The rows of a text table: which lines are data, and what is odd about them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from rl_diagnose.errors import LogError
from rl_diagnose.signals.run import LogIssue

from .cells import is_number, is_word

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Literal

    from numpy.typing import NDArray

    from .csv_layout import Layout

__all__ = ["NUMBER_STARTS", "Rows"]

NUMBER_STARTS = frozenset("0123456789+-.")
"""How a line of numbers begins; one that begins so is taken as another header by nobody."""

_LONG_TABLE = 20  # lines
_NEARLY_ALL = 0.9


@dataclass(slots=True)
class Rows:
    """Makes rows as long as the header, and remembers what was odd about them. Lines are counted from 1 in the file.

    `header` is the header that holds at present (empty for a table without one), `names` its names and `width` its
    length; `kept` counts the rows of data, `exact` those of the header's length, `narrow` shorter ones by their length,
    `torn` those left out because their cells are not where they belong. `first_exact` is the first line of the header's
    length in a long table in which hardly a line has another one; None in other tables. `second_piece` is the line that
    belongs to the torn one before it. The rows may have `most` cells in all, those that are filled up with blanks
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
    torn: int = 0
    longest: int = 0
    exact: int = 0
    narrow: Counter[int] = field(default_factory=Counter)
    first_exact: int | None = None
    second_piece: int | None = None
    first_ragged: int | None = None
    repeated: list[int] = field(default_factory=list)
    changed: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.header = self.layout.header
        self.names = frozenset(self.header)
        self.width = len(self.layout.names)
        self.columns = set(self.layout.names)

    @property
    def misfit(self) -> int | None:
        """How many cells the rows have where none has as many as the header has names, and nearly all have this many;
        else None. Which name belongs to which column cannot be said then. A header that ends in a separator has one
        blank name more."""
        if self.exact or self.changed or not all(self.layout.header):
            return None
        if self.long:
            return self.longest
        cells, rows = max(self.narrow.items(), key=lambda item: item[1], default=(0, 0))
        return cells if rows > 1 and rows >= _NEARLY_ALL * self.kept else None

    def look_at(self, lengths: NDArray[np.int64]) -> None:
        """See how many cells the lines below the header have, shape (lines,), before any of them is taken."""
        exact = np.flatnonzero(lengths == self.width)
        if lengths.size >= _LONG_TABLE and exact.size >= _NEARLY_ALL * lengths.size:
            self.first_exact = self.layout.line + int(exact[0])

    def fit(self, cells: list[str], line: int, around: tuple[int, int] = (0, 0)) -> list[str] | None:
        """The cells of a row of data, padded, or shortened by blank cells; None for a blank line, a comment, and a row
        that is too long or torn. `around`: how many cells the lines before and after have (0 where there is none).
        Raises `LogError` where the table would have too many cells.
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
        odd = self.first_exact is not None and line > self.first_exact and self.header == self.layout.header
        if len(cells) != self.width and (odd or (len(cells) < self.width and self._is_torn(cells, line, around))):
            self.torn += 1
            self.first_ragged = self.first_ragged or line
            return None
        if len(cells) < self.width:
            self.short += 1
            self.narrow[len(cells)] += 1
            self.first_ragged = self.first_ragged or line
            cells = cells + [""] * (self.width - len(cells))
        elif len(cells) == self.width:
            self.exact += 1
        self.kept += 1
        if self.kept * len(self.columns) > self.most:
            fact = (
                f"{self.kept:,} rows and {len(self.columns):,} columns, nearly all of them blank, are too many to read"
            )
            raise LogError(fact, place=self.path, hint="give a table whose rows are as long as its header")
        return cells[: self.width]

    def _is_torn(self, cells: Sequence[str], line: int, around: tuple[int, int]) -> bool:
        """True for a short row whose cells are in the wrong columns: a separator became part of a cell, which is then
        no number although its column has numbers, or a line end came in between, which makes two pieces of one row."""
        before, after = around
        if before == self.width > after > 0 and len(cells) + after in (self.width, self.width + 1):
            self.second_piece = line + 1
            return True
        if line == self.second_piece:
            return True
        texts = self.layout.texts
        if texts is None or self.header != self.layout.header:
            return False
        return any(place not in texts and is_word(cell, self.layout.separator) for place, cell in enumerate(cells))

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
        if self.short or self.long or self.torn:
            short = [f"{self.short} rows are shorter than the header (their end is blank)"] if self.short else []
            long = [f"{self.long} rows are longer than the header and were left out"] if self.long else []
            torn = [f"{self.torn} rows are torn and were left out"] if self.torn else []
            text = " and ".join([*short, *long, *torn]) + f"; the first is line {self.first_ragged}"
            found.append(LogIssue("ragged_rows", text, file))
        if not self.kept and not self.long:
            found.append(LogIssue("no_rows", "there is a header, but no row yet", file, severity="info"))
        return found


def _times(lines: Sequence[int]) -> str:
    return f"in line {lines[0]}" + (f" and {len(lines) - 1} times more" if len(lines) > 1 else "")
