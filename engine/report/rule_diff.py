"""What `rules diff` says: for people, and as JSON (``rl-diagnose/rules-diff/v1``)."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.text import Text

from ..diagnosis.numbers import count, percent
from .ledger import plain as strict
from .text import ascii_only, clean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..rules.book import Book
    from ..rules.diff import BookDiff, Change
    from ..testing.flips import Rescored, Said

__all__ = ["SCHEMA", "diff_text", "to_json"]

SCHEMA = "rl-diagnose/rules-diff/v1"
# Longer values are cut for people; JSON has them whole.
SHOWN = 160
_HEADINGS = {
    "book": "Book",
    "window": "Windows",
    "derive": "Derived numbers",
    "knob": "Knobs",
    "symptom": "Symptoms",
    "cause": "Causes",
    "evidence": "Evidence",
    "remedy": "Remedies",
}
_STYLES = {"major": "bold red", "minor": "yellow", "patch": "dim"}


def diff_text(found: BookDiff, rescored: Rescored | None = None, *, plain: bool = False) -> Text:
    """Changes under the heading of their kind, the advised version, and the verdicts that flip. `plain`: ASCII only."""
    text = Text()
    for line, style in _lines(found, rescored):
        safe = clean(line.lstrip(" "))
        indent = line[: len(line) - len(line.lstrip(" "))]
        text.append(indent + (ascii_only(safe) if plain else safe) + "\n", style)
    return text


def _lines(found: BookDiff, rescored: Rescored | None) -> Iterator[tuple[str, str]]:
    yield f"{_name(found.old)} → {_name(found.new)}: {count(len(found.changes), 'change')}", "bold"
    for kind, heading in _HEADINGS.items():
        changes = [change for change in found.changes if change.kind == kind]
        if changes:
            yield heading, "bold"
        for change in changes:
            yield from _change(change)
    yield from _advice(found)
    if rescored is not None:
        yield from _rescored(rescored)


def _change(change: Change) -> Iterator[tuple[str, str]]:
    style = _STYLES[change.bump]
    mark = "+" if change.old is None and not change.field else "-" if change.new is None and not change.field else "~"
    what = f"{change.name}, {change.field}" if change.field else change.name
    yield f"  {mark} {what}  [{change.bump}]", style
    if change.old is not None:
        yield f"      was {_cut(change.old)}", "dim"
    if change.new is not None:
        yield f"      now {_cut(change.new)}", "dim"


def _advice(found: BookDiff) -> Iterator[tuple[str, str]]:
    advice = found.advice
    if advice.bump == "none":
        yield "Version: nothing changed that a version speaks about", "bold"
        return
    yield f"Version: a {advice.bump} change, so at least {advice.version}", "bold"
    for reason in advice.reasons:
        yield f"  because {reason}", "dim"
    if advice.enough:
        yield f"  {found.new.version} is enough", "green"
    else:
        yield f"  {found.new.version} is too low", "bold red"


def _rescored(rescored: Rescored) -> Iterator[tuple[str, str]]:
    flips = count(len(rescored.flips), "verdict flips", "verdicts flip")
    yield f"Corpus: {count(rescored.runs, 'run')} scored by both, {flips}", "bold"
    if rescored.unreadable:
        yield (
            f"  {count(len(rescored.unreadable), 'run')} could not be read: {_cut(', '.join(rescored.unreadable))}",
            "",
        )
    for flip in rescored.flips:
        yield f"  {flip.run}" + (f" ({flip.label})" if flip.label else ""), ""
        yield f"      was {_said(flip.old)}", "dim"
        yield f"      now {_said(flip.new)}", "dim"
    if rescored.moved is not None:
        run, cause, old, new = rescored.moved
        yield f"  largest move: {cause} in {run}, {percent(old)} → {percent(new)}", ""


def _said(said: Said) -> str:
    words = said.verdict.replace("_", " ")
    if said.cause is not None:
        words += f": {said.cause} ({percent(said.probability or 0.0)})"
    others = [name for name in said.found if name != said.cause]
    return f"{words}; also {', '.join(others)}" if others else words


def _name(book: Book) -> str:
    return f"{book.id} {book.version}"


def _cut(words: str) -> str:
    return words if len(words) <= SHOWN else words[: SHOWN - 1] + "…"


def to_json(found: BookDiff, rescored: Rescored | None = None) -> str:
    """Strict JSON with a final newline; `corpus` is null where no corpus was scored."""
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "old": _reference(found.old),
        "new": _reference(found.new),
        "advice": asdict(found.advice),
        "changes": [asdict(change) for change in found.changes],
        "corpus": None if rescored is None else _corpus(rescored),
    }
    return json.dumps(strict(document), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _reference(book: Book) -> dict[str, str]:
    return {"id": book.id, "version": book.version, "sha256": book.sha256, "path": book.path}


def _corpus(rescored: Rescored) -> dict[str, Any]:
    moved = None
    if rescored.moved is not None:
        moved = dict(zip(("run", "cause", "old", "new"), rescored.moved, strict=True))
    return {**asdict(rescored), "moved": moved}
