"""Problems of rulebooks as SARIF 2.1.0, the format that code scanners and pull-request annotations read."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ..rules.problems import CODES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..rules.problems import Problem

__all__ = ["SCHEMA_URI", "sarif_document", "to_sarif"]

SCHEMA_URI = "https://json.schemastore.org/sarif-2.1.0.json"


def to_sarif(problems: Sequence[Problem]) -> str:
    """The log file as indented JSON with a final newline."""
    text = json.dumps(sarif_document(problems), indent=2, ensure_ascii=False)
    return text.encode("utf-8", "replace").decode("utf-8") + "\n"


def sarif_document(problems: Sequence[Problem]) -> dict[str, Any]:
    """A log with one run: a rule for each code that occurs, a result for each problem.

    Paths below the working folder are relative to it, as scanners of a repository want them; others are ``file:`` URIs.
    """
    codes = sorted({problem.code for problem in problems})
    index = {code: i for i, code in enumerate(codes)}
    driver = {"name": "rl-diagnose", "version": version("rl-diagnose"), "rules": [_rule(code) for code in codes]}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(problem, index[problem.code]) for problem in problems],
    }
    return {"$schema": SCHEMA_URI, "version": "2.1.0", "runs": [run]}


def _rule(code: str) -> dict[str, Any]:
    explained = CODES[code]
    return {
        "id": code,
        "shortDescription": {"text": explained.meaning},
        "help": {"text": explained.remedy},
        "defaultConfiguration": {"level": "error" if code < "RB100" else "warning"},
    }


def _result(problem: Problem, index: int) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": _uri(problem.file)}}
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
        "locations": [{"physicalLocation": place}],
    }


def _uri(file: str) -> str:
    path = Path(file).absolute()
    if path.is_relative_to(Path.cwd()):
        # Bytes of a file name that are no text stand as surrogates; a URI can carry the bytes.
        return quote(path.relative_to(Path.cwd()).as_posix(), errors="surrogateescape")
    return path.as_uri()
