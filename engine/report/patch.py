"""The first remedy as a small script: code for Python, or options to put behind a command."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..diagnosis.numbers import percent
from .text import clean
from .words import knob_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..diagnosis.model import CauseFinding, Diagnosis, RemedyPlan, RunDiagnosis

__all__ = ["HEADER", "to_script"]

HEADER = "# rl-diagnose patch"
# `--name …` as most programs take it, `some.name=…` as Hydra does; Python code has spaces around its `=`.
_OPTION = re.compile(r"(--[A-Za-z]|[A-Za-z_][\w.]*=[^=\s])")


def to_script(diagnosis: Diagnosis) -> tuple[str | None, str]:
    """The script for the most probable finding of all runs, and a sentence that says what it is for.

    It holds the first remedy with code; (None, why not) where there is no finding or no code. Everything but the code
    itself is commented out.
    """
    found = [(run, run.top) for run in diagnosis.runs if run.top is not None]
    if not found:
        return None, "no run has a finding, so there is nothing to change"
    run, cause = max(found, key=lambda pair: pair[1].probability or 0.0)
    plan = next((plan for plan in cause.remedies if plan.after is not None), None)
    if plan is None:
        words = "; ".join(knob_words(one) for one in cause.remedies)
        return None, f"no code is known for '{cause.title}'" + (f": {words}" if words else "")
    return "\n".join(_lines(run, cause, plan)) + "\n", f"{plan.summary}, against '{cause.title}' in {clean(run.id)}"


def _lines(run: RunDiagnosis, cause: CauseFinding, plan: RemedyPlan) -> Iterator[str]:
    after = _code(plan.after or "")
    options = all(_OPTION.match(line) for line in after)
    yield HEADER
    yield from _comment(
        f"Run: {run.path}",
        f"Finding: {cause.title} ({percent(cause.probability or 0.0)}), rulebook {cause.book}",
        f"Remedy: {plan.summary}",
        knob_words(plan),
        *([f"That is: {plan.relative}"] if plan.relative and plan.proposed is not None else []),
        *([f"Limited: {plan.clamped}"] if plan.clamped else []),
        *([f"Note: {plan.note}"] if plan.note else []),
        *(f"Expected: {promise}" for promise in plan.expected),
    )
    yield "#"
    if options:
        yield from _comment("Use: sh THIS_FILE COMMAND...  starts the command with these options behind its own.")
    else:
        yield from _comment("Use: put it where your script has made or loaded what it names.")
        yield from _comment("Dots (...) are your other arguments; names in capitals are for you to fill in.")
    yield from _comment("Check: rl-diagnose verify BEFORE AFTER  compares the logs from before and after the change.")
    if plan.before is not None:
        yield from ("", "# before")
        yield from (f"# {line}" for line in _code(plan.before))
    yield from ("", "# after")
    if options:
        yield f'exec "$@" {" ".join(_shell(line) for line in after)}'
    else:
        yield from after


def _comment(*texts: str) -> Iterable[str]:
    """Each text as one comment line: `clean` leaves no line break that could end the comment."""
    return [f"# {clean(text)}" for text in texts]


def _code(text: str) -> list[str]:
    """The lines of a rulebook's code, each without control characters; indentation stays."""
    return [line[: len(line) - len(line.lstrip(" "))] + clean(line.lstrip(" ")) for line in text.split("\n")]


def _shell(line: str) -> str:
    """Options without the remark behind them."""
    return line.partition("  # ")[0]
