"""What a page about a cause says beyond the cause itself: its evidence in decibans, its neighbours, its history."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from ..signals.taxonomy import hyperparameters
from .expressions import compile_expression
from .library import list_books, load_book
from .needs import leaves, mentions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .book import Book, Cause, Leaf, Remedy, Symptom

__all__ = [
    "Change",
    "Difference",
    "Limits",
    "Neighbour",
    "Sign",
    "changes",
    "home",
    "limits",
    "neighbours",
    "signs",
    "support",
]

NEIGHBOURS = 4
DIFFERENCES = 2
# Below this, in decibans, nobody would notice the difference.
_CLEAR = 3.0


@dataclass(frozen=True, slots=True)
class Sign:
    """A piece of evidence: how often the symptom is seen with the cause and without, and what it weighs in decibans
    where it is clearly there, and clearly not (None: its absence does not count)."""

    symptom: Symptom
    seen: float
    there: float
    absent: float | None


@dataclass(frozen=True, slots=True)
class Difference:
    """A symptom that tells two causes apart: what it weighs for this one and for the other, in decibans."""

    symptom: Symptom
    own: float
    other: float


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A cause that shows itself alike or is excluded, and the symptoms that tell the two apart, the clearest first."""

    cause: Cause
    excluded: bool
    differences: tuple[Difference, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """What a version of a book did to a cause: the fields that it changed; none where the cause is new."""

    version: str
    changed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Limits:
    """How far a remedy turns its knob: bounds, and the factor to the present value (with `one_minus`, of its distance
    from 1); None for no limit."""

    low: float | None
    high: float | None
    step: float | None
    one_minus: bool


def limits(book: Book, remedy: Remedy) -> Limits:
    """The limits of a remedy: its own, else those of the knob."""
    house = {knob.name: knob for knob in book.knobs}
    knob = hyperparameters().get(remedy.knob) or house[remedy.knob]
    return Limits(
        knob.low if remedy.low is None else remedy.low,
        knob.high if remedy.high is None else remedy.high,
        knob.step_limit if remedy.step_limit is None else remedy.step_limit,
        knob.one_minus,
    )


def signs(book: Book, cause: Cause) -> list[Sign]:
    """The evidence of a cause in the order of the book."""
    symptoms = {symptom.id: symptom for symptom in book.symptoms}
    found = []
    for link in cause.links:
        symptom = symptoms[link.symptom]
        there, absent = _weights(link.seen, symptom.base_rate)
        found.append(Sign(symptom, link.seen, there, None if link.absence == "ignore" else absent))
    return found


def support(book: Book, symptoms: Sequence[Symptom]) -> tuple[list[Symptom], dict[str, str]]:
    """The symptoms that `symptoms` are made of and that are not among them, and the expressions of all derived numbers
    that they look at, directly or through others."""
    spec, derived = {symptom.id: symptom for symptom in book.symptoms}, dict(book.derived)
    order = [symptom.id for symptom in symptoms]
    for name in order:  # grows while it is walked through
        order += [other for other in dict.fromkeys(mentions(spec[name].condition)) if other not in order]
    formulas: dict[str, str] = {}
    waiting = [leaf.name for name in order for leaf in leaves(spec[name].condition) if _derived(leaf)]
    while waiting:
        name = waiting.pop(0)
        if name in derived and name not in formulas:
            formulas[name] = derived[name]
            waiting += compile_expression(derived[name]).names
    return [spec[name] for name in order[len(symptoms) :]], formulas


def neighbours(book: Book, cause: Cause) -> list[Neighbour]:
    """The causes that are easiest to take for this one, those that share most of its evidence first, then those that
    only exclude it; at most `NEIGHBOURS`."""
    symptoms = {symptom.id: symptom for symptom in book.symptoms}
    own = {sign.symptom.id: sign.there for sign in signs(book, cause)}
    found = []
    for other in book.causes:
        if other.id == cause.id or other.status == "deprecated":
            continue
        theirs = {sign.symptom.id: sign.there for sign in signs(book, other)}
        shared = sum(
            min(own[name], theirs[name]) for name in own if name in theirs and min(own[name], theirs[name]) > 0
        )
        excluded = other.id in cause.excludes or cause.id in other.excludes
        if shared > 0 or excluded:
            found.append((shared, Neighbour(other, excluded, _differences(symptoms, own, theirs))))
    found.sort(key=lambda pair: (-pair[0], pair[1].cause.id))
    return [neighbour for _, neighbour in found[:NEIGHBOURS]]


def _differences(
    symptoms: dict[str, Symptom], own: dict[str, float], theirs: dict[str, float]
) -> tuple[Difference, ...]:
    """The symptoms that speak most for the one against the other, at most `DIFFERENCES` for each of the two."""
    names = sorted({*own, *theirs})
    all_of_them = [Difference(symptoms[name], own.get(name, 0.0), theirs.get(name, 0.0)) for name in names]
    clear = sorted(
        (d for d in all_of_them if abs(d.own - d.other) >= _CLEAR), key=lambda d: (-abs(d.own - d.other), d.symptom.id)
    )
    for_own = [d for d in clear if d.own > d.other][:DIFFERENCES]
    return (*for_own, *[d for d in clear if d.own < d.other][:DIFFERENCES])


def changes(book: Book, cause: Cause) -> list[Change]:
    """The versions of the book that brought or changed the cause, the oldest first; for a book that has no id, and so
    no other versions, its own."""
    info = next((known for known in list_books() if known.id == book.id and book.version in known.versions), None)
    if info is None:
        return [Change(book.version, ())]
    found: list[Change] = []
    before: Cause | None = None
    for version in info.versions[: info.versions.index(book.version) + 1]:
        then = next((c for c in load_book(f"{book.id}@{version}").causes if c.id == cause.id), None)
        if then is not None and then != before:
            changed = () if before is None else tuple(_changed(before, then))
            found.append(Change(version, changed))
        before = then
    return found


def _changed(before: Cause, after: Cause) -> Iterator[str]:
    for one in fields(before):
        if getattr(before, one.name) != getattr(after, one.name):
            yield {"links": "evidence"}.get(one.name, one.name.replace("_", " "))


def home(book: Book, cause: Cause, books: Sequence[Book]) -> Book:
    """The book of `books` on whose page the cause is described: the one that `book` has it from, unless it says
    something else about it than that one."""
    for parent in books:
        if parent.id in {name.partition("@")[0] for name in book.extends}:
            same = next((theirs for theirs in parent.causes if theirs == cause), None)
            if same is not None and _essence(parent, same) == _essence(book, cause):
                return home(parent, same, books)
    return book


def _essence(book: Book, cause: Cause) -> tuple[object, ...]:
    """All that the probability of a cause rests on, but for its rivals."""
    evidence = signs(book, cause)
    below, formulas = support(book, [sign.symptom for sign in evidence])
    return cause, tuple(evidence), tuple(below), tuple(formulas.items())


def _derived(leaf: Leaf) -> bool:
    return leaf.kind == "derived"


def _weights(seen: float, base_rate: float) -> tuple[float, float]:
    """Decibans of a symptom that is clearly there, and of one that is clearly not."""
    return 10 * math.log10(seen / base_rate), 10 * math.log10((1 - seen) / (1 - base_rate))
