"""From the points of a run's log files to series: names, signs, iterations, non-finite values.

Sources are grouped in layers: the first layer that holds a key provides it, later layers only fill what is missing.
Within a layer the sources are sessions of one run.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rl_diagnose.errors import UsageError
from rl_diagnose.logs.adapter import ReadOptions
from rl_diagnose.signals.run import LogIssue, NonFinite, Semantics, Series, UnmappedKey
from rl_diagnose.signals.taxonomy import is_known_signal, suggest_signal

from .sessions import LogSource, Track, merge_sessions
from .tagmap import MAX_SUGGESTIONS, TagRule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from rl_diagnose.signals.run import XAxis

    from .readers.points import EventFile, Table
    from .tagmap import TagMap

__all__ = [
    "Assembled",
    "assemble",
    "event_source",
    "number_iterations",
    "overflown",
    "table_source",
    "with_readable_steps",
]

_SIGNIFICANTLY_NEGATIVE = -1e-6  # a k3 estimate of 0 may round to just below
_FEW = 0.1  # of the rows may have lost their step; where more have none, the log is written so
_LARGEST = 1e70  # far beyond float32, in which networks are trained; fourth powers of it stay within float64


@dataclass(frozen=True, slots=True)
class Assembled:
    """Series by signal id, `lags` of their values in iterations, keys nobody knows, and what was odd about the log."""

    series: dict[str, Series]
    lags: dict[str, int]
    unmapped: tuple[UnmappedKey, ...]
    issues: tuple[LogIssue, ...]


def event_source(events: EventFile) -> LogSource:
    """An event file as a source; its order of writing is by wall time."""
    tracks = {
        key: Track(p.step, p.value, p.wall_time, p.wall_time, (events.file,)) for key, p in events.scalars.items()
    }
    start = min((float(track.order.min()) for track in tracks.values() if len(track)), default=np.inf)
    return LogSource(events.file, start, tracks)


def table_source(table: Table, step_keys: Sequence[str]) -> tuple[LogSource, tuple[LogIssue, ...]]:
    """A table as a source: one track a column, blank cells left out.

    The x axis is the first of `step_keys` that is a column; a row without a step takes the one before it (issue
    ``rows_without_step``; where only a few have none, those that would replace a value of that row lost their step and
    are left out), one whose step is unreadable is left out. Without such a column rows are counted instead
    (issue ``no_step_column``).
    """
    column = next((key for key in step_keys if key in table.numbers), None)
    table, odd = with_readable_steps(table, column)
    issues = list(odd)
    rows = np.arange(table.rows, dtype=np.float64)
    step = rows if column is None else table.numbers[column]
    if column is None:
        text = f"there is no column {' or '.join(step_keys)}: rows are counted instead of steps"
        issues.append(LogIssue("no_step_column", text, table.file))
    blank = np.isnan(step)
    out = np.zeros(table.rows, dtype=np.bool_)
    if blank.any():
        last_known = np.maximum.accumulate(np.where(blank, -1, np.arange(table.rows)))
        step = np.where(last_known < 0, 0.0, step[last_known])
        text = f"{int(blank.sum())} rows have no {column}: they take the one of the row before"
        if blank.sum() <= _FEW * table.rows:
            out = _repeating(table, blank, last_known)
            text += f" ({int(out.sum())} have keys that this row has, too: they were left out)" if out.any() else ""
        issues.append(LogIssue("rows_without_step", text, table.file, severity="info"))
    tracks = {}
    for key, values in table.numbers.items():
        written = np.where(np.isnan(values), table.non_finite.get(key, 0.0), values)
        logged = ~np.isnan(values) | (written != 0.0)  # a NaN that was written is unequal to 0, a blank cell is not
        logged &= ~out
        if key != column and logged.any():
            unknown = np.full(int(logged.sum()), np.nan)
            tracks[key] = Track(step[logged], written[logged], rows[logged], unknown, (table.file,))
    return LogSource(table.file, 0.0, tracks, counted=column is None), tuple(issues)


def _repeating(table: Table, blank: NDArray[np.bool_], last_known: NDArray[np.intp]) -> NDArray[np.bool_]:
    """The rows without a step that hold a key which the row whose step they take holds, too (for those before the first
    step: which the row with that one holds), shape (rows,)."""
    places = np.flatnonzero(blank)
    sources = np.where(last_known[places] < 0, np.argmin(blank), last_known[places])
    repeats = np.zeros(places.size, dtype=np.bool_)
    for values in table.numbers.values():
        repeats |= ~np.isnan(values[places]) & ~np.isnan(values[sources])
    out = np.zeros(table.rows, dtype=np.bool_)
    out[places[repeats]] = True
    return out


def with_readable_steps(table: Table, column: str | None) -> tuple[Table, tuple[LogIssue, ...]]:
    """The table without the rows whose steps, in this `column`, are damaged: nobody knows where they belong (issue
    ``unreadable_steps``)."""
    damaged = table.unreadable.get(column) if column is not None else None
    if damaged is None or not damaged.any():
        return table, ()
    first = int(np.flatnonzero(damaged)[0]) + 1
    text = f"{int(damaged.sum())} rows have an unreadable {column} and were left out (first: row {first})"
    return table.take(~damaged), (LogIssue("unreadable_steps", text, table.file),)


def assemble(
    layers: Sequence[Sequence[LogSource]],
    tag_map: TagMap,
    *,
    algorithm: str | None = None,
    options: ReadOptions | None = None,
) -> Assembled:
    """Series of all numeric keys of a run; `iteration` is still unknown (NaN), see `number_iterations`.

    Known keys become signals (of two keys for one signal, the one without a wrapper's prefix and then the first in the
    map), all others ``raw.<key>``. The mapping of `options` wins over the tag map. See `merge_sessions` for restarts;
    further issue codes are ``non_finite`` and ``mapping_unused``.

    Raises `UsageError` when that mapping names an unknown signal.
    """

    def on_main_axis(key: str) -> bool:
        return tag_map.split_prefix(key)[0] is None and tag_map.understands(key)

    tracks: dict[str, Track] = {}
    counted: set[str] = set()
    issues: list[LogIssue] = []
    for layer in layers:
        respelled = [replace(source, tracks=_respelled(source.tracks, tag_map)) for source in layer]
        counted |= {source.file for source in layer if source.counted}
        merged, odd = merge_sessions(respelled, on_main_axis)
        new = {key: track for key, track in merged.items() if key not in tracks}
        tracks |= new
        issues += [issue for issue in odd if new or issue.code not in ("duplicate_steps", "backward_steps")]
    asked = ReadOptions() if options is None else options
    by_user, by_house = (
        {tag_map.spelling(key): signal for key, signal in given.items()} for given in (asked.mapping, asked.house)
    )
    spelled = ReadOptions(mapping=by_user, house=by_house)
    mapping = {key: _checked(key, signal) for key, signal in spelled.mapping_for(tracks).items()}
    issues += [
        LogIssue("mapping_unused", f"the mapped key {key} is not in this log")
        for key in sorted(set(mapping) - set(tracks))
    ]
    series: dict[str, Series] = {}
    lags: dict[str, int] = {}
    unmapped: list[UnmappedKey] = []
    for signal, (key, rule) in _choose(tracks, tag_map, algorithm, mapping).items():
        prefix, own = tag_map.split_prefix(key)
        x_axis = tag_map.x_axis if prefix is None else prefix.x_axis
        series[signal] = _series(key, rule, tracks[key], "iterations" if counted >= set(tracks[key].files) else x_axis)
        lags[signal] = tag_map.lag(own)
        if signal == f"raw.{key}" and not tag_map.understands(key):
            meant = tag_map.suggest(key) if len(unmapped) < MAX_SUGGESTIONS else None
            unmapped.append(UnmappedKey(key, ", ".join(tracks[key].files), len(tracks[key]), meant))
    issues += _non_finite_issues(series.values())
    return Assembled(series, lags, tuple(unmapped), tuple(issues))


def number_iterations(
    assembled: Assembled, clock: Callable[[NDArray[np.float64]], NDArray[np.float64]], *, lagged: bool = True
) -> dict[str, Series]:
    """The series with `iteration` filled in.

    `clock` maps steps to the 0-based iteration that was under way there (NaN = unknown). With `lagged`, a signal with a
    lag belongs to that many iterations before. Steps stay as logged: the iteration says to what a value belongs, the
    step when it was written. Never below 0.
    """
    return {
        signal: replace(series, iteration=np.maximum(clock(series.step) - lagged * assembled.lags[signal], 0.0))
        for signal, series in assembled.series.items()
    }


def _checked(key: str, signal: str) -> str:
    if is_known_signal(signal):
        return signal
    close = suggest_signal(signal)
    hint = f"did you mean {close}?" if close else "the signal reference lists the ids"
    raise UsageError(f"'{signal}' is not a signal", place=f"mapping of {key}", hint=hint)


def _respelled(tracks: Mapping[str, Track], tag_map: TagMap) -> dict[str, Track]:
    return {
        tag_map.spelling(key): track
        for key, track in tracks.items()
        if tag_map.split_prefix(key)[1] not in tag_map.step_keys
    }


def _choose(
    keys: Iterable[str], tag_map: TagMap, algorithm: str | None, mapping: Mapping[str, str]
) -> dict[str, tuple[str, TagRule]]:
    """Signal → the key that provides it and the rule by which; keys that provide none are ``raw.<key>``."""
    ranks = {rule: rank for rank, rule in enumerate(tag_map.rules)}
    prefixes = {prefix: rank for rank, prefix in enumerate(tag_map.prefixes)}
    offers: list[tuple[int, int, str, TagRule]] = []
    for key in keys:
        prefix, own = tag_map.split_prefix(key)
        if key in mapping:
            offers.append((-2, 0, key, TagRule(key, mapping[key])))
            continue
        rank = -1 if prefix is None else prefixes[prefix]
        offers += [(rank, ranks[rule], key, rule) for rule in tag_map.rules_for(own, algorithm)]
    chosen: dict[str, tuple[str, TagRule]] = {}
    for *_, key, rule in sorted(offers, key=lambda offer: offer[:3]):
        chosen.setdefault(rule.signal, (key, rule))
    used = {key for key, _ in chosen.values()}
    for key in sorted(set(keys) - used):
        chosen[f"raw.{key}"] = (key, TagRule(key, f"raw.{key}"))
    return chosen


def _series(key: str, rule: TagRule, track: Track, x_axis: XAxis) -> Series:
    value = overflown(rule.transform(track.value))
    finite = np.isfinite(value)
    non_finite = NonFinite()
    if not finite.all():
        nan = int(np.isnan(value).sum())
        non_finite = NonFinite(
            nan=nan,
            positive_inf=int(np.isposinf(value).sum()),
            negative_inf=int(np.isneginf(value).sum()),
            first_step=float(track.step[~finite][0]),
            benign=nan if rule.benign else _empty_windows(rule.signal, value),
        )
    estimator = rule.estimator
    if rule.negative_estimator is not None and (value[finite] < _SIGNIFICANTLY_NEGATIVE).any():
        estimator = rule.negative_estimator
    return Series(
        signal=rule.signal,
        step=track.step,
        value=np.where(finite, value, np.nan),
        iteration=np.full(len(track), np.nan),
        wall_time=track.wall_time,
        semantics=Semantics(
            source_key=key,
            file=", ".join(track.files),
            transform=rule.transform.text,
            estimator=estimator,
            window=rule.window,
            window_episodes=rule.window_episodes,
        ),
        x_axis=x_axis,
        non_finite=non_finite,
    )


def _empty_windows(signal: str, value: NDArray[np.float64]) -> int:
    """NaNs that are means over no episode at all: frameworks write them while none has finished, before the first and
    between two. A NaN that lasts to the end of a log which had numbers is none of these."""
    if not signal.startswith(("reward.", "episode.")):
        return 0
    missing = np.isnan(value)
    numbers = np.flatnonzero(~missing)
    return int(missing[: numbers[-1]].sum() if numbers.size else missing.sum())


def overflown(value: NDArray[np.float64]) -> NDArray[np.float64]:
    """The values, with infinities for those beyond `_LARGEST`: they are overflows, and no statistic can hold them."""
    return np.where(np.abs(value) > _LARGEST, np.copysign(np.inf, value), value)


def _non_finite_issues(all_series: Iterable[Series]) -> list[LogIssue]:
    """One issue a signal that holds values which no healthy run writes."""
    issues = []
    for series in all_series:
        found = series.non_finite
        if found.harmful:
            infinite = found.positive_inf + found.negative_inf
            where = f"NaN at {found.nan} and infinite at {infinite} of {len(series)} points"
            text = f"{series.signal} ({series.semantics.source_key}) is {where}"
            issues.append(LogIssue("non_finite", text, series.semantics.file, found.first_step))
    return issues
