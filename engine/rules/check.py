"""The check of a rulebook: every error, and where there is none, what looks wrong although it works.

Errors come from reading, resolving and compiling; the lints (RB1xx, severity `warning`) from here. Lints speak about
what stands in the book's own file; what it inherits is checked where it is written.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import RlDiagnoseError, UsageError
from .book import Leaf
from .compile import compile_book
from .expressions import compile_expression
from .library import check_reference, load_book, read_book
from .needs import leaves, references, required_features
from .problems import in_file_order

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from .book import Book, Cause
    from .problems import Problem
    from .resolve import Item, Merged

__all__ = ["books_below", "check_book"]

# Evidence below this weight (natural log; 0.43 dB) says nothing, and tells no two causes apart.
NOTHING = 0.1
_RELEASE = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+\.yaml")
_PLACEHOLDER = re.compile(r"\{([a-z_][a-z0-9_]*)\}")


def books_below(given: str | Path) -> list[str | Path]:
    """`given` itself, or every ``.yaml`` file below it where it is a folder (tests of rulebooks, ``*.test.yaml``, not).

    Raises `UsageError` for a folder without one, and for what is neither a path nor the id of a book.
    """
    folder = Path(given)
    try:
        is_folder = folder.is_dir()
    except ValueError:  # a name that the file system cannot have
        is_folder = False
    if not is_folder:
        check_reference(given)
        return [given]
    found = sorted(path for path in folder.rglob("*.yaml") if not path.name.endswith(".test.yaml") and path.is_file())
    if not found:
        raise UsageError("no .yaml file is below this folder", place=folder, hint="name a rulebook")
    return list(found)


def check_book(reference: str | Path) -> tuple[Problem, ...]:
    """Every problem of a book: errors where it cannot be used, otherwise warnings. Empty when there is nothing to say.

    Raises `UsageError` for an unknown id or version.
    """
    merged, problems = read_book(reference)
    if merged is None:
        return tuple(in_file_order(problems))
    book, problems = compile_book(merged)
    if book is None:
        return tuple(problems)
    linter = _Linter(merged, book)
    own = [replace(p, severity="warning") for p in linter.lints() if p.file == merged.document.file]
    return tuple(sorted(own, key=lambda p: (p.line, p.column, p.code)))


class _Linter:
    def __init__(self, merged: Merged, book: Book) -> None:
        self.merged, self.book = merged, book
        self.symptoms = {s.id: s for s in book.symptoms}
        self.causes = {c.id: c for c in book.causes}

    def lints(self) -> Iterator[Problem]:
        yield from self.book_status()
        yield from self.unused()
        for name, item in self.merged.causes.items():
            cause = self.causes[name]
            if cause.status == "deprecated":
                if cause.replaced_by is None:
                    yield item.problem("RB106", f"'{name}' is deprecated and names no replacement")
                continue
            yield from self.evidence(cause, item)
            yield from self.counted_twice(cause, item)
            yield from self.completeness(cause, item)
            yield from self.placeholders(item)
        yield from self.alike()
        yield from self.priors()

    def book_status(self) -> Iterator[Problem]:
        document = self.merged.document
        path = Path(document.file).absolute()
        if _RELEASE.fullmatch(path.name) and (path.parent.name, path.stem) != (self.book.id, self.book.version):
            field = "version" if path.parent.name == self.book.id else "id"
            said, place = getattr(self.book, field), f"{path.parent.name}/{path.name}"
            yield document.problem("RB112", f"the {field} is '{said}', but the file is {place}", (field,), key=True)
        if self.book.status == "deprecated" and self.book.replaced_by is None:
            yield document.problem("RB106", "the book is deprecated and names no replacement", ("status",), key=True)
        for i, name in enumerate(self.book.extends):
            if name.endswith((".yaml", ".yml")):
                continue
            try:
                parent = load_book(name)
            except RlDiagnoseError:
                continue  # reported where it was read
            if parent.status == "deprecated":
                hint = f"it is replaced by '{parent.replaced_by}'" if parent.replaced_by else None
                yield document.problem("RB110", f"the book '{name}' is deprecated", ("extends", i), hint=hint)

    def unused(self) -> Iterator[Problem]:
        used = {link.symptom for cause in self.book.causes for link in cause.links}
        for symptom in self.book.symptoms:
            used |= references(symptom.condition)
        for name, item in self.merged.symptoms.items():
            if name not in used:
                yield item.problem("RB100", f"the symptom '{name}' is never used")
        parts = {part for feature in required_features(self.book) for part in re.split(r"[.(), ]+", feature)}
        for name, item in self.merged.windows.items():
            if name not in parts:
                yield item.problem("RB101", f"the window '{name}' is never used")
        names = {leaf.name for s in self.book.symptoms for leaf in leaves(s.condition) if leaf.kind == "derived"}
        names |= {name for text in self._expressions() for name in compile_expression(text).names}
        turned = {remedy.knob for cause in self.book.causes for remedy in cause.remedies}
        turned |= {leaf.name for s in self.book.symptoms for leaf in leaves(s.condition) if leaf.kind == "config"}
        for name, item in self.merged.knobs.items():
            if name not in names | turned:
                yield item.problem("RB101", f"the knob '{name}' is never used")
        for name, item in self.merged.derive.items():
            if name not in names:
                yield item.problem("RB101", f"the derived number '{name}' is never used")

    def _expressions(self) -> Iterator[str]:
        for _, text in self.book.derived:
            yield text
        for cause in self.book.causes:
            for remedy in cause.remedies:
                yield from [*([remedy.set] if remedy.set else []), *(text for _, text in remedy.values)]

    def evidence(self, cause: Cause, item: Item) -> Iterator[Problem]:
        speaks_for = False
        for link in cause.links:
            base = self.symptoms[link.symptom].base_rate
            weight = math.log(link.seen / base)
            speaks_for |= weight > NOTHING
            if max(abs(weight), abs(math.log((1 - link.seen) / (1 - base)))) < NOTHING:
                message = (
                    f"'{link.symptom}' is seen with the cause ({link.seen:g}) about as often as without ({base:g})"
                )
                yield item.problem("RB109", message, self._place(cause, item, link.symptom))
        if not speaks_for:
            yield item.problem("RB103", f"no evidence speaks for '{cause.id}'")

    def counted_twice(self, cause: Cause, item: Item) -> Iterator[Problem]:
        for first, second in combinations([link.symptom for link in cause.links], 2):
            a, b = self.symptoms[first].condition, self.symptoms[second].condition
            same_number = isinstance(a, Leaf) and isinstance(b, Leaf) and _number(a) == _number(b)
            if a == b or same_number:
                what = "are the same condition" if a == b else "look at the same number in the same direction"
                hint = "keep one, or make one symptom of both"
                place = self._place(cause, item, second)
                yield item.problem("RB102", f"'{first}' and '{second}' {what}", place, hint=hint)

    def completeness(self, cause: Cause, item: Item) -> Iterator[Problem]:
        if cause.kind == "fault" and not cause.remedies and not cause.tell_apart:
            yield item.problem("RB104", f"the fault '{cause.id}' has neither a remedy nor tell_apart")
        if cause.kind == "fault" and not cause.references:
            yield item.problem("RB108", f"the fault '{cause.id}' has no reference")
        for i, other in enumerate(cause.excludes):
            if self.causes[other].status == "deprecated":
                hint = (
                    f"it is replaced by '{self.causes[other].replaced_by}'" if self.causes[other].replaced_by else None
                )
                yield item.problem("RB110", f"'{other}' is deprecated", ("excludes", i), hint=hint, column=1)

    def placeholders(self, item: Item) -> Iterator[Problem]:
        for i, remedy in enumerate(item.value.remedies):
            known = {"value", "current", *remedy.values}
            for field in ("before", "patch"):
                for path, text in _texts(getattr(remedy, field)):
                    for name in dict.fromkeys(_PLACEHOLDER.findall(text)):
                        if name not in known:
                            hint = f"known are {', '.join(f'{{{k}}}' for k in sorted(known))}"
                            message = f"nothing fills the placeholder {{{name}}}"
                            yield item.problem("RB111", message, ("remedies", i, field, *path), hint=hint)

    def alike(self) -> Iterator[Problem]:
        """Pairs of causes of which no symptom is clearly more frequent with the one than with the other."""
        candidates = [name for name in self.merged.causes if self.causes[name].status != "deprecated"]
        for first, second in combinations(candidates, 2):
            if self._tells_apart(self.causes[first], self.causes[second]):
                continue
            message = f"nothing tells '{second}' and '{first}' apart: their evidence is the same"
            yield self.merged.causes[second].problem("RB105", message)

    def _tells_apart(self, a: Cause, b: Cause) -> bool:
        if not _meet(a, b):
            return True
        seen = [{link.symptom: link.seen for link in cause.links} for cause in (a, b)]
        for symptom in seen[0].keys() | seen[1].keys():
            base = self.symptoms[symptom].base_rate
            p, q = (s.get(symptom, base) for s in seen)
            if max(abs(math.log(p / q)), abs(math.log((1 - p) / (1 - q)))) >= NOTHING:
                return True
        return False

    def priors(self) -> Iterator[Problem]:
        """Groups of causes that all exclude one another, built up from each cause by falling prior."""
        apart = {frozenset((c.id, other)) for c in self.book.causes for other in c.excludes}
        reported: set[frozenset[str]] = set()
        by_prior = sorted(self.book.causes, key=lambda c: (-c.prior, c.id))
        for start in by_prior:
            group = [start]
            for cause in by_prior:
                if cause is not start and all(frozenset((cause.id, member.id)) in apart for member in group):
                    group.append(cause)
            names, total = frozenset(c.id for c in group), sum(c.prior for c in group)
            if total > 1.0 and names not in reported:
                reported.add(names)
                message = f"{', '.join(sorted(names))} exclude one another, but their priors add up to {total:.3g}"
                yield self.merged.causes[start.id].problem("RB107", message, ("prior",))

    def _place(self, cause: Cause, item: Item, symptom: str) -> tuple[str | int, ...]:
        """Where the evidence for `symptom` stands in the cause."""
        for i, evidence in enumerate(item.value.evidence):
            if symptom in (evidence.symptom, f"{cause.id}__{i + 1}"):
                return ("evidence", i)
        return ()


def _texts(templates: Mapping[str, str | dict[str, str]]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every code template with its path below the field."""
    for framework, code in templates.items():
        if isinstance(code, str):
            yield (framework,), code
        else:
            yield from (((framework, algorithm), text) for algorithm, text in code.items())


def _number(leaf: Leaf) -> tuple[str, str, str]:
    return leaf.kind, leaf.name, leaf.ramp.shape


def _meet(a: Cause, b: Cause) -> bool:
    """Whether two causes can be about the same run."""
    pairs = (
        (a.applies_to.algorithm, b.applies_to.algorithm),
        (a.applies_to.framework, b.applies_to.framework),
        (a.applies_to.action_space, b.applies_to.action_space),
    )
    return all(not x or not y or set(x) & set(y) for x, y in pairs)
