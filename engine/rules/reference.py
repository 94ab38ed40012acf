"""The list of problem codes as Markdown, made from `problems.CODES`; `docs/rulebook-errors.md` is this text.

`python -m rl_diagnose.rules.reference` prints it.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from .problems import CODES

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["errors_markdown"]


def errors_markdown() -> str:
    """The whole page: a table of errors and one of warnings."""
    lines = [
        "# Problems of a rulebook",
        "",
        "A problem shows the file, line and column, the line itself, and the way out. All problems are shown at once.",
        "Codes are stable: a code never changes its meaning. Made from `engine/rules/problems.py`; a test holds this",
        "page to it. The format is described in [rulebook-format.md](rulebook-format.md).",
        "",
        "## Errors",
        "",
        "The book cannot be used (exit code 3).",
        "",
        *_table(lambda code: code < "RB100"),
        "",
        "## Warnings",
        "",
        "The book works; the check of a rulebook finds something odd in it.",
        "",
        *_table(lambda code: code >= "RB100"),
    ]
    return "\n".join(lines) + "\n"


def _table(wanted: Callable[[str], bool]) -> list[str]:
    rows = [f"| `{code}` | {e.meaning} | {e.remedy} |" for code, e in CODES.items() if wanted(code)]
    return ["| code | meaning | what to do |", "|---|---|---|", *rows]


if __name__ == "__main__":
    sys.stdout.write(errors_markdown())
