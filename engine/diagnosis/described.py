"""What a number is about: its signals, its unit, the steps of the run it covers, and whether it is a setting."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from ..features.grammar import FeatureRef, parse_feature
from ..features.view import Span, cut
from ..features.vocabulary import RELATIONS, STATISTICS
from ..features.windows import BUILT_IN_WINDOWS
from ..rules.expressions import compile_expression
from ..signals.taxonomy import hyperparameters, is_known_signal, signal
from .findings import Described

if TYPE_CHECKING:
    from ..features.derived import RunSignals
    from ..rules.book import Book, Leaf

__all__ = ["About", "Describer", "features_of", "is_setting", "parse"]

# The feature that tells where a leaf looks, and the unit of its number; None for a setting or a log issue.
About = tuple[FeatureRef, str] | None


@lru_cache(maxsize=8192)
def parse(name: str, windows: tuple[str, ...]) -> FeatureRef:
    """`name` parsed with the named windows of a book beside the built-in ones; books repeat names for every run."""
    return parse_feature(name, (*BUILT_IN_WINDOWS, *windows))


def features_of(leaf: Leaf, book: Book) -> list[FeatureRef]:
    """The features behind a leaf in the order in which they stand in it; none for a setting or a log issue."""
    windows = tuple(window.name for window in book.windows)
    if leaf.kind == "feature":
        return [parse(leaf.name, windows)]
    if leaf.kind != "derived":
        return []
    text = dict(book.derived)[leaf.name]
    names = [name for name in _names(text) if "." in name or "(" in name]
    nested = [name for name in _names(text) if name in dict(book.derived)]
    found = [parse(name, windows) for name in names]
    for name in nested:
        found += features_of(type(leaf)("derived", name, leaf.ramp), book)
    return found


@lru_cache(maxsize=4096)
def _names(text: str) -> tuple[str, ...]:
    def place(name: str) -> int:
        at = text.find(name.partition("(")[0])
        return at if at >= 0 else len(text)

    return tuple(sorted(compile_expression(text).names, key=place))


def is_setting(leaf: Leaf, book: Book) -> bool:
    """Whether a leaf looks at what the user set (configuration, learning rate, clip range…), not at what came of it."""
    if leaf.kind in {"config", "issue"}:
        return True
    logged = {knob.signal for knob in (*hyperparameters().values(), *book.knobs) if knob.signal}
    return all(name in logged for feature in features_of(leaf, book) for name in feature.signals)


class Describer:
    """Describes the leaves of a book for one run; call it with a leaf.

    `abouts` keeps by kind and name what holds for every run: give the same one to all runs of a book.
    """

    def __init__(self, signals: RunSignals, book: Book, abouts: dict[tuple[str, str], About] | None = None) -> None:
        self._signals, self._book = signals, book
        self._abouts = {} if abouts is None else abouts
        self._windows = {**BUILT_IN_WINDOWS, **{window.name: window for window in book.windows}}
        steps = [series.step for series in signals.run.series.values() if len(series)]
        start = min((float(s[0]) for s in steps), default=0.0)
        self._span = Span(start, max((float(s[-1]) for s in steps), default=start))
        self._steps: dict[tuple[str, str], tuple[float, float] | None] = {}

    def __call__(self, leaf: Leaf) -> Described:
        key = (leaf.kind, leaf.name)
        if key not in self._abouts:
            self._abouts[key] = self._about(leaf)
        about = self._abouts[key]
        if about is None:
            return Described(None, "", None)
        feature, unit = about
        return Described(feature.signal, unit, self.steps(feature))

    def _about(self, leaf: Leaf) -> About:
        features = features_of(leaf, self._book)
        if not features:
            return None
        return features[0], _unit(features[0]) if leaf.kind == "feature" else ""

    def steps(self, feature: FeatureRef) -> tuple[float, float] | None:
        """First and last step of the points that a feature looks at; None where there are none."""
        key = (feature.signal, feature.window)
        if key not in self._steps:
            self._steps[key] = self._cut(*key)
        return self._steps[key]

    def _cut(self, name: str, window: str) -> tuple[float, float] | None:
        series, part = self._signals.get(name), self._windows[window]
        if series is None or part.unit == "onset":
            return None
        view = cut(series, part, self._span, None)
        return (float(view.step[0]), float(view.step[-1])) if view.n else None


def _unit(feature: FeatureRef) -> str:
    spec = (RELATIONS if feature.kind == "relation" else STATISTICS)[feature.stat]
    own = signal(feature.signal).unit if is_known_signal(feature.signal) else ""
    units = {
        "signal": own,
        "per step": f"{own} per step",
        "per 10k steps": f"{own} per 10k steps",
        "1": "",
        "count": "",
    }
    return units.get(spec.unit, spec.unit)
