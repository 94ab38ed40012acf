"""What changed between two rulebooks, and which version the newer one should have.

Both are compared resolved, with what they extend merged in: a change that comes in through a book below counts as well.
Each change says how large a step of the version it asks for (semantic versioning, read for rulebooks):

major   what others may name is gone or means something else, or runs that were judged are not any more
minor   something is new, or a verdict may come out differently
patch   words and code templates only: every verdict stays
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from .book import All, Any_, First, Leaf, Mean, Not, Parts, Ramp
from .library import load_book, read_book

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from .book import AppliesTo, Book, Cause, Condition, Link, Remedy, Symptom

__all__ = ["Advice", "BookDiff", "Bump", "Change", "advise", "compare", "diff"]

Bump = Literal["none", "patch", "minor", "major"]
Kind = Literal["book", "window", "derive", "knob", "symptom", "cause", "evidence", "remedy"]
_ORDER: tuple[Bump, ...] = ("none", "patch", "minor", "major")
# What a person reads; no verdict and no number depends on it.
_WORDS = frozenset(
    {"title", "description", "tell_apart", "references", "relative", "summary", "patch", "before", "meaning"}
)


@dataclass(frozen=True, slots=True)
class Change:
    """One difference. `name` says of what (``learning_rate_jumped``; for evidence ``cause / symptom``), `field` which
    part of it (empty: the whole entry came or went), `old` and `new` are the values in words (None: there is none).

    `bump` is the step of the version that it asks for, `reason` why.
    """

    kind: Kind
    name: str
    field: str
    old: str | None
    new: str | None
    bump: Bump
    reason: str


@dataclass(frozen=True, slots=True)
class Advice:
    """The step of the version that the changes ask for (`bump`), the lowest version that makes it (`version`), and
    whether the version of the new book is at least that (`enough`). `reasons` are those of the largest changes."""

    bump: Bump
    version: str
    enough: bool
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BookDiff:
    """Two resolved books, what changed from the old to the new one, and the version that asks for."""

    old: Book
    new: Book
    changes: tuple[Change, ...]
    advice: Advice


def diff(old: str | Path, new: str | Path) -> BookDiff:
    """Load and compare two books. Raises `RulebookError` for an invalid one, `UsageError` for an unknown one."""
    before, after = load_book(old), load_book(new)
    changes = (*_needs(after.id, _authored(old), _authored(new)), *compare(before, after))
    return BookDiff(before, after, changes, advise(before, after, changes))


def compare(old: Book, new: Book) -> tuple[Change, ...]:
    """Every difference between two books except version, hash and place; empty where they say the same."""
    return (
        *_head(old, new),
        *_entries("window", _named(old.windows), _named(new.windows)),
        *_entries("derive", dict(old.derived), dict(new.derived)),
        *_entries("knob", _named(old.knobs), _named(new.knobs)),
        *_symptoms(old, new),
        *_causes(old, new),
    )


def advise(old: Book, new: Book, changes: Sequence[Change]) -> Advice:
    """The version that `new` should at least have, coming from `old` with `changes`.

    Before 1.0.0 nothing is promised yet: there a major change asks for the next minor version.
    """
    bump: Bump = max((change.bump for change in changes), key=_ORDER.index, default="none")
    reasons = tuple(dict.fromkeys(change.reason for change in changes if change.bump == bump))
    numbers = _numbers(old.version)
    step = "minor" if bump == "major" and numbers[0] == 0 else bump
    major, minor, patch = numbers
    wanted = {
        "major": (major + 1, 0, 0),
        "minor": (major, minor + 1, 0),
        "patch": (major, minor, patch + 1),
        "none": numbers,
    }[step]
    return Advice(bump, ".".join(map(str, wanted)), _numbers(new.version) >= wanted, reasons)


def _authored(reference: str | Path) -> dict[str, Any]:
    """The book's own file as plain data: for what a resolved book does not carry."""
    merged, _ = read_book(reference)
    return merged.document.data if merged is not None else {}


# -- the book as a whole -----------------------------------------------------------------------------------------------


def _head(old: Book, new: Book) -> Iterator[Change]:
    if old.id != new.id:
        yield Change("book", new.id, "id", old.id, new.id, "major", "the book has another id")
    yield from _fields("book", new.id, old, new, ("title", "description", "status", "replaced_by", "extends"))
    yield from _applies_to("book", new.id, old.applies_to, new.applies_to)
    if old.calibration != new.calibration:
        before, after = _words(old.calibration), _words(new.calibration)
        reason = "the calibration changed: every probability moves"
        yield Change("book", new.id, "calibration", before, after, "minor", reason)


def _needs(name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    """What the book needs of the program, and whether runs get it unasked."""
    for field in ("engine", "signals"):
        before, after = ((head.get("requires") or {}).get(field) for head in (old, new))
        if before != after:
            bump: Bump = "minor" if after is None else "major"
            what = "program" if field == "engine" else "signal taxonomy"
            reason = f"the book needs another version of the {what}" if after else f"the book fits any {what}"
            yield Change("book", name, f"requires.{field}", before, after, bump, reason)
    before, after = (head.get("default", True) for head in (old, new))
    if before != after:
        reason = "runs get the book without asking for it" if after else "runs get the book only when it is asked for"
        yield Change("book", name, "default", str(before), str(after), "minor" if after else "major", reason)


def _applies_to(kind: Kind, name: str, old: AppliesTo, new: AppliesTo) -> Iterator[Change]:
    for dimension in ("algorithm", "framework", "action_space"):
        before, after = getattr(old, dimension), getattr(new, dimension)
        if set(before) == set(after):
            continue
        narrower = bool(after) and (not before or not set(before) <= set(after))
        about = "the book" if kind == "book" else "a cause"
        bump: Bump = "major" if narrower else "minor"
        reason = f"{about} is about {'fewer' if narrower else 'more'} runs"
        was, now = _words(before) or "any", _words(after) or "any"
        yield Change(kind, name, f"applies_to.{dimension}", was, now, bump, reason)


# -- windows, derived numbers, knobs -----------------------------------------------------------------------------------


def _entries(kind: Kind, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    """Entries without an inner structure that matters: gone, new, or another value."""
    yield from _gone_and_new(kind, old, new, _words)
    for name in [name for name in new if name in old and old[name] != new[name]]:
        if is_dataclass(old[name]):
            names = [field.name for field in fields(old[name])]
            yield from _fields(kind, name, old[name], new[name], names)
        else:
            reason = f"a {_SINGULAR[kind]} is computed differently"
            yield Change(kind, name, "value", _words(old[name]), _words(new[name]), "minor", reason)


def _gone_and_new(
    kind: Kind, old: Mapping[str, Any], new: Mapping[str, Any], words: Callable[[Any], str | None]
) -> Iterator[Change]:
    for name in [name for name in old if name not in new]:
        reason = f"a {_SINGULAR[kind]} is gone that others may name"
        yield Change(kind, name, "", words(old[name]), None, "major", reason)
    for name in [name for name in new if name not in old]:
        yield Change(kind, name, "", None, words(new[name]), "minor", f"a {_SINGULAR[kind]} is new")


_SINGULAR: dict[Kind, str] = {
    "book": "book",
    "window": "window",
    "derive": "derived number",
    "knob": "knob",
    "symptom": "symptom",
    "cause": "cause",
    "evidence": "piece of evidence",
    "remedy": "remedy",
}


def _fields(kind: Kind, name: str, old: Any, new: Any, names: Sequence[str]) -> Iterator[Change]:
    for field in names:
        before, after = getattr(old, field), getattr(new, field)
        if before == after:
            continue
        bump: Bump = "patch" if field in _WORDS else "minor"
        reason = "words or code templates" if field in _WORDS else f"the {field} of a {_SINGULAR[kind]}"
        yield Change(kind, name, field, _words(before), _words(after), bump, f"{reason} changed")


# -- symptoms ----------------------------------------------------------------------------------------------------------


def _symptoms(old: Book, new: Book) -> Iterator[Change]:
    before, after = {s.id: s for s in old.symptoms}, {s.id: s for s in new.symptoms}
    yield from _gone_and_new("symptom", before, after, lambda symptom: _condition_words(symptom.condition))
    for name in [name for name in after if name in before]:
        yield from _symptom(before[name], after[name])


def _symptom(old: Symptom, new: Symptom) -> Iterator[Change]:
    yield from _fields("symptom", new.id, old, new, ("title", "description", "base_rate", "severity", "onset"))
    if old.condition == new.condition:
        return
    before, after = list(_ramps(old.condition)), list(_ramps(new.condition))
    if _without_ramps(old.condition) == _without_ramps(new.condition):
        for one, other in zip(before, after, strict=True):
            if one.ramp != other.ramp:
                reason = "a ramp moved"
                field = f"{one.kind} {one.name}"
                yield Change("symptom", new.id, field, _ramp_words(one.ramp), _ramp_words(other.ramp), "minor", reason)
        return
    reason = "a symptom looks at something else"
    was, now = _condition_words(old.condition), _condition_words(new.condition)
    yield Change("symptom", new.id, "condition", was, now, "minor", reason)


def _ramps(condition: Condition) -> Iterator[Leaf]:
    match condition:
        case Leaf():
            yield condition
        case Parts(parts=parts):
            for part in parts:
                yield from _ramps(part)
        case Not(part=part):
            yield from _ramps(part)


_SAME = Ramp("rising", 0.0, 1.0)


def _without_ramps(condition: Condition) -> Condition:
    match condition:
        case Leaf():
            return replace(condition, ramp=_SAME)
        case Parts(parts=parts):
            return type(condition)(tuple(_without_ramps(part) for part in parts))
        case Not(part=part):
            return Not(_without_ramps(part))
        case _:
            return condition


def _condition_words(condition: Condition) -> str:
    """A condition on one line: ``all(feature policy.kl.median falling 1e-05 to 0.0001 (log), not(symptom x))``."""
    match condition:
        case Leaf(kind=kind, name=name, ramp=ramp):
            return f"{kind} {name} {_ramp_words(ramp)}"
        case All(parts=parts):
            return f"all({', '.join(map(_condition_words, parts))})"
        case Any_(parts=parts):
            return f"any({', '.join(map(_condition_words, parts))})"
        case Mean(parts=parts):
            return f"mean({', '.join(map(_condition_words, parts))})"
        case First(parts=parts):
            return f"first({', '.join(map(_condition_words, parts))})"
        case Not(part=part):
            return f"not({_condition_words(part)})"
        case _:
            return f"symptom {condition.symptom}"


def _ramp_words(ramp: Ramp) -> str:
    log = " (log)" if ramp.scale == "log" else ""
    if ramp.full_low is not None and ramp.full_high is not None:
        return f"band {ramp.low:g}, {ramp.full_low:g} to {ramp.full_high:g}, {ramp.high:g}{log}"
    return f"{ramp.shape} {ramp.low:g} to {ramp.high:g}{log}"


# -- causes ------------------------------------------------------------------------------------------------------------


def _causes(old: Book, new: Book) -> Iterator[Change]:
    before, after = {c.id: c for c in old.causes}, {c.id: c for c in new.causes}
    yield from _gone_and_new("cause", before, after, lambda cause: cause.title)
    rates = ({s.id: s.base_rate for s in old.symptoms}, {s.id: s.base_rate for s in new.symptoms})
    for name in [name for name in after if name in before]:
        yield from _cause(before[name], after[name])
        yield from _evidence(name, before[name].links, after[name].links, rates)
        yield from _remedies(name, before[name].remedies, after[name].remedies)


def _cause(old: Cause, new: Cause) -> Iterator[Change]:
    if old.kind != new.kind:
        reason = "a cause is of another kind: findings come or go"
        yield Change("cause", new.id, "kind", old.kind, new.kind, "major", reason)
    if old.prior != new.prior:
        reason = "a prior changed"
        yield Change("cause", new.id, "prior", _prior_words(old.prior), _prior_words(new.prior), "minor", reason)
    yield from _fields("cause", new.id, old, new, ("title", "status", "replaced_by", "excludes", "description"))
    if set(old.requires) != set(new.requires):
        more = not set(new.requires) <= set(old.requires)
        bump: Bump = "major" if more else "minor"
        reason = f"a cause needs {'other or more' if more else 'fewer'} signals"
        yield Change("cause", new.id, "requires", _words(old.requires), _words(new.requires), bump, reason)
    yield from _applies_to("cause", new.id, old.applies_to, new.applies_to)
    yield from _fields("cause", new.id, old, new, ("tell_apart", "references"))


def _evidence(
    cause: str, old: Sequence[Link], new: Sequence[Link], rates: tuple[dict[str, float], dict[str, float]]
) -> Iterator[Change]:
    before = {link.symptom: _weight_words(link, rates[0][link.symptom]) for link in old}
    after = {link.symptom: _weight_words(link, rates[1][link.symptom]) for link in new}
    for symptom in dict.fromkeys([*before, *after]):
        was, now = before.get(symptom), after.get(symptom)
        if was == now:
            continue
        reason = "evidence is gone" if now is None else "evidence is new" if was is None else "a weight changed"
        yield Change("evidence", f"{cause} / {symptom}", "", was, now, "minor", reason)


def _weight_words(link: Link, base_rate: float) -> str:
    """What a piece of evidence weighs where its symptom is clearly there and where it is clearly not."""
    present = _decibans(link.seen / base_rate)
    absent = "nothing" if link.absence == "ignore" else _decibans((1 - link.seen) / (1 - base_rate))
    return f"{present} where seen, {absent} where not ({link.seen:g} against {base_rate:g})"


def _remedies(cause: str, old: Sequence[Remedy], new: Sequence[Remedy]) -> Iterator[Change]:
    before, after = _by_knob(old), _by_knob(new)
    for key in [key for key in before if key not in after]:
        name = f"{cause} / {key}"
        yield Change("remedy", name, "", before[key].summary, None, "minor", "a remedy is gone")
    for key in [key for key in after if key not in before]:
        name = f"{cause} / {key}"
        yield Change("remedy", name, "", None, after[key].summary, "minor", "a remedy is new")
    for key in [key for key in after if key in before]:
        names = [field.name for field in fields(after[key]) if field.name not in {"knob", "applies_to"}]
        yield from _fields("remedy", f"{cause} / {key}", before[key], after[key], names)
        yield from _remedy_runs(f"{cause} / {key}", before[key], after[key])
    if list(before) != list(after) and sorted(before) == sorted(after):
        reason = "remedies stand in another order"
        yield Change("remedy", cause, "order", ", ".join(before), ", ".join(after), "minor", reason)


def _remedy_runs(name: str, old: Remedy, new: Remedy) -> Iterator[Change]:
    # Who gets the remedy decides about no verdict, so that narrowing it is no major change.
    for change in _applies_to("remedy", name, old.applies_to, new.applies_to):
        yield replace(change, bump="minor", reason="a remedy is for other runs")


def _by_knob(remedies: Sequence[Remedy]) -> dict[str, Remedy]:
    """Remedies by knob; the second of one knob is ``knob #2``."""
    found: dict[str, Remedy] = {}
    for remedy in remedies:
        count = 1 + sum(other.knob == remedy.knob for other in found.values())
        found[remedy.knob if count == 1 else f"{remedy.knob} #{count}"] = remedy
    return found


# -- values in words ---------------------------------------------------------------------------------------------------


def _named(entries: Sequence[Any]) -> dict[str, Any]:
    return {entry.name: entry for entry in entries}


def _numbers(version: str) -> tuple[int, int, int]:
    major, minor, patch = (int(part) for part in version.split("."))
    return major, minor, patch


def _prior_words(prior: float) -> str:
    return f"{prior:g} ({_decibans(prior / (1 - prior))})"


def _decibans(odds: float) -> str:
    return f"{10 * math.log10(odds):+.1f} dB"


def _words(value: object) -> str | None:
    """A value of a book on one line; None and what is empty give None."""
    if value is None or value in {"", ()}:
        return None
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, tuple):
        return ", ".join(_words(part) or "none" for part in value)
    if is_dataclass(value) and not isinstance(value, type):
        named = ((field.name, _words(getattr(value, field.name))) for field in fields(value))
        return ", ".join(f"{name} {words}" for name, words in named if words is not None)
    return str(value)
