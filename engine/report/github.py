"""A diagnosis as workflow commands of GitHub Actions: each becomes an annotation of the check.

The syntax and what has to be escaped: GitHub's "Workflow commands for GitHub Actions" and `actions/toolkit`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .outcome import counted, headline, message, outcome, place
from .text import clean, path_from_here
from .words import severity, summary

if TYPE_CHECKING:
    from ..diagnosis.model import Diagnosis, RunDiagnosis

__all__ = ["to_annotations"]

_LEVELS = {"failed": "error", "unreadable": "error", "found": "warning", "cannot_tell": "notice"}


def to_annotations(diagnosis: Diagnosis, fail_at: float | None = None) -> str:
    """A line for each run but the ones with nothing found, worst first (GitHub shows ten of each level), then totals.

    A cause at or above `fail_at` and a run that cannot be read are errors, other findings warnings.
    """
    runs = sorted(diagnosis.runs, key=severity)
    lines = [_line(run, fail_at) for run in runs if outcome(run, fail_at) != "passed"]
    return "".join(f"{line}\n" for line in [*lines, clean(summary(diagnosis))])


def _line(run: RunDiagnosis, fail_at: float | None) -> str:
    cause = counted(run, fail_at)
    title = headline(run, cause) if cause is not None else clean(f"{run.id}: {run.verdict.replace('_', ' ')}")
    file = clean(path_from_here(place(run)).as_posix())
    level = _LEVELS[outcome(run, fail_at)]
    return f"::{level} file={_property(file)},title={_property(title)}::{_data(message(run, cause))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
