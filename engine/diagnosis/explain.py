"""How the probability of one cause comes about, with every number that it takes to work it out by hand."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..rules.scoring import DECIBANS, weight_of_evidence
from .worked import worked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..rules.book import Book, Calibration, Cause, Link
    from .model import CauseFinding, RemedyPlan, RunDiagnosis, Suppressed
    from .worked import Step

__all__ = ["Explanation", "LedgerLine", "Rival", "explain", "find"]

_WORTH_NAMING = 0.05


@dataclass(frozen=True, slots=True)
class LedgerLine:
    """One link of the cause. `membership` is how far the symptom is there, 0…1 (None: the log does not show it), and
    `work` how that was found; `seen` is how often it is seen with the cause, `base_rate` how often without any cause of
    the book; `decibans` is its weight and `probability` what the prior and all lines so far make together. `least` and
    `most` are the smallest and largest weight that it could have, were all numbers known that are missing now."""

    symptom: str
    title: str
    membership: float | None
    seen: float
    base_rate: float
    ignores_absence: bool
    decibans: float
    probability: float
    least: float
    most: float
    work: tuple[Step, ...] = ()


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
    none); `least` and `most` bound what prior and evidence could make if nothing were missing. `probability` and `raw`
    are None where the cause is not assessable, or takes no part; `why_not` then says why. `fix` is the first remedy in
    words, `plan` the same worked out for the run (None: nothing is worked out for a cause that is so improbable)."""

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
    least: float
    most: float
    competition_decibans: float
    rivals: tuple[Rival, ...]
    raw: float | None
    calibration: Calibration | None
    probability: float | None
    coverage: float | None
    why_not: str = ""
    fix: str = ""
    plan: RemedyPlan | None = None
    suppressed: Suppressed | None = None


def find(books: Sequence[Book], diagnosis: RunDiagnosis, name: str) -> tuple[Book, Cause] | None:
    """The book that speaks about the cause called `name`, and the cause; None where no book of `books` has it.

    Of several books it is the one that `diagnosis` took the cause from.
    """
    spoke = next((finding.book for finding in diagnosis.causes if finding.id == name), None)
    having = [(book, cause) for book in books for cause in book.causes if cause.id == name]
    return next((pair for pair in having if spoke in (None, pair[0].id)), None)


def explain(diagnosis: RunDiagnosis, cause: Cause, book: Book) -> Explanation:
    """The ledger of `cause`, which is one of `book`, in the order in which the book names its evidence."""
    finding = next((found for found in diagnosis.causes if found.id == cause.id), None)
    lines = _lines(diagnosis, book, cause)
    alone = lines[-1].probability if lines else cause.prior
    assessed = finding is not None and finding.probability is not None
    competition = finding.explained_away_decibans if finding is not None and assessed else 0.0
    prior = _decibans(cause.prior)
    plan = finding.remedies[0] if finding is not None and finding.remedies else None
    return Explanation(
        run=diagnosis.id,
        path=diagnosis.path,
        cause=cause.id,
        title=cause.title,
        book=f"{book.id} {book.version}",
        kind=cause.kind,
        status=finding.status if finding is not None else "takes_no_part",
        prior=cause.prior,
        lines=lines,
        before_competition=alone,
        least=_probability(prior + sum(line.least for line in lines)),
        most=_probability(prior + sum(line.most for line in lines)),
        competition_decibans=competition,
        rivals=_rivals(diagnosis, cause, book) if assessed else (),
        raw=_probability(_decibans(alone) + competition) if assessed else None,
        calibration=book.calibration,
        probability=finding.probability if finding is not None else None,
        coverage=finding.coverage if finding is not None else None,
        why_not=_why_not(diagnosis, finding, cause),
        fix=_fix(cause, plan),
        plan=plan,
        suppressed=finding.suppressed if finding is not None else None,
    )


def _why_not(diagnosis: RunDiagnosis, finding: CauseFinding | None, cause: Cause) -> str:
    """Why nothing, or little, is said about the cause; empty where it was assessed."""
    if finding is None:
        return _no_part(diagnosis, cause)
    if finding.status == "not_assessable":
        return f"it cannot be assessed without {', '.join(finding.missing)}, which the log does not have"
    if finding.status == "insufficient_data":
        return "no verdict rests on it: too little of its evidence could be looked at"
    return ""


def _no_part(diagnosis: RunDiagnosis, cause: Cause) -> str:
    if cause.status == "deprecated":
        instead = f"; it is replaced by {cause.replaced_by}" if cause.replaced_by else ""
        return f"the cause is deprecated and not scored any more{instead}"
    space = None if diagnosis.action_space is None else diagnosis.action_space.kind
    about = (
        ("algorithm", cause.applies_to.algorithm, diagnosis.algorithm),
        ("framework", cause.applies_to.framework, diagnosis.framework),
        ("action space", cause.applies_to.action_space, space),
    )
    reasons = [
        f"it is about the {what} {' or '.join(allowed)}, and this run's is {have}"
        for what, allowed, have in about
        if allowed and have not in (None, "unknown", *allowed)
    ]
    return "; ".join(reasons)


def _fix(cause: Cause, plan: RemedyPlan | None) -> str:
    if plan is not None:
        return plan.summary
    return cause.remedies[0].summary if cause.remedies else ""


def _lines(diagnosis: RunDiagnosis, book: Book, cause: Cause) -> tuple[LedgerLine, ...]:
    spec = {symptom.id: symptom for symptom in book.symptoms}
    seen = {symptom.id: symptom for symptom in diagnosis.symptoms}
    lines: list[LedgerLine] = []
    total = _decibans(cause.prior)
    for link in cause.links:
        base = spec[link.symptom].base_rate
        work = worked(link.symptom, book, {m.feature: m for m in seen[link.symptom].measurements})
        low, high = work[0].low, work[0].high
        weight = _weight((low + high) / 2, link, base)
        bounds = _weight(low, link, base), _weight(high, link, base)
        total += weight
        lines.append(
            LedgerLine(
                symptom=link.symptom,
                title=spec[link.symptom].title,
                membership=None if (low, high) == (0.0, 1.0) else (low + high) / 2,
                seen=link.seen,
                base_rate=base,
                ignores_absence=link.absence == "ignore",
                decibans=weight,
                probability=_probability(total),
                least=min(bounds),
                most=max(bounds),
                work=work,
            )
        )
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


def _weight(mu: float, link: Link, base_rate: float) -> float:
    """Decibans of a symptom that is there by `mu`."""
    if link.absence == "ignore" and mu < 0.5:
        return 0.0
    return float(weight_of_evidence(np.array(mu), link.seen, base_rate)) * float(DECIBANS)


def _decibans(probability: float) -> float:
    inside = min(max(probability, 1e-12), 1 - 1e-12)
    return 10.0 * math.log10(inside / (1.0 - inside))


def _probability(decibans: float) -> float:
    return 1.0 / (1.0 + math.pow(10.0, -decibans / 10.0))
