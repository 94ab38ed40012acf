"""How the probability of one cause comes about, with every number that it takes to work it out by hand."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..rules.scoring import DECIBANS, weight_of_evidence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..rules.book import Book, Calibration, Cause
    from .model import CauseFinding, Measurement, RunDiagnosis

__all__ = ["Explanation", "LedgerLine", "Rival", "explain", "find"]

_WORTH_NAMING = 0.05


@dataclass(frozen=True, slots=True)
class LedgerLine:
    """One link of the cause. `membership` is how far the symptom is there, 0…1 (None: the log does not show it);
    `seen` how often it is seen with the cause, `base_rate` how often without any cause of the book; `decibans` its
    weight and `probability` what the prior and all lines so far make together. `most` and `least` are the weights it
    would have if the symptom were clearly there, or clearly not."""

    symptom: str
    title: str
    membership: float | None
    seen: float
    base_rate: float
    ignores_absence: bool
    decibans: float
    probability: float
    most: float
    least: float
    measurements: tuple[Measurement, ...] = ()


@dataclass(frozen=True, slots=True)
class Rival:
    """Another cause that competes: its probability, whether it excludes the cause, and the symptoms both explain."""

    cause: str
    title: str
    probability: float
    excludes: bool
    shared: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """The ledger of one cause in one run. `before_competition` is what prior and evidence make alone,
    `competition_decibans` what the other causes change, `raw` the result before `calibration` (None: the book has
    none); `probability` is None where the cause is not assessable."""

    run: str
    path: str
    cause: str
    title: str
    book: str
    kind: str
    status: str
    prior: float
    lines: tuple[LedgerLine, ...]
    before_competition: float
    competition_decibans: float
    rivals: tuple[Rival, ...]
    raw: float | None
    calibration: Calibration | None
    probability: float | None
    coverage: float
    requires_missing: tuple[str, ...] = ()
    fix: str = ""


def explain(diagnosis: RunDiagnosis, finding: CauseFinding, book: Book) -> Explanation:
    """The ledger of `finding`, a cause of `book`, in the order in which the book names its evidence."""
    cause = next(c for c in book.causes if c.id == finding.id)
    lines = _lines(diagnosis, finding, book, cause)
    alone = lines[-1].probability if lines else cause.prior
    assessed = finding.status != "not_assessable" and finding.probability is not None
    competition = finding.explained_away_decibans if assessed else 0.0
    raw = _probability(_decibans(alone) + competition) if assessed else None
    return Explanation(
        run=diagnosis.id,
        path=diagnosis.path,
        cause=finding.id,
        title=finding.title,
        book=f"{book.id} {book.version}",
        kind=finding.kind,
        status=finding.status,
        prior=cause.prior,
        lines=lines,
        before_competition=alone,
        competition_decibans=competition,
        rivals=_rivals(diagnosis, cause, book) if assessed else (),
        raw=raw,
        calibration=book.calibration,
        probability=finding.probability,
        coverage=finding.coverage,
        requires_missing=finding.missing,
        fix=finding.remedies[0].summary if finding.remedies else "",
    )


def _lines(diagnosis: RunDiagnosis, finding: CauseFinding, book: Book, cause: Cause) -> tuple[LedgerLine, ...]:
    base = {symptom.id: symptom.base_rate for symptom in book.symptoms}
    seen = {symptom.id: symptom for symptom in diagnosis.symptoms}
    evidence = {line.symptom: line for line in finding.evidence}
    lines: list[LedgerLine] = []
    total = _decibans(cause.prior)
    for link in cause.links:
        line = evidence[link.symptom]
        total += line.decibans
        known = seen.get(link.symptom)
        most, least = (_weight(mu, link.seen, base[link.symptom]) for mu in (1.0, 0.0))
        ignores = link.absence == "ignore"
        lines.append(
            LedgerLine(
                link.symptom, line.title, line.membership, link.seen, base[link.symptom], ignores, line.decibans,
                _probability(total), most, 0.0 if ignores else least, known.measurements if known else (),
            )
        )  # fmt: skip
    return tuple(lines)


def _rivals(diagnosis: RunDiagnosis, cause: Cause, book: Book) -> tuple[Rival, ...]:
    """The other causes that are worth naming and explain the same symptoms or exclude this one, the likeliest first."""
    own = {link.symptom for link in cause.links}
    spec = {c.id: c for c in book.causes}
    found: list[Rival] = []
    for other in diagnosis.causes:
        if other.id == cause.id or other.id not in spec or (other.probability or 0.0) < _WORTH_NAMING:
            continue
        shared = tuple(e.title for e in other.evidence if e.symptom in own and e.decibans > 0)
        excludes = cause.id in spec[other.id].excludes or other.id in cause.excludes
        if shared or excludes:
            found.append(Rival(other.id, other.title, other.probability or 0.0, excludes, shared))
    return tuple(sorted(found, key=lambda rival: (-rival.probability, rival.cause)))


def _weight(mu: float, seen: float, base_rate: float) -> float:
    return float(weight_of_evidence(np.array(mu), seen, base_rate)) * float(DECIBANS)


def _decibans(probability: float) -> float:
    inside = min(max(probability, 1e-12), 1 - 1e-12)
    return 10.0 * math.log10(inside / (1.0 - inside))


def _probability(decibans: float) -> float:
    return 1.0 / (1.0 + 10.0 ** (-decibans / 10.0))


def find(causes: Sequence[CauseFinding], name: str) -> CauseFinding | None:
    """The cause called `name`; None where there is none."""
    return next((cause for cause in causes if cause.id == name), None)
