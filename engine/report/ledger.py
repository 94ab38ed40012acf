"""The ledger of one cause, for people in a terminal and as JSON (``rl-diagnose/explanation/v1``)."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ..diagnosis.numbers import percent
from . import words
from .text import clean

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ..diagnosis.explain import Explanation, LedgerLine, Rival

__all__ = ["SCHEMA", "plain", "renderable", "to_json"]

SCHEMA = "rl-diagnose/explanation/v1"
_STATUS = {
    "not_assessable": "not assessable: a signal that it needs is not in the log",
    "insufficient_data": "hardly assessable: most of its evidence is not in the log",
}


def to_json(found: Explanation) -> str:
    """Strict JSON with a final newline."""
    return json.dumps({"schema": SCHEMA, **plain(asdict(found))}, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def plain(value: Any) -> Any:
    """`value` as what strict JSON can hold: numbers with ten digits, null for what is not finite."""
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, float):
        return float(f"{value:.10g}") if math.isfinite(value) else None
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else value


def renderable(found: Explanation) -> RenderableType:
    """The ledger line by line, then what the other causes and the calibration make of it."""
    from rich.console import Group
    from rich.panel import Panel
    from rich.text import Text

    result = "not assessable" if found.probability is None else percent(found.probability)
    head = Text.assemble((clean(found.title), "bold"), f" ({found.cause}, {found.book}): {result}")
    if found.status in _STATUS:
        head.append(f"\n{_STATUS[found.status]}")
    if found.requires_missing:
        head.append(f"\nneeded and missing: {', '.join(found.requires_missing)}")
    parts: list[RenderableType] = [Panel(head, title=clean(found.path), title_align="left")]
    parts.append(Text(f"Before any evidence: {found.prior:.4g} ({_decibans(found.prior):+.2f} dB)"))
    for number, line in enumerate(found.lines, start=1):
        parts += _line(number, line)
    alone = f"{found.before_competition:.4g} ({_decibans(found.before_competition):+.2f} dB)"
    parts.append(Text(f"\nPrior and evidence together: {alone}", style="bold"))
    parts.append(Text(f"Other causes: {found.competition_decibans:+.2f} dB"))
    parts += [Text(f"  {_rival(rival)}") for rival in found.rivals]
    if found.raw is not None:
        parts.append(Text(f"Before calibration: {found.raw:.4g}"))
    if found.calibration is None:
        parts.append(Text("Calibration: none; take the number as an order, not as a frequency"))
    else:
        c = found.calibration
        formula = f"1 / (1 + exp(-({c.a:.4g} x logit + {c.b:.4g})))"
        parts.append(Text(f"Calibration: {formula}, fitted on {c.n} labels ({c.date})"))
    end = result if found.probability is None else f"{found.probability:.4g}"
    parts.append(Text(f"In the end: {end}; {found.coverage:.0%} of its evidence could be looked at", style="bold"))
    if found.fix:
        parts.append(Text(f"What to turn: {clean(found.fix)}"))
    hint = "a weight is 10 log10[(m s + (1-m)(1-s)) / (m b + (1-m)(1-b))]: m there, s seen with the cause, b without"
    parts.append(Text(hint, style="dim"))
    return Group(*parts)


def _line(number: int, line: LedgerLine) -> list[RenderableType]:
    from rich.text import Text

    odds = f"seen with it {line.seen:.4g}, without {line.base_rate:.4g}"
    if line.membership is None:
        could = f"it could add {line.most:+.2f} dB" + (f" or {line.least:+.2f} dB" if line.least else "")
        return [Text(f"{number:>2}. {clean(line.title)}: missing ({odds}; {could})", style="dim")]
    absent = "; its absence does not count" if line.ignores_absence and line.membership < 0.5 else ""
    about = f"there {line.membership:.4f}, {odds}{absent}; now {line.probability:.4g}"
    text = f"{number:>2}. {line.decibans:+.2f} dB  {clean(line.title)}: {about}"
    return [Text(text), *(Text(f"      {clean(words.measurement_words(m))}", style="dim") for m in line.measurements)]


def _rival(rival: Rival) -> str:
    why = "excludes it" if rival.excludes else f"explains the same: {'; '.join(clean(s) for s in rival.shared)}"
    return f"{clean(rival.title)} ({percent(rival.probability)}) {why}"


def _decibans(probability: float) -> float:
    inside = min(max(probability, 1e-12), 1 - 1e-12)
    return 10.0 * math.log10(inside / (1.0 - inside))
