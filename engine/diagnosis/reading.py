"""From paths to runs, one at a time; a run that cannot be read is an answer too, not the end of the others."""

from __future__ import annotations

import os
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from ..errors import LogError, NoReadableRunError, RlDiagnoseError, UsageError
from ..logs.adapter import ReadOptions
from ..logs.load import find_runs, load_source, only_run
from ..logs.registry import adapters_of
from ..logs.stdin import NAME, STANDARD_INPUT, spool
from ..signals.run import ActionSpace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from ..logs.load import FoundRun
    from ..signals.run import Run

__all__ = ["Located", "Unreadable", "load_run", "locate", "parse_action_space", "read_one", "read_options", "read_runs"]

_KINDS = ("discrete", "continuous", "multi_discrete", "multi_binary")


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A run that was found and could not be read: its id, its path, the reason and the way out."""

    id: str
    path: str
    reason: str
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class Located:
    """The runs below some paths, in order, and what else was met there.

    `spooled` holds standard input; its file is there as long as this object is.
    """

    sources: tuple[FoundRun, ...]
    notes: tuple[str, ...]
    spooled: TemporaryDirectory[str] | None = None


def load_run(
    path: str | os.PathLike[str],
    *,
    mapping: Mapping[str, str] | None = None,
    action_space: ActionSpace | str | None = None,
) -> Run:
    """Read the one run at `path` (a log file or the folder of a run).

    `mapping` reads keys of the log as signals (``{"score": "reward.train"}``); `action_space` is an `ActionSpace` or
    text such as ``discrete:4``. Raises `UsageError` for a path that does not exist or holds several runs,
    `NoReadableRunError` or `LogError` where nothing can be read.
    """
    return read_one(os.fspath(path), read_options(mapping, action_space))


def read_one(path: str, options: ReadOptions, tag_maps: Iterable[Path] = ()) -> Run:
    """Read the one run at `path`; see `load_run`."""
    return load_source(only_run(find_runs(path, own=adapters_of(tag_maps))), options)


def read_options(
    mapping: Mapping[str, str] | None,
    action_space: ActionSpace | str | None,
    house: Mapping[str, str] | None = None,
) -> ReadOptions:
    """What the user said about the log, and in `house` about the project's logs in general.

    Raises `UsageError` for an action space that cannot be meant.
    """
    space = parse_action_space(action_space) if isinstance(action_space, str) else action_space
    return ReadOptions(mapping=dict(mapping or {}), action_space=space, house=dict(house or {}))


def locate(paths: Sequence[str], tag_maps: Iterable[Path] = ()) -> Located:
    """All runs below `paths`. Raises `UsageError` where one does not exist, `NoReadableRunError` where none has a log;
    of several paths, those without a log are notes. The path ``-`` is standard input. Logs that fit one
    of the user's `tag_maps` are read by it; raises `UsageError` for a map that cannot be used."""
    own = adapters_of(tag_maps)
    sources: list[FoundRun] = []
    notes: list[str] = []
    failures: list[NoReadableRunError] = []
    spooled = TemporaryDirectory(prefix="rl-diagnose-") if STANDARD_INPUT in paths else None
    once = [path for i, path in enumerate(paths) if path != STANDARD_INPUT or paths.index(path) == i]
    for path in once:
        try:
            if path == STANDARD_INPUT and spooled is not None:
                found = find_runs(spool(spooled), NAME, own)
            else:
                found = find_runs(path, own=own)
        except NoReadableRunError as error:
            failures.append(error)
            notes.append(f"{error.place}: {error.fact}")
            continue
        sources += found.sources
        notes += [str(problem) for problem in found.problems]
    if failures and not sources:
        raise failures[0]
    return Located(tuple(sources), tuple(dict.fromkeys(notes)), spooled)


def read_runs(
    sources: Sequence[FoundRun], options: ReadOptions, progress: Callable[[int, int], None] | None = None
) -> Iterator[Run | Unreadable]:
    """Read one run after the other; `progress` is told (runs done, runs in all) after each."""
    for done, source in enumerate(sources, start=1):
        yield _read(source, options)
        if progress is not None:
            progress(done, len(sources))


def _read(source: FoundRun, options: ReadOptions) -> Run | Unreadable:
    path = source.place
    try:
        return load_source(source, options)
    except LogError as error:
        return Unreadable(source.id, path, error.fact, error.hint)
    except RlDiagnoseError:
        raise
    except Exception as error:
        # An adapter may be foreign code: its fault in one run must not stop the others.
        if os.environ.get("RL_DIAGNOSE_DEBUG") == "1":
            raise
        reason = f"the adapter '{source.adapter.name}' failed ({type(error).__name__}: {error})"
        return Unreadable(source.id, path, reason, "this is a fault of the adapter; RL_DIAGNOSE_DEBUG=1 shows where")


def parse_action_space(text: str) -> ActionSpace:
    """``discrete:4``, ``continuous:6``, ``multi_discrete:3,3``, ``multi_binary:5``; raises `UsageError` for others."""
    kind, _, size = text.strip().lower().replace("-", "_").partition(":")
    numbers = size.split(",")
    good = all(n.strip().isdecimal() and 0 < int(n) < 10**9 for n in numbers)
    if kind not in _KINDS or not good or (len(numbers) > 1 and kind != "multi_discrete"):
        raise UsageError(
            f"'{text}' is no action space",
            place="--action-space",
            hint="say discrete:4, continuous:6, multi_discrete:3,3 or multi_binary:5",
        )
    sizes = tuple(int(n) for n in numbers)
    if kind == "multi_discrete":
        return ActionSpace("multi_discrete", sum(sizes), sizes, origin="user", detail=text)
    if kind == "discrete":
        return ActionSpace("discrete", sizes[0], origin="user", detail=text)
    if kind == "continuous":
        return ActionSpace("continuous", sizes[0], origin="user", detail=text)
    return ActionSpace("multi_binary", sizes[0], origin="user", detail=text)
