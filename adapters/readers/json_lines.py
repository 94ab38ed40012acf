"""JSON lines (``progress.json``, ``result.json``): one object per line, as loggers really write them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from rl_diagnose.errors import LogError
from rl_diagnose.signals.run import LogIssue

from .records import flatten, table_from_records
from .text_bytes import read_text_bytes

if TYPE_CHECKING:
    from pathlib import Path

    from .points import Table

__all__ = ["read_json_lines"]

_CONFIG = "config"
_DELETE = "\x7f"


def read_json_lines(path: Path, *, head: int | None = None) -> Table:
    """A table with one row per object; nested keys are joined by ``/``, lists are left out.

    ``NaN``, ``Infinity`` and the texts ``"nan"`` and ``"null"`` are non-finite numbers, ``null`` is a blank cell. A
    top-level ``config`` object is no column: the last one is the table's `config`. A list of objects in one JSON
    document is read as well. With `head`, only about that many bytes are read.

    Lines that are no object are counted (issue ``bad_lines``); a last line that was cut is left out
    (issue ``partial_last_line``). Raises `LogError` when the file cannot be read or holds no object.
    """
    text = read_text_bytes(path, head=head)
    issues = list(text.issues)
    lines = text.data.split(b"\n")
    if text.data.lstrip().startswith(b"["):
        records = _document(text.data, path)
    else:
        records = []
        bad: list[int] = []
        for number, line in enumerate(lines, start=1):
            found = _objects(line, mixed=text.foreign)
            if found is None:
                bad.append(number)
            else:
                records += found
        if bad and bad[-1] == len(lines):
            bad.pop()
            text_of_issue = f"the last line ({len(lines)}) was cut and is left out: the file may still be written"
            issues.append(LogIssue("partial_last_line", text_of_issue, path.name, severity="info"))
        if bad and records:
            text_of_issue = f"{len(bad)} lines are not JSON objects and were left out (first: line {bad[0]})"
            issues.append(LogIssue("bad_lines", text_of_issue, path.name))
    if not records:
        raise _nothing(text.data, path)
    config: dict[str, object] = {}
    rows: list[dict[str, object]] = []
    for record in records:
        found_config = record.pop(_CONFIG, None)
        if isinstance(found_config, dict):
            config = found_config
        rows.append({key: v for key, v in flatten(record).items() if v is not None and not isinstance(v, dict | list)})
    return replace(table_from_records(path.name, rows, issues=issues), config=config)


def _objects(line: bytes, *, mixed: bool) -> list[dict[str, object]] | None:
    """The objects of one line: mostly one, none for a blank line, several where a line end got lost; None for a line
    that is anything else. JSON is UTF-8: where the file was not, and was taken as Latin-1 (`mixed`), each line that is
    not is damaged."""
    text = line.decode("utf-8").strip()
    if _DELETE in text:  # the one control character that JSON lets pass: no program writes it
        return None
    if mixed and not text.isascii():
        try:
            text = text.encode("latin-1").decode("utf-8")
        except UnicodeDecodeError:
            return None
    found: list[dict[str, object]] = []
    while text:
        try:
            loaded, end = _DECODER.raw_decode(text)
        except (ValueError, RecursionError):  # ValueError also for an integer with too many digits
            return None
        if not isinstance(loaded, dict):
            return None
        found.append(loaded)
        text = text[end:].lstrip()
    return found


_DECODER = json.JSONDecoder()


def _document(data: bytes, path: Path) -> list[dict[str, object]]:
    """A JSON list of objects."""
    try:
        loaded = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise LogError(f"this is neither JSON lines nor a JSON list ({error})", place=path) from None
    if not isinstance(loaded, list) or not all(isinstance(entry, dict) for entry in loaded):
        raise LogError("this is a JSON list, but not one of objects", place=path)
    return loaded


def _nothing(data: bytes, path: Path) -> LogError:
    if not data.strip():
        return LogError("the file is empty", place=path, hint="the run may have died before its first row")
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return LogError("no line is a JSON object", place=path, hint="a log in JSON lines has one object per line")
    return LogError("this is one JSON document, not one object per line", place=path)
