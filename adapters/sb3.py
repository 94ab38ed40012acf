"""Stable-Baselines3, sb3-contrib and RL Zoo: event files, progress.csv/json, monitor files and evaluations.npz.

On-policy algorithms write a row after a rollout and before the update, so ``train/*`` in a row come from the update of
the iteration before (or, where an evaluation was logged in between, stand in the evaluation's row). Their `step` stays
that of the row; their `iteration` is that of the rollout they were computed from, so that what belongs together meets.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files as resource_files
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from rl_diagnose.errors import LogError
from rl_diagnose.logs.adapter import RunSource, Sniff
from rl_diagnose.signals.run import ActionSpace, LogIssue, Run

from .action_space import infer_action_space
from .assemble import assemble, event_source, number_iterations, table_source
from .iterations import iteration_clock
from .readers.console import read_console_file
from .readers.csv_table import read_table
from .readers.evaluations import read_evaluations
from .readers.event_files import read_event_file
from .readers.json_lines import read_json_lines
from .readers.monitor import read_monitor
from .sb3_context import read_context
from .sb3_episodes import evaluation_series, monitor_issues, monitor_series
from .sb3_files import classify, settings_below
from .tagmap import load_tag_map, named_algorithm

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from rl_diagnose.logs.adapter import Folder, ReadOptions
    from rl_diagnose.signals.run import Series, XAxis

    from .assemble import Assembled
    from .readers.points import EventFile, Table
    from .sb3_context import Context
    from .sb3_files import Sb3Files
    from .sessions import LogSource
    from .tagmap import TagMap

__all__ = ["ADAPTER", "StableBaselines3"]

Content = TypeVar("Content")

_HINT = (
    "SB3 logs after its first rollout (on-policy) or every few episodes (off-policy): check that the run got that far"
)


@cache
def tag_map() -> TagMap:
    """The tag map of this adapter."""
    return load_tag_map(resource_files("rl_diagnose.adapters.maps").joinpath("sb3.yaml"))


@dataclass(frozen=True, slots=True)
class StableBaselines3:
    """The adapter. One folder is one run: SB3 gives every run a folder of its own (``PPO_1``, ``PPO_2`` …)."""

    name: str = "sb3"
    title: str = "Stable-Baselines3 (event files, progress.csv, monitor.csv, evaluations.npz, printed tables)"

    def sniff(self, folder: Folder) -> Sniff:
        """Score by the keys in the heads of the folder's files."""
        found = classify(folder.files, tag_map())
        fingerprints = tag_map().fingerprints(found.keys)
        sources = [RunSource(path, (path,)) for path in (*found.loose, *found.printed)]
        if not found.logs:
            if sources:
                return Sniff(0.9, "tables with Stable-Baselines3's columns", tuple(sources))
            return Sniff(*_nothing(found))
        if folder.path.is_dir():
            found = replace(found, settings=found.settings or settings_below(folder.path))
        sources.insert(0, RunSource(folder.path, found.all))
        if len(fingerprints) >= 2:
            shown = ", ".join(fingerprints[:4]) + (" …" if len(fingerprints) > 4 else "")
            return Sniff(0.95, f"Stable-Baselines3's keys: {shown}", tuple(sources))
        if found.training_monitors or found.evaluations:
            what = found.training_monitors or found.evaluations
            return Sniff(0.9, f"{what[0].name} as Stable-Baselines3 writes it", tuple(sources))
        if fingerprints:
            return Sniff(0.55, f"only one of Stable-Baselines3's keys: {fingerprints[0]}", tuple(sources))
        named = named_algorithm(folder.path.name, tag_map().algorithms)
        if named is not None:
            return Sniff(0.5, f"an event file without keys in a folder named after {named.id}", tuple(sources))
        return Sniff(0.1, "an event file without keys: nobody's in particular", tuple(sources))

    def read(self, source: RunSource, options: ReadOptions) -> Run:
        """Read one run. Raises `LogError` when none of its files holds a number, `UsageError` for a wrong mapping."""
        found = classify(source.files, tag_map())
        if source.path in found.loose:
            found = replace(found, tables=(source.path,))
        printed = tuple(path for path in found.printed if path == source.path)
        folder = source.path if source.path.is_dir() else source.path.absolute().parent
        issues: list[LogIssue] = []
        events = _read_all(read_event_file, found.events, issues)
        tables = [*_read_all(read_table, found.tables, issues), *_read_all(read_json_lines, found.records, issues)]
        tables += _read_all(read_console_file, printed, issues)
        monitors = _read_all(read_monitor, found.training_monitors, issues)
        evaluations = _read_all(read_evaluations, found.evaluations, issues)
        layers, keys = _layers(events, tables, issues)
        context = read_context(
            found,
            folder,
            keys,
            tag_map(),
            hparams={name: value for file in events for name, value in file.hparams.items()},
            env=next((monitor.env_id for monitor in monitors if monitor.env_id), None),
        )
        assembled = assemble(layers, tag_map(), algorithm=context.algorithm, options=options)
        issues += [*context.issues, *assembled.issues]
        series = _with_iterations(assembled, context, issues)
        for evaluation in evaluations:
            series = {**evaluation_series(evaluation), **series}
            issues += evaluation.issues
        if "reward.train" not in series:
            n_envs = _whole_number(context, "n_envs")
            series = {**monitor_series(monitors, n_envs), **series}
            issues += monitor_issues(monitors, n_envs)
        series = _with_window(series, context.window_episodes)
        if not any(len(one) for one in series.values()):
            raise _nothing_readable(source, issues)
        return Run(
            id=source.path.name or str(source.path),
            path=str(source.path),
            framework="sb3",
            series=series,
            files=tuple(str(path) for path in source.files),
            framework_version=context.version,
            algorithm=context.algorithm,
            env=context.env,
            config=context.config,
            action_space=options.action_space or context.action_space or _inferred(layers, context),
            x_axis=_x_axis(series),
            step_key=next((key for table in tables for key in tag_map().step_keys if key in table.numbers), None),
            unmapped=assembled.unmapped,
            issues=tuple(issues),
            adapter=self.name,
            adapter_reason=context.reason,
        )


def _nothing(found: Sb3Files) -> tuple[float, str]:
    """Score and reason for a folder without curves of ours."""
    if found.evaluation_monitors:
        name = found.evaluation_monitors[0].name
        return 0.9, f"{name} holds evaluation episodes only: there is no training to look at"
    if found.models:
        return 0.0, f"{found.models[0].name}: a saved model, but no log beside it"
    return 0.0, ""


def _read_all(read: Callable[[Path], Content], paths: Iterable[Path], issues: list[LogIssue]) -> list[Content]:
    """What could be read; a file that cannot be read becomes an issue, since the others may be enough."""
    results = []
    for path in paths:
        try:
            results.append(read(path))
        except LogError as error:
            issues.append(LogIssue("unreadable_file", error.fact, path.name))
    return results


def _layers(
    events: list[EventFile], tables: list[Table], issues: list[LogIssue]
) -> tuple[list[list[LogSource]], frozenset[str]]:
    """Event files over CSV over JSON, and all logged keys."""
    layers = [[event_source(file) for file in events]]
    for file in events:
        issues += file.issues
    for table in tables:
        source, odd = table_source(table, tag_map().step_keys)
        issues += [*table.issues, *odd, *_overwritten(source, layers[0])]
        layers.append([source])
    return layers, frozenset(key for layer in layers for source in layer for key in source.tracks)


def _overwritten(table: LogSource, events: list[LogSource]) -> tuple[LogIssue, ...]:
    """A resumed run starts progress.csv anew: it then lacks what the event files of earlier sessions hold."""
    steps = [track.step for source in events for track in source.tracks.values()]
    own = [track.step for track in table.tracks.values()]
    if not steps or not own:
        return ()
    first, own_first = min(float(s.min()) for s in steps), min(float(s.min()) for s in own)
    rows = sum(len(source.tracks.get("time/fps", ())) for source in events)
    own_rows = len(table.tracks.get("time/fps", ()))
    if own_first <= first and (len(events) < 2 or rows <= own_rows):
        return ()
    text = f"starts at step {own_first:.0f} without the earlier sessions: a resumed run overwrites it"
    return (LogIssue("csv_overwritten", text, table.file, own_first, severity="info"),)


def _with_iterations(assembled: Assembled, context: Context, issues: list[LogIssue]) -> dict[str, Series]:
    """Iteration numbers for on-policy algorithms; off-policy ones have no iterations to speak of."""
    rows = assembled.series.get("time.fps")
    if not context.on_policy or rows is None:
        return assembled.series
    counts = assembled.series.get("raw.time/iterations")
    n_steps, n_envs = _whole_number(context, "n_steps"), _whole_number(context, "n_envs")
    known = float(n_steps * n_envs) if n_steps and n_envs else None
    clock = iteration_clock(rows.step, None if counts is None else (counts.step, counts.value), known)
    if clock is None:
        return assembled.series
    if clock.assumed:
        text = "the log does not say how many iterations lie between two rows: one is assumed (log_interval=1)"
        issues.append(LogIssue("iterations_assumed", text, severity="info"))
    # A first row with train/* values covers several iterations; counting rows, its update is in the row itself.
    first_update = min((one.step[0] for key, one in assembled.series.items() if assembled.lags[key]), default=np.inf)
    return number_iterations(assembled, clock, lagged=not clock.assumed or bool(first_update > rows.step[0]))


def _with_window(series: Mapping[str, Series], episodes: int | None) -> dict[str, Series]:
    """SB3's averaging window where the saved model tells it."""
    if episodes is None:
        return dict(series)
    return {
        name: replace(
            one, semantics=replace(one.semantics, window=f"last {episodes} episodes", window_episodes=episodes)
        )
        if one.semantics.source_key.startswith("rollout/") and one.semantics.window_episodes is not None
        else one
        for name, one in series.items()
    }


def _inferred(layers: list[list[LogSource]], context: Context) -> ActionSpace:
    """The action space from the first entropies, before restarts are cut away."""
    if not context.on_policy:
        return ActionSpace()
    layer = next((layer for layer in layers if any(source.tracks for source in layer)), [])
    entropy, std = -_values(layer, "train/entropy_loss"), _values(layer, "train/std")
    trained = any(tag_map().lag(tag_map().split_prefix(key)[1]) for source in layer for key in source.tracks)
    return infer_action_space(entropy, std, fresh=_starts_fresh(layer), gaussian_logs_std=trained)


def _values(layer: list[LogSource], key: str) -> NDArray[np.float64]:
    """Values of `key`, below a wrapper's prefix or not, in order of writing over all files of a layer."""
    tracks = [
        track
        for source in sorted(layer, key=lambda source: source.start)
        for name, track in source.tracks.items()
        if tag_map().split_prefix(name)[1] == key
    ]
    return np.concatenate([track.value for track in tracks]) if tracks else np.empty(0)


def _starts_fresh(layer: list[LogSource]) -> bool:
    """True when the first row comes within one interval between rows of step 0, as that of an untrained policy does."""
    first = min(layer, key=lambda source: source.start, default=None)
    tracks = (
        [] if first is None else [t.step for k, t in first.tracks.items() if tag_map().split_prefix(k)[1] == "time/fps"]
    )
    if not tracks or not tracks[0].size:
        return False
    return tracks[0].size == 1 or bool(tracks[0][0] <= 1.5 * np.median(np.abs(np.diff(tracks[0]))))


def _x_axis(series: Mapping[str, Series]) -> XAxis:
    """The axis that most signals have: environment steps, but for wrappers that log once a round."""
    axes = [one.x_axis for name, one in series.items() if not name.startswith("raw.")] or [
        one.x_axis for one in series.values()
    ]
    return max(sorted(set(axes)), key=axes.count)


def _whole_number(context: Context, name: str) -> int | None:
    known = context.config.get(name)
    return known.value if known is not None and isinstance(known.value, int) else None


def _nothing_readable(source: RunSource, issues: list[LogIssue]) -> LogError:
    what = "; ".join(f"{issue.source}: {issue.message}" if issue.source else issue.message for issue in issues)
    return LogError(
        f"nothing was logged that can be read ({what})" if what else "nothing was logged", place=source.path, hint=_HINT
    )


ADAPTER = StableBaselines3()
