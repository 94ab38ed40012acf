"""How a condition was worked out for one run: each number, its ramp, and how the parts were put together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..rules.book import All, Any_, First, Leaf, Mean, Not, Parts, SymptomRef
from ..rules.membership import first_known, mean_of_known, ramp_membership

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..rules.book import Book, Condition, Ramp
    from .model import Measurement

__all__ = ["Step", "worked"]

_WORDS = {All: "lowest of", Any_: "highest of", Mean: "mean of those that are known", First: "first that is known of"}


@dataclass(frozen=True, slots=True)
class Step:
    """One line of the work. Its parts follow it at `depth` + 1.

    `low` and `high` bound its membership: equal where all is known, 0 and 1 where nothing is. `words` say how the parts
    are put together; for a number they are its name, and `value` (None: missing), `unit`, `reliability` 0…1 and `steps`
    are how it was measured, `formula` is what a derived number is computed from. `shape`, `bounds` and `scale` are its
    ramp: the membership goes from 0 at the first bound to 1 at the second (rising), from 1 to 0 (falling), or up
    between the first two and down between the last two (band); `before` is the membership before the reliability counts
    (None where the value is missing).
    """

    depth: int
    words: str
    low: float
    high: float
    value: float | None = None
    unit: str = ""
    reliability: float | None = None
    steps: tuple[float, float] | None = None
    formula: str = ""
    shape: str = ""
    bounds: tuple[float, ...] = ()
    scale: str = "linear"
    before: float | None = None


def worked(symptom: str, book: Book, numbers: Mapping[str, Measurement]) -> tuple[Step, ...]:
    """The work behind `symptom`, the whole first; `numbers` are its measurements by the name of the number."""
    work = _Work({s.id: s.condition for s in book.symptoms}, dict(book.derived), numbers)
    return tuple(work.steps(work.conditions[symptom], 0))


@dataclass(frozen=True, slots=True)
class _Work:
    conditions: Mapping[str, Condition]
    formulas: Mapping[str, str]
    numbers: Mapping[str, Measurement]

    def steps(self, condition: Condition, depth: int) -> Iterator[Step]:
        match condition:
            case Leaf():
                yield self.leaf(condition, depth)
            case SymptomRef(symptom=name):
                below = list(self.steps(self.conditions[name], depth + 1))
                yield Step(depth, f"the symptom {name}", below[0].low, below[0].high)
                yield from below
            case Not(part=part):
                below = list(self.steps(part, depth + 1))
                yield Step(depth, "1 less", 1.0 - below[0].high, 1.0 - below[0].low)
                yield from below
            case Parts(parts=parts):
                works = [list(self.steps(one, depth + 1)) for one in parts]
                low, high = _together(condition, [(work[0].low, work[0].high) for work in works])
                yield Step(depth, _WORDS[type(condition)], low, high)
                for work in works:
                    yield from work

    def leaf(self, leaf: Leaf, depth: int) -> Step:
        name = leaf.name if leaf.kind != "issue" else f"log issue '{leaf.name}'"
        number = self.numbers[name]
        before = None
        low, high = 0.0, 1.0
        if number.value is not None:
            before = float(ramp_membership(leaf.ramp, np.array(number.value)))
            if number.reliability > 0.0:
                low = high = before + (1.0 - number.reliability) * (0.5 - before)
        return Step(
            depth, name, low, high, number.value, number.unit, number.reliability, number.steps,
            self.formulas.get(leaf.name, "") if leaf.kind == "derived" else "",
            leaf.ramp.shape, _bounds(leaf.ramp), leaf.ramp.scale, before,
        )  # fmt: skip


def _bounds(ramp: Ramp) -> tuple[float, ...]:
    if ramp.shape != "band":
        return ramp.low, ramp.high
    full_low = ramp.low if ramp.full_low is None else ramp.full_low
    full_high = ramp.high if ramp.full_high is None else ramp.full_high
    return ramp.low, full_low, full_high, ramp.high


def _together(condition: Parts, parts: list[tuple[float, float]]) -> tuple[float, float]:
    lows, highs = [low for low, _ in parts], [high for _, high in parts]
    if isinstance(condition, All):
        return min(lows), min(highs)
    if isinstance(condition, Any_):
        return max(lows), max(highs)
    choose = mean_of_known if isinstance(condition, Mean) else first_known
    low, high = choose(np.array(lows)[:, None], np.array(highs)[:, None])
    return float(low[0]), float(high[0])
