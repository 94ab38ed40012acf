"""From memberships and scores to what is said about one run: symptoms with their numbers, causes with their ledgers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..rules.book import Leaf, Not, Parts, SymptomRef
from .model import CauseFinding, Evidence, Measurement, SymptomFinding
from .numbers import number, steps, unit_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ..rules.book import Book, Cause, Condition, Ramp, Symptom
    from ..rules.membership import LeafValue, Memberships
    from ..rules.scoring import Scores
    from .model import CauseStatus

__all__ = [
    "COVERAGE_FLOOR",
    "Described",
    "Measured",
    "cause_finding",
    "commonness",
    "ramp_words",
    "statement",
    "symptom_finding",
]

# Below this share of its evidence a cause is not judged: the probability would be little more than its prior.
COVERAGE_FLOOR = 0.3
STATEMENT_NUMBERS = 2


@dataclass(frozen=True, slots=True)
class Described:
    """What a number is about: its signal (None for configuration and log issues), its unit, the steps it covers."""

    signal: str | None
    unit: str
    steps: tuple[float, float] | None


class Measured:
    """The numbers behind every symptom of a book, for the runs of a batch.

    Symptoms share many of their numbers: what is the same for all runs is worked out once a batch, and what is the same
    for all symptoms once a run.
    """

    def __init__(self, book: Book, found: Memberships) -> None:
        conditions = {s.id: s.condition for s in book.symptoms}
        places: dict[tuple[Leaf, int], int] = {}
        self._numbers: list[_Number] = []
        self._of_symptom: dict[str, list[int]] = {}
        for symptom in book.symptoms:
            own: dict[tuple[str, str, int], int] = {}
            signs = _signs(symptom.condition, conditions, 1)
            for leaf, sign in zip(found.leaves[symptom.id], signs, strict=True):
                place = places.setdefault((leaf.leaf, sign), len(self._numbers))
                if place == len(self._numbers):
                    self._numbers.append(_number_of(leaf, sign))
                own.setdefault((leaf.leaf.kind, leaf.leaf.name, sign), place)
            self._of_symptom[symptom.id] = list(own.values())

    def of_run(self, row: int, describe: Callable[[Leaf], Described]) -> dict[str, tuple[Measurement, ...]]:
        """For each symptom its numbers in the order of its condition; negated ones count the other way round."""
        made = [_measurement(number, row, describe(number.leaf)) for number in self._numbers]
        return {name: tuple([made[place] for place in own]) for name, own in self._of_symptom.items()}


@dataclass(frozen=True, slots=True)
class _Number:
    """A leaf of some symptoms: what is said of it in every run, and its numbers by run, as Python floats."""

    leaf: Leaf
    sign: int
    feature: str
    ramp: str
    value: list[float]
    reliability: list[float]
    low: list[float]
    high: list[float]


def _number_of(leaf: LeafValue, sign: int) -> _Number:
    name = leaf.leaf.name if leaf.leaf.kind != "issue" else f"log issue '{leaf.leaf.name}'"
    ramp = ramp_words(leaf.leaf.ramp, negated=sign < 0)
    columns = (column.tolist() for column in (leaf.value, leaf.reliability, leaf.low, leaf.high))
    return _Number(leaf.leaf, sign, name, ramp, *columns)


def _signs(condition: Condition, conditions: dict[str, Condition], sign: int) -> Iterator[int]:
    """+1 or −1 for each leaf, in the order in which memberships are computed."""
    match condition:
        case Leaf():
            yield sign
        case SymptomRef():
            yield from _signs(conditions[condition.symptom], conditions, sign)
        case Not():
            yield from _signs(condition.part, conditions, -sign)
        case Parts():
            for part in condition.parts:
                yield from _signs(part, conditions, sign)


def _measurement(number: _Number, row: int, about: Described) -> Measurement:
    low, high = number.low[row], number.high[row]
    missing = (low, high) == (0.0, 1.0)
    membership = (low + high) / 2 if number.sign > 0 else 1 - (low + high) / 2
    value = number.value[row]
    return Measurement(
        feature=number.feature,
        value=None if math.isnan(value) else value,
        unit=about.unit,
        reliability=number.reliability[row],
        membership=None if missing else membership,
        ramp=number.ramp,
        signal=about.signal,
        steps=about.steps,
    )


def ramp_words(ramp: Ramp, *, negated: bool = False) -> str:
    """The rule in words: from where on a value speaks for the symptom, and from where on against it."""
    low, high = number(ramp.low), number(ramp.high)
    if ramp.shape == "band":
        inner = (
            ramp.low if ramp.full_low is None else ramp.full_low,
            ramp.high if ramp.full_high is None else ramp.full_high,
        )
        inside = f"{number(inner[0])} to {number(inner[1])}"
        return (
            f"no outside {low} to {high}, yes from {inside}"
            if not negated
            else f"yes outside {low} to {high}, no from {inside}"
        )
    rising = (ramp.shape == "rising") != negated
    return f"no below {low}, yes above {high}" if rising else f"yes below {low}, no above {high}"


def commonness(book: Book) -> dict[str, int]:
    """In how many symptoms each number of the book is looked at: what many share says least about one of them."""
    conditions = {s.id: s.condition for s in book.symptoms}
    counts: dict[str, int] = {}
    for symptom in book.symptoms:
        for name in {leaf.name for leaf in _all_leaves(symptom.condition, conditions)}:
            counts[name] = counts.get(name, 0) + 1
    return counts


def _all_leaves(condition: Condition, conditions: Mapping[str, Condition]) -> Iterator[Leaf]:
    match condition:
        case Leaf():
            yield condition
        case SymptomRef():
            yield from _all_leaves(conditions[condition.symptom], conditions)
        case Not():
            yield from _all_leaves(condition.part, conditions)
        case Parts():
            for part in condition.parts:
                yield from _all_leaves(part, conditions)


def statement(numbers: Sequence[Measurement], membership: float, common: Mapping[str, int] | None = None) -> str:
    """The numbers that decide a symptom, as a clause: name, value, rule, steps.

    Those that speak most clearly come first, of equally clear ones those that fewer symptoms share (`common`).
    """
    known = [m for m in numbers if m.membership is not None and m.value is not None]
    if not known:
        absent = sorted({m.signal or m.feature for m in numbers})
        return f"{', '.join(absent)} not in the log"
    uses = common or {}
    toward = -1 if membership >= 0.5 else 1
    known.sort(key=lambda m: (toward * round(m.membership or 0.0, 1), uses.get(m.feature, 0)))
    deciding = {m.feature: m for m in reversed(known)}
    return "; ".join(_clause(m) for m in list(reversed(deciding.values()))[:STATEMENT_NUMBERS])


def _clause(m: Measurement) -> str:
    where = f" over steps {steps(m.steps[0])}–{steps(m.steps[1])}" if m.steps else ""
    unsure = ", few or noisy points" if m.reliability < 0.5 else ""
    source = f" (of {m.signal})" if m.signal is not None and m.signal not in m.feature else ""
    return f"{m.feature}{source} is {number(m.value or 0.0)}{unit_words(m.unit)}{where} ({m.ramp}{unsure})"


def symptom_finding(
    symptom: Symptom, numbers: tuple[Measurement, ...], membership: float, common: Mapping[str, int] | None = None
) -> SymptomFinding:
    """A symptom without its date; the primary one is dated by `primary.date`."""
    leading = next((m for m in numbers if m.signal is not None and m.value is not None), None)
    return SymptomFinding(
        id=symptom.id,
        title=symptom.title,
        membership=membership,
        onset_step=None,
        end_step=None,
        signal=leading.signal if leading else None,
        value=leading.value if leading else None,
        statement=statement(numbers, membership, common),
        measurements=numbers,
    )


def cause_finding(
    book: Book,
    cause: Cause,
    scores: Scores,
    row: int,
    symptoms: Mapping[str, SymptomFinding],
    missing: Sequence[str],
) -> CauseFinding:
    """A cause with its probability and its ledger, the weightiest line first; remedies are added by the pipeline."""
    column = scores.causes.index(cause.id)
    status = _status(scores, row, column)
    probability = float(scores.probability[row, column])
    return CauseFinding(
        id=cause.id,
        book=book.id,
        title=cause.title,
        kind=cause.kind,
        probability=None if status == "not_assessable" or math.isnan(probability) else probability,
        calibrated=book.calibration is not None,
        coverage=float(scores.coverage[row, column]),
        status=status,
        prior=cause.prior,
        evidence=_ledger(cause, scores, row, symptoms),
        explained_away_decibans=float(scores.explained_away[row, column]),
        missing=tuple(missing),
        description=cause.description,
        tell_apart=cause.tell_apart,
        references=cause.references,
        experimental=cause.status == "experimental",
    )


def _status(scores: Scores, row: int, column: int) -> CauseStatus:
    if not scores.assessable[row, column]:
        return "not_assessable"
    return "assessed" if scores.coverage[row, column] >= COVERAGE_FLOOR else "insufficient_data"


def _ledger(cause: Cause, scores: Scores, row: int, symptoms: Mapping[str, SymptomFinding]) -> tuple[Evidence, ...]:
    weights, missing = scores.weights[cause.id][row], scores.missing[cause.id][row]
    order = sorted(
        range(len(cause.links)), key=lambda i: (bool(missing[i]), -abs(float(weights[i])), cause.links[i].symptom)
    )
    odds = math.log(cause.prior / (1 - cause.prior))
    lines = []
    for i in order:
        weight, absent = float(weights[i]), bool(missing[i])
        symptom = symptoms[cause.links[i].symptom]
        odds += weight / (10 / math.log(10))
        lines.append(
            Evidence(
                symptom=symptom.id,
                title=symptom.title,
                membership=None if absent else symptom.membership,
                decibans=weight,
                running_probability=float(1 / (1 + np.exp(-odds))),
                statement=symptom.statement,
                missing=absent,
                measurement=next((m for m in symptom.measurements if m.value is not None), None),
            )
        )
    return tuple(lines)
