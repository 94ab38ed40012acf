"""From paths to a `Diagnosis`: read, extract features, apply the rulebooks, judge. Many runs go through together."""

from __future__ import annotations

import os
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ..features.derived import RunSignals
from ..rules.book import Book
from ..rules.library import default_books_for, library_problems, load_book
from .assess import assess
from .baseline import Baseline, read_baseline
from .conclude import conclude
from .model import Diagnosis, RunDiagnosis
from .reading import Unreadable, load_run, locate, read_options, read_runs
from .suppressing import suppression_notes
from .sweep import associations
from .values import configuration
from .verdict import FINDING_AT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ..project import Suppression
    from ..signals.run import ActionSpace, Run

__all__ = ["default_books", "diagnose", "diagnose_run", "diagnose_runs", "load_run"]

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
    tag_maps: Sequence[PathLike] = (),
    suppressions: Sequence[Suppression] = (),
    baseline: PathLike | Baseline | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Diagnosis:
    """Read all runs below `path` (or several paths) and say what went wrong in each.

    `rulebooks` are ids (``"ppo"``, ``"ppo@1.0.0"``), paths or loaded books; by default each run gets the book for its
    algorithm. `mapping` reads keys of the log as signals, `action_space` is an `ActionSpace` or text such as
    ``discrete:4``; `house` is a mapping that counts only where a log has the key; `tag_maps` are files of tag maps of
    one's own. `baseline` is a run, or a folder of runs, that is known to be good: returns and settings are compared
    with it. `suppressions` are the findings that count for nothing, as of today (UTC). `progress` is told (runs read,
    runs in all).

    Runs that were found but cannot be read are part of the answer, with verdict ``unreadable``. Raises `UsageError` for
    a path that does not exist or an option that cannot be meant, `NoReadableRunError` where no log is found,
    `RulebookError` for an invalid rulebook.
    """
    paths = [os.fspath(path)] if isinstance(path, str | os.PathLike) else [os.fspath(one) for one in path]
    chosen = _books(rulebooks)
    options = read_options(mapping, action_space, house)
    maps = [Path(file) for file in tag_maps]
    if baseline is not None and not isinstance(baseline, Baseline):
        baseline = read_baseline(os.fspath(baseline), options, maps)
    located = locate(paths, maps)
    now = datetime.now(UTC)
    results: dict[int, RunDiagnosis] = {}
    batch: dict[int, Run] = {}
    for i, read in enumerate(read_runs(located.sources, options, progress)):
        if isinstance(read, Unreadable):
            results[i] = RunDiagnosis(read.id, read.path, "unreadable", read.reason)
            continue
        batch[i] = read if baseline is None else baseline.compared(read)
        if len(batch) == BATCH:
            results.update(
                zip(batch, _diagnose_runs(list(batch.values()), chosen, suppressions, now.date()), strict=True)
            )
            batch = {}
    results.update(zip(batch, _diagnose_runs(list(batch.values()), chosen, suppressions, now.date()), strict=True))
    runs = tuple(results[i] for i in sorted(results))
    spoke = {book for run in runs for book in run.rulebooks}
    remarks = [_deprecation(book) for book in chosen or () if book.status == "deprecated"]
    if suppressions:
        used = [load_book(f"{book.id}@{book.version}") for book in spoke] if chosen is None else chosen
        remarks += suppression_notes(used, suppressions, now.date())
    return Diagnosis(
        path=", ".join(paths),
        rulebooks=tuple(sorted(spoke, key=lambda book: (book.id, book.version, book.sha256))),
        runs=runs,
        created=now.isoformat(timespec="seconds"),
        suppressed=sum((c.probability or 0.0) >= FINDING_AT for run in runs for c in run.suppressed_findings),
        notes=(
            *located.notes,
            *(baseline.notes if baseline is not None else ()),
            *remarks,
            *(problem.render() for problem in library_problems()),
        ),
        associations=associations(runs),
    )


def diagnose_run(run: Run, rulebooks: str | Sequence[str | os.PathLike[str] | Book] | None = None) -> RunDiagnosis:
    """Diagnose one run that was read already; see `diagnose` for `rulebooks`."""
    return diagnose_runs([run], _books(rulebooks))[0]


def diagnose_runs(
    runs: Sequence[Run], books: Sequence[Book] | None = None, suppressions: Sequence[Suppression] = ()
) -> list[RunDiagnosis]:
    """Diagnose runs together, in their order; the answer for a run does not depend on the others."""
    return _diagnose_runs(runs, books, suppressions, datetime.now(UTC).date())


def _diagnose_runs(
    runs: Sequence[Run], books: Sequence[Book] | None, suppressions: Sequence[Suppression], today: date
) -> list[RunDiagnosis]:
    groups: dict[tuple[str, ...], tuple[tuple[Book, ...], list[int]]] = {}
    for i, run in enumerate(runs):
        chosen = tuple(books) if books is not None else default_books(run)
        groups.setdefault(tuple(f"{b.id}@{b.sha256}" for b in chosen), (chosen, []))[1].append(i)
    results: dict[int, RunDiagnosis] = {}
    for chosen, members in groups.values():
        concluded = _diagnose_group([runs[i] for i in members], chosen, suppressions, today)
        results.update(zip(members, concluded, strict=True))
    return [results[i] for i in range(len(runs))]


def _deprecation(book: Book) -> str:
    instead = f"; use '{book.replaced_by}'" if book.replaced_by else ""
    return f"the rulebook '{book.id}' {book.version} is deprecated{instead}"


def _books(rulebooks: str | Sequence[str | os.PathLike[str] | Book] | None) -> tuple[Book, ...] | None:
    if rulebooks is None:
        return None
    asked = [rulebooks] if isinstance(rulebooks, str) else list(rulebooks)
    return tuple(one if isinstance(one, Book) else load_book(os.fspath(one)) for one in asked)


def default_books(run: Run) -> tuple[Book, ...]:
    return tuple(load_book(name) for name in default_books_for(run.algorithm, run.framework, run.action_space.kind))


def _diagnose_group(
    runs: Sequence[Run], books: Sequence[Book], suppressions: Sequence[Suppression], today: date
) -> list[RunDiagnosis]:
    configs = [configuration(run) for run in runs]
    signals = [RunSignals(run) for run in runs]
    assessments = [assess(book, runs, configs, signals) for book in books]
    return [conclude(run, row, assessments, suppressions, today=today) for row, run in enumerate(runs)]
