"""Merging a book with the books it extends. Each entry remembers the document and the path it was written at."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from .model import AuthoredCause, AuthoredSymptom
from .validate import did_you_mean, validate

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .model import AuthoredBook, Edit
    from .problems import Problem
    from .yaml_loader import Document

__all__ = ["Item", "Merged", "merge"]

M = TypeVar("M", AuthoredSymptom, AuthoredCause)
Path = tuple[str | int, ...]
_KINDS = ("windows", "derive", "symptoms", "causes")


@dataclass(frozen=True, slots=True)
class Item:
    """A window, derived number, symptom or cause (`value`, as authored) with the document and path of its place."""

    value: Any
    document: Document
    path: Path

    def problem(
        self, code: str, message: str, path: Path = (), *, key: bool = False, hint: str | None = None, column: int = 0
    ) -> Problem:
        """A problem at `path` within this entry."""
        place = (*self.path, *path)
        at_key = key or not (path or column)
        return self.document.problem(code, message, place, key=at_key, hint=hint, column=column)


@dataclass
class Merged:
    """A book with everything it extends merged in: entries by name, and the names that were switched off.

    `sources` are the bytes of every file that took part, each once.
    """

    authored: AuthoredBook
    document: Document
    windows: dict[str, Item] = field(default_factory=dict)
    derive: dict[str, Item] = field(default_factory=dict)
    symptoms: dict[str, Item] = field(default_factory=dict)
    causes: dict[str, Item] = field(default_factory=dict)
    off: dict[str, set[str]] = field(default_factory=lambda: {"symptoms": set(), "causes": set()})
    sources: list[bytes] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def merge(authored: AuthoredBook, document: Document, parents: Iterable[Merged]) -> Merged:
    """Parents in their order, then the book itself, then its overrides. Problems are collected in the result."""
    merged = Merged(authored, document)
    for parent in parents:
        _inherit(merged, parent)
    for kind in _KINDS:
        own: dict[str, Item] = getattr(merged, kind)
        for name, value in getattr(authored, kind).items():
            item = Item(value, document, (kind, name))
            if name in own:
                message = f"'{name}' is defined by an extended book already ({own[name].document.file})"
                hint = "change it under override, or choose another name"
                merged.problems.append(item.problem("RB032", message, hint=hint))
            own[name] = item
    if document.source not in merged.sources:
        merged.sources.append(document.source)
    _override(merged, "symptoms", AuthoredSymptom)
    _override(merged, "causes", AuthoredCause)
    return merged


def _inherit(merged: Merged, parent: Merged) -> None:
    merged.problems += [p for p in parent.problems if p not in merged.problems]
    merged.sources += [source for source in parent.sources if source not in merged.sources]
    for kind, names in parent.off.items():
        merged.off[kind] |= names
    for kind in _KINDS:
        own: dict[str, Item] = getattr(merged, kind)
        for name, item in getattr(parent, kind).items():
            # The same entry may come along two ways, when two extended books extend the same third one.
            if name in own and (own[name].document.file, own[name].path) != (item.document.file, item.path):
                files = f"{own[name].document.file} and {item.document.file}"
                message = f"'{name}' ({kind}) comes from two of the extended books: {files}"
                hint = "extend only one of them"
                merged.problems.append(merged.document.problem("RB032", message, ("extends",), hint=hint))
            own[name] = item


def _override(merged: Merged, kind: str, model: type[M]) -> None:
    items: dict[str, Item] = getattr(merged, kind)
    own = getattr(merged.authored, kind)
    for name, change in getattr(merged.authored.override, kind).items():
        path: Path = ("override", kind, name)
        if name not in items or name in own:
            message = f"'{name}' is this book's own" if name in own else f"'{name}' does not exist in an extended book"
            hint = "change it where it is defined" if name in own else did_you_mean(name, items)
            merged.problems.append(merged.document.problem("RB032", f"override: {message}", path, key=True, hint=hint))
        elif change == "off":
            del items[name]
            merged.off[kind].add(name)
        else:
            _edit(merged, items, name, change, path, model)


def _edit(
    merged: Merged, items: dict[str, Item], name: str, change: dict[str, Edit], path: Path, model: type[M]
) -> None:
    data: dict[str, Any] = items[name].value.model_dump(by_alias=True, exclude_unset=True)
    key: str
    edit: Edit
    for key, edit in change.items():
        if "replace" in edit.model_fields_set:
            data[key] = edit.replace
        elif isinstance(data.get(key, []), list):
            data[key] = [*data.get(key, []), *(edit.append or [])]
        else:
            message = f"'{key}' is no list that could be appended to"
            merged.problems.append(
                merged.document.problem("RB032", message, (*path, key), key=True, hint="use replace")
            )
            return
    value, problems = validate(model, merged.document, data, path)
    merged.problems += problems
    if value is not None:
        items[name] = Item(value, merged.document, path)
