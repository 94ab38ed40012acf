"""From a merged book to the plain values of `book.py`: every name, feature and expression is looked up on the way."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Literal

from ..features.grammar import FeatureNameError, parse_feature
from ..features.windows import BUILT_IN_WINDOWS, Window
from ..signals.taxonomy import Hyperparameter, hyperparameters, is_known_signal, signal_specs
from .book import (
    All,
    Any_,
    AppliesTo,
    Book,
    Calibration,
    Cause,
    Expect,
    First,
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
from .expressions import FUNCTIONS, MAX_LENGTH, ExpressionError, compile_expression
from .model import Band, usual_words
from .needs import leaves, mentions
from .problems import in_file_order
from .validate import MAX_PROBLEMS, did_you_mean
from .yaml_loader import MAX_DEPTH

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from .book import Code, Condition
    from .model import (
        AppliesToModel,
        AuthoredCause,
        AuthoredSymptom,
        CalibrationModel,
        ConditionModel,
        EvidenceModel,
        ExpectModel,
        KnobModel,
        LowHigh,
        RemedyModel,
        Span,
        WindowModel,
    )
    from .problems import Problem
    from .resolve import Item, Merged

__all__ = ["compile_book"]

# All numbers behind one symptom, those of the symptoms that it is made of included.
MAX_NUMBERS = 200
# Finding what was meant takes time that mistakes by the hundred are not worth.
SUGGESTIONS = 10
Path = tuple[str | int, ...]
Unit = Literal["fraction", "steps", "iterations"]
Shape = Literal["rising", "falling", "band"]


def compile_book(merged: Merged) -> tuple[Book | None, list[Problem]]:
    """The resolved book; None with every problem where a name, a feature, an expression or a ramp cannot be used."""
    compiler = _Compiler(merged)
    book = compiler.book()
    problems = in_file_order([*merged.problems, *compiler.problems])
    return (None if problems else book), problems


class _Compiler:
    """Walks the merged book once; what is wrong is noted and stood in for, so that all problems come at once."""

    def __init__(self, merged: Merged) -> None:
        self.merged = merged
        self.problems: list[Problem] = []
        self.window_names: Collection[str] = {*BUILT_IN_WINDOWS, *merged.windows}
        self.settings: Collection[str] = {*hyperparameters(), *merged.knobs}
        self.inline: list[Symptom] = []
        self.words = usual_words(merged.authored)

    def book(self) -> Book:
        authored, merged = self.merged.authored, self.merged
        windows = [self.window(name, item) for name, item in merged.windows.items()]
        knobs = [self.knob(name, item) for name, item in merged.knobs.items()]
        derived = {name: self.derived(name, item) for name, item in merged.derive.items()}
        symptoms = [self.symptom(name, item) for name, item in merged.symptoms.items()]
        causes = [self.cause(name, item) for name, item in merged.causes.items()]
        self.circles(symptoms)
        calibration = authored.calibration
        return Book(
            id=authored.id,
            version=authored.version,
            sha256=_digest(merged.sources),
            title=authored.title,
            path=merged.document.file,
            applies_to=_applies_to(authored.applies_to),
            windows=tuple(sorted(windows, key=lambda w: w.name)),
            derived=tuple(sorted(derived.items())),
            symptoms=tuple(sorted([*symptoms, *self.inline], key=lambda s: s.id)),
            causes=tuple(sorted(causes, key=lambda c: c.id)),
            extends=tuple(authored.extends),
            description=authored.description,
            calibration=None if calibration is None else _calibration(calibration),
            status=authored.status,
            replaced_by=authored.replaced_by,
            knobs=tuple(sorted(knobs, key=lambda k: k.name)),
        )

    @property
    def full(self) -> bool:
        """Whether so much is wrong already that looking for more, and for what may be meant, is not worth its time."""
        return len(self.problems) >= MAX_PROBLEMS

    def report(self, item: Item, code: str, message: str, path: Path, hint: str | None = None, column: int = 0) -> None:
        if not self.full:
            self.problems.append(item.problem(code, message, path, hint=hint, column=column))

    def unknown(self, item: Item, what: str, name: str, known: Iterable[str], path: Path, column: int = 0) -> None:
        if not self.full:
            hint = did_you_mean(name, known) if len(self.problems) < SUGGESTIONS else None
            self.report(item, "RB021", f"unknown {what} '{name}'", path, hint, column)

    # -- names and numbers ---------------------------------------------------------------------------------------------

    def window(self, name: str, item: Item) -> Window:
        if name in BUILT_IN_WINDOWS:
            self.report(item, "RB026", f"the window '{name}' is built in", (), "choose another name")
        model: WindowModel = item.value
        spans: dict[Unit, Span | None] = {
            "fraction": model.fraction,
            "steps": model.steps,
            "iterations": model.iterations,
        }
        unit, span = next((unit, span) for unit, span in spans.items() if span is not None)
        if span.from_ is not None and span.to is not None and span.from_ >= span.to:
            self.report(item, "RB024", f"the window '{name}' ends before it starts", (unit,))
        return Window(name, unit, span.from_, span.to)

    def knob(self, name: str, item: Item) -> Hyperparameter:
        if name in hyperparameters() or name in FUNCTIONS:
            kind = "function" if name in FUNCTIONS else "configuration value"
            self.report(item, "RB026", f"'{name}' is the name of a {kind}", (), "choose another name")
        model: KnobModel = item.value
        if model.signal is not None:
            self.signal(item, model.signal, ("signal",))
        bounds = model.bounds
        if bounds is not None and bounds.low >= bounds.high:
            self.report(item, "RB024", "low must be below high", ("bounds",))
        low, high = (None, None) if bounds is None else (bounds.low, bounds.high)
        return Hyperparameter(name, model.meaning, model.kind, model.signal, low, high, model.step_limit)

    def derived(self, name: str, item: Item) -> str:
        if name in self.settings or name in FUNCTIONS:
            kind = "function" if name in FUNCTIONS else "configuration value"
            self.report(item, "RB026", f"'{name}' is the name of a {kind}", (), "choose another name")
        return self.expression(item, item.value, ())

    def feature(self, item: Item, text: str, path: Path, column: int = 1) -> str:
        """The feature's canonical name; `text` starts at `column` of the value at `path`."""
        if self.full:
            return text
        try:
            return parse_feature(text, self.window_names).text
        except FeatureNameError as error:
            hint = f"did you mean '{error.suggestion}'?" if error.suggestion else None
            self.report(item, "RB020", error.message, path, hint, column + max(error.column, 1) - 1)
            return text

    def expression(self, item: Item, text: str, path: Path) -> str:
        """The expression with features under their canonical names."""
        try:
            expression = compile_expression(text)
        except ExpressionError as error:
            self.report(item, "RB022", error.message, path, error.hint, error.column)
            return text
        canonical: dict[str, str] = {}
        for name, column in zip(expression.names, expression.columns, strict=True):
            if "." in name or "(" in name:
                canonical[name] = self.feature(item, name, path, column)
            elif name not in self.settings and name not in self.merged.derive:
                known = [*self.settings, *self.merged.derive]
                self.unknown(item, "configuration value or derived number", name, known, path, column)
        renamed = expression.renamed(canonical)
        if len(renamed) > MAX_LENGTH:
            self.report(item, "RB022", f"longer than {MAX_LENGTH} characters with features written out", path)
        return renamed

    def signal(self, item: Item, name: str, path: Path) -> None:
        if not is_known_signal(name):
            self.unknown(item, "signal", name, signal_specs(), path, 1)

    def leaf(self, item: Item, model: ConditionModel | EvidenceModel, path: Path) -> Leaf:
        ramp = self.ramp(item, model, path)
        if model.feature is not None:
            return Leaf("feature", self.feature(item, model.feature, (*path, "feature")), ramp)
        if model.derived is not None:
            if model.derived not in self.merged.derive:
                self.unknown(item, "derived number", model.derived, self.merged.derive, (*path, "derived"), 1)
            return Leaf("derived", model.derived, ramp)
        if model.config is not None:
            if model.config not in self.settings:
                self.unknown(item, "configuration value", model.config, self.settings, (*path, "config"), 1)
            return Leaf("config", model.config, ramp)
        return Leaf("issue", str(model.issue), ramp)

    def ramp(self, item: Item, model: ConditionModel | EvidenceModel, path: Path) -> Ramp:
        shape: Shape = "band" if model.band is not None else "rising" if model.rising is not None else "falling"
        authored: LowHigh | None = getattr(model, shape)
        if authored is None:
            raise AssertionError("a leaf has a ramp")  # the model checks it
        full_low = authored.full_low if isinstance(authored, Band) else None
        full_high = authored.full_high if isinstance(authored, Band) else None
        bounds = [b for b in (authored.low, full_low, full_high, authored.high) if b is not None]
        if authored.low >= authored.high or bounds != sorted(bounds):
            order = "low ≤ full_low ≤ full_high ≤ high and low < high" if shape == "band" else "low < high"
            self.report(item, "RB024", f"the bounds are out of order: {order}", (*path, shape))
        elif model.scale == "log" and bounds[0] <= 0:
            self.report(item, "RB024", "bounds on a log scale must be above 0", (*path, shape))
        return Ramp(shape, authored.low, authored.high, full_low, full_high, model.scale)

    # -- symptoms ------------------------------------------------------------------------------------------------------

    def symptom(self, name: str, item: Item) -> Symptom:
        model: AuthoredSymptom = item.value
        return Symptom(
            id=name,
            title=model.title,
            condition=self.condition(item, model, ()),
            base_rate=self.rate(model.base_rate),
            onset=self.onset(item, model),
            severity=model.severity,
            description=model.description,
        )

    def onset(self, item: Item, model: AuthoredSymptom) -> OnsetSpec | None:
        if model.onset is None:
            return None
        self.signal(item, model.onset.signal, ("onset", "signal"))
        if model.onset.above is not None:
            return OnsetSpec(model.onset.signal, "above", model.onset.above)
        return OnsetSpec(model.onset.signal, "below", model.onset.below or 0.0)

    def condition(self, item: Item, model: ConditionModel, path: Path) -> Condition:
        if model.symptom is not None:
            self.reference(item, model.symptom, (*path, "symptom"))
            return SymptomRef(model.symptom)
        if model.not_ is not None:
            return Not(self.condition(item, model.not_, (*path, "not")))
        compositions = (
            ("all", model.all_, All),
            ("any", model.any_, Any_),
            ("mean", model.mean, Mean),
            ("first", model.first, First),
        )
        for key, parts, build in compositions:
            if parts is not None:
                return build(tuple(self.condition(item, part, (*path, key, i)) for i, part in enumerate(parts)))
        return self.leaf(item, model, path)

    def reference(self, item: Item, name: str, path: Path) -> None:
        if name in self.merged.symptoms:
            return
        if name in self.merged.off["symptoms"]:
            message = f"the symptom '{name}' is switched off, but another symptom is made of it"
            self.report(item, "RB021", message, path, "override that one, too", 1)
        else:
            self.unknown(item, "symptom", name, self.merged.symptoms, path, 1)

    # -- causes --------------------------------------------------------------------------------------------------------

    def cause(self, name: str, item: Item) -> Cause:
        model: AuthoredCause = item.value
        for i, signal in enumerate(model.requires):
            self.signal(item, signal, ("requires", i))
        others = [*self.merged.causes, *self.merged.off["causes"]]
        for i, other in enumerate(model.excludes):
            if other not in others:
                self.unknown(item, "cause", other, self.merged.causes, ("excludes", i), 1)
            elif other == name:
                self.report(item, "RB021", "a cause cannot exclude itself", ("excludes", i))
        if model.replaced_by is not None and model.replaced_by not in self.merged.causes:
            self.unknown(item, "cause", model.replaced_by, self.merged.causes, ("replaced_by",), 1)
        return Cause(
            id=name,
            title=model.title,
            prior=model.prior,
            links=tuple(self.links(name, item)),
            kind=model.kind,
            status=model.status,
            description=model.description,
            applies_to=_applies_to(model.applies_to),
            requires=tuple(model.requires),
            excludes=tuple(other for other in model.excludes if other in self.merged.causes),
            remedies=tuple(self.remedy(item, remedy, ("remedies", i)) for i, remedy in enumerate(model.remedies)),
            tell_apart=model.tell_apart,
            references=tuple(model.references),
            replaced_by=model.replaced_by,
        )

    def links(self, name: str, item: Item) -> list[Link]:
        links: list[Link] = []
        for i, evidence in enumerate(item.value.evidence):
            path: Path = ("evidence", i)
            symptom = evidence.symptom
            if symptom is None:
                symptom = self.inline_symptom(f"{name}__{i + 1}", item, evidence, path)
            elif symptom in self.merged.off["symptoms"]:
                continue
            else:
                self.reference(item, symptom, (*path, "symptom"))
            if any(link.symptom == symptom for link in links):
                self.report(item, "RB025", f"'{symptom}' is evidence twice", (*path, "symptom"), "keep one of them")
            seen = self.words[evidence.seen] if isinstance(evidence.seen, str) else evidence.seen
            links.append(Link(symptom, seen, evidence.absence))
        return links

    def rate(self, rate: str | float) -> float:
        return self.words[rate] if isinstance(rate, str) else float(rate)

    def inline_symptom(self, name: str, item: Item, evidence: EvidenceModel, path: Path) -> str:
        """A symptom made of evidence that gives a number instead of a name."""
        if name in self.merged.symptoms:
            self.report(item, "RB026", f"the name '{name}' is needed for this evidence", path, "rename that symptom")
        leaf = self.leaf(item, evidence, path)
        words = {"rising": "high", "falling": "low", "band": "in its band"}
        title = evidence.title or f"{leaf.name} {words[leaf.ramp.shape]}"
        self.inline.append(Symptom(name, title, leaf, self.rate(evidence.base_rate or "common")))
        return name

    def remedy(self, item: Item, model: RemedyModel, path: Path) -> Remedy:
        if model.knob not in self.settings:
            self.unknown(item, "knob", model.knob, self.settings, (*path, "knob"), 1)
        to = None if model.set_ is None else self.expression(item, model.set_, (*path, "set"))
        values = {name: self.expression(item, text, (*path, "values", name)) for name, text in model.values.items()}
        bounds = model.bounds
        if bounds is not None and bounds.low >= bounds.high:
            self.report(item, "RB024", "low must be below high", (*path, "bounds"))
        return Remedy(
            knob=model.knob,
            summary=model.summary,
            set=to,
            values=tuple(values.items()),
            low=None if bounds is None else bounds.low,
            high=None if bounds is None else bounds.high,
            step_limit=model.step_limit,
            relative=model.relative,
            expect=tuple(self.expect(item, promise, (*path, "expect", i)) for i, promise in enumerate(model.expect)),
            patch=_code(model.patch),
            before=_code(model.before),
            applies_to=_applies_to(model.applies_to),
        )

    def expect(self, item: Item, model: ExpectModel, path: Path) -> Expect:
        feature = self.feature(item, model.feature, (*path, "feature"))
        if model.rises_to is not None:
            return Expect(feature, "rises_to", model.rises_to, model.within_steps)
        return Expect(feature, "falls_to", model.falls_to or 0.0, model.within_steps)

    # -- the whole -----------------------------------------------------------------------------------------------------

    def circles(self, symptoms: Iterable[Symptom]) -> None:
        """Symptoms, and derived numbers, that refer to one another in a circle, or further than anyone could follow."""
        referred = {s.id: list(mentions(s.condition)) for s in symptoms}
        own = {s.id: list(leaves(s.condition)) for s in symptoms}
        self.chains(referred, self.merged.symptoms, "symptom", {name: len(found) for name, found in own.items()})
        derived: dict[str, list[str]] = {}
        for name, item in self.merged.derive.items():
            try:
                derived[name] = list(compile_expression(item.value).names)
            except ExpressionError:
                derived[name] = []  # reported where the expression was compiled
        self.chains(derived, self.merged.derive, "derived number", dict.fromkeys(derived, 0))

    def chains(
        self, graph: Mapping[str, list[str]], items: Mapping[str, Item], what: str, size: dict[str, int]
    ) -> None:
        """Nodes of `graph` that reach themselves, hang on a long chain, or are made of too many numbers in all.

        `size` is how many numbers each node has itself.
        """
        circles = _in_circle(graph)
        for name in circles:
            self.report(items[name], "RB023", f"the {what} '{name}' is made of itself", ())
        if circles:
            return
        depth: dict[str, int] = {}
        for name in _innermost_first(graph):
            parts = [part for part in graph[name] if part in graph]
            depth[name] = 1 + max((depth[part] for part in parts), default=0)
            size[name] += sum(size[part] for part in parts)
            if depth[name] > MAX_DEPTH or size[name] > MAX_NUMBERS:
                limit = f"{MAX_NUMBERS} numbers" if size[name] > MAX_NUMBERS else f"{MAX_DEPTH} others in a row"
                message = f"the {what} '{name}' is made of more than {limit}"
                self.report(items[name], "RB002", message, (), "let it look at numbers of the log itself")
                return  # those that are made of it are no second mistake


def _in_circle(graph: Mapping[str, list[str]]) -> list[str]:
    """The nodes that reach themselves, in order."""

    def reaches_itself(start: str) -> bool:
        seen: set[str] = set()
        stack = list(graph[start])
        while stack:
            node = stack.pop()
            if node == start:
                return True
            if node not in seen:
                seen.add(node)
                stack += graph.get(node, ())
        return False

    return [name for name in graph if reaches_itself(name)]


def _innermost_first(graph: Mapping[str, list[str]]) -> list[str]:
    """The nodes of a graph without circles, each after those that it refers to."""
    done: dict[str, None] = {}
    stack = list(graph)[::-1]
    while stack:
        waiting = [part for part in graph[stack[-1]] if part in graph and part not in done]
        if waiting:
            stack += waiting
        else:
            done.setdefault(stack.pop())
    return list(done)


def _digest(sources: Iterable[bytes]) -> str:
    """SHA-256 over the digests of all files in sorted order, so that it does not depend on where they lie."""
    digests = sorted(hashlib.sha256(source).digest() for source in sources)
    return hashlib.sha256(b"".join(digests)).hexdigest()


def _calibration(model: CalibrationModel) -> Calibration:
    return Calibration(**{**model.model_dump(), "words": tuple(sorted(model.words.items()))})


def _applies_to(model: AppliesToModel) -> AppliesTo:
    return AppliesTo(tuple(model.algorithm), tuple(model.framework), tuple(model.action_space))


def _code(templates: Mapping[str, str | dict[str, str]]) -> tuple[tuple[str, Code], ...]:
    return tuple((name, code if isinstance(code, str) else tuple(code.items())) for name, code in templates.items())
