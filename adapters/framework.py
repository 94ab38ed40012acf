"""The adapter that most frameworks need: any container × a tag map, and nothing of its own.

A folder is one run where its files have the names that the framework gives them (`files` of the tag map) or are event
files; other files with the framework's keys are runs of their own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cached_property
from importlib.resources import files as resource_files
from typing import TYPE_CHECKING

import numpy as np

from rl_diagnose.errors import LogError, UsageError
from rl_diagnose.logs.adapter import RunSource, Sniff
from rl_diagnose.signals.run import ConfigValue, LogIssue, Run
from rl_diagnose.signals.taxonomy import hyperparameters

from .action_space import infer_action_space
from .assemble import assemble, number_iterations
from .containers import CONTAINERS, container_of, head_keys
from .settings import settings_file, settings_text
from .tagmap import load_tag_map, named_algorithm
from .tracked import tracked_run

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from importlib.resources.abc import Traversable
    from pathlib import Path

    from numpy.typing import NDArray

    from rl_diagnose.logs.adapter import Folder, ReadOptions
    from rl_diagnose.signals.run import ActionSpace, Series

    from .assemble import Assembled
    from .containers import Container, Part
    from .sessions import LogSource, Track
    from .tagmap import AlgorithmRule, TagMap

    Floats = NDArray[np.float64]

__all__ = ["MapAdapter", "own"]

_BUILT_IN, _OWN = 0.92, 1.0
_RANKS = 1 + max(container.rank for container in CONTAINERS)
_MIRRORS = ("console", "parquet", "wandb")
_ENV_SETTINGS = ("env", "env_id", "env_name", "task")
_ESTIMATOR_SETTINGS = ("algorithm/adv_estimator", "advantage_estimator", "algo/advantage/estimator")
_ALGORITHM_SETTINGS = ("algo", "algorithm", "algorithm/class_name", "exp_name")


@dataclass(frozen=True)
class MapAdapter:
    """An adapter made of a tag map: that of the package, ``maps/<map or name>.yaml``, or of the user (`file`).

    `containers` names those it looks into (default: all), for maps whose other files another adapter reads.
    """

    name: str
    map: str | None = None
    file: Path | None = None
    containers: tuple[str, ...] = ()

    @cached_property
    def tag_map(self) -> TagMap:
        """The tag map. Raises `UsageError` for one of the user's that cannot be used."""
        built_in = resource_files("rl_diagnose.adapters.maps").joinpath(f"{self.map or self.name}.yaml")
        source: Path | Traversable = built_in if self.file is None else self.file
        return load_tag_map(source, own=self.file)

    @property
    def title(self) -> str:
        """What the adapter reads, for people."""
        return f"the tag map {self.file.name}" if self.file is not None else self.tag_map.title

    def sniff(self, folder: Folder) -> Sniff:
        """Score by the keys in the heads of the folder's files."""
        together: list[Path] = []
        keys: set[str] = set()
        alone: list[Path] = []
        for path in folder.files:
            container = self._container(path, named=folder.path.is_file())
            if container is None:
                continue
            seen = head_keys(container, path)
            if container.name in ("events", "mlflow") or self._is_canonical(path):
                together.append(path)
                keys |= seen
            elif len(self.tag_map.fingerprints(seen)) >= 2:
                alone.append(path)
        found = self.tag_map.fingerprints(keys)
        if together and found:  # what mirrors the run's own files is no second run
            alone = [path for path in alone if getattr(container_of(path), "name", "") not in _MIRRORS]
        beside = self._settings(folder.path)
        joined = len(found) >= 2
        theirs = beside if len(alone) == 1 and not joined else []  # of several, whose would they be?
        sources = [RunSource(path, (path, *theirs), _covered([path])) for path in alone]
        if joined:
            sources.insert(0, RunSource(folder.path, (*together, *beside), _covered(together)))
        if not sources:
            return Sniff(0.0, "")
        shown = found if joined else self.tag_map.fingerprints(head_keys_of(alone[0]))
        listed = ", ".join(shown[:4]) + (" …" if len(shown) > 4 else "")
        return Sniff(_BUILT_IN if self.file is None else _OWN, f"{self.title}'s keys: {listed}", tuple(sources))

    def read(self, source: RunSource, options: ReadOptions) -> Run:
        """Read one run. Raises `LogError` when none of its files holds a number, `UsageError` for a wrong mapping."""
        parts, settings, issues = self._parts(source)
        layers: list[list[LogSource]] = [[] for _ in range(_RANKS)]
        for container, part in parts:
            layers[container.rank].append(
                self._at_env_steps(part.source) if container.name == "events" else part.source
            )
        layers = [layer for layer in layers if any(one.tracks for one in layer)]
        algorithm = self._algorithm(layers, source.path, settings)
        name = algorithm.id if algorithm else None
        assembled = assemble(layers, self.tag_map, algorithm=name, options=options)
        series, off = self._computed(self._numbered(assembled))
        if not any(len(one) for one in series.values()):
            raise LogError(
                "none of its log files holds a number", place=source.path, hint="; ".join(i.message for i in issues[:3])
            )
        return Run(
            id=source.path.name or str(source.path),
            path=str(source.path),
            framework=self.tag_map.framework,
            series=series,
            files=tuple(str(path) for path in source.files),
            algorithm=name,
            env=next((str(settings[k]) for k in _ENV_SETTINGS if isinstance(settings.get(k), str)), None),
            config=self._config(settings, name),
            action_space=options.action_space or _inferred(series),
            x_axis=self.tag_map.x_axis,
            step_key=next((part.step_key for _, part in parts if part.step_key), None),
            unmapped=assembled.unmapped,
            issues=(*issues, *assembled.issues, *off),
            tracked=tracked_run(source.files),
        )

    def _container(self, path: Path, *, named: bool) -> Container | None:
        """The container of a file: by its name; for a file that was named itself also by what is in it."""
        by_name = container_of(path)
        offered = [by_name] if by_name is not None else list(CONTAINERS) if named else []
        admitted = [one for one in offered if not self.containers or one.name in self.containers]
        if by_name is not None or not admitted:
            return admitted[0] if admitted else None
        return max(admitted, key=lambda one: len(self.tag_map.fingerprints(head_keys(one, path))))

    def _is_canonical(self, path: Path) -> bool:
        return any(fnmatchcase(path.name, pattern) for pattern in self.tag_map.files)

    def _settings(self, folder: Path) -> list[Path]:
        """The files of settings that are there, of those the framework writes."""
        return [path for name in self.tag_map.settings if (path := folder / name).is_file()]

    def _parts(self, source: RunSource) -> tuple[list[tuple[Container, Part]], dict[str, object], list[LogIssue]]:
        """What the files gave, the settings in and beside them, and what could not be read."""
        parts: list[tuple[Container, Part]] = []
        settings: dict[str, object] = {}
        issues: list[LogIssue] = []
        beside = set(self._settings(source.path if source.path.is_dir() else source.path.parent))
        for path in source.files:
            try:
                if path in beside:
                    settings = {**settings_file(path), **settings}
                    continue
                container = self._container(path, named=True)
                if container is None:
                    continue
                part = container.read(path, self.tag_map.step_keys)
            except LogError as error:
                issues.append(LogIssue("unreadable_file", error.fact, path.name))
                continue
            parts.append((container, part))
            issues += part.issues
            settings |= part.settings
            for tag in self.tag_map.settings_texts:
                settings |= settings_text(part.texts.get(tag, ""))
        return parts, settings, issues

    def _at_env_steps(self, source: LogSource) -> LogSource:
        """Points that are at updates or iterations, moved to environment steps by what the same file says of both."""
        tracks = dict(source.tracks)
        counter = next(
            (t for k, t in tracks.items() if self.tag_map.split_prefix(k)[1] in self.tag_map.step_keys), None
        )
        if counter is not None:
            tracks = {
                key: _through(track, counter.step, counter.value, track.step, onward=True)
                for key, track in tracks.items()
            }
        updates = {k for k in tracks if k.startswith(self.tag_map.update_scopes or ("\0",))}
        others = [t for k, t in tracks.items() if k not in updates and not k.startswith(("info/", "save/")) and len(t)]
        if updates and others:
            clock, step = (np.concatenate([getattr(t, name) for t in others]) for name in ("wall_time", "step"))
            order = np.lexsort((step, clock))
            latest = np.maximum.accumulate(step[order])
            for key in updates:
                tracks[key] = _through(tracks[key], clock[order], latest, tracks[key].wall_time)
        return replace(source, tracks=tracks)

    def _algorithm(
        self, layers: Iterable[Iterable[LogSource]], path: Path, settings: Mapping[str, object]
    ) -> AlgorithmRule | None:
        """By what its settings call the estimator of advantages (some trainers are called after one algorithm, whatever
        they run), else by the run's name, its other settings, and its keys; None when none of them says it.
        """
        estimator, other = (
            [str(settings[key]) for key in keys if isinstance(settings.get(key), str)]
            for keys in (_ESTIMATOR_SETTINGS, _ALGORITHM_SETTINGS)
        )
        for word in (*estimator, path.name, *other):
            named = named_algorithm(word, self.tag_map.algorithms)
            if named is not None:
                return named
        for rule in self.tag_map.algorithms:
            if (
                rule.attributes
                and settings.keys() >= {*rule.attributes}
                and settings.keys().isdisjoint(rule.without_attributes)
            ):
                return rule
        keys = [key for layer in layers for one in layer for key in one.tracks]
        return next(iter(self.tag_map.algorithms_by_keys(keys)), None)

    def _numbered(self, assembled: Assembled) -> dict[str, Series]:
        """The series, with the number of the iteration where that is what the steps count (from 0 or from 1)."""
        if self.tag_map.x_axis != "iterations":
            return assembled.series
        first = min((float(one.step.min()) for one in assembled.series.values() if len(one)), default=0.0)
        return number_iterations(assembled, lambda step: step - min(first, 1.0))

    def _computed(self, series: dict[str, Series]) -> tuple[dict[str, Series], list[LogIssue]]:
        """The series without those that are 0 throughout because the framework did not compute them."""
        off = [s for s in self.tag_map.off_when_zero if s in series and not np.nan_to_num(series[s].value).any()]
        kept = {signal: one for signal, one in series.items() if signal not in off}
        text = "is 0 throughout: the framework does not compute it with these settings"
        return kept, [LogIssue("not_computed", f"{signal} {text}", severity="info") for signal in off]

    def _config(self, settings: Mapping[str, object], algorithm: str | None) -> dict[str, ConfigValue]:
        """Hyper-parameters under their canonical names. A nested setting is known by its whole path (with slashes or
        dots) or by its last part; of two for one name the whole path and then the shallower one counts."""
        config: dict[str, ConfigValue] = {}
        plain = {key.replace("/", "."): value for key, value in settings.items()}
        off = {key for key, switch in self.tag_map.switches if plain.get(switch) is False}
        counting = [(key, value) for key, value in settings.items() if key.replace("/", ".") not in off]
        for whole in (True, False):
            for key, value in sorted(counting, key=lambda item: (item[0].count("/"), item[0])):
                spellings = (key, key.replace("/", ".")) if whole else (re.split(r"[/.]", key)[-1],)
                names = (self.tag_map.config_name(spelling, algorithm) for spelling in spellings)
                name = next((name for name in names if name is not None), None)
                if name is None or name in config or not isinstance(value, bool | int | float | str):
                    continue
                if isinstance(value, str) and hyperparameters()[name].kind != "text":
                    continue
                config[name] = ConfigValue(value, f"config {key}")
        return config


def own(file: Path) -> MapAdapter:
    """The adapter of a user's own tag map. Raises `UsageError` for a map that cannot be used."""
    adapter = MapAdapter(f"tag map {file.name}", file=file)
    if len(adapter.tag_map.fingerprint) < 2:  # read here, so that a wrong map is named before any log is looked at
        fact = "the tag map has no two keys as fingerprint, so no log would ever fit it"
        raise UsageError(fact, place=file, hint="list the keys that only these logs have under fingerprint")
    return adapter


def head_keys_of(path: Path) -> frozenset[str]:
    """The keys in the head of a file, in whatever container it is by its name or its content."""
    container = container_of(path)
    return frozenset().union(*(head_keys(one, path) for one in ([container] if container else CONTAINERS)))


def _covered(paths: Iterable[Path]) -> tuple[Path, ...]:
    """The folders whose logs repeat what is in these files."""
    return tuple(place for path in paths if (container := container_of(path)) for place in container.covers(path))


def _through(track: Track, x: Floats, y: Floats, at: Floats, *, onward: bool = False) -> Track:
    """The track with its steps read off the polyline (x, y) at `at`; of several points at one x the later counts.
    Beyond its last point the line goes `onward`, or stays: a log that ends within an iteration has points there."""
    known = np.isfinite(x) & np.isfinite(y)
    order = np.argsort(x[known], kind="stable")
    rising, heights = x[known][order], y[known][order]
    if not rising.size:
        return track
    last = np.append(rising[1:] != rising[:-1], True)
    rising, heights = rising[last], heights[last]
    step = np.interp(at, rising, heights)
    if onward and rising.size > 1:
        slope = (heights[-1] - heights[-2]) / (rising[-1] - rising[-2])
        step = np.where(at > rising[-1], heights[-1] + np.maximum(slope, 0.0) * (at - rising[-1]), step)
    return replace(track, step=step)


def _inferred(series: Mapping[str, Series]) -> ActionSpace:
    """What the first entropies say; the size is trusted only because these logs start with a fresh policy."""
    empty = np.empty(0)
    entropy = series["policy.entropy"].value if "policy.entropy" in series else empty
    std = series["policy.std"].value if "policy.std" in series else empty
    return infer_action_space(entropy[:5], std[:5], fresh=True, gaussian_logs_std=bool(std.size))
