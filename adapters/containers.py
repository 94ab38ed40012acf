"""Containers: the kinds of files that logs come in, each with how its keys are seen and how it is read.

Any framework may write into any of them, so an adapter is a container × a tag map. Of the containers of one run those
with the lower `rank` win, key by key: tables are lossy in some frameworks (a header frozen at the first row), and event
files may be at another axis.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from rl_diagnose.errors import LogError

from .assemble import event_source, table_source
from .readers.console import read_console_file
from .readers.csv_table import read_table
from .readers.event_files import read_event_file
from .readers.event_framing import peek_tags
from .readers.json_lines import read_json_lines
from .readers.mlflow_store import read_mlflow_run
from .readers.parquet import PARQUET_NAMES, read_parquet
from .readers.trainer_state import read_trainer_state, superseded_by
from .readers.wandb_beside import beside_wandb, wandb_config
from .readers.wandb_file import read_wandb_file

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from rl_diagnose.signals.run import LogIssue

    from .readers.points import EventFile, Table
    from .sessions import LogSource, Track

__all__ = ["CONTAINERS", "Container", "Part", "container_of", "head_keys"]

_HEAD = 1 << 16
_CONSOLE_HEAD = 1 << 18  # other output may come before the first table
_WANDB_STEPS = ("global_step", "_step")
_WANDB_OWN = frozenset({"_step", "_timestamp", "_runtime"})


@dataclass(frozen=True, slots=True)
class Part:
    """What one file gave: its points, settings that stand in it, texts by tag, and what was odd.

    `step_key` is the key that held the steps; None where the container has steps of its own or rows were counted.
    """

    source: LogSource
    settings: dict[str, object] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    issues: tuple[LogIssue, ...] = ()
    step_key: str | None = None


@dataclass(frozen=True, slots=True)
class Container:
    """A kind of file: `file_names` describes the names (in lower case) that it has, `keys` sees the keys in its head
    (raises `LogError` for other files), `read` reads it given the step keys of a tag map. `covers` names the folders
    around a file whose logs repeat what is in it."""

    name: str
    rank: int
    file_names: re.Pattern[str]
    keys: Callable[[Path], frozenset[str]]
    read: Callable[[Path, Sequence[str]], Part]
    covers: Callable[[Path], tuple[Path, ...]] = lambda _path: ()


def container_of(path: Path) -> Container | None:
    """The container that a file's name speaks for; None where it speaks for none."""
    name = path.name.lower()
    return next((one for one in CONTAINERS if one.file_names.fullmatch(name)), None)


def head_keys(container: Container, path: Path) -> frozenset[str]:
    """The keys in the head of a file; empty for a file that is none of the container's. Every adapter asks, so the
    answer is kept as long as the file does not change."""
    try:
        state = path.stat()
    except OSError:
        return frozenset()
    return _head_keys(container, path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=512)
def _head_keys(container: Container, path: Path, _changed: int, _size: int) -> frozenset[str]:
    try:
        return container.keys(path)
    except (LogError, OSError):
        return frozenset()


def _columns(table: Table) -> frozenset[str]:
    return frozenset({*table.numbers, *table.non_finite})


def _from_table(table: Table, step_keys: Sequence[str]) -> Part:
    source, odd = table_source(table, step_keys)
    step_key = next((key for key in step_keys if key in table.numbers), None)
    return Part(source, dict(table.config), {}, (*table.issues, *odd), step_key)


def _from_events(events: EventFile) -> Part:
    return Part(event_source(events), dict(events.hparams), dict(events.texts), events.issues)


def _read_wandb(path: Path, step_keys: Sequence[str]) -> Part:
    found = read_wandb_file(path)
    part = _from_table(found.history, (*step_keys, *_WANDB_STEPS))
    none = np.empty(0)
    config, odd = wandb_config(path, float(np.nanmax(found.history.numbers.get("_step", none), initial=-np.inf)))
    tracks = {key: track for key, track in part.source.tracks.items() if key not in _WANDB_OWN}
    tracks = _timed(tracks, found.history.numbers.get("_timestamp", none))
    # W&B's own counter counts calls of log(), whatever the loop counts.
    source = replace(part.source, tracks=tracks, counted=part.source.counted or part.step_key == "_step")
    settings = {**part.settings, **config, **found.config}
    return replace(part, source=source, settings=settings, issues=(*part.issues, *odd))


def _timed(tracks: Mapping[str, Track], clock: NDArray[np.float64]) -> dict[str, Track]:
    """The tracks of a table with the wall times of its rows, seconds since the epoch, shape (rows,) or empty."""
    if not clock.size:
        return dict(tracks)
    return {key: replace(track, wall_time=clock[track.order.astype(np.intp)]) for key, track in tracks.items()}


def _mlflow_keys(path: Path) -> frozenset[str]:
    root = path.parent / "metrics"
    if not root.is_dir():
        return frozenset()
    return frozenset(file.relative_to(root).as_posix() for file in root.rglob("*") if file.is_file())


CONTAINERS = (
    Container(
        "trainer_state", 0, re.compile(r"trainer_state\.json"),
        lambda path: _columns(read_trainer_state(path)),
        lambda path, steps: _from_table(read_trainer_state(path), steps),
        superseded_by,
    ),
    Container(
        "jsonl", 0, re.compile(r".*\.(jsonl?|ndjson)(\.gz)?"),
        lambda path: _columns(read_json_lines(path, head=_HEAD)),
        lambda path, steps: _from_table(read_json_lines(path), steps),
    ),
    Container(
        "csv", 1, re.compile(r"(.*\.[ct]sv|progress\.txt)(\.gz)?"),
        lambda path: _columns(read_table(path, head=_HEAD)),
        lambda path, steps: _from_table(read_table(path), steps),
    ),
    Container(
        "parquet", 1, re.compile(PARQUET_NAMES),
        lambda path: _columns(read_parquet(path, head=_HEAD)),
        lambda path, steps: _from_table(read_parquet(path), steps),
    ),
    Container(
        "wandb", 1, re.compile(r"run-.*\.wandb"),
        lambda path: _columns(read_wandb_file(path).history),
        _read_wandb,
        beside_wandb,
    ),
    Container(
        "mlflow", 1, re.compile(r"meta\.yaml"),
        _mlflow_keys,
        lambda path, _steps: _from_events(read_mlflow_run(path.parent)),
    ),
    Container(
        "events", 2, re.compile(r".*tfevents.*"),
        peek_tags,
        lambda path, _steps: _from_events(read_event_file(path)),
    ),
    Container(
        "console", 3, re.compile(r".*\.(log|out|txt)(\.gz)?"),
        lambda path: _columns(read_console_file(path, head=_CONSOLE_HEAD)),
        lambda path, steps: _from_table(read_console_file(path), steps),
    ),
)  # fmt: skip
"""All containers; the first whose names fit a file has it."""
