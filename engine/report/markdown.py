"""The Markdown report: primary symptom, root causes, recommended action, expected impact, what was not checked."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..diagnosis.numbers import exact, number, percent, share, steps
from . import words
from .text import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..diagnosis.model import CauseFinding, Diagnosis, RemedyPlan, RunDiagnosis, SymptomFinding

__all__ = ["HEADER", "code", "escape", "fence", "table", "to_markdown"]

HEADER = "# rl-diagnose report"
# Above this many runs only those with a finding get a section; the table names them all.
FULL_SECTIONS = 20
EVIDENCE_CAUSES = 3
# A cause this probable could be the true one; its ledger is worth reading too.
CLOSE = 0.2
# Lighter lines, in decibans, change no probability that anyone would notice.
SMALLEST_WEIGHT = 0.05

_SPECIAL = re.compile(r"[\\`*\[\]<>|~#&!$]|(?<!\w)_|_(?!\w)")
_LIST_START = re.compile(r"^(\d+)([.)])|^([-+=])")


def escape(text: str) -> str:
    """`text` as inert Markdown on one line: no markup, no HTML, no table cell break."""
    inert = _SPECIAL.sub(lambda m: "\\" + m.group(), clean(text))
    return _LIST_START.sub(lambda m: f"{m[1]}\\{m[2]}" if m[1] else f"\\{m[3]}", inert)


def code(text: str) -> str:
    """`text` as a code span, whatever backticks it holds."""
    inert = clean(text).replace("|", "¦") or " "
    fence = "`" * (max((len(run) for run in re.findall("`+", inert)), default=0) + 1)
    pad = " " if inert.startswith("`") or inert.endswith("`") else ""
    return f"{fence}{pad}{inert}{pad}{fence}"


def to_markdown(diagnosis: Diagnosis) -> str:
    """The whole report; one section a run, preceded by a table when there are several."""
    runs = sorted(diagnosis.runs, key=words.severity)
    lines = [HEADER, "", f"- Created: {diagnosis.created}", f"- Path: {code(diagnosis.path)}"]
    lines += [f"- Rulebooks: {escape(words.book_words(diagnosis.rulebooks))}"] if diagnosis.rulebooks else []
    lines += [f"- {words.suppressed_words(diagnosis)} (see Remarks)"] if diagnosis.suppressed else []
    lines += [f"- {escape(note)}" for note in diagnosis.notes]
    lines.append("")
    if len(runs) > 1:
        lines += _overview(diagnosis, runs)
    detailed = runs if len(runs) <= FULL_SECTIONS else [r for r in runs if r.verdict == "finding"]
    for run in detailed:
        lines += _run(run)
    return "\n".join(lines).rstrip() + "\n"


def _overview(diagnosis: Diagnosis, runs: Sequence[RunDiagnosis]) -> list[str]:
    from .table import COLUMNS, row

    lines = ["## All runs", "", escape(words.summary(diagnosis)) + ".", ""]
    counts = words.cause_counts(runs)
    if counts:
        lines += table(("Runs", "Cause"), [(str(n), escape(title)) for title, n in counts])
    lines += _section(words.ASSOCIATIONS, (words.association_words(one) for one in diagnosis.associations))
    lines += table(COLUMNS, [tuple(escape(cell) for cell in row(run)) for run in runs])
    if len(runs) > FULL_SECTIONS:
        lines += ["Sections follow for the runs with a finding.", ""]
    return lines


def _run(run: RunDiagnosis) -> list[str]:
    lines = [f"## {words.VERDICTS[run.verdict]}: {escape(run.id)}", "", f"**{escape(run.verdict_reason)}**", ""]
    lines += [f"- Path: {code(run.path)}"]
    known = words.facts(run)
    lines += [f"- {escape(' · '.join(known))}"] if known else []
    lines += [f"- Rulebooks: {escape(words.book_words(run.rulebooks))}"] if run.rulebooks else []
    lines.append("")
    if run.primary_symptom is not None:
        lines += _primary(run.primary_symptom, run)
    causes = words.main_causes(run)
    if causes:
        lines += _root_causes(run, causes)
    if run.top is not None:
        lines += _action(run.top)
    if run.verdict == "nothing_found":
        lines += _section("Checked, but below 50 %", words.checked_titles(run))
    lines += _section("Remarks", run.remarks)
    lines += _section("What was not checked", [words.gap_words(gap) for gap in run.not_checked])
    lines += _section("The log itself", [words.issue_words(issue) for issue in run.log_issues])
    return lines


def _primary(symptom: SymptomFinding, run: RunDiagnosis) -> list[str]:
    lines = ["### Detected primary symptom", "", f"**{escape(symptom.title)}**", ""]
    if symptom.onset_step is not None:
        until = f" (until {steps(symptom.end_step)})" if symptom.end_step is not None else ""
        lines.append(f"- Onset: {words.axis_words(run)[:-1]} {steps(symptom.onset_step)}{until}")
    if symptom.value is not None:
        lines.append(f"- Value: {number(symptom.value)}" + (f" ({code(symptom.signal)})" if symptom.signal else ""))
    if symptom.max_value is not None:
        lines.append(f"- Theoretical maximum: {number(symptom.max_value, 4)}")
    if symptom.ratio is not None:
        lines.append(f"- Ratio: {number(symptom.ratio)}")
    return [*lines, f"- Confidence: {percent(symptom.membership)}", f"- {escape(symptom.statement)}", ""]


def _root_causes(run: RunDiagnosis, causes: Sequence[CauseFinding]) -> list[str]:
    lines = ["### Root-cause analysis", ""]
    lines += table(
        ("Probability", "Cause", "Kind", "Evidence available"),
        [(percent(c.probability or 0.0), escape(c.title), _kind(c), share(c.coverage)) for c in causes],
    )
    hidden = words.hidden_causes(run)
    lines += [f"{hidden} less probable causes are left out.", ""] if hidden else []
    lines += [f"Probabilities: {escape(words.calibration_words(run))}.", ""]
    close = [c for c in causes if (c.probability or 0.0) >= CLOSE][:EVIDENCE_CAUSES]
    for cause in close or causes[:1]:
        lines += [f"#### Evidence on: {escape(cause.title)}", ""]
        lines += table(
            ("Weight", "Sign", "What the log shows"),
            [
                ("missing" if e.missing else f"{e.decibans:+.1f} dB", escape(words.sign_words(e)), escape(e.statement))
                for e in cause.evidence
                if e.missing or abs(e.decibans) >= SMALLEST_WEIGHT
            ],
        )
        lines += [escape(words.prior_words(cause)) + ".", ""]
        lines += [f"To tell it apart: {escape(cause.tell_apart)}", ""] if cause.tell_apart else []
        lines += [f"References: {'; '.join(escape(r) for r in cause.references)}", ""] if cause.references else []
    return lines


def _kind(cause: CauseFinding) -> str:
    marks = ("experimental" if cause.experimental else "", "suppressed" if cause.suppressed else "")
    return ", ".join((cause.kind, *(mark for mark in marks if mark)))


def _action(cause: CauseFinding) -> list[str]:
    lines = ["### Recommended action", ""]
    if not cause.remedies:
        lines += ["The rulebook names no knob for this cause.", ""]
    for i, plan in enumerate(cause.remedies):
        lines += _plan(plan, alternative=i > 0)
    promises = [promise for plan in cause.remedies[:1] for promise in plan.expected]
    return lines + _section("Expected impact", promises)


def _plan(plan: RemedyPlan, *, alternative: bool) -> list[str]:
    lines = [f"{'Alternatively: ' if alternative else ''}**{escape(plan.summary)}**", ""]
    lines += [f"- {escape(words.knob_words(plan))}"]
    lines += [f"- {escape(name)} = {exact(value, 4)}" for name, value in plan.values]
    lines += [f"- {escape(text)}" for text in (plan.clamped, plan.note) if text]
    lines.append("")
    for name, source in (("Before", plan.before), ("After", plan.after)):
        if source:
            lines += [f"{name}:", "", *fence(source), ""]
    return lines


def fence(source: str) -> list[str]:
    """`source` as a block of code, whatever fences it holds."""
    mark = "`" * max(3, max((len(run) for run in re.findall("`+", source)), default=0) + 1)
    return [f"{mark}python", *(_code_line(line) for line in source.rstrip().splitlines()), mark]


def _code_line(line: str) -> str:
    body = line.lstrip(" ")
    return " " * (len(line) - len(body)) + clean(body)


def _section(title: str, lines: Iterable[str]) -> list[str]:
    items = [f"- {escape(line)}" for line in lines]
    return [f"### {title}", "", *items, ""] if items else []


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table of cells that are Markdown already, and the empty line after it."""
    body = [f"| {' | '.join(cells)} |" for cells in rows]
    return [f"| {' | '.join(head)} |", "|" + "---|" * len(head), *body, ""]
