"""The project file: what a team settles once for all its runs.

`rl-diagnose.toml`, or the table `[tool.rl-diagnose]` of a `pyproject.toml`; the nearest one from a folder upwards
counts. It holds

    rules = ["ppo", "house/ppo.yaml"]        # rulebooks; relative paths start at the file's folder
    fail-at = 0.8
    action-space = "discrete:4"
    tag-maps = ["maps/our_trainer.yaml"]     # tag maps of one's own, see `inspect --write-map`

    [map]                                    # keys of the logs → signals, as --map
    "score" = "reward.train"

    [[suppress]]                             # findings that are known and accepted
    cause = "critic_underfit"
    runs = "sweep-3/*"                       # glob over run ids; without it: all runs
    reason = "value head is frozen on purpose"
    expires = 2027-03-01                     # optional
"""

from __future__ import annotations

import datetime as dt
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import UsageError
from .signals.spelling import closest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["FILE_NAME", "Project", "Suppression", "load_project", "read_project"]

FILE_NAME = "rl-diagnose.toml"
_MOST_SHOWN = 1e9
_MAX_BYTES = 1_000_000
_KEYS = ("rules", "fail-at", "action-space", "tag-maps", "map", "suppress")
_SUPPRESS_KEYS = ("cause", "runs", "reason", "expires")


@dataclass(frozen=True, slots=True)
class Suppression:
    """A finding that is known and accepted: `cause` in the runs whose id fits the glob `runs`.

    `expires` is the last day on which it counts; None: it does not end.
    """

    cause: str
    reason: str
    runs: str = "*"
    expires: dt.date | None = None


@dataclass(frozen=True, slots=True)
class Project:
    """What a project file says; everything is empty and `file` None where there is none."""

    file: Path | None = None
    rules: tuple[str, ...] = ()
    mapping: tuple[tuple[str, str], ...] = ()
    tag_maps: tuple[Path, ...] = ()
    suppressions: tuple[Suppression, ...] = ()
    fail_at: float | None = None
    action_space: str | None = None


def load_project(start: Path | None = None) -> Project:
    """The project file nearest to `start` (default: the working folder) from there upwards; empty where there is none.

    Raises `UsageError` naming the file and the key for one that cannot be meant.
    """
    for folder in _upwards(Path.cwd() if start is None else start.absolute()):
        own = folder / FILE_NAME
        if own.is_file():
            return read_project(own)
        shared = folder / "pyproject.toml"
        if shared.is_file():
            table = _table(shared).get("tool", {})
            if isinstance(table, dict) and "rl-diagnose" in table:
                return _project(shared, table["rl-diagnose"])
    return Project()


def read_project(file: Path) -> Project:
    """A `rl-diagnose.toml`. Raises `UsageError`."""
    return _project(file, _table(file))


def _upwards(folder: Path) -> Iterator[Path]:
    yield folder
    yield from folder.parents


def _table(file: Path) -> dict[str, object]:
    try:
        if file.stat().st_size > _MAX_BYTES:
            raise UsageError("the project file is larger than 1 MB", place=file, hint="is it the right file?")
        return tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise UsageError(f"the project file cannot be read: {error.strerror or error}", place=file) from None
    except UnicodeDecodeError:
        raise UsageError("the project file is not UTF-8", place=file, hint="save it as UTF-8") from None
    except (ValueError, RecursionError) as error:  # ValueError: no TOML, or a number with too many digits
        raise UsageError(f"the project file is no TOML: {error}", place=file, hint="mend it or move it away") from None


def _project(file: Path, table: object) -> Project:
    if not isinstance(table, dict):
        raise _wrong(file, "tool.rl-diagnose", "is no table")
    _known(file, table, _KEYS)
    fail_at = table.get("fail-at")
    if fail_at is not None and (isinstance(fail_at, bool) or not isinstance(fail_at, int | float)):
        raise _wrong(file, "fail-at", "is no number")
    if fail_at is not None and not 0.0 < fail_at <= 1.0:
        shown = "a number of so many digits" if abs(fail_at) > _MOST_SHOWN else fail_at  # Python may refuse to write it
        raise _wrong(file, "fail-at", f"{shown} is not above 0 and up to 1")
    action_space = table.get("action-space")
    if action_space is not None and not isinstance(action_space, str):
        raise _wrong(file, "action-space", "is no text", 'write for example "discrete:4"')
    mapping = table.get("map", {})
    if not isinstance(mapping, dict) or not all(isinstance(value, str) for value in mapping.values()):
        raise _wrong(file, "map", "is no table of texts", 'write "key of the log" = "signal", keys with dots in quotes')
    suppress = table.get("suppress", [])
    if not isinstance(suppress, list):
        raise _wrong(file, "suppress", "is no list", "begin each entry with [[suppress]]")
    return Project(
        file,
        tuple(_reference(file, text) for text in _texts(file, table, "rules")),
        tuple(mapping.items()),
        tuple(file.parent / text for text in _texts(file, table, "tag-maps")),
        tuple(_suppression(file, i, entry) for i, entry in enumerate(suppress, start=1)),
        None if fail_at is None else float(fail_at),
        action_space,
    )


def _texts(file: Path, table: Mapping[str, object], key: str) -> list[str]:
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(text, str) and text for text in value):
        raise _wrong(file, key, "is no list of texts")
    return value


def _reference(file: Path, text: str) -> str:
    """A book's id as it is; the path of one as seen from the project file."""
    is_path = text.endswith((".yaml", ".yml")) or "/" in text or "\\" in text
    return str(file.parent / text) if is_path else text


def _suppression(file: Path, number: int, entry: object) -> Suppression:
    place = f"suppress (entry {number})"
    if not isinstance(entry, dict):
        raise _wrong(file, place, "is no table", "begin each entry with [[suppress]]")
    _known(file, entry, _SUPPRESS_KEYS, place)
    for key in ("cause", "reason"):
        if not isinstance(entry.get(key), str) or not entry[key].strip():
            raise _wrong(file, place, f"has no '{key}'", f'add {key} = "…"')
    runs = entry.get("runs", "*")
    if not isinstance(runs, str) or not runs:
        raise _wrong(file, place, "'runs' is no glob", 'write for example runs = "sweep-3/*"')
    expires = entry.get("expires")
    if expires is not None and (not isinstance(expires, dt.date) or isinstance(expires, dt.datetime)):
        raise _wrong(file, place, "'expires' is no date", "write expires = 2027-03-01, without quotes")
    return Suppression(entry["cause"].strip(), entry["reason"].strip(), runs, expires)


def _known(file: Path, table: Mapping[str, object], keys: tuple[str, ...], place: str | None = None) -> None:
    for key in table:
        if key not in keys:
            close = closest(key, keys)
            hint = f"did you mean '{close}'?" if close else f"known are {', '.join(keys)}"
            raise UsageError(f"unknown key '{key}'" + (f" in {place}" if place else ""), place=file, hint=hint)


def _wrong(file: Path, key: str, fact: str, hint: str | None = None) -> UsageError:
    return UsageError(f"{key} {fact}", place=file, hint=hint)
