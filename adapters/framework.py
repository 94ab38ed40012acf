"""The adapter that most frameworks need: shared readers × a tag map, and nothing of their own.

One folder is one run. Of its files JSON lines win over tables, and those over event files, key by key: tables are
lossy in some frameworks (a header frozen at the first row), and event files may be at another axis.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.resources import files as resource_files
from typing import TYPE_CHECKING

import numpy as np

from rl_diagnose.errors import LogError
from rl_diagnose.logs.adapter import RunSource, Sniff
from rl_diagnose.signals.run import ConfigValue, LogIssue, Run
from rl_diagnose.signals.taxonomy import hyperparameters

from .action_space import infer_action_space
from .assemble import assemble, event_source, table_source
from .readers.csv_table import read_table
from .readers.event_files import read_event_file
from .readers.event_framing import peek_tags
from .readers.json_lines import read_json_lines
from .tagmap import load_tag_map, named_algorithm

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from rl_diagnose.logs.adapter import Folder, ReadOptions
    from rl_diagnose.signals.run import ActionSpace, Series

    from .readers.points import Table
    from .sessions import LogSource, Track
    from .tagmap import AlgorithmRule, TagMap

    Floats = NDArray[np.float64]

__all__ = ["CLEANRL", "RLLIB", "RL_GAMES", "RSL_RL", "SAMPLE_FACTORY", "SKRL", "TIANSHOU", "TORCHRL", "MapAdapter"]

_HEAD = 65_536
_MAX_PARAMS = 4_000_000


@dataclass(frozen=True)
class MapAdapter:
    """An adapter made of a tag map. `tables` are the names of its CSV or JSON-lines files beside event files."""

    name: str
    title: str
    tables: tuple[str, ...] = ()

    @cached_property
    def tag_map(self) -> TagMap:
        """The tag map ``maps/<name>.yaml``."""
        return load_tag_map(resource_files("rl_diagnose.adapters.maps").joinpath(f"{self.name}.yaml"))

    def sniff(self, folder: Folder) -> Sniff:
        """Score by the keys in the heads of the folder's files."""
        mine = tuple(path for path in folder.files if _is_event_file(path) or path.name in self.tables)
        keys: set[str] = set()
        for path in mine:
            keys |= peek_tags(path) if _is_event_file(path) else _head_keys(path)
        found = self.tag_map.fingerprints(keys)
        if len(found) < 2:
            return Sniff(0.0, "")
        shown = ", ".join(found[:4]) + (" …" if len(found) > 4 else "")
        context = tuple(path for path in folder.files if path.name == "params.json")
        return Sniff(0.92, f"{self.title}'s keys: {shown}", (RunSource(folder.path, (*mine, *context)),))

    def read(self, source: RunSource, options: ReadOptions) -> Run:
        """Read one run. Raises `LogError` when none of its files holds a number, `UsageError` for a wrong mapping."""
        issues: list[LogIssue] = []
        settings: dict[str, object] = {}
        layers: list[list[LogSource]] = [[], [], []]
        for path in source.files:
            try:
                if _is_event_file(path):
                    events = read_event_file(path)
                    issues += events.issues
                    layers[2].append(self._at_env_steps(event_source(events)))
                elif path.name in self.tables:
                    table = _read(path)
                    issues += table.issues
                    settings |= table.config
                    one, more = table_source(table, self.tag_map.step_keys)
                    issues += more
                    layers[0 if path.suffix == ".json" else 1].append(one)
                elif path.name == "params.json":
                    settings = {**settings, **_params(path)}
            except LogError as error:
                issues.append(LogIssue("unreadable_file", error.fact, path.name))
        layers = [layer for layer in layers if any(one.tracks for one in layer)]
        algorithm = self._algorithm(layers, source.path.name)
        name = algorithm.id if algorithm else None
        assembled = assemble(layers, self.tag_map, algorithm=name, options=options)
        series, off = self._computed(assembled.series)
        if not any(len(one) for one in series.values()):
            raise LogError(
                "none of its log files holds a number", place=source.path, hint="; ".join(i.message for i in issues[:3])
            )
        return Run(
            id=source.path.name or str(source.path),
            path=str(source.path),
            framework=self.name,
            series=series,
            files=tuple(str(path) for path in source.files),
            algorithm=name,
            env=str(settings["env"]) if isinstance(settings.get("env"), str) else None,
            config=self._config(settings, name),
            action_space=options.action_space or _inferred(series),
            x_axis=self.tag_map.x_axis,
            unmapped=assembled.unmapped,
            issues=(*issues, *assembled.issues, *off),
        )

    def _at_env_steps(self, source: LogSource) -> LogSource:
        """Points that are at updates or iterations, moved to environment steps by what the same file says of both."""
        tracks = dict(source.tracks)
        counter = next(
            (t for k, t in tracks.items() if self.tag_map.split_prefix(k)[1] in self.tag_map.step_keys), None
        )
        if counter is not None:
            tracks = {key: _through(track, counter.step, counter.value, track.step) for key, track in tracks.items()}
        updates = {k for k in tracks if k.startswith(self.tag_map.update_scopes or ("\0",))}
        others = [t for k, t in tracks.items() if k not in updates and not k.startswith(("info/", "save/")) and len(t)]
        if updates and others:
            clock, step = (np.concatenate([getattr(t, name) for t in others]) for name in ("wall_time", "step"))
            order = np.lexsort((step, clock))
            latest = np.maximum.accumulate(step[order])
            for key in updates:
                tracks[key] = _through(tracks[key], clock[order], latest, tracks[key].wall_time)
        return replace(source, tracks=tracks)

    def _algorithm(self, layers: list[list[LogSource]], folder: str) -> AlgorithmRule | None:
        """By the folder's name, else by the keys; None when neither says it."""
        named = named_algorithm(folder, self.tag_map.algorithms)
        if named is not None:
            return named
        return next(
            iter(self.tag_map.algorithms_by_keys(k for layer in layers for one in layer for k in one.tracks)), None
        )

    def _computed(self, series: dict[str, Series]) -> tuple[dict[str, Series], list[LogIssue]]:
        """The series without those that are 0 throughout because the framework did not compute them."""
        off = [s for s in self.tag_map.off_when_zero if s in series and not np.nan_to_num(series[s].value).any()]
        kept = {signal: one for signal, one in series.items() if signal not in off}
        text = "is 0 throughout: the framework does not compute it with these settings"
        return kept, [LogIssue("not_computed", f"{signal} {text}", severity="info") for signal in off]

    def _config(self, settings: Mapping[str, object], algorithm: str | None) -> dict[str, ConfigValue]:
        config: dict[str, ConfigValue] = {}
        for key, value in settings.items():
            name = self.tag_map.config_name(key, algorithm)
            if name is None or not isinstance(value, bool | int | float | str):
                continue
            if isinstance(value, str) and hyperparameters()[name].kind != "text":
                continue
            config[name] = ConfigValue(value, f"config {key}")
        return config


def _is_event_file(path: Path) -> bool:
    return "tfevents" in path.name


def _read(path: Path, head: int | None = None) -> Table:
    return read_json_lines(path, head=head) if path.suffix == ".json" else read_table(path, head=head)


def _head_keys(path: Path) -> set[str]:
    try:
        table = _read(path, _HEAD)
    except LogError:
        return set()
    return {*table.numbers, *table.non_finite}


def _params(path: Path) -> dict[str, object]:
    """A `params.json`; empty when it is not a JSON object of a sensible size."""
    if path.stat().st_size > _MAX_PARAMS:
        return {}
    try:
        loaded = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return {}
    return loaded if isinstance(loaded, dict) else {}


def _through(track: Track, x: Floats, y: Floats, at: Floats) -> Track:
    """The track with its steps read off the polyline (x, y) at `at`."""
    return replace(track, step=np.interp(at, x, y))


def _inferred(series: Mapping[str, Series]) -> ActionSpace:
    """What the first entropies say; the size is trusted only because these logs start with a fresh policy."""
    empty = np.empty(0)
    entropy = series["policy.entropy"].value if "policy.entropy" in series else empty
    std = series["policy.std"].value if "policy.std" in series else empty
    return infer_action_space(entropy[:5], std[:5], fresh=True, gaussian_logs_std=bool(std.size))


TIANSHOU = MapAdapter("tianshou", "Tianshou")
RLLIB = MapAdapter("rllib", "RLlib", ("result.json", "progress.csv"))
CLEANRL = MapAdapter("cleanrl", "CleanRL")
RSL_RL = MapAdapter("rsl_rl", "rsl_rl")
RL_GAMES = MapAdapter("rl_games", "rl_games")
SKRL = MapAdapter("skrl", "skrl")
SAMPLE_FACTORY = MapAdapter("sample_factory", "Sample Factory")
TORCHRL = MapAdapter("torchrl", "TorchRL")
