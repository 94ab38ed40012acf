"""Merging a book with the books it extends, and turning names into the plain values of `book.py`."""

from __future__ import annotations

import difflib
import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar


from ..features.grammar import FeatureNameError, parse_feature
from ..features.windows import BUILT_IN_WINDOWS, Window
from ..signals.taxonomy import hyperparameters, is_known_signal, suggest_signal
from .book import (
    All,
    Any_,
    AppliesTo,
    Book,
    Calibration,
    Cause,
    Condition,
    Expect,
    Leaf,
    Link,
    Mean,
    Not,
    OnsetSpec,
    Ramp,
    Remedy,
    Symptom,
    SymptomRef,
)
from .expressions import ExpressionError, compile_expression
from .model import RATES, SEEN, AuthoredBook, AuthoredCause, AuthoredSymptom, ConditionModel, EvidenceModel
from .validate import validate

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .model import AppliesToModel, LowHigh, RemedyModel
    from .problems import Problem
    from .yaml_loader import Document

__all__ = ["Merged", "compile_book", "merge"]

M = TypeVar("M", AuthoredSymptom, AuthoredCause)
Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Item:
    """A symptom, cause, window or derived feature with the document and path it was written at."""

    value: Any
    document: Document
    path: Path


@dataclass
class Merged:
    """A book with everything it extends merged in; later entries of the same name do not exist (that is an error)."""

    authored: AuthoredBook
    document: Document
    windows: dict[str, Item] = field(default_factory=dict)
    derive: dict[str, Item] = field(default_factory=dict)
    symptoms: dict[str, Item] = field(default_factory=dict)
    causes: dict[str, Item] = field(default_factory=dict)
    sources: list[bytes] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def merge(authored: AuthoredBook, document: Document, parents: Iterable[Merged]) -> Merged:
    """Parents in order, then the book itself, then its overrides. Problems are collected in the result."""
    merged = Merged(authored, document)
    kinds = ("windows", "derive", "symptoms", "causes")
    for parent in parents:
        merged.problems += parent.problems
        merged.sources += [source for source in parent.sources if source not in merged.sources]
        for kind in kinds:
            own = getattr(merged, kind)
            for name, item in getattr(parent, kind).items():
                if name in own and own[name].document.file != item.document.file:
                    text = f"{kind} '{name}' comes from two of the extended books ({own[name].document.file}, {item.document.file})"
                    merged.problems.append(
                        document.problem("RB032", text, ("extends",), hint="extend only one of them")
                    )
                own[name] = item
    for kind in kinds:
        for name, value in getattr(authored, kind).items():
            path: Path = (kind, name)
            if name in getattr(merged, kind):
                hint = "change it under override:, or choose another name"
                merged.problems.append(
                    document.problem(
                        "RB032", f"'{name}' is already defined by an extended book", path, key=True, hint=hint
                    )
                )
            getattr(merged, kind)[name] = Item(value, document, path)
    merged.sources.append(document.source)
    _override(merged, "symptoms", AuthoredSymptom)
    _override(merged, "causes", AuthoredCause)
    return merged


def _override(merged: Merged, kind: str, model: type[M]) -> None:
    items: dict[str, Item] = getattr(merged, kind)
    for name, change in getattr(merged.authored.override, kind).items():
        path: Path = ("override", kind, name)
        if name not in items:
            close = difflib.get_close_matches(name, items, n=1)
            hint = f"did you mean '{close[0]}'?" if close else None
            merged.problems.append(
                merged.document.problem(
                    "RB032", f"override of '{name}', which does not exist", path, key=True, hint=hint
                )
            )
            continue
        if change == "off":
            del items[name]
            continue
        data = items[name].value.model_dump(by_alias=True, exclude_unset=True)
        for key, edit in change.items():
            if not isinstance(edit, dict) or len(edit) != 1 or next(iter(edit)) not in ("replace", "append"):
                text = f"'{key}' needs {{replace: …}} or {{append: […]}}"
                merged.problems.append(merged.document.problem("RB032", text, (*path, key)))
                continue
            ((verb, value),) = edit.items()
            if verb == "replace":
                data[key] = value
            elif isinstance(value, list) and isinstance(data.get(key, []), list):
                data[key] = [*data.get(key, []), *value]
            else:
                merged.problems.append(merged.document.problem("RB032", f"append to '{key}' needs lists", (*path, key)))
        value, problems = validate(model, merged.document, data, path)
        merged.problems += problems
        if value is not None:
            items[name] = Item(value, merged.document, path)


def compile_book(merged: Merged) -> tuple[Book | None, list[Problem]]:
    """The resolved book, or every problem with its names, features and expressions."""
    compiler = _Compiler(merged)
    book = compiler.book()
    problems = [*merged.problems, *compiler.problems]
    return (None if any(p.severity == "error" for p in problems) else book), problems


class _Compiler:
    def __init__(self, merged: Merged) -> None:
        self.merged = merged
        self.problems: list[Problem] = []
        self.windows = {name: self.window(name, item) for name, item in merged.windows.items()}
        self.window_names = {*BUILT_IN_WINDOWS, *self.windows}
        self.inline: list[Symptom] = []

    def report(self, item: Item, code: str, message: str, path: Path, hint: str | None = None) -> None:
        self.problems.append(item.document.problem(code, message, (*item.path, *path), hint=hint))

    def book(self) -> Book:
        authored, merged = self.merged.authored, self.merged
        for name, item in merged.derive.items():
            self.expression(item, item.value, (), own=name)
        symptoms = [self.symptom(name, item) for name, item in merged.symptoms.items()]
        causes = [self.cause(name, item) for name, item in merged.causes.items()]
        symptoms += self.inline
        self.circles(symptoms)
        digest = hashlib.sha256()
        for source in sorted(merged.sources):
            digest.update(hashlib.sha256(source).digest())
        calibration = authored.calibration
        return Book(
            id=authored.id,
            version=authored.version,
            sha256=digest.hexdigest(),
            title=authored.title,
            path=merged.document.file,
            applies_to=_applies_to(authored.applies_to),
            windows=tuple(self.windows.values()),
            derived=tuple((name, item.value) for name, item in sorted(merged.derive.items())),
            symptoms=tuple(sorted(symptoms, key=lambda s: s.id)),
            causes=tuple(sorted(causes, key=lambda c: c.id)),
            extends=tuple(authored.extends),
            description=authored.description,
            calibration=None if calibration is None else Calibration(**calibration.model_dump()),
        )

    def window(self, name: str, item: Item) -> Window:
        if name in BUILT_IN_WINDOWS:
            self.report(item, "RB032", f"the window '{name}' is built in", (), "choose another name")
        for unit in ("fraction", "steps", "iterations"):
            span = getattr(item.value, unit)
            if span is not None:
                if span.from_ is not None and span.to is not None and span.from_ >= span.to:
                    self.report(item, "RB012", f"the window '{name}' ends before it starts", (unit,))
                return Window(name, unit, span.from_, span.to)
        raise AssertionError("a window has one unit")  # the model checks it

    def feature(self, item: Item, text: str, path: Path) -> str:
        try:
            return parse_feature(text, self.window_names).text
        except FeatureNameError as error:
            hint = f"did you mean '{error.suggestion}'?" if error.suggestion else None
            self.report(item, "RB020", error.message, path, hint)
            return text

    def expression(self, item: Item, text: str, path: Path, own: str | None = None) -> None:
        try:
            expression = compile_expression(text)
        except ExpressionError as error:
            self.report(item, "RB022", f"{error.message} (column {error.column} of the expression)", path, error.hint)
            return
        for name in expression.names:
            if "." in name:
                self.feature(item, name, path)
            elif name == own:
                self.report(item, "RB023", f"'{name}' refers to itself", path)
            elif name not in hyperparameters() and name not in self.merged.derive:
                self.unknown(
                    item,
                    "configuration value or derived feature",
                    name,
                    [*hyperparameters(), *self.merged.derive],
                    path,
                )

    def unknown(self, item: Item, what: str, name: str, known: Iterable[str], path: Path) -> None:
        close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
        self.report(item, "RB021", f"unknown {what} '{name}'", path, f"did you mean '{close[0]}'?" if close else None)

    def signal(self, item: Item, name: str, path: Path) -> None:
        if not is_known_signal(name):
            close = suggest_signal(name)
            self.report(item, "RB021", f"unknown signal '{name}'", path, f"did you mean '{close}'?" if close else None)

    def leaf(self, item: Item, model: ConditionModel | EvidenceModel, path: Path) -> Leaf:
        ramp = _ramp(model)
        if ramp.low >= ramp.high:
            self.report(item, "RB101", "low must be below high", (*path, ramp.shape))
        if model.feature is not None:
            return Leaf("feature", self.feature(item, model.feature, (*path, "feature")), ramp)
        if model.derived is not None:
            if model.derived not in self.merged.derive:
                self.unknown(item, "derived feature", model.derived, self.merged.derive, (*path, "derived"))
            return Leaf("derived", model.derived, ramp)
        if model.config is not None:
            if model.config not in hyperparameters():
                self.unknown(item, "configuration value", model.config, hyperparameters(), (*path, "config"))
            return Leaf("config", model.config, ramp)
        return Leaf("issue", str(model.issue), ramp)

    def condition(self, item: Item, model: ConditionModel, path: Path) -> Condition:
        if model.symptom is not None:
            if model.symptom not in self.merged.symptoms:
                self.unknown(item, "symptom", model.symptom, self.merged.symptoms, (*path, "symptom"))
            return SymptomRef(model.symptom)
        if model.not_ is not None:
            return Not(self.condition(item, model.not_, (*path, "not")))
        for key, parts, build in (("all", model.all_, All), ("any", model.any_, Any_), ("mean", model.mean, Mean)):
            if parts is not None:
                return build(tuple(self.condition(item, part, (*path, key, i)) for i, part in enumerate(parts)))
        return self.leaf(item, model, path)

    def symptom(self, name: str, item: Item) -> Symptom:
        model: AuthoredSymptom = item.value
        onset = None
        if model.onset is not None:
            self.signal(item, model.onset.signal, ("onset", "signal"))
            above = model.onset.above is not None
            bound = model.onset.above if model.onset.above is not None else model.onset.below
            onset = OnsetSpec(model.onset.signal, "above" if above else "below", float(bound or 0.0))
        return Symptom(
            id=name,
            title=model.title,
            condition=self.condition(item, model, ()),
            base_rate=_rate(model.base_rate),
            onset=onset,
            severity=model.severity,
            description=model.description,
        )

    def cause(self, name: str, item: Item) -> Cause:
        model: AuthoredCause = item.value
        links: list[Link] = []
        for i, evidence in enumerate(model.evidence):
            path: Path = ("evidence", i)
            symptom = evidence.symptom
            if symptom is None:
                symptom = f"{name}__{i + 1}"
                leaf = self.leaf(item, evidence, path)
                title = evidence.title or f"{leaf.name} {leaf.ramp.shape}"
                self.inline.append(Symptom(symptom, title, leaf, _rate(evidence.base_rate or "common")))
            elif symptom not in self.merged.symptoms:
                self.unknown(item, "symptom", symptom, self.merged.symptoms, (*path, "symptom"))
            if any(link.symptom == symptom for link in links):
                self.report(item, "RB102", f"'{symptom}' is evidence twice", path, "keep one of them")
            links.append(
                Link(
                    symptom, SEEN[evidence.seen] if isinstance(evidence.seen, str) else evidence.seen, evidence.absence
                )
            )
        for i, signal in enumerate(model.requires):
            self.signal(item, signal, ("requires", i))
        for i, other in enumerate(model.excludes):
            if other not in self.merged.causes:
                self.unknown(item, "cause", other, self.merged.causes, ("excludes", i))
        return Cause(
            id=name,
            title=model.title,
            prior=model.prior,
            links=tuple(links),
            kind=model.kind,
            status=model.status,
            description=model.description,
            applies_to=_applies_to(model.applies_to),
            requires=tuple(model.requires),
            excludes=tuple(model.excludes),
            remedies=tuple(self.remedy(item, remedy, ("remedies", i)) for i, remedy in enumerate(model.remedies)),
            tell_apart=model.tell_apart,
            references=tuple(model.references),
        )

    def remedy(self, item: Item, model: RemedyModel, path: Path) -> Remedy:
        if model.knob not in hyperparameters():
            self.unknown(item, "knob", model.knob, hyperparameters(), (*path, "knob"))
        if model.set_ is not None:
            self.expression(item, model.set_, (*path, "set"))
        for name, text in model.values.items():
            self.expression(item, text, (*path, "values", name))
        expect = []
        for i, promise in enumerate(model.expect):
            rises = promise.rises_to is not None
            target = promise.rises_to if promise.rises_to is not None else promise.falls_to
            feature = self.feature(item, promise.feature, (*path, "expect", i, "feature"))
            expect.append(
                Expect(feature, "rises_to" if rises else "falls_to", float(target or 0.0), promise.within_steps)
            )
        bounds = model.bounds
        return Remedy(
            knob=model.knob,
            summary=model.summary,
            set=model.set_,
            values=tuple(model.values.items()),
            low=None if bounds is None else bounds.low,
            high=None if bounds is None else bounds.high,
            step_limit=model.step_limit,
            relative=model.relative,
            expect=tuple(expect),
            patch=tuple(model.patch.items()),
            before=tuple(model.before.items()),
        )

    def circles(self, symptoms: list[Symptom]) -> None:
        """Symptoms that refer to one another in a circle, and derived features that do."""
        graph = {s.id: _references(s.condition) for s in symptoms}
        for name in _in_circle(graph):
            self.report(
                self.merged.symptoms[name], "RB023", f"the symptom '{name}' refers to itself through others", ()
            )
        names = {}
        for name, item in self.merged.derive.items():
            try:
                names[name] = {n for n in compile_expression(item.value).names if n in self.merged.derive and n != name}
            except ExpressionError:
                names[name] = set()  # reported where the expression was compiled
        for name in _in_circle(names):
            self.report(
                self.merged.derive[name], "RB023", f"the derived feature '{name}' refers to itself through others", ()
            )


def _references(condition: Condition) -> set[str]:
    match condition:
        case SymptomRef():
            return {condition.symptom}
        case Not():
            return _references(condition.part)
        case All() | Any_() | Mean():
            return set().union(*(_references(part) for part in condition.parts))
    return set()


def _in_circle(graph: dict[str, set[str]]) -> list[str]:
    """Nodes that reach themselves, in order."""

    def reaches(start: str) -> bool:
        seen: set[str] = set()
        stack = list(graph.get(start, ()))
        while stack:
            node = stack.pop()
            if node == start:
                return True
            if node not in seen:
                seen.add(node)
                stack += graph.get(node, ())
        return False

    return [name for name in graph if reaches(name)]


def _ramp(model: ConditionModel | EvidenceModel) -> Ramp:
    if model.band is not None:
        b = model.band
        return Ramp("band", b.low, b.high, b.full_low, b.full_high, model.scale)
    bounds: LowHigh | None = model.rising or model.falling
    if bounds is None:
        raise AssertionError("a leaf has a ramp")  # the model checks it
    return Ramp("rising" if model.rising is not None else "falling", bounds.low, bounds.high, scale=model.scale)


def _rate(rate: str | float) -> float:
    return RATES[rate] if isinstance(rate, str) else float(rate)


def _applies_to(model: AppliesToModel) -> AppliesTo:
    return AppliesTo(tuple(model.algorithm), tuple(model.framework), tuple(model.action_space))
