"""A known-good run, or several, to compare with: how far the return lies below theirs, and which knobs differ.

Without a baseline a return is judged by its own course only. With one, "poor" means "below what this set-up is known to
reach at the same step", which finds runs that learn, but less than they could.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..errors import NoReadableRunError
from ..features.trends import smooth
from ..signals.run import LogIssue, Semantics, Series
from .reading import Unreadable, locate, read_runs
from .values import configuration

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from ..logs.adapter import ReadOptions
    from ..signals.run import Run

    Setting = float | int | bool | str
    Floats = NDArray[np.float64]

__all__ = ["SIGNAL", "Baseline", "read_baseline"]

SIGNAL = "reward.vs_baseline"
_RETURN = "reward.train"
_LEAST_POINTS = 5
_SAME = 1e-6  # relative difference below which two settings are one
_SHOWN = 8  # settings told in a remark


@dataclass(frozen=True, slots=True)
class Baseline:
    """Runs that are known to be good. `place` is where they are, `notes` tell which of them could not be read."""

    place: str
    runs: tuple[Run, ...]
    notes: tuple[str, ...] = ()

    def compared(self, run: Run) -> Run:
        """`run` with `reward.vs_baseline`, and with the differing settings as a log issue; where it cannot be compared,
        the issue says why."""
        mates = [one for one in self.runs if _comparable(one, run)]
        series = _below(run, mates)
        if series is None:
            text = f"not compared with {self.place}: {self._why_not(run, mates)}"
            return replace(run, issues=(*run.issues, LogIssue("no_baseline", text, severity="info")))
        whom = self.place if len(self.runs) == 1 else f"{len(mates)} of {len(self.runs)} runs of {self.place}"
        text = f"compared with {whom}{_differences(run, mates)}"
        issues = (*run.issues, LogIssue("baseline", text, severity="info"))
        return replace(run, series={**run.series, SIGNAL: series}, issues=issues)

    def _why_not(self, run: Run, mates: Sequence[Run]) -> str:
        if _curve(run) is None:
            return "the run has no training return"
        if not mates:
            return f"none of its runs has a training return over {run.x_axis.replace('_', ' ')}, for the same algorithm"
        return "its return never changed"


def read_baseline(path: str, options: ReadOptions, tag_maps: Sequence[Path] = ()) -> Baseline:
    """The runs below `path`.

    Raises `UsageError` for a path that does not exist, `NoReadableRunError` where no run with a training return can be
    read.
    """
    located = locate([path], tag_maps)
    runs, notes = [], list(located.notes)
    for one in read_runs(located.sources, options):
        if isinstance(one, Unreadable):
            notes.append(f"baseline {one.id}: {one.reason}")
        elif _curve(one) is None:
            notes.append(f"baseline {one.id}: has no training return of {_LEAST_POINTS} points and more")
        else:
            runs.append(one)
    if not runs:
        fact = notes[0] if notes else "has no run"
        raise NoReadableRunError(fact, place=path, hint="--baseline wants a run that is known to be good")
    return Baseline(path, tuple(runs), tuple(notes))


def _comparable(one: Run, run: Run) -> bool:
    known = one.algorithm is not None and run.algorithm is not None
    return one.series[_RETURN].x_axis == run.x_axis and (not known or one.algorithm == run.algorithm)


def _curve(run: Run) -> tuple[Floats, Floats] | None:
    """Steps and smoothed values of the training return, both of shape (n,); None where there are too few."""
    series = run.series.get(_RETURN)
    if series is None:
        return None
    finite = np.isfinite(series.value)
    if finite.sum() < _LEAST_POINTS:
        return None
    return series.step[finite], smooth(series.value[finite])


def _below(run: Run, mates: Sequence[Run]) -> Series | None:
    """(return − the baseline's) / range of the baseline's, at the steps of `run`.

    The baseline is the median of its runs, and goes on at its last level where `run` is longer.
    """
    own = _curve(run)
    curves = [curve for curve in map(_curve, mates) if curve is not None]
    if own is None or not curves:
        return None
    source, (step, value) = run.series[_RETURN], own
    usual = np.median([np.interp(step, *curve) for curve in curves], axis=0)
    spread = float(np.median([np.ptp(curve[1]) for curve in curves]))
    if spread <= 1e-9 * max(float(np.abs(usual).max()), 1e-12):
        return None
    rows = np.isfinite(source.value)
    return Series(
        signal=SIGNAL,
        step=step,
        value=(value - usual) / spread,
        iteration=source.iteration[rows],
        wall_time=source.wall_time[rows],
        semantics=Semantics(source.semantics.source_key, source.semantics.file, "(return - baseline) / its range"),
        x_axis=source.x_axis,
    )


def _differences(run: Run, mates: Sequence[Run]) -> str:
    """Settings that no run of the baseline has, in words."""
    own = configuration(run)
    theirs = [configuration(mate) for mate in mates]
    told = []
    for name in sorted(own):
        values = [config[name].value for config in theirs if name in config]
        if values and not any(_same(own[name].value, value) for value in values):
            told.append(f"{name} {_text(own[name].value)} (there {_text(values[0])})")
    more = f" and {len(told) - _SHOWN} more" if len(told) > _SHOWN else ""
    return f"; what differs: {', '.join(told[:_SHOWN])}{more}" if told else "; no known setting differs"


def _same(one: Setting, other: Setting) -> bool:
    if isinstance(one, bool | str) or isinstance(other, bool | str):
        return one == other
    return math.isclose(one, other, rel_tol=_SAME)


def _text(value: Setting) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
