"""Problems of rulebooks as SARIF."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..rules.problems import CODES
from . import sarif

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..rules.problems import Problem

__all__ = ["sarif_document", "to_sarif"]


def to_sarif(problems: Sequence[Problem]) -> str:
    """The log file as indented JSON with a final newline."""
    return sarif.to_text(sarif_document(problems))


def sarif_document(problems: Sequence[Problem]) -> dict[str, Any]:
    """A log with one run: a rule for each code that occurs, a result for each problem."""
    codes = sorted({problem.code for problem in problems})
    index = {code: i for i, code in enumerate(codes)}
    return sarif.document(
        [_rule(code) for code in codes], [_result(problem, index[problem.code]) for problem in problems]
    )


def _rule(code: str) -> dict[str, Any]:
    explained = CODES[code]
    return {
        "id": code,
        "shortDescription": {"text": explained.meaning},
        "help": {"text": explained.remedy},
        "defaultConfiguration": {"level": "error" if code < "RB100" else "warning"},
    }


def _result(problem: Problem, index: int) -> dict[str, Any]:
    place: dict[str, Any] = {}
    if problem.line:
        region: dict[str, Any] = {"startLine": problem.line, "startColumn": max(problem.column, 1)}
        if problem.snippet:
            region["snippet"] = {"text": problem.snippet}
        place["region"] = region
    hint = f"\n{problem.hint}" if problem.hint else ""
    return {
        "ruleId": problem.code,
        "ruleIndex": index,
        "level": problem.severity,
        "message": {"text": problem.message + hint},
        "locations": [sarif.location(problem.file, **place)],
    }
