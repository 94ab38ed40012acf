"""What a feature is about: its signal, its unit, the steps of the run it covers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..features.derived import get_series
from ..features.grammar import parse_feature
from ..features.windows import BUILT_IN_WINDOWS
from ..rules.expressions import compile_expression
from ..signals.taxonomy import is_known_signal, signal
from .findings import Described

if TYPE_CHECKING:
    from ..rules.book import Book, Leaf
    from ..signals.run import Run

__all__ = ["Describer", "level_signal"]

# Statistics that are a value of the signal itself, in its unit; a ramp over one of them says when the signal is bad.
LEVELS = frozenset({"mean", "median", "min", "max", "last", "first", "ema", "quantile"})


class Describer:
    """Describes the leaves of a book for one run; call it with a leaf."""

    def __init__(self, run: Run, book: Book) -> None:
        self._run = run
        self._windows = {**BUILT_IN_WINDOWS, **{window.name: window for window in book.windows}}
        self._derived = dict(book.derived)

    def __call__(self, leaf: Leaf) -> Described:
        if leaf.kind == "feature":
            return self._feature(leaf.name)
        if leaf.kind == "derived":
            names = [n for n in compile_expression(self._derived[leaf.name]).names if "." in n or "(" in n]
            return Described(self._feature(names[0]).signal if names else None, "", None)
        return Described(None, "", None)

    def _feature(self, name: str) -> Described:
        feature = parse_feature(name, tuple(self._windows))
        unit = signal(feature.signal).unit if feature.stat in LEVELS and is_known_signal(feature.signal) else ""
        return Described(feature.signal or None, unit, self._steps(feature.signal, feature.window))

    def _steps(self, name: str, window: str) -> tuple[float, float] | None:
        series = get_series(self._run, name) if name else None
        if series is None or not len(series):
            return None
        return float(series.step[0]), float(series.step[-1])


def level_signal(name: str) -> str | None:
    """The signal of a feature that is a level of it (its median over a window, say); None for slopes, ratios, counts."""
    feature = parse_feature(name)
    return feature.signal if feature.stat in LEVELS else None
