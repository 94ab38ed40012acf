"""Problems of rulebooks as text for people and as JSON for programs (for code scanners: `problems_sarif.py`)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.text import Text

from ..diagnosis.numbers import count
from .text import ascii_only, clean, encodable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..rules.problems import Problem

__all__ = ["SCHEMA", "CheckedBook", "problem_document", "problems_text", "to_json", "totals", "verdict_words"]

SCHEMA = "rl-diagnose/rules-check/v1"
_STYLES = {"error": "bold red", "warning": "yellow"}


@dataclass(frozen=True, slots=True)
class CheckedBook:
    """A book as it was asked for, and what the check said about it."""

    reference: str
    problems: tuple[Problem, ...]


def problems_text(problems: Sequence[Problem], *, ascii_only_output: bool = False) -> Text:
    """The problems one below the other, each with its source line and a caret; nothing in them is read as markup."""
    text = Text()
    for problem in problems:
        head, *rest = problem.render().split("\n")
        start, mark, message = head.partition(f": {problem.severity}[{problem.code}]: ")
        text.append(_safe(start, ascii_only_output)).append(mark, _STYLES[problem.severity])
        text.append(_safe(message, ascii_only_output)).append("\n")
        for line in rest:
            indent = line[: len(line) - len(line.lstrip(" "))]
            style = "cyan" if line.startswith("  help:") else "dim"
            text.append(indent + _safe(line.lstrip(" "), ascii_only_output), style).append("\n")
        text.append("\n")
    return text


def totals(books: Sequence[CheckedBook]) -> tuple[int, int]:
    """How many errors and warnings there are in all."""
    found = [problem.severity for book in books for problem in book.problems]
    return found.count("error"), found.count("warning")


def verdict_words(book: CheckedBook) -> str:
    """One line on a book: how many errors and warnings, or that there is nothing to report."""
    errors, warnings = totals([book])
    parts = [count(n, word) for n, word in ((errors, "error"), (warnings, "warning")) if n]
    return f"{book.reference}: {', '.join(parts) or 'nothing to report'}"


def problem_document(problem: Problem) -> dict[str, Any]:
    """A problem with null for what it does not have; line and column count from 1."""
    return {
        "code": problem.code,
        "severity": problem.severity,
        "message": problem.message,
        "file": problem.file,
        "line": problem.line or None,
        "column": problem.column or None,
        "snippet": problem.snippet or None,
        "hint": problem.hint,
    }


def to_json(books: Sequence[CheckedBook]) -> str:
    """All books with their problems as indented JSON with a final newline."""
    errors, warnings = totals(books)
    document = {
        "schema": SCHEMA,
        "errors": errors,
        "warnings": warnings,
        "books": [{"book": b.reference, "problems": [problem_document(p) for p in b.problems]} for b in books],
    }
    text = json.dumps(document, indent=2, ensure_ascii=False)
    # A file name may hold bytes that are not text; JSON cannot carry them.
    return encodable(text) + "\n"


def _safe(text: str, ascii_only_output: bool) -> str:
    return ascii_only(clean(text)) if ascii_only_output else clean(text)
