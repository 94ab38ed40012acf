"""A diagnosis as JUnit XML: one test case a run, so that a build server shows which runs of an experiment failed."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from .outcome import counted, headline, outcome, place, sentences
from .text import clean

if TYPE_CHECKING:
    from ..diagnosis.model import Diagnosis, RunDiagnosis
    from .outcome import Outcome

__all__ = ["to_junit"]

_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<!-- rl-diagnose report'


def to_junit(diagnosis: Diagnosis, fail_at: float | None = None) -> str:
    """JUnit XML with a final newline.

    A cause at or above `fail_at` (without it: any finding) is a failure, a run that cannot be read an error, one that
    nothing can be told of a skipped test with the reason.
    """
    outcomes = [_outcome(run, fail_at) for run in diagnosis.runs]
    counts = (
        f'tests="{len(outcomes)}" failures="{outcomes.count("failed")}" errors="{outcomes.count("unreadable")}" '
        f'skipped="{outcomes.count("cannot_tell")}"'
    )
    cases = "".join(_case(run, fail_at) for run in diagnosis.runs)
    suite = f'<testsuite name="rl-diagnose" {counts}>\n{cases}</testsuite>'
    return f"{_HEAD}, {clean(diagnosis.created)} -->\n<testsuites>\n{suite}\n</testsuites>\n"


def _outcome(run: RunDiagnosis, fail_at: float | None) -> Outcome:
    kind = outcome(run, fail_at)
    return "failed" if kind == "found" and fail_at is None else kind


def _case(run: RunDiagnosis, fail_at: float | None) -> str:
    cause = counted(run, fail_at)
    kind = _outcome(run, fail_at)
    classname = ".".join(part for part in ("rl-diagnose", run.framework, run.algorithm) if part)
    head = f"<testcase classname={quoteattr(clean(classname))} name={quoteattr(clean(run.id))}"
    head += f" file={quoteattr(clean(place(run)))}"
    message = quoteattr(headline(run, cause))
    lines = sentences(run, cause)
    if kind == "failed" and cause is not None:
        told = escape("\n".join(lines))
        return f"{head}><failure type={quoteattr(clean(cause.id))} message={message}>{told}</failure></testcase>\n"
    if kind == "unreadable":
        return f"{head}><error message={message}/></testcase>\n"
    if kind == "cannot_tell":
        return f"{head}><skipped message={message}/></testcase>\n"
    told = escape("\n".join([headline(run, cause), *lines]))
    return f"{head}><system-out>{told}</system-out></testcase>\n"
