"""A diagnosis as a self-contained, escaped HTML fragment: what a notebook shows."""

from __future__ import annotations

from html import escape as _escape
from typing import TYPE_CHECKING

import numpy as np

from ..diagnosis.numbers import number, percent
from . import words
from .table import COLUMNS, row
from .text import clean

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..diagnosis.model import CauseFinding, Curve, Diagnosis, RemedyPlan, RunDiagnosis

__all__ = ["to_html"]

# Above this many runs a notebook shows the first lines of the table only.
TABLE_ROWS = 50
PLOT = (280, 42)

_COLOURS = {"finding": "#c0392b", "nothing_found": "#1e8449", "cannot_tell": "#b7950b", "unreadable": "#7d3c98"}


def to_html(diagnosis: Diagnosis) -> str:
    """One ``<div>`` without scripts, style sheets or links to anywhere."""
    runs = sorted(diagnosis.runs, key=words.severity)
    body = _run(runs[0]) if len(runs) == 1 else _table(diagnosis, runs)
    said = [words.suppressed_words(diagnosis)] if diagnosis.suppressed and len(runs) == 1 else []
    notes = "".join(f"<p>{_t(note)}</p>" for note in (*said, *diagnosis.notes))
    books = (
        f'<p style="opacity:.6">Rulebooks: {_t(words.book_words(diagnosis.rulebooks))}</p>'
        if diagnosis.rulebooks
        else ""
    )
    return f'<div class="rl-diagnose">{body}{notes}{books}</div>'


def _t(text: str) -> str:
    return _escape(clean(text))


def _run(run: RunDiagnosis) -> str:
    colour = _COLOURS[run.verdict]
    head = (
        f'<div style="border-left:4px solid {colour};padding-left:10px">'
        f'<b style="color:{colour}">{words.VERDICTS[run.verdict]}</b>: <b>{_t(run.verdict_reason)}</b>'
        f'<br><span style="opacity:.7">{_t(" · ".join([run.path, *words.facts(run)]))}</span></div>'
    )
    parts = [head]
    if run.primary_symptom is not None:
        symptom = run.primary_symptom
        sure = _t(percent(symptom.membership))
        parts.append(f"<p><b>First symptom</b> ({sure} sure): {_t(f'{symptom.title}. {symptom.statement}')}</p>")
    plots = "".join(_plot(curve) for curve in run.curves)
    parts.append(f'<div style="display:flex;flex-wrap:wrap;gap:12px">{plots}</div>' if plots else "")
    causes = words.main_causes(run)
    if causes:
        rows = "".join(f"<tr><td>{_bar(c.probability or 0.0)}</td><td>{_t(_cause(c))}</td></tr>" for c in causes)
        parts.append(f"<table>{rows}</table><p>Probabilities: {_t(words.calibration_words(run))}</p>")
    if run.top is not None:
        evidence = [
            f"{e.decibans:+.1f} dB {words.sign_words(e)}: {e.statement}" for e in run.top.evidence if not e.missing
        ]
        parts.append(_details("Evidence", evidence))
        parts += [_plan(plan) for plan in run.top.remedies[:1]]
    if run.verdict == "nothing_found":
        parts.append(_details("Checked, but below 50 %", words.checked_titles(run)))
    parts.append(_details("Remarks", run.remarks, opened=True))
    parts.append(_details("Could not be checked", [words.gap_words(gap) for gap in run.not_checked]))
    parts.append(_details("The log itself", [words.issue_words(issue) for issue in run.log_issues]))
    return "".join(parts)


def _cause(cause: CauseFinding) -> str:
    return f"{cause.title} (suppressed)" if cause.suppressed else cause.title


def _bar(probability: float) -> str:
    width = round(100 * probability)
    return (
        f'<span style="display:inline-block;width:100px;background:#ddd"><span style="display:inline-block;'
        f'width:{width}px;background:#c0392b">&nbsp;</span></span> {percent(probability).replace("<", "&lt;")}'
    )


def _plan(plan: RemedyPlan) -> str:
    code = "\n".join(
        f"{mark} {line}" for mark, text in (("-", plan.before), ("+", plan.after)) for line in (text or "").splitlines()
    )
    block = f"<pre>{_escape(code)}</pre>" if code else ""
    extra = " ".join(text for text in (plan.note, plan.clamped) if text)
    expect = "".join(f"<br>Expect: {_t(promise)}" for promise in plan.expected)
    return f"<p><b>Fix</b>: {_t(plan.summary)}<br>{_t(words.knob_words(plan))}<br>{_t(extra)}</p>{block}<p>{expect}</p>"


def _details(title: str, lines: Iterable[str], *, opened: bool = False) -> str:
    items = "".join(f"<li>{_t(line)}</li>" for line in lines)
    if not items:
        return ""
    return f"<details{' open' if opened else ''}><summary>{title}</summary><ul>{items}</ul></details>"


def _plot(curve: Curve) -> str:
    """The curve as an inline SVG line, the bad interval shaded."""
    finite = np.isfinite(curve.value)
    if not finite.any():
        return ""
    width, height = PLOT
    step, value = curve.step[finite], curve.value[finite]
    first, span = float(curve.step[0]), max(float(curve.step[-1] - curve.step[0]), 1e-12)
    low, high = float(value.min()), float(value.max())
    x = (step - first) / span * width
    y = height - 2 - (value - low) / max(high - low, 1e-12) * (height - 4)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
    shade = ""
    if curve.bad is not None:
        left, right = ((edge - first) / span * width for edge in curve.bad)
        box = f'x="{left:.1f}" y="0" width="{max(right - left, 1):.1f}" height="{height}"'
        shade = f'<rect {box} fill="#c0392b" opacity=".15"/>'
    return (
        f'<figure style="margin:0"><figcaption>{_t(curve.title)} '
        f'<span style="opacity:.6">{number(low)} … {number(high)}</span></figcaption>'
        f'<svg width="{width}" height="{height}" role="img">{shade}'
        f'<polyline points="{points}" fill="none" stroke="#2471a3" stroke-width="1.2"/></svg></figure>'
    )


def _table(diagnosis: Diagnosis, runs: list[RunDiagnosis]) -> str:
    head = "".join(f"<th>{name}</th>" for name in COLUMNS)
    body = "".join("<tr>" + "".join(f"<td>{_t(cell)}</td>" for cell in row(run)) + "</tr>" for run in runs[:TABLE_ROWS])
    hidden = len(runs) - TABLE_ROWS
    more = f"<p>and {hidden:,} more runs</p>" if hidden > 0 else ""
    return f"<p><b>{_t(words.summary(diagnosis))}</b></p><table><tr>{head}</tr>{body}</table>{more}"
