"""From numbers to memberships: ramps, reliability, and composition with missing values as intervals.

A ramp turns a number into a membership μ in 0…1; ½ means "cannot tell". Reliability ρ pulls it there: μ ← ½ + ρ(μ − ½).
Composition is all = min, any = max, mean, not = 1 − μ. A missing number is the interval [0, 1], carried through
(Kleene's three-valued logic: `all` with one clear 0 is 0 whatever is missing); at the end μ is the middle of the
interval. The parts of a `mean` measure one thing, so those that are known stand in for those that are missing; of a
`first` the first part that is known decides alone.

Every step is elementwise over the runs: a run's membership does not depend on what else is in the batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from .book import All, Any_, Leaf, Mean, Not, Parts, SymptomRef

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .book import Book, Condition, Ramp

    Floats = NDArray[np.float64]
    Interval = tuple[Floats, Floats]

__all__ = ["LeafValue", "Memberships", "Numbers", "first_known", "mean_of_known", "memberships", "ramp_membership"]


class Numbers(Protocol):
    """Where rules get their numbers: per name, values (R,) with NaN for missing, and reliabilities (R,) in 0…1."""

    def feature(self, name: str) -> tuple[Floats, Floats]:
        """A feature of the vocabulary."""
        ...

    def derived(self, name: str) -> tuple[Floats, Floats]:
        """A derived number of the book."""
        ...

    def config(self, name: str) -> tuple[Floats, Floats]:
        """A hyper-parameter as a number."""
        ...

    def issue(self, code: str) -> tuple[Floats, Floats]:
        """How many issues with this code the log has."""
        ...


@dataclass(frozen=True, slots=True)
class LeafValue:
    """One leaf over R runs: its value (NaN = missing), reliability and membership interval, each of shape (R,)."""

    leaf: Leaf
    value: Floats
    reliability: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, slots=True)
class Memberships:
    """Memberships of R runs in the S symptoms of a book, in its order.

    `mu`, `low` and `high` have shape (R, S), `mu` being the middle of the interval from `low` to `high`; `known` (R, S)
    is False where the interval is all of [0, 1]. `leaves` maps a symptom to its leaves in the order of its condition,
    those of the symptoms it refers to included.
    """

    mu: Floats
    low: Floats
    high: Floats
    known: NDArray[np.bool_]
    leaves: dict[str, tuple[LeafValue, ...]]


def ramp_membership(ramp: Ramp, value: Floats) -> Floats:
    """Membership of each value; NaN stays NaN. On a log scale values ≤ 0 are below every bound."""
    full_low = ramp.low if ramp.full_low is None else ramp.full_low
    full_high = ramp.high if ramp.full_high is None else ramp.full_high
    x, bounds = value, np.array([ramp.low, full_low, full_high, ramp.high])
    if ramp.scale == "log":
        with np.errstate(divide="ignore"):
            x, bounds = np.log(np.maximum(value, 0.0)), np.log(bounds)
    low, full_low, full_high, high = (float(b) for b in bounds)
    if ramp.shape == "band":
        return np.minimum(_rise(x, low, full_low), 1.0 - _rise(x, full_high, high))
    rising = _rise(x, low, high)
    return rising if ramp.shape == "rising" else 1.0 - rising


def _rise(x: Floats, low: float, high: float) -> Floats:
    """0 below `low`, 1 above `high`, linear between; a step where the two are equal (a band with a sharp edge)."""
    if high <= low:
        return np.where(np.isnan(x), np.nan, (x >= high).astype(np.float64))
    return np.clip((x - low) / (high - low), 0.0, 1.0)


def memberships(book: Book, numbers: Numbers, runs: int) -> Memberships:
    """Memberships of all symptoms of `book` for `runs` runs. Symptoms may refer to one another, not in a circle."""
    evaluation = _Evaluation(book, numbers)
    intervals = [evaluation.symptom(symptom.id) for symptom in book.symptoms]
    low, high = np.empty((runs, len(intervals))), np.empty((runs, len(intervals)))
    for column, interval in enumerate(intervals):
        low[:, column], high[:, column] = interval
    known = (low > 0.0) | (high < 1.0)
    return Memberships((low + high) / 2, low, high, known, {k: tuple(v) for k, v in evaluation.leaves.items()})


class _Evaluation:
    """Intervals of symptoms, each computed once."""

    def __init__(self, book: Book, numbers: Numbers) -> None:
        self.conditions = {s.id: s.condition for s in book.symptoms}
        self.sources = {
            "feature": numbers.feature,
            "derived": numbers.derived,
            "config": numbers.config,
            "issue": numbers.issue,
        }
        self.done: dict[str, Interval] = {}
        self.leaves: dict[str, list[LeafValue]] = {}

    def symptom(self, name: str) -> Interval:
        if name not in self.done:
            self.leaves[name] = []
            self.done[name] = self.condition(self.conditions[name], name)
        return self.done[name]

    def condition(self, condition: Condition, owner: str) -> Interval:
        match condition:
            case Leaf():
                return self.leaf(condition, owner)
            case SymptomRef():
                interval = self.symptom(condition.symptom)
                self.leaves[owner] += self.leaves[condition.symptom]
                return interval
            case Not():
                low, high = self.condition(condition.part, owner)
                return 1.0 - high, 1.0 - low
            case Parts():
                parts = [self.condition(part, owner) for part in condition.parts]
                lows, highs = np.stack([p[0] for p in parts]), np.stack([p[1] for p in parts])
                if isinstance(condition, All):
                    return lows.min(axis=0), highs.min(axis=0)
                if isinstance(condition, Any_):
                    return lows.max(axis=0), highs.max(axis=0)
                return mean_of_known(lows, highs) if isinstance(condition, Mean) else first_known(lows, highs)

    def leaf(self, leaf: Leaf, owner: str) -> Interval:
        value, reliability = self.sources[leaf.kind](leaf.name)
        mu = ramp_membership(leaf.ramp, value)
        mu = mu + (1.0 - reliability) * (0.5 - mu)  # ½ + ρ(μ − ½), written so that ρ = 1 changes no bit
        # A number on which nothing can be built is as good as none.
        missing = np.isnan(mu) | ~(reliability > 0.0)
        low, high = np.where(missing, 0.0, mu), np.where(missing, 1.0, mu)
        self.leaves[owner].append(LeafValue(leaf, value, reliability, low, high))
        return low, high


def mean_of_known(lows: Floats, highs: Floats) -> Interval:
    """Mean of the known parts (first axis); [0, 1] where no part is known."""
    known = (lows > 0.0) | (highs < 1.0)
    low, high, count = np.zeros(lows.shape[1]), np.zeros(lows.shape[1]), np.zeros(lows.shape[1])
    for part in range(lows.shape[0]):  # in order, so that the rounding is that of a single run
        low += np.where(known[part], lows[part], 0.0)
        high += np.where(known[part], highs[part], 0.0)
        count += known[part]
    some = count > 0
    divisor = np.where(some, count, 1.0)
    return np.where(some, low / divisor, 0.0), np.where(some, high / divisor, 1.0)


def first_known(lows: Floats, highs: Floats) -> Interval:
    """The first known part (first axis) of each run; [0, 1] where no part is known."""
    known = (lows > 0.0) | (highs < 1.0)
    chosen = known.argmax(axis=0)[None, :]  # the first part where none is known, which is [0, 1] like the others
    return np.take_along_axis(lows, chosen, axis=0)[0], np.take_along_axis(highs, chosen, axis=0)[0]
