"""Runs that were found, read and diagnosed a batch at a time: what one process does, alone or beside others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..features.derived import RunSignals
from ..rules.library import default_books_for, load_book
from .assess import assess
from .conclude import conclude
from .model import RunDiagnosis
from .reading import Unreadable, read_runs
from .values import configuration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import date

    from ..logs.adapter import ReadOptions
    from ..logs.load import FoundRun
    from ..project import Suppression
    from ..rules.book import Book
    from ..signals.run import Run
    from .baseline import Baseline

__all__ = ["BATCH", "Study", "default_books", "diagnose_found", "diagnose_together"]

# Runs held in memory at a time; the working set of a batch should stay small.
BATCH = 64


@dataclass(frozen=True, slots=True)
class Study:
    """What is asked of every run: how it is read, which books speak (None: to each run the default ones), what it is
    compared with, and the findings that count for nothing `today`."""

    options: ReadOptions
    books: tuple[Book, ...] | None
    baseline: Baseline | None
    suppressions: tuple[Suppression, ...]
    today: date


def diagnose_found(
    sources: Sequence[FoundRun], study: Study, progress: Callable[[int, int], None] | None = None
) -> Iterator[RunDiagnosis]:
    """Read and diagnose the runs, in their order; `progress` is told (runs read, runs in all)."""
    batch: list[Run | Unreadable] = []
    for read in read_runs(sources, study.options, progress):
        batch.append(read if isinstance(read, Unreadable) or study.baseline is None else study.baseline.compared(read))
        if len(batch) == BATCH:
            yield from _answers(batch, study)
            batch = []
    yield from _answers(batch, study)


def diagnose_together(
    runs: Sequence[Run], books: Sequence[Book] | None, suppressions: Sequence[Suppression], today: date
) -> list[RunDiagnosis]:
    """Diagnose runs that were read, in their order; those with the same books go through together."""
    groups: dict[tuple[str, ...], tuple[tuple[Book, ...], list[int]]] = {}
    for i, run in enumerate(runs):
        chosen = tuple(books) if books is not None else default_books(run)
        groups.setdefault(tuple(f"{b.id}@{b.sha256}" for b in chosen), (chosen, []))[1].append(i)
    results: dict[int, RunDiagnosis] = {}
    for chosen, members in groups.values():
        concluded = _diagnose_group([runs[i] for i in members], chosen, suppressions, today)
        results.update(zip(members, concluded, strict=True))
    return [results[i] for i in range(len(runs))]


def default_books(run: Run) -> tuple[Book, ...]:
    """The books for a run when none is asked for."""
    return tuple(load_book(name) for name in default_books_for(run.algorithm, run.framework, run.action_space.kind))


def _answers(batch: Sequence[Run | Unreadable], study: Study) -> Iterator[RunDiagnosis]:
    runs = [one for one in batch if not isinstance(one, Unreadable)]
    diagnosed = iter(diagnose_together(runs, study.books, study.suppressions, study.today))
    for one in batch:
        if isinstance(one, Unreadable):
            yield RunDiagnosis(one.id, one.path, "unreadable", one.reason)
        else:
            yield next(diagnosed)


def _diagnose_group(
    runs: Sequence[Run], books: Sequence[Book], suppressions: Sequence[Suppression], today: date
) -> list[RunDiagnosis]:
    configs = [configuration(run) for run in runs]
    signals = [RunSignals(run) for run in runs]
    assessments = [assess(book, runs, configs, signals) for book in books]
    return [conclude(run, row, assessments, suppressions, today=today) for row, run in enumerate(runs)]
