"""When a symptom began: by what its rulebook says, else by the level it looks at, else by a change of its signal."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..features.derived import RunSignals, get_series
from ..features.onset import find_onset, normal_band_onset
from ..rules.book import Leaf, OnsetSpec, Parts, SymptomRef
from .described import Describer, features_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..rules.book import Book, Condition, Symptom
    from ..signals.run import Run, Series

__all__ = ["Interval", "date", "median_between"]

# Statistics that are a value of the signal itself: beyond the middle of the ramp the signal is bad.
_LEVELS = frozenset({"mean", "median", "min", "max", "first", "last", "ema"})
_SHARES = {"fraction_above": "above", "longest_above": "above", "fraction_below": "below", "longest_below": "below"}
_FALLS = frozenset({"drawdown", "drawdown_final"})
# A return has fallen once it has lost half of what it had gained.
FALLEN = OnsetSpec("reward.below_best", "above", 0.5)


class Interval(NamedTuple):
    """From where to where a symptom is seen, in steps, and in which signal."""

    signal: str
    start: float
    end: float


def date(symptom: Symptom, book: Book, run: Run) -> Interval | None:
    """The bad interval of a symptom that is seen; None where nothing dates it (a setting, a curve that never moved)."""
    conditions = {s.id: s.condition for s in book.symptoms}
    describe = Describer(RunSignals(run), book)
    if symptom.onset is not None:
        return _beyond(symptom.onset, run)
    leaves = list(_leaves(symptom.condition, conditions))
    for leaf in leaves:
        spec = _level(leaf, book)
        if spec is not None:
            return _beyond(spec, run, describe.steps(features_of(leaf, book)[0]))
    for leaf in leaves:
        for feature in features_of(leaf, book):
            if feature.stat in _FALLS and feature.signal == "reward.train":
                found = _beyond(FALLEN, run)
            else:
                found = _changed(get_series(run, feature.signal), feature.stat)
            if found is not None:
                return found
    return None


def _leaves(condition: Condition, conditions: Mapping[str, Condition]) -> Iterator[Leaf]:
    """Leaves that speak for the symptom; negated ones date nothing."""
    match condition:
        case Leaf():
            yield condition
        case SymptomRef(symptom=symptom):
            yield from _leaves(conditions[symptom], conditions)
        case Parts(parts=parts):
            for part in parts:
                yield from _leaves(part, conditions)


def _level(leaf: Leaf, book: Book) -> OnsetSpec | None:
    """The bound that a ramp over a level, or over the share of points beyond a bound, puts on a signal."""
    if leaf.kind != "feature" or leaf.ramp.shape == "band":
        return None
    (feature,) = features_of(leaf, book)
    if feature.stat in _SHARES and leaf.ramp.shape == "rising":
        return OnsetSpec(feature.signal, "above" if _SHARES[feature.stat] == "above" else "below", feature.args[0])
    if feature.kind != "statistic" or feature.stat not in _LEVELS:
        return None
    low, high = leaf.ramp.low, leaf.ramp.high
    middle = math.sqrt(low * high) if leaf.ramp.scale == "log" else (low + high) / 2
    return OnsetSpec(feature.signal, "above" if leaf.ramp.shape == "rising" else "below", middle)


def _beyond(spec: OnsetSpec, run: Run, looked_at: tuple[float, float] | None = None) -> Interval | None:
    """The first lasting stretch beyond the bound, else the first spike beyond it.

    `looked_at` are the steps that the rule looked at: a stretch that was over before them is not what it saw.
    """
    series = get_series(run, spec.signal)
    if series is None:
        return None
    step, value = series.step, series.value
    since = 0
    while since < step.size:
        lasting = find_onset(step[since:], value[since:], direction=spec.direction, bound=spec.bound)
        if lasting is None:
            break
        if looked_at is None or lasting.end >= looked_at[0]:
            return Interval(spec.signal, lasting.start, lasting.end)
        since = int(np.searchsorted(step, lasting.end, side="right"))
    beyond = series.value > spec.bound if spec.direction == "above" else series.value < spec.bound
    at = np.flatnonzero(beyond)
    if not at.size:
        return None
    within = np.flatnonzero(~beyond[at[0] :])
    last = at[0] + within[0] - 1 if within.size else beyond.size - 1
    return Interval(spec.signal, float(series.step[at[0]]), float(series.step[last]))


def _changed(series: Series | None, stat: str) -> Interval | None:
    if series is None:
        return None
    broke = stat.startswith("non_finite")
    start = series.non_finite.first_step if broke else normal_band_onset(series)
    return None if start is None else Interval(series.signal, float(start), float(series.step[-1]))


def median_between(series: Series, start: float, end: float) -> float | None:
    """Median of the finite values from `start` to `end`; None when there is none."""
    inside = series.value[(series.step >= start) & (series.step <= end)]
    finite = inside[np.isfinite(inside)]
    return float(np.median(finite)) if finite.size else None
