"""The page around a report: style, scripts, data, and a policy under which nothing else can run or be fetched."""

from __future__ import annotations

import base64
import hashlib
import json
import math
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from ...features.windows import BUILT_IN_WINDOWS
from .. import words
from .markup import text
from .run_page import run_section
from .sweep_page import sweep_section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...diagnosis.model import Curve, Diagnosis, RunDiagnosis

__all__ = ["HEAD", "to_html"]

HEAD = "<!doctype html>\n<!-- rl-diagnose report -->\n"
"""How every report begins: by this it is known as ours when it is to be replaced."""

FULL_SECTIONS = 50
"""Up to this many runs get a section; beyond, those with a finding do, the worst first."""

_PAGE = """\
{head}<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the report</a>
<header class="top">
<div><h1>rl-diagnose report</h1>
<p>{subtitle}</p></div>
<button type="button" id="theme" aria-pressed="false">Dark</button>
</header>
<main id="main">
{body}
</main>
<footer><p>{footer}</p></footer>
<script type="application/json" id="data">{data}</script>
<script>{library}</script>
<script>{script}</script>
</body>
</html>
"""


def to_html(diagnosis: Diagnosis) -> str:
    """The whole report: one run in full, or a table of all runs before their sections."""
    runs = sorted(diagnosis.runs, key=words.severity)
    detailed = _detailed(runs)
    body = [sweep_section(diagnosis, runs, {run.id for run in detailed})] if len(runs) > 1 else []
    body += [run_section(run, f"run{i}") for i, run in enumerate(detailed)]
    scripts = [_asset("uPlot.iife.min.js"), _asset("report.js")]
    hashes = " ".join(f"'sha256-{_digest(script)}'" for script in scripts)
    rulebooks = words.book_words(diagnosis.rulebooks)
    return _PAGE.format(
        head=HEAD,
        policy=f"default-src 'none'; style-src 'unsafe-inline'; script-src {hashes}; img-src data:; base-uri 'none'",
        title=text(f"rl-diagnose: {diagnosis.path}"),
        style=_asset("uPlot.min.css") + _asset("report.css"),
        subtitle=text(f"{diagnosis.path} · {diagnosis.created} · {words.summary(diagnosis)}"),
        body="\n".join(body),
        footer=text(f"Rulebooks: {rulebooks}" if rulebooks else "No rulebook applies"),
        data=_data(detailed),
        library=scripts[0],
        script=scripts[1],
    )


def _detailed(runs: Sequence[RunDiagnosis]) -> list[RunDiagnosis]:
    if len(runs) <= FULL_SECTIONS:
        return list(runs)
    return [run for run in runs if run.verdict == "finding"][:FULL_SECTIONS]


def _data(runs: Sequence[RunDiagnosis]) -> str:
    """The curves as JSON that cannot end the script element it stands in."""
    charts: dict[str, list[dict[str, Any]]] = {
        f"run{i}": [
            {
                "title": curve.title,
                "unit": curve.unit,
                "signal": curve.signal,
                "x": [_number(x) for x in curve.step.tolist()],
                "y": [_number(y) for y in curve.value.tolist()],
                "bad": curve.bad,
                "phases": _phases(run.curves),
                "i": None if curve.iteration is None else curve.iteration.tolist(),
            }
            for curve in run.curves
        ]
        for i, run in enumerate(runs)
    }
    plain = json.dumps(charts, allow_nan=False, ensure_ascii=True, separators=(",", ":"))
    return plain.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _phases(curves: Sequence[Curve]) -> list[tuple[str, float, float]]:
    """The parts of a run that rules look at most, as (name, from, to) on the axis of steps."""
    ends = [(float(curve.step[0]), float(curve.step[-1])) for curve in curves if curve.step.size]
    if not ends:
        return []
    first, last = min(a for a, _ in ends), max(b for _, b in ends)
    windows = [BUILT_IN_WINDOWS[name] for name in ("early", "mid", "late")]
    at = [(window.name, window.start or 0.0, 1.0 if window.end is None else window.end) for window in windows]
    return [(name, first + low * (last - first), first + high * (last - first)) for name, low, high in at]


def _number(value: float) -> float | None:
    return float(f"{value:.7g}") if math.isfinite(value) else None


@cache
def _asset(name: str) -> str:
    return files(__package__).joinpath("assets", name).read_text("utf-8")


@cache
def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
