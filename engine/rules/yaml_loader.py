"""Strict YAML 1.2 for files written by hand or by strangers: plain data with the place of every key and value.

Refused: tags, anchors, aliases, duplicate keys, non-finite numbers, integers with a leading zero, more than 1 MB, more than 32 levels.
Numbers and booleans follow YAML 1.2 (`1e-3` is a number; `on`, `yes` and `1:30` are text; no dates).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml

from .problems import Problem

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Document", "load_yaml", "parse_yaml"]

MAX_BYTES = 1_000_000
MAX_DEPTH = 32
_INT = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_LEADING_ZERO = re.compile(r"[-+]?0[0-9]+")
_NON_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_WORDS: dict[str, object] = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_NULLS = {"null", "Null", "NULL", "~", ""}

Place = tuple[int, int]
Path_ = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """Plain `data`, `values` and `keys`: the place (line, column from 1) of each value and key by its path; `lines` of the text."""

    file: str
    data: Any
    values: dict[Path_, Place]
    keys: dict[Path_, Place]
    lines: list[str]
    source: bytes = b""

    def problem(self, code: str, message: str, path: Path_, *, key: bool = False, hint: str | None = None) -> Problem:
        """A problem at the value (or key) at `path`, or at its nearest ancestor that has a place."""
        places = self.keys if key and path in self.keys else self.values
        while path and path not in places:
            path = path[:-1]
        line, column = places.get(path, (1, 1))
        snippet = self.lines[line - 1].rstrip() if 0 < line <= len(self.lines) else ""
        return Problem(code, message, self.file, line, column, snippet[:200], hint)


def load_yaml(path: Path, display: str | None = None) -> tuple[Document | None, list[Problem]]:
    """Read and parse a file; None with the problems when it cannot be used at all."""
    file = display or str(path)
    try:
        if path.stat().st_size > MAX_BYTES:
            return None, [
                Problem("RB002", f"the file is larger than {MAX_BYTES // 1_000_000} MB", file, hint="split the book")
            ]
        source = path.read_bytes()
    except OSError as error:
        return None, [Problem("RB001", f"the file cannot be read: {error.strerror}", file)]
    return parse_yaml(source, file)


def parse_yaml(source: bytes, file: str) -> tuple[Document | None, list[Problem]]:
    """Parse YAML text; every problem found, and the document when its structure could be read."""
    if len(source) > MAX_BYTES:
        return None, [
            Problem("RB002", f"the text is larger than {MAX_BYTES // 1_000_000} MB", file, hint="split the book")
        ]
    try:
        text = source.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return None, [
            Problem("RB001", f"the file is not UTF-8 text (byte {error.start})", file, hint="save it as UTF-8")
        ]
    lines = text.splitlines()
    too_deep = _too_deep(text, file, lines)
    if too_deep:
        return None, [too_deep]
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        node = yaml.compose(text, Loader=loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        snippet = lines[place[0] - 1] if place[0] <= len(lines) else ""
        code = "RB005" if "alias" in str(error.problem) or "anchor" in str(error.problem) else "RB003"
        return None, [Problem(code, f"not valid YAML: {error.problem or error.context}", file, *place, snippet[:200])]
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        return None, [Problem("RB003", f"not valid YAML: {str(error).splitlines()[0]}", file)]
    if node is None:
        return None, [Problem("RB003", "the file is empty", file)]
    builder = _Builder(file, lines)
    data = builder.build(node, ())
    return Document(file, data, builder.values, builder.keys, lines, source), builder.problems


def _too_deep(text: str, file: str, lines: list[str]) -> Problem | None:
    """Deep nesting and anchors are found by the event stream, before anything recursive runs."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    depth = 0
    try:
        for event in yaml.parse(text, Loader=loader):
            anchor = getattr(event, "anchor", None)
            tag = getattr(event, "tag", None)
            line, column = event.start_mark.line + 1, event.start_mark.column + 1
            snippet = lines[line - 1][:200] if line <= len(lines) else ""
            if anchor is not None:
                return Problem(
                    "RB005", "anchors and aliases are not allowed", file, line, column, snippet, "write the value out"
                )
            if tag is not None:
                return Problem(
                    "RB005", f"the tag {str(tag)[:80]} is not allowed", file, line, column, snippet, "remove the tag"
                )
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
                if depth > MAX_DEPTH:
                    return Problem("RB002", f"nested more than {MAX_DEPTH} levels deep", file, line, column, snippet)
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
    except (yaml.YAMLError, ValueError):
        return None  # compose() reports it with its place
    return None


class _Builder:
    """Builds plain data from YAML nodes, noting places and problems."""

    def __init__(self, file: str, lines: list[str]) -> None:
        self.file, self.lines = file, lines
        self.values: dict[Path_, Place] = {}
        self.keys: dict[Path_, Place] = {}
        self.problems: list[Problem] = []

    def build(self, node: yaml.Node, path: Path_) -> Any:
        self.values[path] = (node.start_mark.line + 1, node.start_mark.column + 1)
        if isinstance(node, yaml.MappingNode):
            return self.mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.build(item, (*path, i)) for i, item in enumerate(node.value)]
        return self.scalar(node)

    def mapping(self, node: yaml.MappingNode, path: Path_) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                self.report("RB012", "a key must be plain text", key_node)
                continue
            key = str(key_node.value)
            if key in result:
                self.report("RB004", f"the key '{key}' appears twice", key_node, "remove one of them")
                continue
            place = (key_node.start_mark.line + 1, key_node.start_mark.column + 1)
            self.keys[*path, key] = place
            result[key] = self.build(value_node, (*path, key))
        return result

    def scalar(self, node: yaml.Node) -> object:
        text = str(node.value)
        if getattr(node, "style", None):  # quoted or block text is text
            return text
        if text in _NULLS:
            return None
        if text in _WORDS:
            return _WORDS[text]
        if _NON_FINITE.fullmatch(text):
            self.report("RB006", f"{text} is not a finite number", node)
            return None
        if _LEADING_ZERO.fullmatch(text):
            self.report(
                "RB006",
                f"{text} has a leading zero, which YAML readers take differently",
                node,
                "quote it or drop the zero",
            )
            return None
        if _INT.fullmatch(text) and len(text) < 300:
            return int(text)
        if _FLOAT.fullmatch(text):
            value = float(text)
            if value in (float("inf"), float("-inf")):
                self.report("RB006", f"{text[:40]} is too large a number", node)
                return None
            return value
        return text

    def report(self, code: str, message: str, node: yaml.Node, hint: str | None = None) -> None:
        line, column = node.start_mark.line + 1, node.start_mark.column + 1
        snippet = self.lines[line - 1].rstrip() if line <= len(self.lines) else ""
        self.problems.append(Problem(code, message, self.file, line, column, snippet[:200], hint))
