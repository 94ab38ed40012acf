"""How a text table is laid out: comment lines, separator, header, and where its rows begin."""

from __future__ import annotations

import csv
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rl_diagnose.errors import LogError
from rl_diagnose.signals.run import LogIssue

from .cells import is_number, is_word

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["Layout", "find_layout", "split_cells", "white_split"]

MAX_COLUMNS = 10_000
_SEPARATORS = ("\t", ",", ";", "|", " ")  # of two that fit equally well the first is taken
_WORD = re.compile(r"[^ \t\n\r\f\v]+")
_LINES = 50
_LONGEST_LINE = 1 << 22


@dataclass(frozen=True, slots=True)
class Layout:
    """`names` are the columns' names, unique and not blank; `header` the cells as they stand in the file (empty when
    it has none). `texts` are the places of columns that hold words in most of the first rows; None where no row was
    seen that is as long as the header. Rows begin at byte `offset`, which is line `line` counted from 1. `separator` is
    one character, a space standing for any white space; lines that start with `prefix` are comments, `comment` is the
    text of those before the header.
    """

    names: tuple[str, ...]
    header: tuple[str, ...]
    separator: str
    prefix: str
    offset: int
    line: int
    comment: str
    issues: tuple[LogIssue, ...] = ()
    texts: frozenset[int] | None = None


def white_split(line: str) -> list[str]:
    """The words between ASCII white space; a no-break space stands inside numbers (``1 000``) and parts nothing."""
    return _WORD.findall(line)


def split_cells(line: str, separator: str) -> list[str]:
    """The cells of one line, without white space and quotes around them."""
    if separator == " ":
        return [cell.strip('"') for cell in white_split(line)]
    if '"' not in line:
        return [cell.strip() for cell in line.split(separator)]
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=separator, skipinitialspace=True))]
    except csv.Error:  # a cell longer than the csv module's limit
        return [cell.strip().strip('"') for cell in line.split(separator)]


def find_layout(data: bytes, path: Path, separator: str | None, prefix: str) -> Layout:
    """The layout of the table in `data`. Raises `LogError` when there is no line but comments, or too many columns.

    A table without header has only numbers in its first line. NumPy's ``savetxt`` writes the header as a comment: the
    last comment line is taken as the header when the first row has only numbers and as many cells. Excel's first line
    ``sep=;`` is obeyed.
    """
    comments: list[str] = []
    offset, number = 0, 1
    while True:
        line, after = _line(data, offset)
        stripped = line.strip()
        if stripped.lower().startswith("sep=") and len(stripped) == 5 and separator is None:
            separator = stripped[4]
        elif stripped.startswith(prefix):
            comments.append(stripped.removeprefix(prefix).strip())
        elif stripped or after >= len(data):
            break
        offset, number = after, number + 1
    if not stripped or stripped.startswith(prefix):
        fact = "there are only comment lines" if comments else "the file is empty"
        raise LogError(fact, place=path, hint="the run may have died before its first row")
    sample = [line, *_next_lines(data, after, prefix)]
    if separator is None:
        separator = _sniffed(sample)
    first = split_cells(line, separator)
    if len(first) > MAX_COLUMNS:
        raise LogError(f"the first line has {len(first)} cells: this is no table of a training run", place=path)
    header: Sequence[str] = first
    issues: list[LogIssue] = []
    if all(is_number(cell, separator) for cell in first):
        after, number = offset, number - 1
        header = split_cells(comments[-1], separator) if comments else ()
        if len(header) < 2 or len(header) != len(first) or all(is_number(cell, separator) for cell in header):
            header = ()
            text = "the table has no header: its columns are called column_1, column_2 …"
            issues.append(LogIssue("no_header", text, path.name))
    names = _unique(header or [""] * len(first), path.name, issues)
    texts = _texts([split_cells(one, separator) for one in sample[1:]], len(names), separator)
    return Layout(names, tuple(header), separator, prefix, after, number + 1, "\n".join(comments), tuple(issues), texts)


def _line(data: bytes, offset: int) -> tuple[str, int]:
    """The line at `offset` and where the next one begins."""
    end = data.find(b"\n", offset, offset + _LONGEST_LINE)
    if end < 0:
        end = min(len(data), offset + _LONGEST_LINE)
    return data[offset:end].decode("utf-8", "replace"), end + 1


def _next_lines(data: bytes, offset: int, prefix: str) -> list[str]:
    lines: list[str] = []
    while offset < len(data) and len(lines) < _LINES:
        line, offset = _line(data, offset)
        if line.strip() and not line.startswith(prefix):
            lines.append(line)
    return lines


def _texts(rows: Sequence[Sequence[str]], width: int, separator: str) -> frozenset[int] | None:
    """The places of columns with at least as many words as numbers in rows of this width; None without such a row."""
    whole = [row for row in rows if len(row) == width]
    balance: Counter[int] = Counter()
    for row in whole:
        for place, cell in enumerate(row):
            balance[place] += 1 if is_word(cell, separator) else -1 if is_number(cell, separator) else 0
    return frozenset(place for place, more in balance.items() if more >= 0) if whole else None


def _sniffed(lines: Sequence[str]) -> str:
    """The separator by which most lines have as many cells as the first one, of at least two; else the comma."""
    best, best_share = ",", 0.0
    for separator in _SEPARATORS:
        counts = [len(split_cells(line, separator)) for line in lines]
        share = sum(count == counts[0] for count in counts) / len(counts)
        if counts[0] > 1 and share > best_share:
            best, best_share = separator, share
    return best


def _unique(header: Sequence[str], file: str, issues: list[LogIssue]) -> tuple[str, ...]:
    """Names without blanks and repetitions: a blank one becomes ``column_<number>``, a second one gets a suffix."""
    counts = Counter(name for name in header if name)
    taken = set(counts)
    names: list[str] = []
    seen: set[str] = set()
    next_suffix: Counter[str] = Counter()  # a name that comes thousands of times is not counted up from 2 each time
    for number, name in enumerate(header, start=1):
        base = name or f"column_{number}"
        unique = base
        while unique in seen or (unique != name and unique in taken):
            unique = f"{base}_{next_suffix[base] + 2}"
            next_suffix[base] += 1
        seen.add(unique)
        names.append(unique)
    repeated = sorted(name for name, count in counts.items() if count > 1)
    if repeated:
        text = f"several columns are called {', '.join(repeated[:3])}: the later ones got a number (_2, _3 …)"
        issues.append(LogIssue("duplicate_columns", text, file))
    return tuple(names)
