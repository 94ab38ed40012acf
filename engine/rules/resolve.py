"""Merging a book with the books it extends. Each entry remembers the document and the path it was written at."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from .model import AuthoredCause, AuthoredSymptom
from .validate import did_you_mean, validate

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .model import AuthoredBook, Edit
    from .problems import Problem
    from .yaml_loader import Document

__all__ = ["KINDS", "Item", "Merged", "merge"]

M = TypeVar("M", AuthoredSymptom, AuthoredCause)
Path = tuple[str | int, ...]
Place = tuple["Document", Path]
KINDS = ("windows", "knobs", "derive", "symptoms", "causes")


@dataclass(frozen=True, slots=True)
class Item:
    """A window, knob, derived number, symptom or cause (`value`, as authored) with the document and path of its place.

    Where an override changed it, `parts` says for each key, and for each item of a list that was appended to, where
    that was written; what is not in it stands in the document itself.
    """

    value: Any
    document: Document
    path: Path
    parts: Mapping[Path, Place] = field(default_factory=dict)

    def place(self, path: Path = ()) -> Place:
        """The document that holds what is at `path` within this entry, and its path there."""
        for length in (2, 1):
            if len(path) >= length and path[:length] in self.parts:
                document, start = self.parts[path[:length]]
                return document, (*start, *path[length:])
        return self.document, (*self.path, *path)

    def problem(
        self, code: str, message: str, path: Path = (), *, key: bool = False, hint: str | None = None, column: int = 0
    ) -> Problem:
        """A problem at `path` within this entry."""
        document, place = self.place(path)
        at_key = key or not (path or column)
        return document.problem(code, message, place, key=at_key, hint=hint, column=column)


@dataclass
class Merged:
    """A book with everything it extends merged in: entries by name, and the names that were switched off.

    `sources` are the bytes of every file that took part, each once.
    """

    authored: AuthoredBook
    document: Document
    windows: dict[str, Item] = field(default_factory=dict)
    knobs: dict[str, Item] = field(default_factory=dict)
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
    for kind in KINDS:
        own: dict[str, Item] = getattr(merged, kind)
        for name, value in getattr(authored, kind).items():
            item = Item(value, document, (kind, name))
            if name in own:
                message = f"'{name}' is defined by an extended book already ({own[name].document.file})"
                hint = "change it under override, or choose another name"
                merged.problems.append(item.problem("RB032", message, hint=hint))
            own[name] = item
    if authored.status == "experimental":
        _all_experimental(merged)
    if document.source not in merged.sources:
        merged.sources.append(document.source)
    _override_whole(merged, "windows")
    _override_whole(merged, "derive")
    _override(merged, "symptoms", AuthoredSymptom)
    _override(merged, "causes", AuthoredCause)
    return merged


def _inherit(merged: Merged, parent: Merged) -> None:
    merged.problems += [p for p in parent.problems if p not in merged.problems]
    merged.sources += [source for source in parent.sources if source not in merged.sources]
    for kind, names in parent.off.items():
        merged.off[kind] |= names
    for kind in KINDS:
        own: dict[str, Item] = getattr(merged, kind)
        for name, item in getattr(parent, kind).items():
            # The same entry may come along two ways, when two extended books extend the same third one.
            if name in own and (own[name].document.file, own[name].path) != (item.document.file, item.path):
                files = f"{own[name].document.file} and {item.document.file}"
                message = f"'{name}' ({kind}) comes from two of the extended books: {files}"
                hint = "extend only one of them"
                merged.problems.append(merged.document.problem("RB032", message, ("extends",), hint=hint))
            own[name] = item


def _all_experimental(merged: Merged) -> None:
    """The causes that an experimental book writes itself are experimental, unless they say otherwise."""
    for name, cause in merged.authored.causes.items():
        if "status" not in cause.model_fields_set:
            value = cause.model_copy(update={"status": "experimental"})
            merged.causes[name] = replace(merged.causes[name], value=value)


def _inherited(merged: Merged, kind: str, name: str) -> bool:
    """Whether an extended book has the entry; where not, that is a problem."""
    items, own = getattr(merged, kind), getattr(merged.authored, kind)
    if name in items and name not in own:
        return True
    message = f"'{name}' is this book's own" if name in own else f"'{name}' does not exist in an extended book"
    hint = "change it where it is defined" if name in own else did_you_mean(name, items)
    path: Path = ("override", kind, name)
    merged.problems.append(merged.document.problem("RB032", f"override: {message}", path, key=True, hint=hint))
    return False


def _override_whole(merged: Merged, kind: str) -> None:
    """Windows and derived numbers have no keys worth changing one by one: they are replaced."""
    items: dict[str, Item] = getattr(merged, kind)
    for name, change in getattr(merged.authored.override, kind).items():
        if _inherited(merged, kind, name):
            items[name] = Item(change.replace, merged.document, ("override", kind, name, "replace"))


def _override(merged: Merged, kind: str, model: type[M]) -> None:
    items: dict[str, Item] = getattr(merged, kind)
    for name, change in getattr(merged.authored.override, kind).items():
        if not _inherited(merged, kind, name):
            continue
        if change == "off":
            del items[name]
            merged.off[kind].add(name)
        else:
            _edit(merged, items, name, change, ("override", kind, name), model)


def _edit(
    merged: Merged, items: dict[str, Item], name: str, change: dict[str, Edit], path: Path, model: type[M]
) -> None:
    old = items[name]
    data: dict[str, Any] = old.value.model_dump(by_alias=True, exclude_unset=True)
    parts: dict[Path, Place] = {(key,): old.place((key,)) for key in data} | dict(old.parts)
    key: str
    edit: Edit
    for key, edit in change.items():
        if "replace" in edit.model_fields_set:
            data[key] = edit.replace
            parts = {at: place for at, place in parts.items() if at[0] != key}
            parts[key,] = (merged.document, (*path, key, "replace"))
        elif isinstance(data.get(key, []), list):
            before: list[Any] = data.get(key, [])
            parts |= {(key, i): old.place((key, i)) for i in range(len(before)) if (key, i) not in parts}
            data[key] = [*before, *(edit.append or [])]
            for i in range(len(before), len(data[key])):
                parts[key, i] = (merged.document, (*path, key, "append", i - len(before)))
            parts.setdefault((key,), (merged.document, (*path, key)))
        else:
            message = f"'{key}' is no list that could be appended to"
            merged.problems.append(
                merged.document.problem("RB032", message, (*path, key), key=True, hint="use replace")
            )
            return
    changed = Item(None, merged.document, path, parts)
    value, problems = validate(model, changed, data)
    merged.problems += problems
    if value is not None:
        items[name] = replace(changed, value=value)
