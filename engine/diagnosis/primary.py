"""The primary symptom: of what the top cause explains, the clear symptoms, and of these the one that came first."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..features.derived import get_series
from ..features.onset import find_onset
from ..rules.book import All, Any_, Leaf, Mean, OnsetSpec, SymptomRef
from .described import level_signal
from .numbers import number, steps

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..rules.book import Book, Cause, Condition, Symptom
    from ..signals.run import Run, Series
    from .model import CauseFinding, SymptomFinding

__all__ = ["choose", "date"]

SEEN_AT = 0.5
# A symptom competes for being first when it is at least this strong relative to the strongest.
STRONG_SHARE = 0.5
_ENTROPY = {"policy.entropy", "policy.entropy_ratio"}


def choose(
    book: Book, cause: Cause, finding: CauseFinding, run: Run, symptoms: Mapping[str, SymptomFinding]
) -> SymptomFinding | None:
    """The dated primary symptom of `finding`; None when no symptom that speaks for the cause is seen."""
    spec = {s.id: s for s in book.symptoms}
    weights = {e.symptom: e.decibans for e in finding.evidence if not e.missing and e.decibans > 0}
    candidates = []
    for link in cause.links:
        symptom, seen = spec[link.symptom], symptoms[link.symptom]
        if link.symptom not in weights or seen.membership <= SEEN_AT:
            continue
        strength = symptom.severity * (2 * seen.membership - 1) * weights[link.symptom]
        candidates.append((strength, symptom, seen))
    if not candidates:
        return None
    strongest = max(strength for strength, _, _ in candidates)
    strong = [
        (strength, date(book, symptom, seen, run))
        for strength, symptom, seen in candidates
        if strength >= STRONG_SHARE * strongest
    ]
    return min(strong, key=lambda c: (math.inf if c[1].onset_step is None else c[1].onset_step, -c[0], c[1].id))[1]


def date(book: Book, symptom: Symptom, seen: SymptomFinding, run: Run) -> SymptomFinding:
    """`seen` with onset, end, the value in between, and for entropies the theoretical maximum."""
    onset = symptom.onset or _from_leaf(symptom.condition, {s.id: s.condition for s in book.symptoms})
    series = get_series(run, onset.signal) if onset is not None else None
    if onset is None or series is None or not len(series):
        return seen
    found = find_onset(series.step, series.value, direction=onset.direction, bound=onset.bound)
    if found is None:
        return seen
    start, end = found
    value = _median(series, start, end)
    dated = replace(seen, onset_step=start, end_step=end, signal=onset.signal, value=value)
    if onset.signal in _ENTROPY:
        dated = _with_maximum(dated, run, start, end)
    return replace(dated, statement=_dated_statement(dated, run, seen.statement))


def _from_leaf(condition: Condition, conditions: Mapping[str, Condition]) -> OnsetSpec | None:
    """The first ramp over a level of a signal, read as: beyond the middle of the ramp. Negated parts date nothing."""
    match condition:
        case Leaf(kind="feature", name=name, ramp=ramp) if ramp.shape != "band":
            signal = level_signal(name)
            middle = math.sqrt(ramp.low * ramp.high) if ramp.scale == "log" else (ramp.low + ramp.high) / 2
            return None if signal is None else OnsetSpec(signal, "above" if ramp.shape == "rising" else "below", middle)
        case SymptomRef(symptom=symptom):
            return _from_leaf(conditions[symptom], conditions)
        case All(parts=parts) | Any_(parts=parts) | Mean(parts=parts):
            return next((spec for part in parts if (spec := _from_leaf(part, conditions)) is not None), None)
    return None


def _median(series: Series, start: float, end: float) -> float | None:
    inside = series.value[(series.step >= start) & (series.step <= end)]
    finite = inside[np.isfinite(inside)]
    return float(np.median(finite)) if finite.size else None


def _with_maximum(seen: SymptomFinding, run: Run, start: float, end: float) -> SymptomFinding:
    """The entropy itself, the largest it could be, and their ratio; unchanged for continuous or unknown actions."""
    largest = run.action_space.max_entropy
    entropy = run.series.get("policy.entropy")
    value = _median(entropy, start, end) if entropy is not None else None
    if largest is None or value is None:
        return seen
    return replace(seen, signal="policy.entropy", value=value, max_value=largest, ratio=value / largest)


def _dated_statement(seen: SymptomFinding, run: Run, numbers: str) -> str:
    """A sentence that cites signal, value and steps, then the numbers that the rule looked at."""
    text = numbers
    if seen.value is not None and seen.onset_step is not None and seen.end_step is not None:
        where = f"steps {steps(seen.onset_step)}–{steps(seen.end_step)}"
        most = ""
        if seen.max_value is not None and seen.ratio is not None:
            most = f" nats of at most {number(seen.max_value, 4)} (ratio {number(seen.ratio)}; {_space_words(run)})"
        text = f"{seen.signal} is {number(seen.value)}{most} over {where}. Seen by: {numbers}"
    return text


def _space_words(run: Run) -> str:
    space = run.action_space
    origin = {"config": "from the configuration", "user": "as given"}.get(space.origin, space.origin)
    return f"{space.kind.replace('_', ' ')} actions, {space.size} of them, {origin}"
