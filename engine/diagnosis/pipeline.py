"""From paths to a `Diagnosis`: read, extract features, apply the rulebooks, judge. Many runs go through together."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ..rules.book import Book
from ..rules.library import default_books_for, library_problems, load_book
from .assess import assess
from .conclude import conclude
from .model import Diagnosis, RunDiagnosis
from .reading import Unreadable, load_run, locate, read_options, read_runs
from .values import configuration

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ..signals.run import ActionSpace, Run

__all__ = ["diagnose", "diagnose_run", "diagnose_runs", "load_run"]

# Runs held in memory at a time; the working set of a batch should stay small.
BATCH = 64
PathLike = str | os.PathLike[str]


def diagnose(
    path: PathLike | Sequence[PathLike],
    rulebooks: str | Sequence[str | os.PathLike[str] | Book] | None = None,
    *,
    mapping: Mapping[str, str] | None = None,
    action_space: ActionSpace | str | None = None,
    house: Mapping[str, str] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Diagnosis:
    """Read all runs below `path` (or several paths) and say what went wrong in each.

    `rulebooks` are ids (``"ppo"``, ``"ppo@1.0.0"``), paths or loaded books; by default each run gets the book for its
    algorithm. `mapping` reads keys of the log as signals, `action_space` is an `ActionSpace` or text such as
    ``discrete:4``; `house` is a mapping that counts only where a log has the key. `progress` is told (runs read, runs
    in all).

    Runs that were found but cannot be read are part of the answer, with verdict ``unreadable``. Raises `UsageError` for
    a path that does not exist or an option that cannot be meant, `NoReadableRunError` where no log is found,
    `RulebookError` for an invalid rulebook.
    """
    paths = [os.fspath(path)] if isinstance(path, str | os.PathLike) else [os.fspath(one) for one in path]
    chosen = _books(rulebooks)
    options = read_options(mapping, action_space, house)
    located = locate(paths)
    results: dict[int, RunDiagnosis] = {}
    batch: dict[int, Run] = {}
    for i, read in enumerate(read_runs(located.sources, options, progress)):
        if isinstance(read, Unreadable):
            results[i] = RunDiagnosis(read.id, read.path, "unreadable", read.reason)
            continue
        batch[i] = read
        if len(batch) == BATCH:
            results.update(zip(batch, diagnose_runs(list(batch.values()), chosen), strict=True))
            batch = {}
    results.update(zip(batch, diagnose_runs(list(batch.values()), chosen), strict=True))
    runs = tuple(results[i] for i in sorted(results))
    spoke = {book for run in runs for book in run.rulebooks}
    return Diagnosis(
        path=", ".join(paths),
        rulebooks=tuple(sorted(spoke, key=lambda book: (book.id, book.version, book.sha256))),
        runs=runs,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        notes=(*located.notes, *(problem.render() for problem in library_problems())),
    )


def diagnose_run(run: Run, rulebooks: str | Sequence[str | os.PathLike[str] | Book] | None = None) -> RunDiagnosis:
    """Diagnose one run that was read already; see `diagnose` for `rulebooks`."""
    return diagnose_runs([run], _books(rulebooks))[0]


def diagnose_runs(runs: Sequence[Run], books: Sequence[Book] | None = None) -> list[RunDiagnosis]:
    """Diagnose runs together, in their order; the answer for a run does not depend on the others."""
    groups: dict[tuple[str, ...], tuple[tuple[Book, ...], list[int]]] = {}
    for i, run in enumerate(runs):
        chosen = tuple(books) if books is not None else _default_books(run)
        groups.setdefault(tuple(f"{b.id}@{b.sha256}" for b in chosen), (chosen, []))[1].append(i)
    results: dict[int, RunDiagnosis] = {}
    for chosen, members in groups.values():
        results.update(zip(members, _diagnose_group([runs[i] for i in members], chosen), strict=True))
    return [results[i] for i in range(len(runs))]


def _books(rulebooks: str | Sequence[str | os.PathLike[str] | Book] | None) -> tuple[Book, ...] | None:
    if rulebooks is None:
        return None
    asked = [rulebooks] if isinstance(rulebooks, str) else list(rulebooks)
    return tuple(one if isinstance(one, Book) else load_book(os.fspath(one)) for one in asked)


def _default_books(run: Run) -> tuple[Book, ...]:
    return tuple(load_book(name) for name in default_books_for(run.algorithm, run.framework, run.action_space.kind))


def _diagnose_group(runs: Sequence[Run], books: Sequence[Book]) -> list[RunDiagnosis]:
    configs = [configuration(run) for run in runs]
    assessments = [assess(book, runs, configs) for book in books]
    return [
        conclude(run, config, row, assessments) for row, (run, config) in enumerate(zip(runs, configs, strict=True))
    ]
