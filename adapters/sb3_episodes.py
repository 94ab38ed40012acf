"""Monitor files (one row an episode) and evaluations.npz of Stable-Baselines3 as series."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rl_diagnose.signals.run import LogIssue, NonFinite, Semantics, Series

from .assemble import overflown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from .readers.evaluations import Evaluations
    from .readers.monitor import Monitor

__all__ = ["evaluation_series", "monitor_issues", "monitor_series"]


def monitor_series(monitors: Sequence[Monitor], n_envs: int | None = None) -> dict[str, Series]:
    """Per-episode ``reward.train`` and ``episode.length`` (and ``reward.success_rate``) of training environments.

    Monitor files hold no environment step: the episodes of all files are put in order of their ends, and the step is
    the sum of the lengths of all episodes so far. Unfinished episodes are not counted, so steps lag a little behind
    SB3's own. Where fewer files are there than `n_envs` environments, which step together, steps are scaled up. A file
    that a later start was appended to counts its seconds anew from there: its episodes come behind the earlier ones,
    and when they ended is not known. Empty when no episode finished.
    """
    filled = [monitor for monitor in monitors if monitor.returns.size]
    if not filled:
        return {}
    starts = [0.0 if any(m.t_start is None for m in filled) else float(m.t_start or 0.0) for m in filled]
    ends: list[NDArray[np.float64]] = []
    lengths: list[NDArray[np.float64]] = []
    shown: list[NDArray[np.bool_]] = []
    for monitor, start in zip(filled, starts, strict=True):
        place = monitor.left_out[:, 0].astype(np.intp)
        ends.append(_in_file_order(np.insert(monitor.times, place, monitor.left_out[:, 2])) + start)
        lengths.append(np.insert(monitor.lengths, place, monitor.left_out[:, 1]))
        shown.append(np.insert(np.full(monitor.returns.size, True), place, False))
    every_end = np.concatenate(ends)
    in_order = np.argsort(every_end, kind="stable")
    counted = np.empty(in_order.size)
    counted[in_order] = np.cumsum(np.concatenate(lengths)[in_order])
    visible = np.concatenate(shown)
    by_end = np.argsort(every_end[visible], kind="stable")
    step = counted[visible][by_end] * max(1.0, (n_envs or 1) / len(monitors))
    wall = np.concatenate([_wall_times(monitor) for monitor in filled])
    file = ", ".join(m.file for m in filled)
    columns = {"reward.train": ("r", [m.returns for m in filled]), "episode.length": ("l", [m.lengths for m in filled])}
    if all("is_success" in m.extras for m in filled):
        columns["reward.success_rate"] = ("is_success", [m.extras["is_success"] for m in filled])
    series = {}
    for signal, (key, parts) in columns.items():
        value = np.concatenate(parts)[by_end]
        known = ~np.isnan(value) if key == "is_success" else np.full(value.size, True)  # a blank cell, no NaN
        semantics = Semantics(key, file, window="one episode", window_episodes=1)
        series[signal] = _series(signal, step[known], value[known], wall[by_end][known], semantics)
    return series


def _appended_at(times: NDArray[np.float64]) -> int | None:
    """The first row of a later start: seconds fall below two rows before it and stay there for two. A single row that
    goes back or forth is out of place, no more."""
    known = np.flatnonzero(~np.isnan(times))
    clock = times[known]
    for at in (np.flatnonzero(np.diff(clock) < 0) + 1).tolist():
        before, after = clock[max(at - 2, 0) : at], clock[at : at + 2]
        if len(before) == len(after) == 2 and after.max() < before.min():
            return int(known[at])
    return None


def _in_file_order(times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ends of episodes in seconds that go on growing over later starts; a row without a time has that before it."""
    last_known = np.maximum.accumulate(np.where(np.isnan(times), -1, np.arange(times.size)))
    ends = np.where(last_known < 0, 0.0, times[last_known])
    at = _appended_at(ends)
    while at is not None:
        ends = np.append(ends[:at], ends[at:] + ends[:at].max())
        at = _appended_at(ends)
    return ends


def _wall_times(monitor: Monitor) -> NDArray[np.float64]:
    """Seconds since the epoch at which episodes ended; NaN where that is not known."""
    at = _appended_at(monitor.times)
    known = np.arange(monitor.times.size) < (monitor.times.size if at is None else at)
    return np.where(known, monitor.times + (np.nan if monitor.t_start is None else monitor.t_start), np.nan)


def evaluation_series(evaluations: Evaluations) -> dict[str, Series]:
    """``reward.eval``, ``reward.eval_std``, ``episode.eval_length``, ``reward.eval_success_rate`` of an EvalCallback.

    Means and the standard deviation over the episodes of each evaluation, at the environment steps of the evaluations.
    """
    step = evaluations.timesteps
    episodes = evaluations.results.shape[1] if evaluations.results.ndim == 2 else 1
    tables = {
        "reward.eval": ("results", evaluations.results, "mean"),
        "reward.eval_std": ("results", evaluations.results, "std"),
        "episode.eval_length": ("ep_lengths", evaluations.lengths, "mean"),
        "reward.eval_success_rate": ("successes", evaluations.successes, "mean"),
    }
    series = {}
    for signal, (key, table, statistic) in tables.items():
        if table is None or not table.size:
            continue
        rows = np.asarray(table, np.float64).reshape(len(table), -1)
        # an infinite return makes the mean infinite, and the spread NaN; one near the end of float64 both infinite
        with np.errstate(invalid="ignore", over="ignore"):
            value = rows.mean(axis=1) if statistic == "mean" else rows.std(axis=1)
        semantics = Semantics(
            key, evaluations.file, estimator=statistic, window="one evaluation", window_episodes=episodes
        )
        series[signal] = _series(signal, step, value, np.full(step.size, np.nan), semantics)
    return series


def monitor_issues(monitors: Sequence[Monitor], n_envs: int | None = None) -> tuple[LogIssue, ...]:
    """What is odd about the monitor files of a run: issue codes ``no_episodes``, ``monitor_appended`` and
    ``monitor_incomplete``."""
    issues = [issue for monitor in monitors for issue in monitor.issues]
    for monitor in monitors:
        at = _appended_at(monitor.times)
        if at is not None:
            text = f"a later start was appended at episode {at + 1}: its steps are counted on from the earlier ones"
            issues.append(LogIssue("monitor_appended", text, monitor.file))
    issues += [LogIssue("no_episodes", "no episode finished", m.file) for m in monitors if not m.returns.size]
    if n_envs is not None and 0 < len(monitors) < n_envs:
        text = f"{len(monitors)} of {n_envs} environments' monitor files are here: steps are scaled up accordingly"
        issues.append(LogIssue("monitor_incomplete", text, monitors[0].file))
    return tuple(issues)


def _series(
    signal: str,
    step: NDArray[np.float64],
    value: NDArray[np.float64],
    wall_time: NDArray[np.float64],
    semantics: Semantics,
) -> Series:
    """A series with one entry a step (the last one of equal steps) and its non-finite values counted."""
    order = np.argsort(step, kind="stable")
    step, value, wall_time = step[order], value[order], wall_time[order]
    last = np.append(np.diff(step) > 0, [True][: step.size])
    step, value, wall_time = step[last], overflown(value[last]), wall_time[last]
    finite = np.isfinite(value)
    non_finite = NonFinite()
    if not finite.all():
        non_finite = NonFinite(
            nan=int(np.isnan(value).sum()),
            positive_inf=int(np.isposinf(value).sum()),
            negative_inf=int(np.isneginf(value).sum()),
            first_step=float(step[~finite][0]),
        )
    return Series(
        signal,
        step,
        np.where(finite, value, np.nan),
        np.full(step.size, np.nan),
        wall_time,
        semantics,
        non_finite=non_finite,
    )
