"""The figures as text for people and as a document for other programs."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from .metrics import FINDING_AT, SURE_AT, Share

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .metrics import Calibration, Result
    from .outcomes import Outcome

__all__ = ["as_document", "as_text"]

_WIDTH = 46


def as_text(result: Result, about: Mapping[str, Any]) -> str:
    """Everything as aligned lines, the confusion table last."""
    lines = [
        _head(about),
        f"{result.runs} runs, {result.unreadable} unreadable, {about['seconds']:.1f} s",
        *(f"  {remark}" for remark in about.get("remarks", ())),
        "",
        _line("acceptable cause first (harmed=yes)", result.top1),
        _line("acceptable cause among the first three", result.top3),
        _line(f"acceptable cause first and at {FINDING_AT} or more", result.found),
        _line(f"right among what is said at {FINDING_AT}", result.precision),
        _line(f"right among what is said at {SURE_AT}", result.precision_sure),
        "",
        _line(f"false alarms: a fault at {FINDING_AT} (harmed=no)", result.alarms),
        _line("  healthy runs", result.alarms_healthy),
        _line("  faults that did no harm", result.alarms_harmless),
        *(_line(f"  {group}", share) for group, share in result.alarms_by_group),
        *(f"    {cause}: {n}" for cause, n in result.alarm_causes),
        "",
        _line("cannot tell", result.abstained),
        f"{'verdicts':{_WIDTH}} {', '.join(f'{verdict} {n}' for verdict, n in result.verdicts)}",
        f"{'mean coverage of the top cause':{_WIDTH}} {_number(result.coverage)}",
        f"{'mean share of faults not assessable':{_WIDTH}} {_number(result.not_assessable)}",
        "",
        *_calibration("all assessed faults", result.calibration),
        *_calibration("faults of 1 % or more", result.calibration_shown),
        *_calibration("the most probable fault of each run", result.calibration_top),
        "",
        f"{'injected fault (harmed=yes)':{_WIDTH}} runs  first  in three",
        *(f"{row.fault:{_WIDTH}} {row.top1.of:4}  {row.top1.hits:5}  {row.top3.hits:8}" for row in result.by_fault),
        "",
        *_environments(result),
        f"{'injected fault':{_WIDTH}} top cause (in brackets: below {FINDING_AT})",
        *(f"{fault:{_WIDTH}} {cause} {n}" for fault, cause, n in result.confusion),
    ]
    return "\n".join(lines)


def as_document(result: Result, about: Mapping[str, Any], outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Plain dicts and lists: the figures, and per run its label, the acceptable causes and what was said."""
    return {
        "schema": "rl-diagnose/accuracy/v1",
        **about,
        "result": _plain(asdict(result)),
        "runs": [
            {
                "run_id": o.label.run_id,
                "fault": o.label.fault,
                "harmed": o.label.harmed,
                "acceptable": sorted(o.acceptable),
                "verdict": o.verdict,
                "said": [_plain(asdict(said)) for said in o.said],
            }
            for o in outcomes
        ],
    }


def _head(about: Mapping[str, Any]) -> str:
    if "predictions" in about:
        return f"predictions of {about['predictions']}"
    rules = about["rules"]
    named = rules if isinstance(rules, str) else " ".join(rules)
    return f"rules {named}, config {about['config']}, calibration {about['calibration']}"


def _environments(result: Result) -> list[str]:
    if not result.by_env:
        return []
    return [
        f"{'environment':{_WIDTH}} harmed  first  in three   unharmed  alarms   right at {FINDING_AT}",
        *(
            f"{row.env:{_WIDTH}} {row.top1.of:6}  {row.top1.hits:5}  {row.top3.hits:8}   {row.alarms.of:8}  "
            f"{row.alarms.hits:6}   {row.precision.hits:3} of {row.precision.of}"
            for row in result.by_env
        ),
        "",
    ]


def _line(title: str, share: Share) -> str:
    percent = "   –  " if share.value is None else f"{100 * share.value:5.1f} %"
    return f"{title:{_WIDTH}} {percent}  ({share.hits} of {share.of})"


def _number(value: float | None) -> str:
    return "–" if value is None or math.isnan(value) else f"{value:.3f}"


def _calibration(title: str, c: Calibration) -> list[str]:
    head = f"{title}: {c.pairs}"
    figures = f"Brier {_number(c.brier)}, log-loss {_number(c.log_loss)}, ECE {_number(c.ece)}"
    bins = "  ".join(f"{stated:.2f}→{true:.2f} ({n})" for n, stated, true in c.bins)
    return [f"{head:{_WIDTH}} {figures}", f"  stated→true (n)  {bins}"]


def _plain(value: Any) -> Any:
    """JSON has no NaN: a figure over nothing is null."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return None if isinstance(value, float) and math.isnan(value) else value
