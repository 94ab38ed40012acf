"""Which single sign that the log does not show would overturn a finding, were it there or surely absent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..rules.scoring import score
from ..signals.taxonomy import is_known_signal, signal
from .numbers import percent
from .verdict import foreign_signals

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..signals.run import Run
    from .assess import Assessment
    from .model import SymptomFinding

__all__ = ["OVERTURNED_AT", "Overturn", "overturned_by", "overturning_words"]

OVERTURNED_AT = 0.4
"""A finding has a probability of 0.5 or more; it is overturned by what would leave it clearly below."""

MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class Overturn:
    """An unknown symptom, whether it would have to be `present` or absent, and the probability that is left then."""

    symptom: str
    present: bool
    probability: float


def overturned_by(
    assessment: Assessment, row: int, cause: str, symptoms: Mapping[str, SymptomFinding]
) -> list[Overturn]:
    """The unknown symptoms that alone would bring `cause` of run `row` to `OVERTURNED_AT`, the most decisive first.

    A symptom that is not known weighs nothing, so the probability of a finding holds as long as what the log does not
    show brings no surprise. This says which surprise would end it. Symptoms that the run's algorithm or kind of
    actions cannot have are left out. `symptoms` are those of the run, by id.
    """
    book, found, scores = assessment.book, assessment.found, assessment.scores
    foreign = foreign_signals(assessment.signals[row].run)
    unknown = [
        column
        for column in np.flatnonzero(~found.known[row]).tolist()
        if not {m.signal for m in symptoms[book.symptoms[column].id].measurements if m.value is None} <= foreign
    ]
    if not unknown:
        return []
    mu = np.repeat(found.mu[row][None, :], 2 * len(unknown), axis=0)
    for k, column in enumerate(unknown):
        mu[2 * k, column], mu[2 * k + 1, column] = 0.0, 1.0
    known, applicable = (np.repeat(part[row][None, :], len(mu), axis=0) for part in (found.known, scores.applicable))
    required = {name for one in book.causes for name in one.requires}
    tried = score(book, mu, known, [assessment.signals[row].available(required)] * len(mu), applicable)
    left = tried.probability[:, scores.causes.index(cause)].reshape(-1, 2)
    found_out = [
        Overturn(book.symptoms[column].id, bool(left[k, 1] < left[k, 0]), float(left[k].min()))
        for k, column in enumerate(unknown)
        if left[k].min() <= OVERTURNED_AT
    ]
    return sorted(found_out, key=lambda one: (one.probability, one.symptom))


def overturning_words(found: Sequence[Overturn], symptoms: Mapping[str, SymptomFinding], run: Run) -> str:
    """The remark about them, with what to log; empty for none."""
    if not found:
        return ""
    named = found[:MOST_NAMED]
    signs = [
        f"{percent(one.probability)} should “{symptoms[one.symptom].title}” {'show' if one.present else 'be ruled out'}"
        for one in named
    ]
    missing = [m for one in named for m in symptoms[one.symptom].measurements if m.value is None]
    logged = sorted({source for m in missing for source in _sources(m.signal) if source not in run.series})
    kept = sorted({m.feature for m in missing if m.signal is None})
    ways = ([f"log {', '.join(logged)}"] if logged else []) + (
        [f"keep the hyper-parameters beside the log ({', '.join(kept)})"] if kept else []
    )
    more = f", and {len(found) - len(named)} more" if len(found) > len(named) else ""
    sure = f". To be sure, {' and '.join(ways)}" if ways else ""
    return f"The finding hangs on what the log does not show: it would be {', '.join(signs)}{more}{sure}"


def _sources(name: str | None) -> tuple[str, ...]:
    """The signals to log for a signal: itself, or those that it is computed from."""
    if name is None or not is_known_signal(name):
        return ()
    return signal(name).sources or (name,)
