"""From numbers to memberships: ramps, reliability, and composition with missing values as intervals.

Composition: all = min, any = max, mean, not = 1 − μ. A missing number is the interval [0, 1], carried through (Kleene's
three-valued logic: `all` with one clear 0 is 0 whatever is missing); at the end μ is the midpoint of its interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from .book import All, Any_, Leaf, Mean, Not, SymptomRef

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .book import Book, Condition, Ramp

    Floats = NDArray[np.float64]

__all__ = ["LeafValue", "Memberships", "Numbers", "memberships", "ramp_membership"]


class Numbers(Protocol):
    """Where rules get their numbers: per name, values (R,) with NaN for missing, and reliabilities (R,) in 0…1."""

    def feature(self, name: str) -> tuple[Floats, Floats]:
        """A feature of the vocabulary."""
        ...

    def derived(self, name: str) -> tuple[Floats, Floats]:
        """A derived feature of the book."""
        ...

    def config(self, name: str) -> tuple[Floats, Floats]:
        """A hyper-parameter as a number."""
        ...

    def issue(self, code: str) -> tuple[Floats, Floats]:
        """How many issues with this code the log has."""
        ...


@dataclass(frozen=True, slots=True)
class LeafValue:
    """One leaf over R runs: its value, reliability, and membership interval."""

    leaf: Leaf
    value: Floats
    reliability: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, slots=True)
class Memberships:
    """`mu`, `low`, `high` and `known` have shape (R, symptoms); `leaves` maps a symptom to its leaves in order."""

    mu: Floats
    low: Floats
    high: Floats
    known: NDArray[np.bool_]
    leaves: dict[str, tuple[LeafValue, ...]]


def ramp_membership(ramp: Ramp, value: Floats) -> Floats:
    """Membership of each value; NaN stays NaN."""
    x, low, high = value, ramp.low, ramp.high
    bounds = [low, high, ramp.full_low, ramp.full_high]
    if ramp.scale == "log":
        with np.errstate(divide="ignore"):
            x = np.where(np.isnan(value), np.nan, np.log(np.maximum(value, 0.0)))
        bounds = [None if b is None else float(np.log(b)) for b in bounds]
    low, high = float(bounds[0] or 0.0), float(bounds[1] or 0.0)
    if ramp.shape == "band":
        full_low = low if bounds[2] is None else float(bounds[2])
        full_high = high if bounds[3] is None else float(bounds[3])
        return np.minimum(_rise(x, low, full_low), 1 - _rise(x, full_high, high))
    rising = _rise(x, low, high)
    return rising if ramp.shape == "rising" else 1 - rising


def _rise(x: Floats, low: float, high: float) -> Floats:
    with np.errstate(invalid="ignore", over="ignore"):
        if high <= low:
            return np.where(np.isnan(x), np.nan, (x >= high).astype(np.float64))
        return np.clip((x - low) / (high - low), 0.0, 1.0)


def memberships(book: Book, numbers: Numbers, runs: int) -> Memberships:
    """Memberships of all symptoms of `book` for `runs` runs; symptoms may refer to earlier or later ones, not in a cycle."""
    evaluation = _Evaluation(book, numbers, runs)
    for symptom in book.symptoms:
        evaluation.symptom(symptom.id)
    low = np.stack([evaluation.done[s.id][0] for s in book.symptoms], axis=1) if book.symptoms else np.zeros((runs, 0))
    high = np.stack([evaluation.done[s.id][1] for s in book.symptoms], axis=1) if book.symptoms else np.zeros((runs, 0))
    known = ~((low == 0.0) & (high == 1.0))
    return Memberships((low + high) / 2, low, high, known, {k: tuple(v) for k, v in evaluation.leaves.items()})


class _Evaluation:
    def __init__(self, book: Book, numbers: Numbers, runs: int) -> None:
        self.conditions = {s.id: s.condition for s in book.symptoms}
        self.numbers, self.runs = numbers, runs
        self.done: dict[str, tuple[Floats, Floats]] = {}
        self.leaves: dict[str, list[LeafValue]] = {}

    def symptom(self, name: str) -> tuple[Floats, Floats]:
        if name not in self.done:
            self.leaves[name] = []
            self.done[name] = self.condition(self.conditions[name], name)
        return self.done[name]

    def condition(self, condition: Condition, owner: str) -> tuple[Floats, Floats]:
        match condition:
            case Leaf():
                return self.leaf(condition, owner)
            case SymptomRef():
                interval = self.symptom(condition.symptom)
                self.leaves[owner] += self.leaves[condition.symptom]
                return interval
            case Not():
                low, high = self.condition(condition.part, owner)
                return 1 - high, 1 - low
            case All() | Any_() | Mean():
                parts = [self.condition(part, owner) for part in condition.parts]
                lows, highs = np.stack([p[0] for p in parts]), np.stack([p[1] for p in parts])
                if isinstance(condition, All):
                    return lows.min(axis=0), highs.min(axis=0)
                if isinstance(condition, Any_):
                    return lows.max(axis=0), highs.max(axis=0)
                return _mean(lows, highs)

    def leaf(self, leaf: Leaf, owner: str) -> tuple[Floats, Floats]:
        source = {
            "feature": self.numbers.feature,
            "derived": self.numbers.derived,
            "config": self.numbers.config,
            "issue": self.numbers.issue,
        }[leaf.kind]
        value, reliability = source(leaf.name)
        mu = 0.5 + reliability * (ramp_membership(leaf.ramp, value) - 0.5)
        missing = np.isnan(mu)
        low, high = np.where(missing, 0.0, mu), np.where(missing, 1.0, mu)
        self.leaves[owner].append(LeafValue(leaf, value, reliability, low, high))
        return low, high


def _mean(lows: Floats, highs: Floats) -> tuple[Floats, Floats]:
    """Mean of the parts that are known; wholly missing stays [0, 1]. Near-duplicates stand in for one another."""
    known = ~((lows == 0.0) & (highs == 1.0))
    count = known.sum(axis=0)
    safe = np.maximum(count, 1)
    low = np.where(count > 0, np.where(known, lows, 0.0).sum(axis=0) / safe, 0.0)
    high = np.where(count > 0, np.where(known, highs, 0.0).sum(axis=0) / safe, 1.0)
    return low, high
