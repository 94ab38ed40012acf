"""Strict YAML 1.2 for files written by hand or by strangers: plain data with the place of every key and value.

Refused: tags, anchors, aliases, duplicate keys, numbers that are not finite or that YAML readers take differently, and
files beyond the limits below. Numbers and booleans follow YAML 1.2 (`1e-3` is a number; `on`, `yes` and `1:30` are
text; there are no dates). The data are built from the event stream, so no constructor of PyYAML ever runs.
A file at the limits takes half a second with libyaml, some seconds where PyYAML was built without it.
"""

from __future__ import annotations

import re
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml

from .problems import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["Document", "load_yaml", "parse_yaml"]

MAX_BYTES = 1_000_000
MAX_DEPTH = 32
MAX_VALUES = 50_000
# A file that is wrong everywhere is not described in full.
MAX_PROBLEMS = 100
_INT = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_AMBIGUOUS = re.compile(r"[-+]?0[0-9]+|[-+]?0[xob][0-9a-fA-F]+")
_NON_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_LONGEST_NUMBER = 64
_WORDS: dict[str, object] = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_NULLS = {"null", "Null", "NULL", "~", ""}
_LINE_BREAK = re.compile("\r\n|[\r\n\x85\u2028\u2029]")

Place = tuple[int, int]
Path_ = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """Plain `data`; `values` and `keys` map the path of each value and key to its place (line and column, from 1).

    `lines` are the lines of the text, `source` its bytes.
    """

    file: str
    data: Any
    values: dict[Path_, Place]
    keys: dict[Path_, Place]
    lines: tuple[str, ...]
    source: bytes

    def problem(
        self, code: str, message: str, path: Path_, *, key: bool = False, hint: str | None = None, column: int = 0
    ) -> Problem:
        """A problem at the value (or key) at `path`, or at its nearest ancestor that has a place.

        `column` counts from 1 within the text of the value, where the problem is inside it.
        """
        while path and path not in self.values:
            path, column = path[:-1], 0
            key = True
        place = self.keys.get(path) if key else None
        line, start = place or self.values.get(path, (1, 1))
        if column and place is None:
            start += self._offset(path, line, start, column)
        snippet = self.lines[line - 1] if 0 < line <= len(self.lines) else ""
        return Problem(code, message, self.file, line, start, snippet, hint)

    def _offset(self, path: Path_, line: int, start: int, column: int) -> int:
        """Columns from the start of a value to `column` of its text; 0 where the text is not on that line as it is."""
        text = self.data
        for part in path:
            text = text[part]
        shown = self.lines[line - 1][start - 1 :]
        quote = 1 if shown[:1] in ("'", '"') else 0
        return quote + column - 1 if isinstance(text, str) and shown[quote:].startswith(text) else 0


def load_yaml(path: Path, display: str | None = None) -> tuple[Document | None, list[Problem]]:
    """Read and parse a file, named `display` in messages; None with the problems when it cannot be used at all."""
    file = display or str(path)
    try:
        # Opening a pipe would wait for a writer, reading a device might never end.
        if not stat.S_ISREG(path.stat().st_mode):
            kind = "a folder" if path.is_dir() else "no regular file"
            return None, [Problem("RB001", f"the file cannot be read: it is {kind}", file)]
        with path.open("rb") as stream:
            source = stream.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        return None, [Problem("RB001", f"the file cannot be read: {reason}", file)]
    return parse_yaml(source, file)


def parse_yaml(source: bytes, file: str) -> tuple[Document | None, list[Problem]]:
    """The document in `source`, and every problem found; None where its structure cannot be read."""
    if len(source) > MAX_BYTES:
        text = f"the file is larger than {MAX_BYTES // 1_000_000} MB"
        return None, [Problem("RB002", text, file, hint="split the book and use extends")]
    try:
        text = source.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = source.count(b"\n", 0, error.start) + 1
        message = f"the file is not UTF-8 text (byte {error.start})"
        return None, [Problem("RB001", message, file, line, 1, hint="save it as UTF-8")]
    builder = _Builder(file, tuple(_LINE_BREAK.split(text)))
    try:
        data = builder.document(text)
    except _Unusable:
        return None, builder.problems
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        if mark is None or not any(line.strip() for line in builder.lines[mark.line :]):
            mark = error.context_mark or mark  # what was opened and never closed
        place = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        message = ": ".join(part for part in (error.context, error.problem) if part)
        # libyaml looks ahead of the events and refuses absurd depths by itself.
        code = "RB002" if "nesting depth" in message else "RB003"
        opened = error.context_mark.line + 1 if error.context_mark else place[0]
        hint = f"look at line {opened}, too: what begins there is not ended" if opened < place[0] else None
        builder.add(code, f"not valid YAML: {message}", place, hint)
        return None, builder.problems
    except yaml.reader.ReaderError as error:
        before = _LINE_BREAK.split(text[: error.position])
        builder.add("RB003", f"not valid YAML: {error.reason}", (len(before), len(before[-1]) + 1))
        return None, builder.problems
    return Document(file, data, builder.values, builder.keys, builder.lines, source), builder.problems


def _place(event: yaml.Event) -> Place:
    mark = event.start_mark
    return (mark.line + 1, mark.column + 1) if mark else (1, 1)


class _Unusable(Exception):  # noqa: N818 - a signal to stop, not an error that anyone sees
    """The structure cannot be read further; the problem is noted."""


class _Builder:
    """Builds plain data from YAML events, noting places and problems."""

    def __init__(self, file: str, lines: tuple[str, ...]) -> None:
        self.file, self.lines = file, lines
        self.values: dict[Path_, Place] = {}
        self.keys: dict[Path_, Place] = {}
        self.problems: list[Problem] = []
        self.count = 0

    def document(self, text: str) -> Any:
        events: Iterator[yaml.Event] = yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        next(events)  # start of the stream
        start = next(events)
        if not isinstance(start, yaml.DocumentStartEvent):
            self.add("RB003", "the file is empty", (1, 1))
            raise _Unusable
        if start.version not in (None, (1, 2)):
            self.report("RB003", "a rulebook is YAML 1.2", start, hint="remove the %YAML line")
        data = self.build(next(events), events, (), 0)
        next(events)  # end of the document
        after = next(events)
        if isinstance(after, yaml.DocumentStartEvent):
            self.fatal("RB003", "a second document starts here", after, hint="one file holds one rulebook")
        return data

    def build(self, event: yaml.Event, events: Iterator[yaml.Event], path: Path_, depth: int) -> Any:
        self.count += 1
        if self.count > MAX_VALUES:
            hint = "split the book and use extends"
            self.fatal("RB002", f"the file holds more than {MAX_VALUES:,} values", event, hint=hint)
        self.values[path] = _place(event)
        if not isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent):
            self.report("RB005", "aliases are not allowed", event, hint="write the value out")
            return None
        if event.anchor is not None:
            self.report("RB005", "anchors are not allowed", event, hint="write the value out where it is needed")
        if event.tag is not None:
            self.report("RB005", f"the tag {str(event.tag)[:80]} is not allowed", event, hint="remove the tag")
        if isinstance(event, yaml.CollectionStartEvent):
            if depth >= MAX_DEPTH:
                self.fatal("RB002", f"nested more than {MAX_DEPTH} levels deep", event)
            if isinstance(event, yaml.MappingStartEvent):
                return self.mapping(events, path, depth + 1)
            return self.sequence(events, path, depth + 1)
        return self.scalar(event)

    def sequence(self, events: Iterator[yaml.Event], path: Path_, depth: int) -> list[Any]:
        result: list[Any] = []
        for event in events:
            if isinstance(event, yaml.SequenceEndEvent):
                break
            result.append(self.build(event, events, (*path, len(result)), depth))
        return result

    def mapping(self, events: Iterator[yaml.Event], path: Path_, depth: int) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for event in events:
            if isinstance(event, yaml.MappingEndEvent):
                break
            if not isinstance(event, yaml.ScalarEvent) or event.anchor is not None or event.tag is not None:
                self.report("RB012", "a key must be plain text", event)
                self.build(event, events, (*path, "?"), depth)
                self.build(next(events), events, (*path, "?"), depth)
                continue
            key = str(event.value)
            if key in result:
                line = self.keys[*path, key][0]
                hint = f"it stands in line {line} already: remove one of them"
                self.report("RB004", f"the key '{key}' appears twice", event, hint=hint)
                # Built at a place of its own, so that the first one keeps its positions.
                self.build(next(events), events, (*path, f"{key} again"), depth)
                continue
            self.keys[*path, key] = _place(event)
            result[key] = self.build(next(events), events, (*path, key), depth)
        return result

    def scalar(self, event: yaml.ScalarEvent) -> object:
        text = str(event.value)
        if event.style:  # quoted or block text is text
            return text
        if text in _NULLS:
            return None
        if text in _WORDS:
            return _WORDS[text]
        if len(text) > _LONGEST_NUMBER:
            return text
        if _NON_FINITE.fullmatch(text):
            self.report("RB006", f"{text} is not a finite number", event)
            return None
        if _AMBIGUOUS.fullmatch(text):
            hint = "drop the zero, or quote it if it is text"
            self.report("RB006", f"{text} is read differently by different YAML readers", event, hint=hint)
            return None
        if _INT.fullmatch(text):
            return int(text)
        if _FLOAT.fullmatch(text):
            value = float(text)
            if value in (float("inf"), float("-inf")):
                self.report("RB006", f"{text} is too large a number", event)
                return None
            return value
        return text

    def add(self, code: str, message: str, place: Place, hint: str | None = None) -> None:
        line, column = place
        snippet = self.lines[line - 1] if line <= len(self.lines) else ""
        self.problems.append(Problem(code, message, self.file, line, column, snippet, hint))

    def report(self, code: str, message: str, event: yaml.Event, *, hint: str | None = None) -> None:
        self.add(code, message, _place(event), hint)
        if len(self.problems) >= MAX_PROBLEMS:
            raise _Unusable

    def fatal(self, code: str, message: str, event: yaml.Event, *, hint: str | None = None) -> None:
        self.add(code, message, _place(event), hint)
        raise _Unusable
