"""The forms of log files as the damage sees them: whole records, whole lines, and what a changed line still looks like.

Nothing here asks the product: whether a change can be seen is judged by the form alone.
"""

from __future__ import annotations

import csv
import json
import re
import struct
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = [
    "Form",
    "cells_still_well_formed",
    "ends_in_sight",
    "event_records",
    "form_of",
    "lines",
    "still_well_formed",
    "wandb_records",
]

Form = Literal["events", "wandb", "table", "records", "document", "arrays", "text"]
"""``table``: cells in lines; ``records``: one JSON object a line; ``document``: a JSON document; ``text``: console."""

_FORMS: tuple[tuple[str, Form], ...] = (
    (r".*tfevents.*", "events"),
    (r".*\.wandb", "wandb"),
    (r"trainer_state\.json", "document"),
    (r"(params|config|metadata)\.json", "document"),
    (r"(.*\.[ct]sv|progress\.txt)", "table"),
    (r".*\.(jsonl?|ndjson)", "records"),
    (r"evaluations\.npz", "arrays"),
    (r".*\.(log|out|txt)", "text"),
)
_SETTINGS = frozenset({"params.json", "config.json", "metadata.json"})
_BLOCK, _WANDB_HEADER, _WANDB_START = 32768, 7, 7
_FULL = 1


def form_of(path: Path) -> Form | None:
    """The form of a log file by its name; None for settings and for files that are no logs."""
    if path.name in _SETTINGS:
        return None
    return next((form for pattern, form in _FORMS if re.fullmatch(pattern, path.name.lower())), None)


def event_records(content: bytes) -> list[tuple[int, int]]:
    """Where each whole record of an undamaged event file begins and ends."""
    found, position = [], 0
    while position + 16 <= len(content):
        (length,) = struct.unpack_from("<Q", content, position)
        if position + 16 + length > len(content):
            break
        found.append((position, position + 16 + length))
        position += 16 + length
    return found


def wandb_records(content: bytes) -> list[tuple[int, int]]:
    """Where each record of an undamaged W&B file that is in one piece begins and ends."""
    found, position = [], _WANDB_START
    while position + _WANDB_HEADER <= len(content):
        room = _BLOCK - position % _BLOCK
        _, length, kind = struct.unpack_from("<IHB", content, position)
        if room < _WANDB_HEADER or kind == 0:
            position += room
            continue
        stop = position + _WANDB_HEADER + length
        if kind == _FULL and stop <= len(content):
            found.append((position, stop))
        position = stop
    return found


def lines(content: bytes) -> list[tuple[int, int]]:
    """Where each line begins and ends, its line end included."""
    return [(match.start(), match.end()) for match in re.finditer(rb"[^\n]*\n|[^\n]+$", content)]


def still_well_formed(form: Form, before: bytes, after: bytes) -> bool:
    """Whether a changed line (for a document: the whole of it) is one that the same program might have written.

    It has to be text without control characters, with its line end where it was: UTF-8, or in tables, which come in
    other encodings, Latin-1. A line of cells has to have as many as
    before, each a number where a number was; a JSON object has to be one still, no key twice; console text has no form
    that could be broken.
    """
    if before.endswith(b"\n") != after.endswith(b"\n") or (form != "document" and b"\n" in after[:-1]):
        return False
    try:
        old, new = before.decode("utf-8"), after.decode("latin-1" if form == "table" else "utf-8")
    except UnicodeDecodeError:
        return False
    if not new.translate(dict.fromkeys(map(ord, "\t\r\n"))).isprintable():
        return old == new
    if form in ("records", "document"):
        return _is_object(new)
    return form == "text" or _same_cells(old, new)


def cells_still_well_formed(before: bytes, after: bytes) -> list[tuple[int, int]]:
    """In a line of cells with as many of them as before: where those stand that look as before, changed or not. None
    where their number is another, or cells are quoted."""
    separator = b"\t" if b"\t" in before else b","
    old, new = before.split(separator), after.split(separator)
    if len(old) != len(new) or b'"' in before + after or b"\n" in after[:-1]:
        return []
    spans, position = [], 0
    for cell, changed in zip(old, new, strict=True):
        if still_well_formed("table", cell, changed):
            spans.append((position, position + len(cell)))
        position += len(cell) + 1
    return spans


def ends_in_sight(form: Form, content: bytes, cut: int) -> bool:
    """Whether a file of lines that was cut at this byte shows it: its last line is not what a whole one would be."""
    if form not in ("table", "records", "text") or content[cut : cut + 1] in (b"\n", b"\r"):
        return form == "document"
    start = content.rfind(b"\n", 0, cut) + 1
    if start == cut:
        return False
    end = content.find(b"\n", cut)
    whole = content[start : len(content) if end < 0 else end]
    piece = content[start:cut]
    return form != "table" or not still_well_formed(form, whole, piece)


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text, object_pairs_hook=_no_key_twice), dict)
    except (ValueError, RecursionError):
        return not text.strip()


def _no_key_twice(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError("a key stands there twice")
    return dict(pairs)


def _same_cells(old: str, new: str) -> bool:
    if old.startswith("#"):
        return new.startswith("#") and (not old.startswith("#{") or _is_object(new[1:]))
    separator = "\t" if "\t" in old else ","
    cells, changed = list(_cells(old, separator)), list(_cells(new, separator))
    return len(cells) == len(changed) and all(
        one == other or (_is_number(one) == _is_number(other) and bool(one) == bool(other))
        for one, other in zip(cells, changed, strict=True)
    )


def _cells(line: str, separator: str) -> Iterator[str]:
    try:
        yield from (cell.strip() for row in csv.reader([line.rstrip("\r\n")], delimiter=separator) for cell in row)
    except csv.Error:
        yield from line.split(separator)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
