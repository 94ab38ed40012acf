"""The primary symptom: of what the top cause explains, the clear symptoms, and of these the one that came first."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from ..features.derived import get_series
from ..rules.needs import leaves
from .dating import date, median_between
from .described import is_setting
from .numbers import number, steps

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..rules.book import Book, Symptom
    from ..signals.run import Run
    from .model import CauseFinding, SymptomFinding

__all__ = ["choose", "dated", "set_by_user"]

SEEN_AT = 0.5
# A symptom competes for being first when it is at least this strong relative to the strongest.
STRONG_SHARE = 0.5
SHARED_BY = 0.4
FEWEST_FAULTS = 6
_ENTROPY = frozenset({"policy.entropy", "policy.entropy_ratio"})


def choose(
    book: Book, finding: CauseFinding, run: Run, symptoms: Mapping[str, SymptomFinding]
) -> SymptomFinding | None:
    """The dated primary symptom of `finding`; None when no symptom that speaks for the cause is seen.

    What the user set (a learning rate, say) is evidence on the cause but no symptom of the run, and a sign that a large
    part of all faults share (a poor return) tells that harm was done, not what went wrong: such signs are chosen only
    when nothing else is seen.
    """
    spec = {s.id: s for s in book.symptoms}
    weights = {e.symptom: e.decibans for e in finding.evidence if not e.missing and e.decibans > 0}
    seen = [spec[name] for name in weights if symptoms[name].membership > SEEN_AT]
    own = [symptom for symptom in seen if not set_by_user(symptom, book)]
    shared = _shared_signs(book)
    shown = [symptom for symptom in own if symptom.id not in shared] or own or seen
    if not shown:
        return None
    strength = {s.id: s.severity * (2 * symptoms[s.id].membership - 1) * weights[s.id] for s in shown}
    strongest = max(strength.values())
    strong = [dated(s, symptoms[s.id], book, run) for s in shown if strength[s.id] >= STRONG_SHARE * strongest]
    return min(strong, key=lambda s: (math.inf if s.onset_step is None else s.onset_step, -strength[s.id], s.id))


def set_by_user(symptom: Symptom, book: Book) -> bool:
    """Whether a symptom looks only at what the user set: evidence on a cause, but nothing that the run shows."""
    own = list(leaves(symptom.condition))
    return bool(own) and all(is_setting(leaf, book) for leaf in own)


def _shared_signs(book: Book) -> set[str]:
    """Symptoms that at least `SHARED_BY` of the book's faults name; a book of few faults has none."""
    faults = [{link.symptom for link in cause.links} for cause in book.causes if cause.kind == "fault"]
    if len(faults) < FEWEST_FAULTS:
        return set()
    return {s.id for s in book.symptoms if sum(s.id in named for named in faults) >= SHARED_BY * len(faults)}


def dated(symptom: Symptom, seen: SymptomFinding, book: Book, run: Run) -> SymptomFinding:
    """`seen` with onset, end and the value in between; for entropies also the theoretical maximum and the ratio."""
    interval = date(symptom, book, run)
    series = get_series(run, interval.signal) if interval is not None else None
    if interval is None or series is None:
        return seen
    start, end = interval.start, interval.end
    signal, value = interval.signal, median_between(series, start, end)
    largest, ratio = None, None
    entropy = run.series.get("policy.entropy")
    if signal in _ENTROPY and entropy is not None and run.action_space.max_entropy is not None:
        signal, value = "policy.entropy", median_between(entropy, start, end)
        largest = run.action_space.max_entropy
        ratio = None if value is None else value / largest
    result = replace(seen, onset_step=start, end_step=end, signal=signal, value=value, max_value=largest, ratio=ratio)
    return replace(result, statement=_statement(result, run, seen.statement))


def _statement(seen: SymptomFinding, run: Run, numbers: str) -> str:
    """A sentence that cites signal, value and steps, then the numbers that the rule looked at."""
    if seen.value is None or seen.onset_step is None or seen.end_step is None:
        return numbers
    most = ""
    if seen.max_value is not None and seen.ratio is not None:
        most = f" nats of at most {number(seen.max_value, 4)} (ratio {number(seen.ratio)}; {_space_words(run)})"
    span = f"over steps {steps(seen.onset_step)}–{steps(seen.end_step)}"
    if seen.onset_step == seen.end_step:
        span = f"at step {steps(seen.onset_step)}"
    return f"{seen.signal} is {number(seen.value)}{most} {span}. Rule: {numbers}"


def _space_words(run: Run) -> str:
    space = run.action_space
    origin = {"config": "from the configuration", "user": "as given", "log": "from the log"}.get(
        space.origin, space.origin
    )
    size = f"{space.size} " if space.size else ""
    return f"{size}{space.kind.replace('_', ' ')} actions, {origin}"
