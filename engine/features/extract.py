"""Extraction: all features that a set of rulebooks mentions, for one run or many, each with its reliability.

Reliability is `1 − exp(−n/k)` for n finite points in the window, where k is the least number of points that the
statistic needs (at least 1): about 0.63 at the least, 0.95 at three times that. Slopes are also weighted by
`t²/(1 + t²)`, t being the slope in standard errors; lags by their significance. A feature that cannot be
computed has value NaN and reliability 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from .derived import RunSignals
from .events import change_step
from .grammar import FeatureRef, parse_feature
from .middle import median
from .relations import Pair, lag_significance
from .trends import slope_t
from .view import Span, View, cut
from .vocabulary import RELATIONS, STATISTICS
from .windows import BUILT_IN_WINDOWS, Window

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from ..signals.run import Run, Series

    Floats = NDArray[np.float64]

__all__ = ["FeatureRow", "Plan", "extract", "extract_many"]


@dataclass(frozen=True, slots=True)
class Plan:
    """Features to compute, in order, and the windows that their names may use."""

    refs: tuple[FeatureRef, ...]
    windows: dict[str, Window]

    @classmethod
    def build(cls, names: Iterable[str], windows: Sequence[Window] = ()) -> Plan:
        """A plan for `names`. Raises `FeatureNameError` for a name that cannot be understood."""
        known = {**BUILT_IN_WINDOWS, **{window.name: window for window in windows}}
        return cls(tuple(parse_feature(name, known) for name in names), known)


@dataclass(frozen=True, slots=True)
class FeatureRow:
    """The features of one run: `value`, `reliability` of shape (features,) in the plan's order, NaN = missing."""

    plan: Plan
    value: Floats
    reliability: Floats
    _index: dict[str, int] = field(repr=False)

    def get(self, name: str) -> tuple[float | None, float]:
        """Value (None = missing) and reliability of a feature of the plan, by canonical name. KeyError otherwise."""
        at = self._index[name]
        value = float(self.value[at])
        return (None, 0.0) if np.isnan(value) else (value, float(self.reliability[at]))


def extract(run: Run, plan: Plan, signals: RunSignals | None = None) -> FeatureRow:
    """All features of `plan` for one run; `signals` are the run's own where they are kept for more than this."""
    table = _Tables(signals or RunSignals(run), plan)
    value = np.full(len(plan.refs), np.nan)
    reliability = np.zeros(len(plan.refs))
    for i, ref in enumerate(plan.refs):
        number, weight = table.relation(ref) if ref.kind == "relation" else table.statistic(ref)
        if np.isfinite(number):
            value[i], reliability[i] = number, weight
    return FeatureRow(plan, value, reliability, {ref.text: i for i, ref in enumerate(plan.refs)})


def extract_many(
    runs: Sequence[Run], plan: Plan, signals: Sequence[RunSignals] | None = None
) -> tuple[FeatureRow, ...]:
    """One row a run, in the order of `runs`; runs do not influence one another. See `extract` for `signals`."""
    kept = signals or [RunSignals(run) for run in runs]
    return tuple(extract(run, plan, own) for run, own in zip(runs, kept, strict=True))


class _Tables:
    """What the features of one run share: its span, its series, and the points in each window."""

    def __init__(self, signals: RunSignals, plan: Plan) -> None:
        self.series, self.plan = signals.get, plan
        steps = [s.step for s in signals.run.series.values() if len(s)]
        start = min((float(s[0]) for s in steps), default=0.0)
        self.span = Span(start, max((float(s[-1]) for s in steps), default=start))
        self._views: dict[tuple[str, str], View | None] = {}

    def view(self, signal: str, window: str) -> View | None:
        key = (signal, window)
        if key not in self._views:
            series = self.series(signal)
            self._views[key] = None if series is None else self._cut(series, window)
        return self._views[key]

    def _cut(self, series: Series, window: str) -> View:
        onset = None
        if self.plan.windows[window].unit == "onset":
            whole = cut(series, BUILT_IN_WINDOWS["all"], self.span, None)
            onset = change_step(whole) if whole.n >= STATISTICS["change_step"].points else None
        return cut(series, self.plan.windows[window], self.span, onset)

    def statistic(self, ref: FeatureRef) -> tuple[float, float]:
        spec, view = STATISTICS[ref.stat], self.view(ref.signal, ref.window)
        if view is None or view.n < spec.points or (view.n == 0 and not spec.empty):
            return float("nan"), 0.0
        with np.errstate(over="ignore", invalid="ignore"):
            number = spec.function(view, *ref.args)
        weight = 1.0 if spec.empty else 1.0 - float(np.exp(-view.n / max(spec.points, 1)))
        if spec.trend:
            t = slope_t(view)
            weight *= 1.0 if np.isinf(t) else t * t / (1.0 + t * t) if np.isfinite(t) else 0.0
        return number, weight

    def relation(self, ref: FeatureRef) -> tuple[float, float]:
        spec = RELATIONS[ref.stat]
        views = [self.view(signal, ref.window) for signal in ref.signals]
        series = [self.series(signal) for signal in ref.signals]
        if views[0] is None or views[1] is None or series[0] is None or series[1] is None:
            return float("nan"), 0.0
        fewest = min(views[0].n, views[1].n)
        if fewest < spec.points:
            return float("nan"), 0.0
        pair = Pair(views[0], views[1], series[0], series[1], self._episode_length())
        number = spec.function(pair)
        weight = 1.0 - float(np.exp(-fewest / max(spec.points, 1))) if spec.points else 1.0
        if spec.weighs:
            weight *= lag_significance(pair)
        return number, weight if np.isfinite(weight) else 0.0

    def _episode_length(self) -> float | None:
        lengths = self.series("episode.length")
        finite = np.empty(0) if lengths is None else lengths.value[np.isfinite(lengths.value)]
        return median(finite) if finite.size else None
