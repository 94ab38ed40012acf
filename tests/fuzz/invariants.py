"""What holds for everything that a reader returns, whatever it was given."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rl_diagnose.adapters.readers.evaluations import Evaluations
from rl_diagnose.adapters.readers.monitor import Monitor
from rl_diagnose.adapters.readers.points import EventFile, Table
from rl_diagnose.adapters.sb3_episodes import evaluation_series, monitor_series
from rl_diagnose.adapters.sessions import LogSource, merge_sessions
from rl_diagnose.signals.run import Series

__all__ = [
    "check_evaluations",
    "check_events",
    "check_monitor",
    "check_series",
    "check_source",
    "check_table",
    "same_table",
]


def check_table(table: Table) -> None:
    """Columns are as long as the table, and hold finite numbers or NaN; what was not finite is marked."""
    assert not table.numbers.keys() & table.texts.keys()
    for name, column in table.numbers.items():
        assert column.shape == (table.rows,), name
        assert column.dtype == np.float64, name
        assert not np.isinf(column).any(), name
    for name, marks in table.non_finite.items():
        assert marks.shape == (table.rows,), name
        assert np.isnan(table.numbers[name][marks != 0]).all(), name
        assert not np.isfinite(marks[marks != 0]).any(), name
    for name, texts in table.texts.items():
        assert len(texts) == table.rows, name


def same_table(one: Table, other: Table) -> None:
    """Two tables hold the same."""
    assert one.rows == other.rows
    assert one.issues == other.issues
    assert one.texts == other.texts
    for mine, theirs in ((one.numbers, other.numbers), (one.non_finite, other.non_finite)):
        assert list(mine) == list(theirs)
        for name, column in mine.items():
            np.testing.assert_array_equal(column, theirs[name], err_msg=name)


def check_events(events: EventFile) -> None:
    """Steps, times and values of a tag are equally long; steps are whole numbers."""
    for tag, points in events.scalars.items():
        assert points.step.shape == points.value.shape == points.wall_time.shape, tag
        assert points.step.size, tag
        assert np.isfinite(points.step).all(), tag


def check_source(source: LogSource) -> None:
    """The tracks of a file, as they are and put in order: finite steps, which then grow, and as many values."""
    for key, track in source.tracks.items():
        assert len(track) == track.step.size == track.value.size == track.order.size == track.wall_time.size, key
        assert np.isfinite(track.step).all(), key
    merged, _ = merge_sessions([source], lambda _key: True)
    for key, track in merged.items():
        assert track.step.size == track.value.size, key
        assert (np.diff(track.step) > 0).all(), key


def check_series(all_series: Mapping[str, Series]) -> None:
    """Series are what features are computed from: finite steps that grow, no infinite value, all equally long."""
    for signal, series in all_series.items():
        assert series.step.size == series.value.size == series.iteration.size == series.wall_time.size, signal
        assert (np.diff(series.step) > 0).all(), signal
        assert np.isfinite(series.step).all(), signal
        assert not np.isinf(series.value).any(), signal


def check_monitor(monitor: Monitor) -> None:
    """One return, length and time an episode, and as many of everything else."""
    for column in (monitor.returns, monitor.lengths, monitor.times, *monitor.extras.values()):
        assert column.shape == monitor.returns.shape
    assert monitor.t_start is None or isinstance(monitor.t_start, float)
    check_series(monitor_series([monitor]))


def check_evaluations(evaluations: Evaluations) -> None:
    """As many rows in each array as there are steps."""
    rows = evaluations.timesteps.size
    for table in (evaluations.results, evaluations.lengths, evaluations.successes):
        assert table is None or (table.ndim == 2 and len(table) == rows)
    check_series(evaluation_series(evaluations))
