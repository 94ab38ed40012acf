"""One rulebook applied to a group of runs: features, memberships, scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..features.extract import Plan, extract_many
from ..rules.membership import Memberships, memberships
from ..rules.needs import required_features
from ..rules.scoring import Scores, score
from .described import RunSignals
from .findings import commonness
from .values import BatchNumbers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..rules.book import Book, Cause
    from ..signals.run import ConfigValue, Run

__all__ = ["Assessment", "assess"]


@dataclass(frozen=True, slots=True)
class Assessment:
    """A book's numbers, memberships and scores for R runs; `common` counts the symptoms that share a number."""

    book: Book
    numbers: BatchNumbers
    found: Memberships
    scores: Scores
    common: Mapping[str, int]


def assess(book: Book, runs: Sequence[Run], configs: Sequence[Mapping[str, ConfigValue]]) -> Assessment:
    """Apply `book` to every run, whatever its algorithm; causes that are not about a run stay out of it."""
    rows = extract_many(runs, Plan.build(required_features(book), book.windows))
    numbers = BatchNumbers(book, runs, rows, configs)
    found = memberships(book, numbers, len(runs))
    required = {name for cause in book.causes for name in cause.requires}
    available = [RunSignals(run).available(required) for run in runs]
    applicable = np.array([[_applies(cause, run) for cause in book.causes] for run in runs], dtype=bool)
    scores = score(book, found.mu, found.known, available, applicable.reshape(len(runs), len(book.causes)))
    return Assessment(book, numbers, found, scores, commonness(book))


def _applies(cause: Cause, run: Run) -> bool:
    """Whether a cause is about this run."""
    kind = None if run.action_space.kind == "unknown" else run.action_space.kind
    return cause.applies_to.admits(run.algorithm, run.framework, kind)
