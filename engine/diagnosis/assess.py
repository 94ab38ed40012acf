"""One rulebook applied to a group of runs: features, memberships, scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..features.derived import RunSignals
from ..features.extract import Plan, extract_many
from ..rules.membership import Memberships, memberships
from ..rules.needs import required_features
from ..rules.scoring import Scores, score
from .findings import Measured, commonness
from .values import BatchNumbers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..rules.book import Book, Cause
    from ..signals.run import ConfigValue, Run
    from .described import About

__all__ = ["Assessment", "assess"]


@dataclass(frozen=True, slots=True)
class Assessment:
    """A book's numbers, memberships and scores for R runs; `common` counts the symptoms that share a number.

    `signals` are those of each run, `measured` the numbers behind the symptoms, `abouts` what each number of the book
    is about, filled in as runs are concluded.
    """

    book: Book
    numbers: BatchNumbers
    found: Memberships
    scores: Scores
    common: Mapping[str, int]
    signals: Sequence[RunSignals]
    measured: Measured
    abouts: dict[tuple[str, str], About]


def assess(
    book: Book,
    runs: Sequence[Run],
    configs: Sequence[Mapping[str, ConfigValue]],
    signals: Sequence[RunSignals] | None = None,
) -> Assessment:
    """Apply `book` to every run, whatever its algorithm; causes that are not about a run stay out of it.

    `signals` are those of the runs, where several books share them.
    """
    signals = signals or [RunSignals(run) for run in runs]
    rows = extract_many(runs, Plan.build(required_features(book), book.windows), signals)
    numbers = BatchNumbers(book, runs, rows, configs)
    found = memberships(book, numbers, len(runs))
    required = {name for cause in book.causes for name in cause.requires}
    available = [one.available(required) for one in signals]
    applicable = np.array([[_applies(cause, run) for cause in book.causes] for run in runs], dtype=bool)
    scores = score(book, found.mu, found.known, available, applicable.reshape(len(runs), len(book.causes)))
    return Assessment(book, numbers, found, scores, commonness(book), signals, Measured(book, found), {})


def _applies(cause: Cause, run: Run) -> bool:
    """Whether a cause is about this run."""
    kind = None if run.action_space.kind == "unknown" else run.action_space.kind
    return cause.applies_to.admits(run.algorithm, run.framework, kind)
