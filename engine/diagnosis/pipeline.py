"""From paths to a `Diagnosis`: find the runs, have them read and judged, and say what holds for all of them."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ..rules.book import Book
from ..rules.library import library_problems, load_book
from .baseline import Baseline, read_baseline
from .jobs import processes_for
from .model import Diagnosis
from .reading import load_run, locate, read_options
from .suppressing import suppression_notes
from .sweep import associations
from .together import BATCH, Study, default_books, diagnose_found, diagnose_together
from .verdict import FINDING_AT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ..project import Suppression
    from ..signals.run import ActionSpace, Run
    from .jobs import Jobs
    from .model import BookRef, RunDiagnosis

__all__ = ["BATCH", "default_books", "diagnose", "diagnose_run", "diagnose_runs", "load_run"]

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
    jobs: Jobs = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Diagnosis:
    """Read all runs below `path` (or several paths) and say what went wrong in each.

    `rulebooks` are ids (``"ppo"``, ``"ppo@1.0.0"``), paths or loaded books; by default each run gets the book for its
    algorithm. `mapping` reads keys of the log as signals, `action_space` is an `ActionSpace` or text such as
    ``discrete:4``; `house` is a mapping that counts only where a log has the key; `tag_maps` are files of tag maps of
    one's own. `baseline` is a run, or a folder of runs, that is known to be good: returns and settings are compared
    with it. `suppressions` are the findings that count for nothing, as of today (UTC). `progress` is told (runs read,
    runs in all).

    `jobs` is how many processes share the runs: a number, ``"auto"`` or 0 for one a core, None for one a core where
    there is enough to read. The answer is the same. They are interpreters of their own which import this package
    and nothing else of the program: a script needs no ``if __name__ == "__main__"`` for them.

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
    study = Study(options, chosen, baseline, tuple(suppressions), now.date())
    processes = processes_for(jobs, located.sources)
    remarks: list[str] = []
    if processes > 1:
        from .pool import diagnose_in_processes

        runs, remarks = diagnose_in_processes(processes, located.sources, study, progress)
    else:
        runs = tuple(diagnose_found(located.sources, study, progress))
    return Diagnosis(
        path=", ".join(paths),
        rulebooks=tuple(sorted(_spoke(runs), key=lambda book: (book.id, book.version, book.sha256))),
        runs=runs,
        created=now.isoformat(timespec="seconds"),
        suppressed=sum((c.probability or 0.0) >= FINDING_AT for run in runs for c in run.suppressed_findings),
        notes=(
            *located.notes,
            *(baseline.notes if baseline is not None else ()),
            *remarks,
            *_remarks(study, runs),
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
    return diagnose_together(runs, books, suppressions, datetime.now(UTC).date())


def _spoke(runs: Sequence[RunDiagnosis]) -> set[BookRef]:
    return {book for run in runs for book in run.rulebooks}


def _remarks(study: Study, runs: Sequence[RunDiagnosis]) -> Iterator[str]:
    """What is odd about the books that were asked for, and about the suppressions."""
    for book in study.books or ():
        if book.status == "deprecated":
            instead = f"; use '{book.replaced_by}'" if book.replaced_by else ""
            yield f"the rulebook '{book.id}' {book.version} is deprecated{instead}"
    if study.suppressions:
        used = study.books
        if used is None:
            used = tuple(load_book(f"{book.id}@{book.version}") for book in _spoke(runs))
        yield from suppression_notes(used, study.suppressions, study.today)


def _books(rulebooks: str | Sequence[str | os.PathLike[str] | Book] | None) -> tuple[Book, ...] | None:
    if rulebooks is None:
        return None
    asked = [rulebooks] if isinstance(rulebooks, str) else list(rulebooks)
    return tuple(one if isinstance(one, Book) else load_book(os.fspath(one)) for one in asked)
