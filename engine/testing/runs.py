"""From a test to the `Run` it describes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..diagnosis.reading import load_run, parse_action_space
from ..signals.run import ActionSpace, ConfigValue, LogIssue, NonFinite, Run, Semantics, Series
from .notation import parse_curve

if TYPE_CHECKING:
    from pathlib import Path

    from .model import AuthoredTest

__all__ = ["run_of"]

_ORIGIN = "the test"


def run_of(test: AuthoredTest, log: Path | None) -> Run:
    """The run of a test: read from `log` where there is one, else made of its curves.

    Raises what reading a log raises, `NotationError` for a curve, `UsageError` for an action space.
    """
    if log is not None:
        return load_run(log, action_space=test.action_space)
    series = {signal: _series(test, signal, text) for signal, text in test.series.items()}
    said = [LogIssue(code, "the test says so", _ORIGIN) for code in test.issues]
    return Run(
        id=test.name,
        path=_ORIGIN,
        framework=test.framework or "",
        series=series,
        algorithm=test.algorithm,
        config={name: ConfigValue(value, _ORIGIN) for name, value in test.config.items()},
        action_space=parse_action_space(test.action_space) if test.action_space else ActionSpace(),
        issues=(*said, *(_non_finite(one) for one in series.values() if one.non_finite.harmful)),
    )


def _series(test: AuthoredTest, signal: str, text: str) -> Series:
    curve = parse_curve(text, signal)
    step = (test.steps.start + test.steps.by * np.arange(curve.value.size, dtype=np.float64))[curve.logged]
    value = curve.value[curve.logged]
    finite = np.isfinite(value)
    odd = NonFinite(
        nan=int(np.isnan(value).sum()),
        positive_inf=int(np.isposinf(value).sum()),
        negative_inf=int(np.isneginf(value).sum()),
        first_step=None if finite.all() else float(step[~finite][0]),
    )
    return Series(
        signal=signal,
        step=step,
        value=np.where(finite, value, np.nan),
        iteration=np.arange(curve.value.size, dtype=np.float64)[curve.logged],
        wall_time=np.full(step.size, np.nan),
        semantics=Semantics(source_key=signal, file=_ORIGIN),
        non_finite=odd,
    )


def _non_finite(series: Series) -> LogIssue:
    text = f"{series.signal} is not finite at {series.non_finite.count} points"
    return LogIssue("non_finite", text, _ORIGIN, series.non_finite.first_step)
