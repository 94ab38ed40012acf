"""A book written out with everything it extends: valid YAML of its own, each line with the place it comes from.

What the author wrote on one line stays on one line, so that a line has one place. Evidence carries its weight
in decibans.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from .library import read_book
from .model import usual_words
from .needs import references
from .resolve import KINDS, Item
from .validate import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from .book import Book
    from .resolve import Merged
    from .yaml_loader import Document

__all__ = ["Line", "Resolved", "resolved"]

_HEAD = (
    "schema",
    "id",
    "version",
    "title",
    "description",
    "default",
    "status",
    "replaced_by",
    "requires",
    "applies_to",
)
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_.@/-]*( [A-Za-z0-9_.@/-]+)*")
_NO_TEXT = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}
_WIDEST_FLOW = 110
_FIRST = {"title": 0, "description": 1}

YamlPath = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of YAML, the place that it comes from (``file:line``; empty for none), and a remark on it."""

    text: str
    origin: str = ""
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Resolved:
    """The lines of a book, and the short names that stand for its files in them."""

    lines: tuple[Line, ...]
    files: tuple[tuple[str, str], ...]


def resolved(reference: str | Path, book: Book, cause: str | None = None) -> Resolved:
    """`book`, which is what `reference` names, written out; with `cause` only that cause and its symptoms.

    Raises `UsageError` for a cause that the book does not have.
    """
    merged, _ = read_book(reference)
    if merged is None:
        raise AssertionError("a book that was loaded can be read")
    writer = _Writer(merged, book)
    lines = list(writer.whole() if cause is None else writer.one(cause))
    return Resolved(tuple(lines), tuple((short, file) for file, short in writer.short.items()))


class _Writer:
    def __init__(self, merged: Merged, book: Book) -> None:
        self.merged, self.book = merged, book
        self.short = _short_names(merged)
        self.base = {s.id: s.base_rate for s in book.symptoms}
        self.words = usual_words(merged.authored)

    def whole(self) -> Iterator[Line]:
        document, data = self.merged.document, self.merged.document.data
        for key in _HEAD:
            if key in data:
                yield from self.value(key, data[key], _At(document, (key,)), 0)
        for kind in KINDS:
            items: dict[str, Item] = getattr(self.merged, kind)
            if items:
                yield from (Line(""), Line(f"{kind}:"))
                for name, item in items.items():
                    yield from self.entry(kind, name, item)
        if "calibration" in data:
            yield from (Line(""), *self.value("calibration", data["calibration"], _At(document, ("calibration",)), 0))

    def one(self, name: str) -> Iterator[Line]:
        """A cause with the symptoms that it rests on."""
        if name not in self.merged.causes:
            hint = did_you_mean(name, self.merged.causes) or f"it has {', '.join(sorted(self.merged.causes))}"
            raise UsageError(f"the book '{self.book.id}' has no cause '{name}'", hint=hint)
        conditions = {s.id: s.condition for s in self.book.symptoms}
        cause = next(c for c in self.book.causes if c.id == name)
        wanted, queue = set[str](), [link.symptom for link in cause.links]
        while queue:
            symptom = queue.pop()
            if symptom not in wanted:
                wanted.add(symptom)
                queue += references(conditions[symptom])
        yield Line("symptoms:")
        for symptom, item in self.merged.symptoms.items():
            if symptom in wanted:
                yield from self.entry("symptoms", symptom, item)
        yield from (Line(""), Line("causes:"))
        yield from self.entry("causes", name, self.merged.causes[name])

    def entry(self, kind: str, name: str, item: Item) -> Iterator[Line]:
        at = _At(item)
        if kind == "derive":
            yield from self.value(name, item.value, at, 1)
            return
        data: dict[str, Any] = item.value.model_dump(by_alias=True, exclude_unset=True)
        data = {key: data[key] for key in sorted(data, key=lambda key: _FIRST.get(key, len(_FIRST)))}
        if kind == "causes":
            data = self.without_off(data)
        if kind in {"windows", "knobs"}:
            yield from self.value(name, data, at, 1)
            return
        yield Line(f"  {name}:", self.origin(at))
        for key, value in data.items():
            if key == "evidence":
                yield from self.evidence(name, value, item)
            else:
                yield from self.value(key, value, at.below(key), 2, self.remark(key, value))

    def without_off(self, data: dict[str, Any]) -> dict[str, Any]:
        """Without causes that are switched off; evidence on switched-off symptoms is left out where it is written."""
        if "excludes" not in data:
            return data
        return {**data, "excludes": [name for name in data["excludes"] if name in self.merged.causes]}

    def evidence(self, cause: str, links: list[dict[str, Any]], item: Item) -> Iterator[Line]:
        kept = [(i, link) for i, link in enumerate(links) if link.get("symptom") not in self.merged.off["symptoms"]]
        if not kept:
            return
        yield Line("    evidence:")
        for i, link in kept:
            base = self.base[link.get("symptom") or f"{cause}__{i + 1}"]
            yield from self.list_item(link, _At(item, ("evidence", i)), 3, _weight(link, base, self.words))

    def remark(self, key: str, value: object) -> str:
        if key == "prior" and isinstance(value, float):
            return f"{_decibans(value / (1 - value))} before any evidence"
        if key == "base_rate" and isinstance(value, str):
            return f"= {self.words[value]:g}"
        return ""

    def value(self, key: str, value: object, at: _At, depth: int, remark: str = "") -> Iterator[Line]:
        """``key: value``, on one line where the author wrote it so."""
        pad = "  " * depth
        if not isinstance(value, dict | list) or not value or self.one_line(value, at, len(pad) + len(key)):
            yield Line(f"{pad}{key}: {_flow(value)}", self.origin(at), remark)
        elif isinstance(value, dict):
            yield Line(f"{pad}{key}:")
            for name, inner in value.items():
                yield from self.value(name, inner, at.below(name), depth + 1)
        else:
            yield Line(f"{pad}{key}:")
            for i, inner in enumerate(value):
                yield from self.list_item(inner, at.below(i), depth + 1)

    def list_item(self, value: object, at: _At, depth: int, remark: str = "") -> Iterator[Line]:
        pad = "  " * depth
        if not isinstance(value, dict) or not value or self.one_line(value, at, len(pad)):
            yield Line(f"{pad}- {_flow(value)}", self.origin(at), remark)
            return
        lines = [line for name, inner in value.items() for line in self.value(name, inner, at.below(name), depth + 1)]
        first = lines[0]
        yield Line(f"{pad}- {first.text.lstrip()}", first.origin, remark)
        yield from lines[1:]

    def one_line(self, value: object, at: _At, indent: int) -> bool:
        return indent + len(_flow(value)) <= _WIDEST_FLOW and len(set(self.origins(value, at))) == 1

    def origins(self, value: object, at: _At) -> Iterator[str]:
        parts: list[tuple[str | int, object]] = []
        if isinstance(value, dict):
            parts = list(value.items())
        elif isinstance(value, list):
            parts = list(enumerate(value))
        if not parts:
            yield self.origin(at)
        for name, inner in parts:
            yield from self.origins(inner, at.below(name))

    def origin(self, at: _At) -> str:
        document, line = at.line()
        return f"{self.short[document.file]}:{line}"


@dataclass(frozen=True, slots=True)
class _At:
    """A path within an entry, or within a document."""

    where: Item | Document
    path: YamlPath = ()

    def below(self, part: str | int) -> _At:
        return _At(self.where, (*self.path, part))

    def line(self) -> tuple[Document, int]:
        document, path = self.where.place(self.path) if isinstance(self.where, Item) else (self.where, self.path)
        while path and path not in document.keys and path not in document.values:
            path = path[:-1]
        place = document.keys.get(path) or document.values.get(path, (1, 1))
        return document, place[0]


def _short_names(merged: Merged) -> dict[str, str]:
    """File → the shortest end of its path that no other file of the book shares."""
    files = dict.fromkeys([merged.document.file])
    for kind in KINDS:
        for item in getattr(merged, kind).values():
            files |= dict.fromkeys([item.document.file, *(document.file for document, _ in item.parts.values())])
    parts = {file: re.split(r"[/\\]", file) for file in files}
    # A released version alone (1.0.0.yaml) would not say which book it is of.
    fewest = {file: 2 if re.fullmatch(r"[0-9.]+\.yaml", split[-1]) else 1 for file, split in parts.items()}
    short = {}
    for file, split in parts.items():
        for length in range(fewest[file], len(split) + 1):
            if sum(other[-length:] == split[-length:] for other in parts.values()) == 1:
                break
        short[file] = "/".join(split[-length:])
    return short


def _weight(link: dict[str, Any], base: float, words: Mapping[str, float]) -> str:
    """What the evidence weighs where its symptom is clearly there, and where it is clearly not."""
    seen = words[link["seen"]] if isinstance(link["seen"], str) else float(link["seen"])
    present, absent = _decibans(seen / base), _decibans((1 - seen) / (1 - base))
    without = "absence says nothing" if link.get("absence") == "ignore" else f"{absent} where not"
    return f"{seen:g} with the cause, {base:g} without: {present} where seen, {without}"


def _decibans(odds: float) -> str:
    return f"{10 * math.log10(odds):+.1f} dB"


def _flow(value: object) -> str:
    """A value as YAML on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_flow(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_flow(inner) for inner in value) + "]"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, str):
        plain = _PLAIN.fullmatch(value) and value.lower() not in _NO_TEXT
        return value if plain else json.dumps(value, ensure_ascii=False)
    return json.dumps(value)
