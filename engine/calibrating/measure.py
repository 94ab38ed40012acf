"""A book's memberships over a labelled corpus, and from them the pairs of stated probability and truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..diagnosis.assess import assess
from ..diagnosis.findings import COVERAGE_FLOOR
from ..diagnosis.values import configuration
from ..rules.scoring import score

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from ..rules.book import Book
    from ..signals.run import Run
    from .labels import Answer

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]
    Ints = NDArray[np.intp]

__all__ = ["Measured", "Pairs", "admits", "at_probabilities", "measure", "pairs_of", "raw_probabilities"]

BATCH = 64


@dataclass(frozen=True, slots=True)
class Measured:
    """What a book saw in R runs of a corpus.

    `answers` are those of the R runs. `mu`, `known` (R, symptoms of the book) and `active`, `spoken` (R, causes of the
    book): the cause takes part in the competition; it is a fault whose probability users see. `others` are ids of runs
    that the book is not about, `unreadable` of those whose log is missing or cannot be read.
    """

    book: Book
    answers: tuple[Answer, ...]
    mu: Floats
    known: Bools
    active: Bools
    spoken: Bools
    others: tuple[str, ...]
    unreadable: tuple[str, ...]

    @property
    def groups(self) -> tuple[str, ...]:
        """What cross-validation leaves out one after the other, sorted."""
        return tuple(sorted({answer.group for answer in self.answers}))


@dataclass(frozen=True, slots=True)
class Pairs:
    """N pairs of a run and a fault that users see: stated probability, whether it is the truth, the run's number and
    the cause's.

    Of several acceptable causes of a run, the most probable one is the truth and the others are left out: naming either
    of two equivalent causes is right. Runs whose harm is unclear have no pairs.
    """

    p: Floats
    y: Floats
    run: Ints
    cause: Ints


def admits(book: Book, run: Run) -> bool:
    """Whether the book is about this run. What it restricts must be known, as where a run is given its default book."""
    kind = None if run.action_space.kind == "unknown" else run.action_space.kind
    about = book.applies_to
    have = ((about.algorithm, run.algorithm), (about.framework, run.framework), (about.action_space, kind))
    return all(not allowed or value in allowed for allowed, value in have)


def measure(books: Sequence[Book], labelled: Iterable[tuple[Answer, Run | None]]) -> tuple[Measured, ...]:
    """Memberships of all runs that each book is about, in one pass; a run that is None could not be read."""
    unreadable: list[str] = []
    collected = [_Collected(book) for book in books]
    for batch in _batches(labelled):
        unreadable += [answer.id for answer, run in batch if run is None]
        for one in collected:
            one.add([(answer, run) for answer, run in batch if run is not None])
    return tuple(one.measured(tuple(unreadable)) for one in collected)


class _Collected:
    """What one book has seen so far."""

    def __init__(self, book: Book) -> None:
        self.book = book
        self.answers: list[Answer] = []
        self.others: list[str] = []
        symptoms, causes = len(book.symptoms), len(book.causes)
        self.mu: list[Floats] = [np.empty((0, symptoms))]
        self.known: list[Bools] = [np.empty((0, symptoms), dtype=np.bool_)]
        self.active: list[Bools] = [np.empty((0, causes), dtype=np.bool_)]
        self.spoken: list[Bools] = [np.empty((0, causes), dtype=np.bool_)]

    def add(self, batch: Sequence[tuple[Answer, Run]]) -> None:
        fitting = [(answer, run) for answer, run in batch if admits(self.book, run)]
        self.others += [answer.id for answer, run in batch if not admits(self.book, run)]
        if not fitting:
            return
        runs = [run for _, run in fitting]
        assessment = assess(self.book, runs, [configuration(run) for run in runs])
        scores, causes = assessment.scores, self.book.causes
        faults = np.array([cause.kind == "fault" and cause.status == "stable" for cause in causes], dtype=np.bool_)
        active = scores.applicable & scores.assessable
        self.answers += [answer for answer, _ in fitting]
        self.mu.append(assessment.found.mu)
        self.known.append(assessment.found.known)
        self.active.append(active)
        self.spoken.append(active & faults & (scores.coverage >= COVERAGE_FLOOR))

    def measured(self, unreadable: tuple[str, ...]) -> Measured:
        return Measured(
            self.book,
            tuple(self.answers),
            np.concatenate(self.mu),
            np.concatenate(self.known),
            np.concatenate(self.active),
            np.concatenate(self.spoken),
            tuple(self.others),
            unreadable,
        )


def raw_probabilities(book: Book, measured: Measured) -> Floats:
    """(R, causes) before calibration, by `book`: the measured one, perhaps with other numbers in its links."""
    everything = frozenset(name for cause in book.causes for name in cause.requires)
    available = [everything] * len(measured.answers)
    return score(book, measured.mu, measured.known, available, measured.active).raw


def pairs_of(measured: Measured, probability: Floats) -> Pairs:
    """All pairs of the measured runs by `probability` (R, causes)."""
    names = np.array([cause.id for cause in measured.book.causes])
    p: list[Floats] = []
    y: list[Floats] = []
    rows: list[Ints] = []
    causes: list[Ints] = []
    for row, answer in enumerate(measured.answers):
        if answer.harmed == "unclear":
            continue
        keep = measured.spoken[row] & ~np.isnan(probability[row])
        truth = np.zeros(names.size)
        right = np.isin(names, sorted(answer.causes)) & keep if answer.harmed == "yes" else np.zeros(names.size, bool)
        if right.any():
            best = int(np.argmax(np.where(right, probability[row], -1.0)))
            keep &= ~right
            keep[best], truth[best] = True, 1.0
        p.append(probability[row, keep])
        y.append(truth[keep])
        rows.append(np.full(int(keep.sum()), row, dtype=np.intp))
        causes.append(np.flatnonzero(keep))
    nothing = np.empty(0, dtype=np.intp)
    return Pairs(
        np.concatenate([np.empty(0), *p]),
        np.concatenate([np.empty(0), *y]),
        np.concatenate([nothing, *rows]),
        np.concatenate([nothing, *causes]),
    )


def at_probabilities(pairs: Pairs, probability: Floats) -> Floats:
    """(N,) other probabilities (R, causes) of the same pairs."""
    result: Floats = probability[pairs.run, pairs.cause]
    return result


def _batches(
    labelled: Iterable[tuple[Answer, Run | None]],
) -> Iterator[list[tuple[Answer, Run | None]]]:
    batch: list[tuple[Answer, Run | None]] = []
    for pair in labelled:
        batch.append(pair)
        if len(batch) == BATCH:
            yield batch
            batch = []
    yield batch
