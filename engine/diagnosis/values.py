"""Where rules get their numbers for a batch of runs: features, derived numbers, configuration, log issues."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ..rules.expressions import compile_expression
from ..signals.run import ConfigValue
from ..signals.taxonomy import hyperparameters
from .described import parse
from .model import Setting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from ..rules.book import Book
    from ..signals.run import Run
    from ..signals.taxonomy import Hyperparameter

    Floats = NDArray[np.float64]
    Pair = tuple[Floats, Floats]

__all__ = ["BatchNumbers", "Row", "configuration", "settings"]


class Row(Protocol):
    """The features of one run by name: value (None = cannot be computed) and reliability 0…1."""

    def get(self, name: str) -> tuple[float | None, float]:
        """Value and reliability of a feature."""
        ...


def configuration(run: Run, house: Iterable[Hyperparameter] = ()) -> dict[str, ConfigValue]:
    """Hyper-parameters of `run`, and those of a rulebook (`house`): from its configuration, else from the signal that
    logs the present value.

    A logged value that falls over the run (a schedule) stands for the setting it started from; one that rises or stays
    is taken as it is at the end.
    """
    known = dict(run.config)
    for name, knob in (*hyperparameters().items(), *((knob.name, knob) for knob in house)):
        series = run.series.get(knob.signal) if knob.signal else None
        if name in known or series is None:
            continue
        finite = series.value[np.isfinite(series.value)]
        if finite.size:
            falls = finite[-1] < finite[0]
            origin = "log, at the start of its schedule" if falls else "log"
            known[name] = ConfigValue(float(finite[0] if falls else finite[-1]), origin)
    return known


def settings(run: Run) -> tuple[Setting, ...]:
    """What the run started with, by name: its configuration, else the first value of the signal that logs a setting."""
    known = {name: Setting(name, one.value, one.origin) for name, one in run.config.items()}
    for name, knob in hyperparameters().items():
        series = run.series.get(knob.signal) if knob.signal else None
        if name in known or series is None:
            continue
        finite = series.value[np.isfinite(series.value)]
        if finite.size:
            known[name] = Setting(name, float(finite[0]), "log")
    return tuple(known[name] for name in sorted(known))


class BatchNumbers:
    """Numbers of R runs for one book; every answer is (values (R,) with NaN for missing, reliabilities (R,))."""

    def __init__(
        self, book: Book, runs: Sequence[Run], rows: Sequence[Row], configs: Sequence[Mapping[str, ConfigValue]]
    ) -> None:
        self._runs, self._rows = runs, rows
        self._configs = [
            {**configuration(run, book.knobs), **config} if book.knobs else config
            for run, config in zip(runs, configs, strict=True)
        ]
        self._derived = dict(book.derived)
        self._windows = tuple(window.name for window in book.windows)
        self._known: dict[tuple[str, str], Pair] = {}

    def configuration(self, row: int) -> Mapping[str, ConfigValue]:
        """The hyper-parameters of run number `row`, those of the book included."""
        return self._configs[row]

    def feature(self, name: str) -> Pair:
        """A feature of the vocabulary."""
        return self._once("feature", parse(name, self._windows).text, self._feature)

    def derived(self, name: str) -> Pair:
        """A derived number of the book; as reliable as the least reliable feature in it."""
        return self._once("derived", name, lambda n: self.expression(self._derived[n]))

    def config(self, name: str) -> Pair:
        """A hyper-parameter; True is 1, words are missing."""
        return self._once("config", name, self._config)

    def issue(self, code: str) -> Pair:
        """How many issues with this code the log has."""
        return self._once("issue", code, self._issue)

    def expression(self, text: str) -> Pair:
        """An expression of the book: a dotted name is a feature, others are derived numbers or configuration values."""
        expression = compile_expression(text)
        pairs = {name: self.name(name) for name in expression.names}
        value = np.broadcast_to(expression.evaluate({name: pair[0] for name, pair in pairs.items()}), len(self._runs))
        reliability = np.ones(len(self._runs))
        for pair in pairs.values():
            reliability = np.minimum(reliability, pair[1])
        return np.array(value, dtype=np.float64), reliability

    def name(self, name: str) -> Pair:
        """What a name in an expression stands for."""
        if "." in name or "(" in name:
            return self.feature(name)
        return self.derived(name) if name in self._derived else self.config(name)

    def _once(self, kind: str, name: str, compute: Callable[[str], Pair]) -> Pair:
        if (kind, name) not in self._known:
            self._known[kind, name] = compute(name)
        return self._known[kind, name]

    def _feature(self, name: str) -> Pair:
        pairs = [row.get(name) for row in self._rows]
        values = np.array([math.nan if value is None else value for value, _ in pairs], dtype=np.float64)
        return values, np.array([reliability for _, reliability in pairs], dtype=np.float64)

    def _config(self, name: str) -> Pair:
        found = [config.get(name) for config in self._configs]
        values = [math.nan if one is None or isinstance(one.value, str) else float(one.value) for one in found]
        return np.array(values, dtype=np.float64), np.ones(len(values))

    def _issue(self, code: str) -> Pair:
        counts = [sum(issue.code == code for issue in run.issues) for run in self._runs]
        return np.array(counts, dtype=np.float64), np.ones(len(counts))
