"""Findings as SARIF: a rule for each cause that was found, a result for each run in which it was."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any

from . import sarif
from .outcome import counted, headline, message, outcome, place
from .text import clean

if TYPE_CHECKING:
    from ..diagnosis.model import CauseFinding, Diagnosis, RunDiagnosis

__all__ = ["to_sarif"]


def to_sarif(diagnosis: Diagnosis, fail_at: float | None = None) -> str:
    """The log file as indented JSON. A cause at or above `fail_at` is an error, another finding a warning.

    Runs that cannot be read are notifications of the tool; runs that nothing can be told of leave no trace: a scanner
    shows what is wrong, not what is unknown.
    """
    found = [(run, cause) for run in diagnosis.runs if (cause := counted(run, fail_at)) is not None]
    rules = {_name(cause): _rule(cause) for _, cause in found}
    index = {name: i for i, name in enumerate(rules)}
    results = [_result(run, cause, index, fail_at) for run, cause in found]
    unreadable = [_notification(run) for run in diagnosis.runs if run.verdict == "unreadable"]
    invocation = {"executionSuccessful": True, "toolExecutionNotifications": unreadable}
    return sarif.to_text(sarif.document(list(rules.values()), results, {"invocations": [invocation]}))


def _name(cause: CauseFinding) -> str:
    return f"{cause.book}/{cause.id}"


def _rule(cause: CauseFinding) -> dict[str, Any]:
    return {
        "id": _name(cause),
        "shortDescription": {"text": clean(cause.title)},
        "help": {"text": clean(cause.tell_apart or cause.description or cause.title)},
        "defaultConfiguration": {"level": "warning"},
    }


def _result(run: RunDiagnosis, cause: CauseFinding, index: dict[str, int], fail_at: float | None) -> dict[str, Any]:
    print_of = sha256(f"{run.id}\0{_name(cause)}".encode("utf-8", "surrogatepass")).hexdigest()
    return {
        "ruleId": _name(cause),
        "ruleIndex": index[_name(cause)],
        "level": "error" if outcome(run, fail_at) == "failed" else "warning",
        "message": {"text": message(run, cause)},
        "locations": [sarif.location(place(run))],
        # The same cause in the same run is the same alert, however its numbers move.
        "partialFingerprints": {"runAndCause/v1": print_of},
        "rank": round(100 * (cause.probability or 0.0), 1),
    }


def _notification(run: RunDiagnosis) -> dict[str, Any]:
    return {
        "level": "error",
        "message": {"text": f"{clean(run.id)}: {headline(run, None)}"},
        "locations": [sarif.location(place(run))],
    }
