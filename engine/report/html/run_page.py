"""One run in full: verdict, curves, causes with their ledger, what to do, and what was not checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...diagnosis.numbers import number, percent, share, steps
from .. import words
from .markup import code, details, items, section, table, text

if TYPE_CHECKING:
    from ...diagnosis.model import CauseFinding, Curve, RemedyPlan, RunDiagnosis, SymptomFinding

__all__ = ["run_section"]

# Lighter lines, in decibans, change no probability that anyone would notice.
_SMALLEST_WEIGHT = 0.05


def run_section(run: RunDiagnosis, key: str) -> str:
    """The section of `run`; `key` names it and its charts within the page."""
    known = text(" · ".join(words.facts(run)))
    head = (
        f'<p class="verdict {run.verdict}"><strong>{text(words.VERDICTS[run.verdict])}</strong> '
        f"{text(run.verdict_reason)}</p>\n<p class='facts'>{known}</p>\n"
    )
    parts = [
        head,
        section("First symptom", _primary(run, run.primary_symptom)),
        section("Curves", _curves(run, key)),
        section("Causes", _causes(run)),
        section("What to do", _actions(run)),
        section("Remarks", items(run.remarks)),
        section("What was not checked", items(words.gap_words(gap) for gap in run.not_checked)),
        section("The log itself", items(words.issue_words(issue) for issue in run.log_issues)),
        section("Rulebooks", items([words.book_words(run.rulebooks)] if run.rulebooks else [])),
    ]
    return f'<article id="{key}" class="run"><h2>{text(run.id)}</h2>\n{"".join(parts)}</article>\n'


def _primary(run: RunDiagnosis, symptom: SymptomFinding | None) -> str:
    if symptom is None:
        return ""
    when = ""
    if symptom.onset_step is not None:
        until = f" to {steps(symptom.end_step)}" if symptom.end_step is not None else ""
        when = f" from {words.axis_words(run)[:-1]} {steps(symptom.onset_step)}{until}"
    return f"<p><strong>{text(symptom.title)}</strong>{text(when)}.</p>\n<p>{text(symptom.statement)}</p>\n"


def _curves(run: RunDiagnosis, key: str) -> str:
    if not run.curves:
        return ""
    axis = words.axis_words(run)
    charts = "".join(_chart(curve, f"{key}-{i}", key, i, axis) for i, curve in enumerate(run.curves))
    hint = (
        "Drag to zoom, double-click to see all again; the red band is the bad interval, "
        "and rules speak of early, mid and late."
    )
    switch = ""
    if any(curve.iteration is not None for curve in run.curves):
        options = f'<option value="x">{text(axis)}</option><option value="i">iterations</option>'
        switch = f'<p class="tools"><label>Count <select class="axis" data-run="{key}">{options}</select></label></p>\n'
    return f'<p class="hint">{hint}</p>\n{switch}<div class="charts" data-run="{key}">{charts}</div>\n'


def _chart(curve: Curve, name: str, key: str, index: int, axis: str) -> str:
    title = f"{curve.title} ({curve.signal}{', ' + curve.unit if curve.unit else ''})"
    return (
        f'<figure><figcaption id="{name}-title">{text(title)}</figcaption>\n'
        f'<div class="tools"><label><input type="checkbox" class="log" data-chart="{name}"> log scale</label> '
        f'<button type="button" class="reset" data-chart="{name}">Whole run</button></div>\n'
        f'<div class="chart" id="{name}" role="img" aria-label="{text(_spoken(curve, axis))}" data-run="{key}" '
        f'data-index="{index}" data-axis="{text(axis)}"></div>\n<noscript>{_drawing(curve)}</noscript></figure>\n'
    )


def _spoken(curve: Curve, axis: str) -> str:
    """The curve in words, for those who cannot see it."""
    known = curve.value[np.isfinite(curve.value)]
    if not known.size:
        return f"{curve.title}: no finite value"
    bad = f"; bad {words.interval_words(curve.bad)}" if curve.bad else ""
    span = f"{number(float(known.min()))} to {number(float(known.max()))}, at the end {number(float(known[-1]))}"
    return f"{curve.title} over {axis}: {span}{bad}"


def _drawing(curve: Curve) -> str:
    """The curve as a plain line, where scripts do not run."""
    known = np.isfinite(curve.value)
    if known.sum() < 2:
        return ""
    x, y = curve.step[known], curve.value[known]
    across = (x - x[0]) / max(float(x[-1] - x[0]), 1e-12) * 600
    down = 116 - (y - y.min()) / max(float(np.ptp(y)), 1e-300) * 112
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(across, down, strict=True))
    return f'<svg viewBox="0 0 600 120" class="plain"><polyline points="{points}"/></svg>'


def _causes(run: RunDiagnosis) -> str:
    causes = words.main_causes(run, every=True)
    if not causes:
        return ""
    shown = {cause.id for cause in words.main_causes(run)}
    folded = "".join(_cause(run, cause, first=i == 0) for i, cause in enumerate(causes) if cause.id in shown)
    rest = "".join(_cause(run, cause) for cause in causes if cause.id not in shown)
    count = len(causes) - len(shown)
    more = details(f"{count} less probable causes", rest) if rest else ""
    return f"<p class='hint'>{text(words.calibration_words(run))}</p>\n{folded}{more}"


def _cause(run: RunDiagnosis, cause: CauseFinding, *, first: bool = False) -> str:
    probability = cause.probability or 0.0
    marks = [cause.kind if cause.kind != "fault" else "", "experimental" if cause.experimental else ""]
    marks += ["suppressed" if cause.suppressed else ""]
    mark = "".join(f' <span class="mark">{text(m)}</span>' for m in marks if m)
    meter = f'<span class="meter" aria-hidden="true"><span style="width:{100 * probability:.1f}%"></span></span>'
    summary = f"{meter}<span class='p'>{text(percent(probability))}</span> {text(cause.title)}{mark}"
    body = f"<p>{text(cause.description)}</p>\n" if cause.description else ""
    body += table(
        ("Weight", "Odds so far", "Sign", "What the log shows"),
        [
            (
                "missing" if e.missing else text(f"{e.decibans:+.1f} dB"),
                text(percent(e.running_probability)),
                text(words.sign_words(e)),
                text(e.statement),
            )
            for e in cause.evidence
            if e.missing or abs(e.decibans) >= _SMALLEST_WEIGHT
        ],
        caption=f"Evidence on: {cause.title} ({run.id})",
        kind="ledger",
    )
    body += f"<p>{text(words.prior_words(cause))}; evidence available: {text(share(cause.coverage))}.</p>\n"
    body += f"<p><em>To tell it apart:</em> {text(cause.tell_apart)}</p>\n" if cause.tell_apart else ""
    body += f"<p><em>References:</em> {text('; '.join(cause.references))}</p>\n" if cause.references else ""
    return details(summary, body, is_open=first)


def _actions(run: RunDiagnosis) -> str:
    if run.top is None:
        return ""
    if not run.top.remedies:
        return "<p>The rulebook names no knob for this cause.</p>\n"
    return "".join(_plan(plan, alternative=i > 0) for i, plan in enumerate(run.top.remedies))


def _plan(plan: RemedyPlan, *, alternative: bool) -> str:
    lines = [words.knob_words(plan), *(t for t in (plan.clamped, plan.note) if t), *plan.expected]
    body = f"<p><strong>{'Alternatively: ' if alternative else ''}{text(plan.summary)}</strong></p>\n{items(lines)}"
    for name, source in (("Before", plan.before), ("After", plan.after)):
        if source:
            copy = '<button type="button" class="copy">Copy</button>' if name == "After" else ""
            shown = f'<pre tabindex="0"><code>{code(source)}</code></pre>'
            body += f'<div class="code"><span>{name}</span>{copy}{shown}</div>\n'
    return f'<div class="plan">{body}</div>\n'
