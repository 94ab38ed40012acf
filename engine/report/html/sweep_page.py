"""Many runs at a glance: how many of each verdict, which causes, and a table that can be sorted."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from ...diagnosis.numbers import percent, steps
from ...diagnosis.sweep import causes_of, cross_table
from .. import words
from .markup import items, section, table, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...diagnosis.model import Diagnosis, RunDiagnosis

__all__ = ["sweep_section"]

_WIDTH, _HEIGHT = 160, 28
MOST_CAUSES, MOST_TABLES = 6, 8


def sweep_section(diagnosis: Diagnosis, runs: Sequence[RunDiagnosis], linked: set[str]) -> str:
    """All `runs`, the worst first; those in `linked` have a section of their own further down the page."""
    counts = words.cause_counts(runs)
    causes = table(("Runs", "Cause"), [(str(n), text(title)) for title, n in counts], caption="Causes over all runs")
    keys = {run.id: f"run{i}" for i, run in enumerate(run for run in runs if run.id in linked)}
    rows = [_row(run, keys.get(run.id)) for run in runs]
    every = table(
        ("Run", "Verdict", "Probability", "Cause or reason", "Since", "Return"), rows,
        caption="All runs; a click on a column's name sorts by it", kind="sortable",
    )  # fmt: skip
    notes = "".join(f"<p>{text(note)}</p>\n" for note in diagnosis.notes)
    body = f"<p>{text(words.summary(diagnosis))}.</p>\n{notes}" + (causes if counts else "") + every
    return section("All runs", body, level=2) + _associations(diagnosis)


def _associations(diagnosis: Diagnosis) -> str:
    """The settings that go with a cause in words, and how all frequent causes fall on the values of each."""
    found = diagnosis.associations
    body = items(words.association_words(one) for one in found)
    frequent = Counter(cause for run in diagnosis.runs for cause in causes_of(run))
    titles = {cause.id: cause.title for run in diagnosis.runs for cause in run.findings}
    causes = [cause for cause, _ in frequent.most_common(MOST_CAUSES)]
    for setting in list(dict.fromkeys(one.setting for one in found))[:MOST_TABLES]:
        crossed = cross_table(diagnosis.runs, setting, causes)
        body += table(
            (setting, "Runs", *(titles[cause] for cause in causes)),
            [(text(value), str(n), *(_share(k, n) for k in counts)) for value, n, counts in crossed.rows],
            caption=f"Runs with each cause, by {setting}",
            kind="crossed",
        )
    return section(words.ASSOCIATIONS, body, level=2)


def _share(part: int, whole: int) -> str:
    """A count with a bar behind it, as long as its share of the runs in the row."""
    return f'<span class="meter small"><span style="width:{100 * part / max(whole, 1):.0f}%"></span></span> {part}'


def _row(run: RunDiagnosis, key: str | None) -> tuple[str, ...]:
    name = f'<a href="#{key}">{text(run.id)}</a>' if key else text(run.id)
    probability = run.top.probability if run.top is not None else None
    shown = "" if probability is None else f'<span data-sort="{probability:.6f}">{text(percent(probability))}</span>'
    onset = run.primary_symptom.onset_step if run.primary_symptom is not None else None
    since = "" if onset is None else f'<span data-sort="{onset:.0f}">{text(steps(onset))}</span>'
    reason = run.top.title if run.top is not None else run.verdict_reason
    verdict = f'<span class="verdict {run.verdict}">{text(words.VERDICTS[run.verdict])}</span>'
    return name, verdict, shown, text(reason), since, _small(run)


def _small(run: RunDiagnosis) -> str:
    """The return as a small line, with the bad interval behind it."""
    curve = next((c for c in run.curves if c.signal.startswith("reward.")), None)
    if curve is None:
        return ""
    known = np.isfinite(curve.value)
    if known.sum() < 2:
        return ""
    x, y = curve.step[known], curve.value[known]
    scale = _WIDTH / max(float(x[-1] - x[0]), 1e-12)
    across = (x - x[0]) * scale
    down = _HEIGHT - 2 - (y - y.min()) / max(float(np.ptp(y)), 1e-300) * (_HEIGHT - 4)
    points = " ".join(f"{a:.0f},{b:.0f}" for a, b in zip(across, down, strict=True))
    band = ""
    if curve.bad is not None:
        left, right = (min(max((step - x[0]) * scale, 0.0), _WIDTH) for step in curve.bad)
        band = f'<rect x="{left:.0f}" y="0" width="{max(right - left, 1):.0f}" height="{_HEIGHT}"/>'
    last = float(y[-1])
    return (
        f'<svg data-sort="{last:.6g}" class="small" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="return, at the end {last:.4g}">{band}<polyline points="{points}"/></svg>'
    )
