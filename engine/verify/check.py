"""The verification of a fix: the cause's own symptoms before and after, its remedy's promise, and the return."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..diagnosis.assess import assess
from ..diagnosis.pipeline import default_books, diagnose_runs
from ..diagnosis.primary import set_by_user
from ..diagnosis.values import configuration
from ..features.extract import Plan, extract
from .judge import Facts, judge
from .model import Change, Promise, Verification
from .resample import resampled
from .returns import compare_returns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ..diagnosis.model import CauseFinding, Evidence, RunDiagnosis
    from ..rules.book import Book
    from ..signals.run import Run

    Floats = NDArray[np.float64]
    Expectation = tuple[str, str, float, float | None]

__all__ = ["verify_runs"]

DRAWS = 64
_LOW, _HIGH = 10.0, 90.0
_SEEN = 0.5


def verify_runs(
    before: Run,
    after: Run,
    *,
    books: Sequence[Book] | None = None,
    cause: str | None = None,
    promised: Sequence[Expectation] | None = None,
    controls: Sequence[Run] = (),
) -> Verification:
    """Whether what was wrong in `before` is gone in `after`.

    `cause` is the one that the fix was meant for (default: the one the verdict on `before` rests on), `promised` what
    its remedy promised (default: its first remedy's), `controls` are re-runs of `before` without the fix.
    """
    chosen = tuple(books) if books is not None else default_books(before)
    first, second = diagnose_runs([before, after], chosen)
    finding = _finding(first, cause)
    if finding is None:
        return Verification("cannot_tell", _nothing(first, cause), before.path, after.path)
    book = next(b for b in chosen if b.id == finding.book)
    measured = _Measured(book, before, after, controls)
    changes = _changes(finding, first, measured)
    expected = promised if promised is not None else _expected(finding)
    promises = tuple(_promise(one, book, after) for one in expected)
    later = next((c for c in second.causes if c.id == finding.id), None)
    gone = measured.gone(changes[0].symptom) if changes else np.zeros(0, dtype=bool)
    facts = Facts(
        changes=changes,
        shift=measured.shift(changes),
        known=all(measured.known(change.symptom) for change in changes if change.primary),
        promises=promises,
        returns=compare_returns(before, after, controls),
        rescaled=any(_changes_reward(plan.knob) for plan in finding.remedies),
        probability_after=later.probability if later else None,
        other=_other(second, finding.id),
        points=after.points,
        controls=len(controls),
        controls_without=int(gone.sum()),
    )
    outcome, reason, notes = judge(facts)
    return Verification(
        outcome,
        reason,
        before.path,
        after.path,
        finding.id,
        finding.title,
        finding.book,
        finding.probability,
        facts.probability_after,
        changes,
        promises,
        facts.returns,
        len(controls),
        facts.controls_without,
        notes,
    )


class _Measured:
    """Memberships of a book's symptoms in both runs, in the controls, and in resampled copies of both runs."""

    def __init__(self, book: Book, before: Run, after: Run, controls: Sequence[Run]) -> None:
        runs = [before, after, *controls, *resampled(before, DRAWS, 1), *resampled(after, DRAWS, 2)]
        found = assess(book, runs, [configuration(run) for run in runs]).found
        self._column = {symptom.id: i for i, symptom in enumerate(book.symptoms)}
        self._mu, self._known, self._controls = found.mu, found.known, len(controls)
        self.user_set = {symptom.id for symptom in book.symptoms if set_by_user(symptom, book)}

    def pair(self, symptom: str) -> tuple[float, float]:
        """Membership before and after."""
        column = self._column[symptom]
        return float(self._mu[0, column]), float(self._mu[1, column])

    def draws(self, symptom: str) -> tuple[Floats, Floats]:
        """Memberships in the copies of both runs, each of shape (draws,)."""
        values = self._mu[2 + self._controls :, self._column[symptom]]
        return values[:DRAWS], values[DRAWS:]

    def known(self, symptom: str) -> bool:
        """Whether the later run logs what the symptom needs."""
        return bool(self._known[1, self._column[symptom]])

    def gone(self, symptom: str) -> NDArray[np.bool_]:
        """In which controls the symptom is not seen, shape (controls,)."""
        return np.asarray(self._mu[2 : 2 + self._controls, self._column[symptom]] <= _SEEN)

    def shift(self, changes: Sequence[Change]) -> Floats:
        """Weighted mean membership after − before in each draw of the later run, shape (draws,); empty without
        symptoms. What was seen before is a fact: single spikes would not survive being drawn anew.
        """
        if not changes:
            return np.empty(0)
        weights = np.array([change.decibans for change in changes])
        moved = [self.draws(change.symptom)[1] - change.before for change in changes]
        return np.asarray(weights @ np.array(moved) / weights.sum())


def _finding(diagnosis: RunDiagnosis, cause: str | None) -> CauseFinding | None:
    if cause is None:
        return diagnosis.top
    return next((c for c in diagnosis.causes if c.id == cause and c.probability is not None), None)


def _nothing(diagnosis: RunDiagnosis, cause: str | None) -> str:
    if cause is not None:
        return f"'{cause}' cannot be assessed in the run before the fix"
    return f"nothing was found before the fix, so there is nothing to verify: {diagnosis.verdict_reason}"


def _changes(finding: CauseFinding, diagnosis: RunDiagnosis, measured: _Measured) -> tuple[Change, ...]:
    """The symptoms that spoke for the cause, the primary one first, then by weight; settings only if nothing else."""
    speaking = [e for e in finding.evidence if not e.missing and e.decibans > 0 and measured.pair(e.symptom)[0] > _SEEN]
    shown = [e for e in speaking if e.symptom not in measured.user_set] or speaking
    primary = diagnosis.primary_symptom.id if diagnosis.primary_symptom else None
    first = primary if primary in {e.symptom for e in shown} else (shown[0].symptom if shown else None)
    ordered = sorted(shown, key=lambda e: (e.symptom != first, -e.decibans, e.symptom))
    return tuple(_change(e, measured, primary=e.symptom == first) for e in ordered)


def _change(evidence: Evidence, measured: _Measured, *, primary: bool) -> Change:
    before, after = measured.pair(evidence.symptom)
    early, late = (_range(draws) for draws in measured.draws(evidence.symptom))
    feature = evidence.measurement.feature if evidence.measurement else None
    return Change(evidence.symptom, evidence.title, evidence.decibans, before, early, after, late, primary, feature)


def _range(draws: Floats) -> tuple[float, float]:
    low, high = np.percentile(draws, [_LOW, _HIGH])
    return float(low), float(high)


def _changes_reward(knob: str) -> bool:
    """Whether turning the knob changes the unit of the return, so that before and after cannot be compared."""
    return "reward" in knob


def _expected(finding: CauseFinding) -> tuple[Expectation, ...]:
    return finding.remedies[0].expect if finding.remedies else ()


def _promise(expected: Expectation, book: Book, after: Run) -> Promise:
    """The promised feature in the run after the fix; `within_steps` count from where that run begins."""
    feature, direction, target, within = expected
    value, _ = extract(after, Plan.build([feature], book.windows)).get(_canonical(feature, book))
    if value is None:
        return Promise(feature, direction, target, within, None, None)
    kept = value >= target if direction == "rises_to" else value <= target
    ends = [series.step[-1] - series.step[0] for series in after.series.values() if len(series)]
    early = within is not None and max(ends, default=0.0) < within
    return Promise(feature, direction, target, within, value, None if early and not kept else bool(kept))


def _canonical(feature: str, book: Book) -> str:
    return Plan.build([feature], book.windows).refs[0].text


def _other(diagnosis: RunDiagnosis, cause: str) -> str | None:
    """What is wrong after the fix besides the cause, in words; None where nothing is."""
    top = diagnosis.top
    if top is None or top.id == cause or top.probability is None:
        return None
    return f"{top.title} ({top.probability:.0%})"
