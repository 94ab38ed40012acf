"""Sessions of one run: joining the log files that a run was written to, restarts, stray and duplicate points.

A run may own several files (resumed, restarted), and one file may hold several sessions. Within a session steps only
grow. A session that starts again below the end of an earlier one abandons what the earlier one had from there on, as
TensorBoard does it: the two are different trajectories, and only the later one has a continuation.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rl_diagnose.signals.run import LogIssue

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

__all__ = ["LogSource", "Track", "merge_sessions"]

_SESSION_OFFSET = 2.0**40  # rows of a later table come after all rows of an earlier one


@dataclass(frozen=True, slots=True)
class Track:
    """Points of one key: float64 arrays of shape (n,).

    `value` has NaN and infinities as written; `order` sorts the points by the time of writing (wall time or row
    number), across all keys of the same file; `wall_time` is NaN where unknown; `files` are where the points are from.
    """

    step: NDArray[np.float64]
    value: NDArray[np.float64]
    order: NDArray[np.float64]
    wall_time: NDArray[np.float64]
    files: tuple[str, ...]

    def __len__(self) -> int:
        return int(self.step.size)

    def take(self, index: NDArray[np.intp] | NDArray[np.bool_]) -> Track:
        """The points at `index`."""
        return Track(self.step[index], self.value[index], self.order[index], self.wall_time[index], self.files)


@dataclass(frozen=True, slots=True)
class LogSource:
    """The points of one log file.

    `start` orders the files of a run (seconds since the epoch, or any number). `counted` says that the file has no
    steps and its rows were counted instead.
    """

    file: str
    start: float
    tracks: Mapping[str, Track]
    counted: bool = False


class _Restart(NamedTuple):
    """Writing went back from step `top` to `step`; `before` and `order` are when the two points were written."""

    before: float
    order: float
    step: float
    top: float


def merge_sessions(
    sources: Sequence[LogSource], on_main_axis: Callable[[str], bool]
) -> tuple[dict[str, Track], list[LogIssue]]:
    """One track a key with growing steps, and what was odd.

    `on_main_axis` says for which keys steps are the run's own; they share restarts, so that a key which is logged
    rarely does not keep points of an abandoned part. Other keys are looked at one by one. Issue codes: ``restart``,
    ``resumed``, ``concurrent_writers``, ``duplicate_steps``, ``backward_steps``.
    """
    sessions = sorted(sources, key=lambda source: (source.start, source.file))
    tracks, issues = _join(sessions)
    main = [key for key in tracks if on_main_axis(key)]
    restarts = _leading_restarts([tracks[key] for key in main])
    abandoned: Counter[_Restart] = Counter()
    for key in main:
        for restart in restarts:
            track = tracks[key]
            gone = (track.order < restart.order) & (track.step > restart.step)
            gone |= (track.order <= restart.before) & (track.step == restart.step)
            if gone.any():
                abandoned[restart] += int(gone.sum())
                tracks[key] = track.take(~gone)
    issues += [_restart_issue(restart, abandoned[restart], sessions) for restart in restarts]
    issues += _resumed_issues(sessions, restarts)
    backward: dict[str, float] = {}
    duplicates: dict[str, float] = {}
    for key, track in tracks.items():
        tracks[key], first_backward, first_duplicate = _in_step_order(track)
        if first_backward is not None:
            backward[key] = first_backward
        if first_duplicate is not None:
            duplicates[key] = first_duplicate
    back = "go back in step for a point or in a part of their own; the later points win"
    issues += _step_issue("backward_steps", backward, tracks, back)
    twice = "have several values at one step; the last one is kept"
    issues += _step_issue("duplicate_steps", duplicates, tracks, twice)
    return {key: track for key, track in tracks.items() if len(track)}, issues


def _join(sessions: Sequence[LogSource]) -> tuple[dict[str, Track], list[LogIssue]]:
    """All points of each key in order of writing. Of two files written at once, the later one's points are kept."""
    parts: dict[str, list[Track]] = {}
    both: list[str] = []
    for number, session in enumerate(sessions):
        for key, track in session.tracks.items():
            if not len(track):
                continue
            timed = bool(np.isfinite(track.wall_time).all())
            placed = track if timed else _shift(track, number * _SESSION_OFFSET)
            earlier = parts.setdefault(key, [])
            if timed and earlier and earlier[-1].order.max() > placed.order.min():
                earlier.pop()
                both.append(key)
            earlier.append(placed)
    tracks = {}
    for key, pieces in parts.items():
        order = np.concatenate([piece.order for piece in pieces])
        joined = Track(
            np.concatenate([piece.step for piece in pieces]),
            np.concatenate([piece.value for piece in pieces]),
            order,
            np.concatenate([piece.wall_time for piece in pieces]),
            tuple(dict.fromkeys(file for piece in pieces for file in piece.files)),
        )
        tracks[key] = joined.take(np.argsort(order, kind="stable"))
    if not both:
        return tracks, []
    text = f"two files hold {len(both)} of the same keys (such as {both[0]}) for the same time: the later file is kept"
    return tracks, [LogIssue("concurrent_writers", text, sessions[-1].file)]


def _shift(track: Track, offset: float) -> Track:
    return Track(track.step, track.value, track.order + offset, track.wall_time, track.files)


def _restarts(track: Track) -> list[_Restart]:
    """Where steps go back and stay there for at least two points; a single point that goes back is a stray."""
    step = track.step
    found: list[_Restart] = []
    top = -np.inf
    for i in (np.flatnonzero(np.diff(step) < 0) + 1).tolist():
        top = max(top, float(step[i - 1]))
        if i + 1 < step.size and step[i + 1] < top:
            found.append(_Restart(float(track.order[i - 1]), float(track.order[i]), float(step[i]), top))
            top = -np.inf
    return found


def _leading_restarts(tracks: Sequence[Track]) -> list[_Restart]:
    """The restarts of the run: those of the key that shows most of them, and of these the one with most points."""
    candidates = [(_restarts(track), len(track)) for track in tracks]
    return max(candidates, key=lambda c: (len(c[0]), c[1]), default=([], 0))[0]


def _in_step_order(track: Track) -> tuple[Track, float | None, float | None]:
    """The track with growing steps, the first step that went back, and the first that was there with two values."""
    backward = None
    for restart in _restarts(track):
        track = track.take((track.order >= restart.order) | (track.step < restart.step))
        backward = restart.step if backward is None else backward
    falls = np.flatnonzero(np.diff(track.step) < 0)
    if falls.size:
        backward = float(track.step[falls[0] + 1]) if backward is None else backward
        track = track.take(np.argsort(track.step, kind="stable"))
    same = np.diff(track.step) == 0
    if not same.any():
        return track, backward, None
    differs = same & (track.value[:-1] != track.value[1:]) & ~(np.isnan(track.value[:-1]) & np.isnan(track.value[1:]))
    duplicate = float(track.step[:-1][differs][0]) if differs.any() else None
    return track.take(np.append(~same, True)), backward, duplicate


def _restart_issue(restart: _Restart, abandoned: int, sessions: Sequence[LogSource]) -> LogIssue:
    text = (
        f"the log goes back from step {restart.top:.0f} to {restart.step:.0f}: a restart; the later part counts, "
        f"and {abandoned} earlier points beyond that step were dropped"
    )
    return LogIssue("restart", text, _file_at(restart.order, sessions), restart.step)


def _resumed_issues(sessions: Sequence[LogSource], restarts: Sequence[_Restart]) -> list[LogIssue]:
    """A note for each further file that goes on where the earlier ones ended."""
    issues = []
    restarted = {_file_at(restart.order, sessions) for restart in restarts}
    seen: set[str] = set()
    for session in sessions:
        if seen & session.tracks.keys() and session.file not in restarted:
            step = min(float(t.step.min()) for t in session.tracks.values() if len(t))
            text = f"a further file of the same run, which goes on at step {step:.0f}"
            issues.append(LogIssue("resumed", text, session.file, step, severity="info"))
        seen |= session.tracks.keys()
    return issues


def _file_at(order: float, sessions: Sequence[LogSource]) -> str:
    """The file that was being written at `order`."""
    started = [(session.start, session.file) for session in sessions if session.start <= order]
    return max(started)[1] if started else sessions[0].file


def _step_issue(code: str, found: Mapping[str, float], tracks: Mapping[str, Track], what: str) -> list[LogIssue]:
    if not found:
        return []
    step = min(found.values())
    names = ", ".join(sorted(found)[:3]) + (" …" if len(found) > 3 else "")
    text = f"{len(found)} keys ({names}) {what} (first at step {step:.0f})"
    files = dict.fromkeys(file for key in found for file in tracks[key].files)
    return [LogIssue(code, text, ", ".join(files), step, severity="info")]
