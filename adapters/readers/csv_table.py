"""Text tables (CSV, TSV and their relatives) as `Table`, however a logger, a spreadsheet or a crash left them.

Small tables are read by the csv module, which needs no import of polars; large ones by polars, which is many times as
fast. Both give the same result.
"""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rl_diagnose.errors import LogError
from rl_diagnose.signals.run import LogIssue

from .cells import column_of_frame, column_of_texts, is_number
from .csv_layout import find_layout, split_cells, white_split
from .csv_rows import NUMBER_STARTS, Rows
from .points import Table
from .text_bytes import read_text_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path
    from typing import Literal

    from .cells import Column
    from .csv_layout import Layout
    from .text_bytes import TextBytes

__all__ = ["read_table"]

SMALL_BYTES = 3 * 1024 * 1024
"""Up to this size the csv module is faster than importing polars."""
MAX_QUOTED_BYTES = 128 * 1024 * 1024
"""Largest table with quoted cells: these are read by the csv module, which holds all cells as texts."""
MOST_BLANK = 2_000_000
"""Most cells of a table with more cells than bytes, as one has whose rows are shorter than its header."""

_LONGEST_CELL = 1 << 30


class _Read(NamedTuple):
    """A column as numbers, and how to get it as texts."""

    column: Column
    texts: Callable[[], tuple[str, ...]]


def read_table(
    path: Path,
    *,
    separator: str | None = None,
    comment: str | None = None,
    head: int | None = None,
    engine: Literal["csv", "polars"] | None = None,
) -> Table:
    """Read a table of comma-, tab-, semicolon-, pipe- or space-separated cells, plain or gzip.

    `separator` (a space stands for any white space) and `comment` (the start of comment lines, ``#`` if not given) are
    found out where they are not given. With `head` only about that many bytes are read. `engine` is chosen by size if
    not given.

    A column is numeric when at most a tenth of its filled cells are words; blank are empty cells and ``None``,
    ``null``, ``N/A`` and the like. Columns without a name are called ``column_<number>``, as are all columns of a
    table without header. The last line is left out (issue ``partial_last_line``) when it has no line end and is too
    short, ends in half a number (``1.5e-``, ``-``, nothing where the line before has a number) or in an open quote, or
    the file shows otherwise that it was being written (`TextBytes.unfinished`); a last line that merely has no line
    end is kept, since many programs write none.

    Further issue codes: ``no_header``, ``no_rows``, ``duplicate_columns``, ``header_repeated``, ``header_changed``,
    ``ragged_rows``, ``damaged_names``, ``unreadable_cells``, ``unbalanced_quotes``, and those of `read_text_bytes`.

    Raises `LogError` when the file cannot be read as text, is empty, has only rows longer than its header, or has so
    many rows that are shorter than it that they would not fit into memory.
    """
    text = read_text_bytes(path, head=head)
    layout = find_layout(text.data, path, separator, comment or "#")
    issues = [*text.issues, *layout.issues]
    body = _ended(text, layout, path.name, issues)
    quotes = body.count(b'"')
    if quotes and len(body) > MAX_QUOTED_BYTES:
        limit = f"{MAX_QUOTED_BYTES // 2**20} MiB"
        raise LogError(f"the table has quoted cells and is larger than {limit}", place=path, hint="write it unquoted")
    if quotes % 2:
        fact = "the number of quotation marks is odd: they were taken as plain characters"
        issues.append(LogIssue("unbalanced_quotes", fact, path.name))
    large = len(body) >= SMALL_BYTES if engine is None else engine == "polars"
    read = None
    most = max(MOST_BLANK, len(body))  # a table without gaps has fewer cells than bytes
    rows = Rows(layout, path, most)
    if large and not quotes and len(layout.names) > 1:
        read = _by_polars(body, layout, rows)
    if read is None:
        rows = Rows(layout, path, most)
        read = _by_csv_module(body.decode("utf-8"), layout, rows, quoted=bool(quotes) and quotes % 2 == 0)
    if rows.long and not rows.kept:
        raise LogError(
            f"the header has {len(layout.names)} names, but the rows have up to {rows.longest} cells",
            place=path,
            hint="give every column a name in the first line",
        )
    if rows.kept + rows.long > 1 and rows.misfit is not None:
        raise LogError(
            f"the header has {len(layout.names)} names, but the rows have {rows.misfit} cells",
            place=path,
            hint="give every column a name, and no more, in the first line",
        )
    return _table(path.name, read, rows, layout, issues)


def _table(file: str, read: dict[str, _Read], rows: Rows, layout: Layout, issues: list[LogIssue]) -> Table:
    numbers, non_finite, texts = {}, {}, {}
    damaged: dict[str, Column] = {}
    garbled = [name for name in read if not name.isprintable()]
    if garbled:
        text = f"{len(garbled)} column names hold control characters ({garbled[0]!r}): these columns were left out"
        issues.append(LogIssue("damaged_names", text, file))
    unnamed_last = f"column_{len(layout.names)}"
    for name, (column, as_texts) in read.items():
        if name in garbled:
            continue
        if not column.numeric:
            texts[name] = as_texts()
            continue
        if name == unnamed_last and name not in layout.header and not column.filled and rows.kept:
            continue  # a separator at the end of each line makes no column
        numbers[name] = column.numbers
        if column.marks is not None:
            non_finite[name] = column.marks
        if column.words is not None:
            damaged[name] = column
    issues += rows.issues(file)
    if damaged:
        count = sum(column.unreadable for column in damaged.values())
        name, column = next(iter(damaged.items()))
        text = (
            f"{count} cells of {len(damaged)} columns of numbers hold words, such as '{column.example[:40]}' in {name}"
        )
        issues.append(LogIssue("unreadable_cells", f"{text}: they are taken as blank", file))
    unreadable = {name: column.words for name, column in damaged.items() if column.words is not None}
    return Table(
        file, rows.kept, numbers, non_finite, texts, layout.comment, issues=tuple(issues), unreadable=unreadable
    )


def _ended(text: TextBytes, layout: Layout, file: str, issues: list[LogIssue]) -> bytes:
    """The rows of the table, each with a line end, without a last line that was cut."""
    body = text.data[layout.offset :]
    if not body or body.endswith(b"\n"):
        return body
    open_quote = body.count(b'"') % 2 == 1
    start = body.rfind(b"\n", 0, body.rfind(b'"') if open_quote else len(body)) + 1
    line = body[start:].decode("utf-8")
    if not line.strip() or line.startswith(layout.prefix):
        return body[:start]
    before = body[body.rfind(b"\n", 0, max(start - 1, 0)) + 1 : max(start - 1, 0)].decode("utf-8")
    if open_quote or text.unfinished or _is_cut(line, before, layout):
        number = text.data.count(b"\n", 0, layout.offset + start) + 1
        fact = f"the last line ({number}) was cut and is left out: the file may still be written"
        issues.append(LogIssue("partial_last_line", fact, file, severity="info"))
        return body[:start]
    return body + b"\n"


def _is_cut(line: str, before: str, layout: Layout) -> bool:
    """True when a line is too short, or ends in a word or in nothing where the line before ends in a number."""
    cells = split_cells(line, layout.separator)
    if len(cells) < len(layout.names):
        return True
    last, previous = cells[-1], split_cells(before, layout.separator)[-1:]
    return bool(previous) and is_number(previous[0], layout.separator) and not is_number(last, layout.separator)


def _by_csv_module(text: str, layout: Layout, rows: Rows, *, quoted: bool) -> dict[str, _Read]:
    """The columns by Python alone."""
    parts: list[tuple[tuple[str, ...], list[list[str]]]] = [(layout.names, [])]
    before = 0
    found = list(_rows_of_cells(text, layout, quoted=quoted))
    lengths = [len(cells) for _, cells in found]
    rows.look_at(np.array(lengths, dtype=np.int64))
    for (line, cells), after in zip(found, [*lengths[1:], 0], strict=False):
        again = rows.header_again(cells, line)
        if again == "other":
            parts.append((rows.header, []))
        elif again is None:
            fitting = rows.fit(cells, line, (before, after))
            if fitting is not None:
                parts[-1][1].append(fitting)
        before = len(cells)
    columns = {name: [""] * rows.kept for names, _ in parts for name in names}
    first = 0
    for names, lines in parts:
        for name, column in zip(names, zip(*lines, strict=True), strict=False):
            columns[name][first : first + len(lines)] = column
        first += len(lines)
    return {
        name: _Read(column_of_texts(cells, layout.separator), lambda cells=cells: _stripped(cells))  # type: ignore[misc]
        for name, cells in columns.items()
    }


def _rows_of_cells(text: str, layout: Layout, *, quoted: bool) -> Iterator[tuple[int, list[str]]]:
    """Line number and cells of each row; a row in quotes may span lines and has the number of its last one."""
    if quoted and layout.separator != " ":
        previous = csv.field_size_limit(_LONGEST_CELL)  # the limit belongs to the process: put back below
        try:
            reader = csv.reader(io.StringIO(text, newline=""), delimiter=layout.separator, skipinitialspace=True)
            for cells in reader:
                yield layout.line + reader.line_num - 1, cells
        finally:
            csv.field_size_limit(previous)
        return
    for number, line in enumerate(text.removesuffix("\n").split("\n"), start=layout.line):
        if layout.separator != " " and '"' in line and line.count('"') % 2 == 0:
            yield number, split_cells(line, layout.separator)  # the odd mark is in another line
            continue
        cells = white_split(line) if layout.separator == " " else line.split(layout.separator)
        yield number, [cell.strip().strip('"') for cell in cells] if '"' in line else cells


def _by_polars(body: bytes, layout: Layout, rows: Rows) -> dict[str, _Read] | None:
    """The same by polars, for a table without quotes; None where it takes the csv module (another header comes)."""
    separator = layout.separator
    if separator == " ":
        body = re.sub(rb"[^\S\n]+", b"\t", body)
        body = re.sub(rb"(?m)^\t|\t$", b"", body)
        separator = "\t"
    clean = _rectangular(body, layout, rows, separator.encode())
    if clean is None:
        return None
    if not rows.kept:
        return _by_csv_module("", layout, rows, quoted=False)
    import polars as pl

    schema = {str(number): pl.String for number in range(len(layout.names))}
    frame = pl.read_csv(clean, has_header=False, schema=schema, separator=separator, quote_char=None)
    if frame.height != rows.kept:
        return None
    return {
        name: _Read(
            column_of_frame(frame[str(number)], layout.separator),
            lambda number=number: _stripped(frame[str(number)].to_list()),  # type: ignore[misc]
        )
        for number, name in enumerate(layout.names)
    }


def _rectangular(body: bytes, layout: Layout, rows: Rows, separator: bytes) -> bytes | None:
    """The rows of data alone, each with as many cells as the header; None when another header comes.

    Only lines that need a look are looked at one by one: those with another number of separators than the header, and
    those which begin like a comment or a name.
    """
    if not body:
        return body
    characters = np.frombuffer(body, dtype=np.uint8)
    ends = np.flatnonzero(characters == ord("\n"))
    starts = np.concatenate([[0], ends[:-1] + 1])
    skeleton = body.translate(None, delete=bytes(set(range(256)) - {ord("\n"), ord(separator)}))
    separators = np.diff(np.flatnonzero(np.frombuffer(skeleton, dtype=np.uint8) == ord("\n")), prepend=-1) - 1
    plain = np.zeros(256, dtype=np.bool_)
    plain[[*map(ord, NUMBER_STARTS), *(separator if layout.header[:1] != ("",) else b"")]] = True
    plain[[*layout.prefix[:1].encode(), *"".join(layout.header[:1])[:1].encode()]] = False
    odd = np.flatnonzero((separators != rows.width - 1) | ~plain[characters[starts]])
    pieces: list[bytes] = []
    done = 0
    rows.kept = rows.exact = starts.size - odd.size
    rows.look_at(separators + 1)
    for index in odd.tolist():
        start, end = int(starts[index]), int(ends[index])
        line = body[start:end].decode("utf-8")
        cells = line.split(separator.decode())
        again = rows.header_again(cells, layout.line + index)
        if again == "other":
            return None
        around = [int(separators[at]) + 1 if 0 <= at < separators.size else 0 for at in (index - 1, index + 1)]
        fitting = rows.fit(cells, layout.line + index, (around[0], around[1])) if again is None else None
        if fitting is not cells:
            pieces += [body[done:start], b"" if fitting is None else (separator.decode().join(fitting) + "\n").encode()]
            done = end + 1
    return b"".join([*pieces, body[done:]]) if pieces else body


def _stripped(cells: Sequence[str | None]) -> tuple[str, ...]:
    return tuple("" if cell is None else cell.strip() for cell in cells)
