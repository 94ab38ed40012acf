"""What a run counts as where a build passes or fails on it, and the few sentences said about it there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ..diagnosis.numbers import percent
from . import words
from .text import clean

if TYPE_CHECKING:
    from ..diagnosis.model import CauseFinding, RunDiagnosis

__all__ = ["Outcome", "counted", "headline", "message", "outcome", "place", "sentences"]

Outcome = Literal["failed", "found", "passed", "cannot_tell", "unreadable"]


def counted(run: RunDiagnosis, fail_at: float | None) -> CauseFinding | None:
    """The cause that the run is reported for: that of its verdict, or the most probable one at or above `fail_at`."""
    if run.top is not None or fail_at is None or not run.findings:
        return run.top
    first = run.findings[0]
    return first if (first.probability or 0.0) >= fail_at else None


def outcome(run: RunDiagnosis, fail_at: float | None) -> Outcome:
    """``failed``: a cause reaches `fail_at`; ``found``: a finding that does not, or there is no `fail_at`."""
    cause = counted(run, fail_at)
    if cause is not None:
        return "failed" if fail_at is not None and (cause.probability or 0.0) >= fail_at else "found"
    if run.verdict == "cannot_tell" or run.verdict == "unreadable":
        return run.verdict
    return "passed"


def place(run: RunDiagnosis) -> str:
    """The file that a finding is pinned to: the first log file that was read, or the path of the run."""
    return run.files[0] if run.files else run.path


def headline(run: RunDiagnosis, cause: CauseFinding | None) -> str:
    """One line: the cause with its probability, or the reason of the verdict."""
    if cause is None:
        return clean(run.verdict_reason)
    return clean(f"{cause.title} ({percent(cause.probability or 0.0)})")


def message(run: RunDiagnosis, cause: CauseFinding | None) -> str:
    """The run, its `headline` and its `sentences`, a line each."""
    return "\n".join([f"{clean(run.id)}: {headline(run, cause)}", *sentences(run, cause)])


def sentences(run: RunDiagnosis, cause: CauseFinding | None) -> list[str]:
    """First symptom, evidence for the cause, the first remedy; for a run without a cause, what could not be checked."""
    if cause is None:
        return [clean(words.gap_words(gap)) for gap in run.not_checked]
    lines = []
    if run.primary_symptom is not None:
        lines.append(f"First symptom: {run.primary_symptom.title}. {run.primary_symptom.statement}")
    lines += [
        f"{line.decibans:+.1f} dB {words.sign_words(line)}: {line.statement}"
        for line in cause.evidence
        if not line.missing
    ]
    for plan in cause.remedies[:1]:
        lines += [f"Fix: {plan.summary}", words.knob_words(plan), *(f"Expect: {promise}" for promise in plan.expected)]
    return [clean(line) for line in lines]
