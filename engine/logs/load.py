"""From a path to runs: which runs are there, which adapter reads each of them, and what could not be used."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..errors import LogError, NoReadableRunError, RlDiagnoseError, UsageError
from ..signals.spelling import closest
from .adapter import ReadOptions, Sniff, is_generic
from .find import find_folders
from .registry import adapters, plugin_problems

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..signals.run import Run
    from .adapter import Adapter, Folder, RunSource

__all__ = ["Found", "FoundRun", "LogProblem", "find_runs", "load_run", "load_source", "only_run"]

_SHOWN = 12
_FAIRLY_SURE = 0.5


@dataclass(frozen=True, slots=True)
class FoundRun:
    """A run that is there: its id (path below the given one, parts joined by ``/``), who reads it, and why.

    `shown` is what the run is called instead of its path where the user gave none (standard input).
    """

    id: str
    adapter: Adapter
    source: RunSource
    sniff: Sniff
    shown: str | None = None

    @property
    def place(self) -> str:
        """Where the run is, for people."""
        return self.shown or str(self.source.path)


@dataclass(frozen=True, slots=True)
class LogProblem:
    """Something below the path that is no run or cannot be used, and why."""

    path: str
    fact: str

    def __str__(self) -> str:
        return f"{self.path}: {self.fact}"


@dataclass(frozen=True, slots=True)
class Found:
    """The runs below `root` in order of id, and what was seen there but cannot be used."""

    root: Path
    sources: tuple[FoundRun, ...]
    problems: tuple[LogProblem, ...]


def find_runs(path: str | Path, shown: str | None = None, own: Sequence[Adapter] = ()) -> Found:
    """Look below `path` (a folder or a log file) for runs; of several adapters the surest one gets a folder.

    A file that the user does not know by its path is called `shown` everywhere. Adapters in `own` are made of the
    user's own tag maps: they go before all others.

    Raises `UsageError` when `path` does not exist, `NoReadableRunError` when nothing below it is a log.
    """
    root = Path(path)
    _check_exists(root)
    problems: list[LogProblem] = []

    def report(place: Path, fact: str) -> None:
        problems.append(LogProblem(str(place), fact))

    installed = adapters()
    if not installed:
        problem = "; ".join(str(problem) for problem in plugin_problems()) or "no adapter is registered"
        raise UsageError(f"no log can be read: {problem}", hint="install rl-diagnose again")
    sources: list[FoundRun] = []
    names: list[str] = []
    for folder in find_folders(root, report):
        names += [file.name for file in folder.files]
        adapter, sniff, reasons = _surest(folder, own)
        if adapter is None:
            adapter, sniff, reasons = _surest(folder, installed)
        if adapter is None or not sniff.sources:
            problems += [LogProblem(str(folder.path), reason) for reason in reasons]
            continue
        sources += [
            FoundRun(shown or _run_id(root, source.path), adapter, source, sniff, shown) for source in sniff.sources
        ]
    covered = {place for found in sources for place in found.source.covers}
    sources = [found for found in sources if covered.isdisjoint((found.source.path, *found.source.path.parents))]
    plugins = [LogProblem(problem.target, str(problem)) for problem in plugin_problems()]
    if not sources:
        error = _no_logs(root, names, [*problems, *plugins], installed)
        raise NoReadableRunError(error.fact.replace(str(root), shown), place=shown, hint=error.hint) if shown else error
    return Found(root, tuple(sorted(sources, key=lambda found: found.id)), (*problems, *plugins))


def load_source(found: FoundRun, options: ReadOptions = ReadOptions()) -> Run:  # noqa: B008 - a frozen value
    """Read a run that was found. Raises `LogError` when nothing in it can be read."""
    try:
        run = found.adapter.read(found.source, options)
    except LogError as error:
        raise LogError(error.fact, place=found.shown or error.place, hint=error.hint) from error
    except RlDiagnoseError:
        raise
    except Exception as error:  # a reader that breaks, whoever wrote it, must not end a batch or show a traceback
        if os.environ.get("RL_DIAGNOSE_DEBUG") == "1":
            raise
        fact = f"the adapter '{found.adapter.name}' failed ({type(error).__name__}: {error})"
        raise LogError(fact, place=found.place, hint="RL_DIAGNOSE_DEBUG=1 shows where") from error
    _check_series(run, found)
    reason = f"{found.sniff.reason}; {run.adapter_reason}" if run.adapter_reason else found.sniff.reason
    if found.shown:
        run = replace(run, path=found.shown, files=(found.shown,))
    return replace(run, id=found.id, adapter=found.adapter.name, adapter_reason=reason)


def _check_series(run: Run, found: FoundRun) -> None:
    """Raises `LogError` where an adapter breaks what `Series` promises: windows are cut by bisection."""
    for name, series in run.series.items():
        columns = (series.step, series.value, series.iteration, series.wall_time)
        if any(column.shape != (len(series),) for column in columns):
            fact = f"the adapter '{found.adapter.name}' gave columns of unequal length for '{name}'"
        elif len(series) and not (np.isfinite(series.step[-1]) and np.all(series.step[1:] >= series.step[:-1])):
            fact = f"the adapter '{found.adapter.name}' gave steps out of order for '{name}'"
        else:
            continue
        raise LogError(fact, place=found.place, hint="report it to whoever wrote the adapter")


def load_run(path: str | Path, options: ReadOptions = ReadOptions()) -> Run:  # noqa: B008 - a frozen value
    """Read the one run below `path`.

    Raises `UsageError` when the path does not exist or holds several runs (it lists them), `NoReadableRunError` when it
    holds none, `LogError` when the run cannot be read.
    """
    return load_source(only_run(find_runs(path)), options)


def only_run(found: Found) -> FoundRun:
    """The one run that was found. Raises `UsageError` where there are several, with their ids."""
    if len(found.sources) > 1:
        raise UsageError(
            f"{len(found.sources)} runs are below this path: {_listed([run.id for run in found.sources])}",
            place=found.root,
            hint="give the path of one of them",
        )
    return found.sources[0]


def _surest(folder: Folder, installed: Sequence[Adapter]) -> tuple[Adapter | None, Sniff, tuple[str, ...]]:
    """The adapter with the highest score above 0 for a folder, its answer, and what adapters said of unusable files.

    Generic readers are asked only where no framework's adapter is fairly sure: most of them read what they judge.
    """
    answers = [(adapter, _sniff(adapter, folder)) for adapter in installed if not is_generic(adapter)]
    if not any(answer.score >= _FAIRLY_SURE for _, answer in answers):
        answers += [(adapter, _sniff(adapter, folder)) for adapter in installed if is_generic(adapter)]
    if not answers:
        return None, Sniff(0.0, ""), ()
    adapter, sniff = max(answers, key=lambda answer: answer[1].score)
    if sniff.score > 0:
        return adapter, sniff, () if sniff.sources else (sniff.reason,)
    return None, sniff, tuple(dict.fromkeys(answer.reason for _, answer in answers if answer.reason))


def _sniff(adapter: Adapter, folder: Folder) -> Sniff:
    try:
        return adapter.sniff(folder)
    except Exception as error:  # noqa: BLE001 - a plug-in that breaks its promise not to raise must not end the search
        return Sniff(0.0, f"the adapter '{adapter.name}' failed ({type(error).__name__}: {error})")


def _check_exists(root: Path) -> None:
    if root.exists():
        return
    try:
        siblings = [entry.name for entry in root.absolute().parent.iterdir()]
    except OSError:
        siblings = []
    close = closest(root.name, siblings)
    hint = f"did you mean {root.with_name(close)}?" if close else "check the path"
    raise UsageError("there is no such file or folder", place=root, hint=hint)


def _run_id(root: Path, place: Path) -> str:
    """`place` relative to `root` with ``/``; the name of the folder or file where they are the same."""
    if not place.is_relative_to(root):
        return place.as_posix()
    relative = place.relative_to(root).as_posix()
    return relative if relative != "." else root.absolute().name or str(root.absolute())


def _no_logs(
    root: Path, names: Sequence[str], problems: Sequence[LogProblem], installed: Sequence[Adapter]
) -> NoReadableRunError:
    read = "; ".join(adapter.title for adapter in installed)
    if problems:
        fact = "nothing here can be used: " + "; ".join(str(problem) for problem in problems[:_SHOWN])
    elif not names:
        fact = "there are no files here" if root.is_dir() else "this is neither a folder nor a regular file"
    elif root.is_file():
        fact = "this file is no training log that is known"
    else:
        many = "1 file" if len(names) == 1 else f"{len(names):,} files"
        fact = f"{many}, but no training log among them: {_listed(sorted(set(names)))}"
    return NoReadableRunError(fact, place=root, hint=f"formats which are read: {read}")


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
