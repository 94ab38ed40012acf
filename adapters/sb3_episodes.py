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
    SB3's own. Where fewer files are there than `n_envs` environments, which step together, steps are scaled up.
    Empty when no episode finished.
    """
    filled = [monitor for monitor in monitors if monitor.returns.size]
    if not filled:
        return {}
    wall = np.concatenate([m.times + (np.nan if m.t_start is None else m.t_start) for m in filled])
    elapsed = np.concatenate([m.times for m in filled])
    by_end = np.argsort(elapsed if np.isnan(wall).any() else wall, kind="stable")
    lengths = np.concatenate([m.lengths for m in filled])[by_end]
    step = np.cumsum(lengths) * max(1.0, (n_envs or 1) / len(monitors))
    file = ", ".join(m.file for m in filled)
    columns = {"reward.train": ("r", [m.returns for m in filled]), "episode.length": ("l", [m.lengths for m in filled])}
    if all("is_success" in m.extras for m in filled):
        columns["reward.success_rate"] = ("is_success", [m.extras["is_success"] for m in filled])
    return {
        signal: _series(
            signal,
            step,
            np.concatenate(parts)[by_end],
            wall[by_end],
            Semantics(key, file, window="one episode", window_episodes=1),
        )
        for signal, (key, parts) in columns.items()
    }


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
    """What is odd about the monitor files of a run: issue codes ``no_episodes`` and ``monitor_incomplete``."""
    issues = [issue for monitor in monitors for issue in monitor.issues]
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
