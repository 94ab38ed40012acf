"""What the rulebooks say together about one run: causes merged, verdict, primary symptom, remedies, gaps, curves."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from ..features.derived import RunSignals
from ..signals.taxonomy import is_known_signal, signal
from .curves import display_curves, shown_signals
from .described import Describer
from .findings import cause_finding, symptom_finding
from .model import BookRef, RunDiagnosis
from .overturning import overturned_by, overturning_words
from .primary import choose
from .remedies import RemedyContext, plan_remedies
from .suppressing import suppress
from .values import settings
from .verdict import gaps, judge, remarks

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Mapping, Sequence

    from ..project import Suppression
    from ..rules.book import Book
    from ..signals.run import Run
    from .assess import Assessment
    from .model import CauseFinding, Curve, SymptomFinding
    from .overturning import Overturn

__all__ = ["conclude"]

# Nobody turns a knob for a cause that is less probable than this.
WORTH_A_REMEDY = 0.05
# Adapters of formats that any framework may have written: their name says nothing about whose code to show.
_NO_FRAMEWORK = {"console", "csv", "jsonl", "mlflow", "parquet", "tensorboard", "wandb", "", "unknown"}


def conclude(
    run: Run,
    row: int,
    assessments: Sequence[Assessment],
    suppressions: Sequence[Suppression] = (),
    *,
    today: dt.date,
) -> RunDiagnosis:
    """The diagnosis of `run`, which is number `row` of every assessment; `suppressions` count as of `today`."""
    signals = assessments[0].signals[row] if assessments else RunSignals(run)
    symptoms: dict[str, SymptomFinding] = {}
    by_book: dict[str, dict[str, SymptomFinding]] = {}
    causes: dict[str, tuple[CauseFinding, Assessment]] = {}
    for assessment in _by_precedence(assessments):
        own = by_book[assessment.book.sha256] = _symptoms(signals, row, assessment)
        for finding in _causes(signals, row, assessment, own):
            causes.setdefault(finding.id, (finding, assessment))
        for name, seen in own.items():
            symptoms.setdefault(name, seen)
    by_rank = sorted(causes.values(), key=lambda pair: _rank(pair[0]))
    books = [assessment.book for assessment in assessments]
    findings = suppress([finding for finding, _ in by_rank], run, books, suppressions, today)
    ranked = [(finding, assessment) for finding, (_, assessment) in zip(findings, by_rank, strict=True)]
    verdict, reason = judge(run, findings)
    primary = None
    doubts: list[Overturn] = []
    if verdict == "finding":
        top, assessment = next(pair for pair in ranked if _counts(pair[0]))
        primary = choose(assessment.book, top, run, by_book[assessment.book.sha256])
        doubts = overturned_by(assessment, row, top.id, by_book[assessment.book.sha256])
    wanted = {m.signal for seen in symptoms.values() for m in seen.measurements if m.signal}
    required = {name for finding in findings for name in finding.missing}
    named = any(assessment.book.applies_to.algorithm for assessment in assessments)
    available = signals.available(wanted | required | set(run.series))
    said = [overturning_words(doubts, symptoms, run)] if doubts else []
    said += remarks(run, verdict, findings, list(symptoms.values()), named_algorithm=named, used=wanted)
    return RunDiagnosis(
        id=run.id,
        path=run.path,
        verdict=verdict,
        verdict_reason=reason,
        framework=run.framework or None,
        framework_version=run.framework_version,
        algorithm=run.algorithm,
        env=run.env,
        x_axis=run.x_axis,
        last_step=run.last_step,
        points=run.points,
        action_space=run.action_space,
        primary_symptom=primary,
        symptoms=tuple(sorted(symptoms.values(), key=lambda s: (-s.membership, s.id))),
        causes=tuple(_with_remedies(finding, run, row, assessment) for finding, assessment in ranked),
        remarks=tuple(said),
        not_checked=gaps(run, findings, symptoms, available),
        log_issues=run.issues,
        unmapped=run.unmapped,
        curves=_curves(signals, primary),
        rulebooks=tuple(BookRef(a.book.id, a.book.version, a.book.sha256) for a in assessments),
        adapter=run.adapter,
        files=run.files,
        settings=settings(run),
        tracked=run.tracked,
    )


def _by_precedence(assessments: Sequence[Assessment]) -> list[Assessment]:
    """Books that extend others first, so that their version of a shared cause is the one that counts."""
    extended = {name for assessment in assessments for name in assessment.book.extends}
    return sorted(assessments, key=lambda assessment: _extended(assessment.book, extended))


def _extended(book: Book, extended: set[str]) -> bool:
    return any(name.partition("@")[0] == book.id for name in extended)


def _rank(finding: CauseFinding) -> tuple[bool, float, str]:
    return finding.probability is None, -(finding.probability or 0.0), finding.id


def _counts(finding: CauseFinding) -> bool:
    assessed = finding.kind == "fault" and finding.status == "assessed"
    return assessed and not finding.experimental and finding.suppressed is None


def _symptoms(signals: RunSignals, row: int, assessment: Assessment) -> dict[str, SymptomFinding]:
    describe = Describer(signals, assessment.book, assessment.abouts)
    numbers = assessment.measured.of_run(row, describe)
    memberships = assessment.found.mu[row].tolist()
    return {
        symptom.id: symptom_finding(symptom, numbers[symptom.id], membership, assessment.common)
        for symptom, membership in zip(assessment.book.symptoms, memberships, strict=True)
    }


def _causes(
    signals: RunSignals, row: int, assessment: Assessment, symptoms: Mapping[str, SymptomFinding]
) -> list[CauseFinding]:
    book, scores = assessment.book, assessment.scores
    available = signals.available({name for cause in book.causes for name in cause.requires})
    return [
        cause_finding(book, cause, scores, row, symptoms, [name for name in cause.requires if name not in available])
        for column, cause in enumerate(book.causes)
        if scores.applicable[row, column]
    ]


def _with_remedies(finding: CauseFinding, run: Run, row: int, assessment: Assessment) -> CauseFinding:
    """`finding` with its remedies worked out for this run."""
    spec = next(c for c in assessment.book.causes if c.id == finding.id)
    if not spec.remedies or finding.status != "assessed" or (finding.probability or 0.0) < WORTH_A_REMEDY:
        return finding

    def number(pair: tuple[object, object]) -> float | None:
        value = float(pair[0][row])  # type: ignore[index]
        return None if math.isnan(value) else value

    context = RemedyContext(
        config=assessment.numbers.configuration(row),
        evaluate=lambda text: number(assessment.numbers.expression(text)),
        feature=lambda name: number(assessment.numbers.feature(name)),
        framework=None if run.framework in _NO_FRAMEWORK else run.framework,
        axis=run.x_axis.replace("_", " "),
        knobs=assessment.book.knobs,
        algorithm=run.algorithm,
        action_space=None if run.action_space.kind == "unknown" else run.action_space.kind,
    )
    return replace(finding, remedies=plan_remedies(spec, context))


def _shown(name: str, names: Sequence[str]) -> bool:
    """Whether a signal, or what it is computed from, is among the curves."""
    sources = signal(name).sources if is_known_signal(name) else ()
    return name in names or any(source in names for source in sources)


def _curves(signals: RunSignals, primary: SymptomFinding | None) -> tuple[Curve, ...]:
    names = shown_signals(signals.run)
    if primary is not None and primary.signal is not None and not _shown(primary.signal, names):
        names.append(primary.signal)
    bad = None
    if primary is not None and primary.onset_step is not None and primary.end_step is not None:
        bad = (primary.onset_step, primary.end_step)
    series = [signals.get(name) for name in names]
    return display_curves([one for one in series if one is not None], bad)
