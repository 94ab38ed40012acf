"""Which files of a folder are Stable-Baselines3's, and what each of them holds."""

from __future__ import annotations

import json
import re
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rl_diagnose.errors import LogError

from .console import FILE_NAMES as CONSOLE_NAMES
from .readers.console import read_console_file
from .readers.event_framing import peek_tags

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from .tagmap import TagMap

__all__ = ["Sb3Files", "classify", "settings_below"]

_LONGEST_LINE = 1 << 16
_HEAD_OF_TEXT = 1 << 18  # other output may come before the first table
_MONITOR_HEAD = re.compile(r"#\s*\{")
_EVALUATION_WORD = re.compile(r"(?:^|[^a-z])(?:eval|evaluation|test)(?:[^a-z]|$)")
_EVALUATION_FOLDERS = frozenset({"eval", "evaluation", "evaluations", "eval_env", "eval_logs", "benchmark"})
_SETTINGS = ("config.yml", "args.yml", "config.yaml", "args.yaml")


@dataclass(frozen=True, slots=True)
class Sb3Files:
    """Files of a folder by what they hold, each in name order.

    `events` are event files with SB3's keys or with none at all; `tables` progress.csv, `records` progress.json;
    `loose` other CSV files with SB3's header and `printed` texts with SB3's tables, each a run of its own (texts only
    where no file holds the same more exactly); `keys` the logged keys seen in the heads of the others.
    """

    events: tuple[Path, ...] = ()
    tables: tuple[Path, ...] = ()
    records: tuple[Path, ...] = ()
    loose: tuple[Path, ...] = ()
    printed: tuple[Path, ...] = ()
    training_monitors: tuple[Path, ...] = ()
    evaluation_monitors: tuple[Path, ...] = ()
    evaluations: tuple[Path, ...] = ()
    models: tuple[Path, ...] = ()
    settings: tuple[Path, ...] = ()
    keys: frozenset[str] = frozenset()

    @property
    def logs(self) -> tuple[Path, ...]:
        """The files which hold curves of the folder's run."""
        return (*self.events, *self.tables, *self.records, *self.training_monitors, *self.evaluations)

    @property
    def all(self) -> tuple[Path, ...]:
        """The files which make up the folder's run, with its configuration."""
        return (*self.logs, *self.evaluation_monitors, *self.models, *self.settings)


def classify(files: Iterable[Path], tag_map: TagMap) -> Sb3Files:
    """Sort `files` by name and by a look at their heads. Never raises for foreign, broken or unreadable files."""
    found: dict[str, list[Path]] = {}
    keys: set[str] = set()
    silent: list[Path] = []
    texts: list[Path] = []
    damaged: list[Path] = []
    foreign = False
    paths = sorted(files)
    for path in paths:
        name = path.name.lower()
        kind = None
        if "tfevents" in name:
            tags = peek_tags(path)
            keys |= tags
            if tag_map.fingerprints(tags):
                kind = "events"
            elif tags:
                foreign = True
            else:
                silent.append(path)
        elif name.endswith("monitor.csv"):
            if _MONITOR_HEAD.match(_first_line(path)):
                kind = "evaluation_monitors" if _is_evaluation(path) else "training_monitors"
        elif name.endswith(".csv"):
            header = _header(path)
            if len(tag_map.fingerprints(header)) >= 2:
                kind = "tables" if name == "progress.csv" else "loose"
                keys |= header if kind == "tables" else set()
        elif name == "progress.json":
            header = _json_keys(_first_line(path))
            if len(tag_map.fingerprints(header)) >= 2:
                kind = "records"
                keys |= header
        elif name.endswith(".npz"):
            members = _members(path)
            kind = "evaluations" if {"timesteps.npy", "results.npy"} <= members else None
            if name == "evaluations.npz" and kind is None:
                damaged.append(path)
        elif name.endswith(".zip"):
            kind = "models" if {"data", "policy.pth"} <= _members(path) else None
        elif name in _SETTINGS:
            kind = "settings"
        elif len(paths) == 1 and len(tag_map.fingerprints(_header(path))) >= 2:
            kind = "loose"
        elif CONSOLE_NAMES.fullmatch(name) or len(paths) == 1:
            texts.append(path)
        if kind is not None:
            found.setdefault(kind, []).append(path)
    if silent and ("events" in found or not foreign):  # a start that logged nothing, beside our own files or alone
        found["events"] = sorted([*found.get("events", ()), *silent])
    if damaged and {"events", "tables", "records", "training_monitors"} & found.keys():  # the run's own, which says so
        found["evaluations"] = sorted([*found.get("evaluations", ()), *damaged])
    if not {"events", "tables", "records"} & found.keys():  # otherwise what was printed is in them more exactly
        found["printed"] = [path for path in texts if len(tag_map.fingerprints(_printed_keys(path))) >= 2]
    return Sb3Files(keys=frozenset(keys), **{kind: tuple(paths) for kind, paths in found.items()})


def settings_below(folder: Path) -> tuple[Path, ...]:
    """RL Zoo's args.yml and config.yml in the one sub-folder that has them (named after the environment)."""
    try:
        found = {child: _settings_in(child) for child in folder.iterdir() if child.is_dir()}
    except OSError:
        return ()
    holders = [paths for paths in found.values() if paths]
    return holders[0] if len(holders) == 1 else ()


def _settings_in(folder: Path) -> tuple[Path, ...]:
    return tuple(folder / name for name in sorted(_SETTINGS) if (folder / name).is_file())


def _is_evaluation(path: Path) -> bool:
    """True for monitor files of an evaluation environment, by the names of the file and of its folder."""
    if _EVALUATION_WORD.search(path.name.lower().removesuffix("monitor.csv")):
        return True
    parent = path.absolute().parent
    return parent.name.lower() in _EVALUATION_FOLDERS or parent.parent.name.lower() == "benchmark"


def _first_line(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.readline(_LONGEST_LINE).decode("utf-8-sig", "replace").strip()
    except OSError:
        return ""


def _header(path: Path) -> frozenset[str]:
    """Cells of the first line of a CSV file."""
    return frozenset(cell.strip().strip('"') for cell in _first_line(path).split(","))


def _printed_keys(path: Path) -> frozenset[str]:
    try:
        return frozenset(read_console_file(path, head=_HEAD_OF_TEXT).numbers)
    except LogError:
        return frozenset()


def _json_keys(line: str) -> frozenset[str]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return frozenset()
    return frozenset(record) if isinstance(record, dict) else frozenset()


def _members(path: Path) -> frozenset[str]:
    try:
        with zipfile.ZipFile(path) as archive:
            return frozenset(archive.namelist())
    except (OSError, zipfile.BadZipFile, NotImplementedError, ValueError):  # not a zip, a cut or an odd one
        return frozenset()
