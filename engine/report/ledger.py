"""The ledger of one cause, for people in a terminal and as JSON (``rl-diagnose/explanation/v1``)."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ..diagnosis.numbers import number, percent, share, unit_words
from . import words
from .text import clean, encodable

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

    from ..diagnosis.explain import Explanation, LedgerLine, Rival
    from ..diagnosis.worked import Step

__all__ = ["SCHEMA", "plain", "renderable", "to_json"]

SCHEMA = "rl-diagnose/explanation/v1"
_HALF = 0.5
_SMALLEST_RANGE = 5e-5
_SMALLEST_WEIGHT = 0.005
_HINTS = (
    "a weight is 10 log10[(m s + (1-m)(1-s)) / (m b + (1-m)(1-b))]: m there, s seen with the cause, b without",
    "decibans add up; d decibans are a probability of 1 / (1 + 10^(-d/10))",
)


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
    return encodable(value) if isinstance(value, str) else value


def renderable(found: Explanation) -> RenderableType:
    """The ledger line by line, then what the other causes and the calibration make of it."""
    from rich.console import Group
    from rich.panel import Panel
    from rich.text import Text

    parts: list[RenderableType] = [Panel(_head(found), title=clean(found.path), title_align="left")]
    parts.append(Text(f"Before any evidence: {_odds(found.prior)}"))
    for place, line in enumerate(found.lines, start=1):
        parts += _line(place, line)
    formulas = {step.words: step.formula for line in found.lines for step in line.work if step.formula}
    if formulas:
        parts.append(Text("\nDerived numbers"))
        parts += [_indented(f"{name} = {clean(formula)}", 2) for name, formula in formulas.items()]
    parts.append(Text(f"\nPrior and evidence together: {_odds(found.before_competition)}", style="bold"))
    if found.most - found.least > _SMALLEST_RANGE:
        parts.append(Text(f"  with all that is missing it could be {_short(found.least)} to {_short(found.most)}"))
    if found.raw is not None:
        parts += _after(found, found.raw)
    parts.append(Text(f"In the end: {_end(found)}", style="bold"))
    if found.fix:
        numbers = f" ({clean(words.knob_words(found.plan))})" if found.plan is not None else ""
        parts.append(Text(f"What to turn: {clean(found.fix)}{numbers}"))
    parts += [Text(hint, style="dim") for hint in _HINTS]
    return Group(*parts)


def _head(found: Explanation) -> Text:
    from rich.text import Text

    result = "no probability" if found.probability is None else percent(found.probability)
    head = Text.assemble((clean(found.title), "bold"), f" ({found.cause}, {found.book}): {result}")
    if found.why_not:
        head.append(f"\n{clean(found.why_not)}")
    if found.suppressed is not None:
        head.append(f"\nsuppressed by the project file: {clean(found.suppressed.reason)}")
    return head


def _after(found: Explanation, raw: float) -> list[RenderableType]:
    """What happens to the number behind the ledger: competition, then calibration."""
    from rich.text import Text

    parts: list[RenderableType] = [Text(f"Other causes: {found.competition_decibans:+.2f} dB")]
    parts += [_indented(_rival(rival), 2) for rival in found.rivals]
    parts.append(Text(f"Before calibration: {_odds(raw)}"))
    if found.calibration is None:
        parts.append(Text("Calibration: none; take the number as an order, not as a frequency"))
    else:
        c = found.calibration
        formula = f"1 / (1 + exp(-({c.a:.4g} x ln(p/(1-p)) + {c.b:.4g})))"
        parts.append(Text(f"Calibration: {formula}, fitted on {c.n} labels ({clean(c.date)})"))
    return parts


def _end(found: Explanation) -> str:
    result = "no probability" if found.probability is None else _short(found.probability)
    if found.coverage is None:
        return result
    return f"{result}; {share(found.coverage)} of its evidence could be looked at"


def _line(place: int, line: LedgerLine) -> list[RenderableType]:
    odds = f"seen with it {line.seen:.4g}, without {line.base_rate:.4g}"
    work = [_indented(_step(step), 6 + 2 * step.depth) for step in line.work]
    if line.membership is None:
        could = f"it could weigh {line.least:+.2f} to {line.most:+.2f} dB"
        return [_hanging(place, f"missing  {clean(line.title)}: {odds}; {could}"), *work]
    absent = "; its absence does not count" if line.ignores_absence and line.membership < _HALF else ""
    partly = line.most - line.least > _SMALLEST_WEIGHT
    could = f"; with what is missing {line.least:+.2f} to {line.most:+.2f} dB" if partly else ""
    about = f"there {line.membership:.4f}, {odds}{absent}{could}; now {_short(line.probability)}"
    return [_hanging(place, f"{line.decibans:+.2f} dB  {clean(line.title)}: {about}"), *work]


def _step(step: Step) -> str:
    """``policy.kl.max = 2.5 nats: 0 at 1, 1 at 4, gives 0.5000``."""
    there = f"{step.low:.4f}" if step.high - step.low < _SMALLEST_RANGE else f"{step.low:.4f} to {step.high:.4f}"
    if not step.shape:
        return f"{step.words}: {there}"
    ends = {"rising": (0, 1), "falling": (1, 0), "band": (0, 1, 1, 0)}[step.shape]
    ramp = ", ".join(f"{end} at {_bound(bound)}" for end, bound in zip(ends, step.bounds, strict=True))
    ramp += ", logarithmic" if step.scale == "log" else ""
    if step.value is None or step.before is None:
        return f"{step.words}: missing ({ramp})"
    where = f" ({words.interval_words(step.steps)})" if step.steps else ""
    found = number(step.value, 5) + unit_words(step.unit)
    return f"{step.words} = {found}{where}: {ramp}, gives {_unsure(step, step.before)}{there}"


def _unsure(step: Step, before: float) -> str:
    """The membership before the reliability pulls it to one half, where that makes a difference."""
    if abs(before - step.low) < _SMALLEST_RANGE:
        return ""
    return f"{before:.4f}, which a reliability of {step.reliability:.4g} makes "


def _hanging(place: int, text: str) -> RenderableType:
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 1))
    grid.add_row(Text(f"{place:>2}."), Text(text))
    return grid


def _indented(text: str, columns: int) -> RenderableType:
    from rich.padding import Padding
    from rich.text import Text

    return Padding(Text(text, style="dim"), (0, 0, 0, columns), expand=False)


def _bound(value: float) -> str:
    return f"{value:.6g}"


def _short(probability: float) -> str:
    return f"{probability:.4g}"


def _odds(probability: float) -> str:
    return f"{_short(probability)} ({_decibans(probability):+.2f} dB)"


def _rival(rival: Rival) -> str:
    why = "excludes it" if rival.excludes else f"explains the same: {'; '.join(clean(s) for s in rival.shared)}"
    return f"{clean(rival.title)} ({percent(rival.probability)}) {why}"


def _decibans(probability: float) -> float:
    inside = min(max(probability, 1e-12), 1 - 1e-12)
    return 10.0 * math.log10(inside / (1.0 - inside))
