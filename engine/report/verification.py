"""What a verification says: for people in a terminal, and as JSON (``rl-diagnose/verification/v1``)."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from .text import clean, encodable

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ..verify.model import ReturnChange, Verification

__all__ = ["SCHEMA", "renderable", "to_json"]

SCHEMA = "rl-diagnose/verification/v1"
_WORDS = {
    "fixed": ("FIXED", "bold green"),
    "partly": ("PARTLY FIXED", "bold yellow"),
    "unchanged": ("UNCHANGED", "bold yellow"),
    "worse": ("WORSE", "bold red"),
    "cannot_tell": ("CANNOT TELL", "bold cyan"),
}


def to_json(found: Verification) -> str:
    """Strict JSON with a final newline; what is not finite is null."""
    return (
        json.dumps({"schema": SCHEMA, **_finite(asdict(found))}, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    )


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    if isinstance(value, float):
        return float(f"{value:.10g}") if math.isfinite(value) else None
    return encodable(value) if isinstance(value, str) else value


def renderable(found: Verification) -> RenderableType:
    """The outcome with its numbers."""
    from rich.console import Group
    from rich.panel import Panel
    from rich.text import Text

    word, style = _WORDS[found.outcome]
    head = Text.assemble((word, style), f": {clean(found.reason)}")
    if found.cause is not None:
        odds = f"{_percent(found.probability_before)} before, {_percent(found.probability_after)} after"
        head.append(f"\nCause: {clean(found.title)} ({odds})")
    title = f"{clean(found.before)} -> {clean(found.after)}"
    parts: list[RenderableType] = [Panel(head, title=title, title_align="left")]
    if found.changes:
        parts += [Text("Symptoms", style="bold"), _changes(found)]
    if found.promises:
        parts.append(Text("Promised by the remedy", style="bold"))
        parts += [Text(f"  {_promise(promise)}") for promise in map(asdict, found.promises)]
    if found.returns is not None:
        parts += [Text("Return", style="bold"), Text(f"  {_return_words(found.returns)}")]
    if found.controls:
        gone = f"{found.controls_without} of {found.controls} re-runs"
        parts.append(Text(f"Without the fix the symptom was gone in {gone}"))
    parts += [Text(f"Note: {clean(note)}", style="dim") for note in found.notes]
    return Group(*parts)


def _return_words(change: ReturnChange) -> str:
    (a, b), (c, d) = change.steps
    where = f"steps {a:,.0f} to {b:,.0f}" + (f", and {c:,.0f} to {d:,.0f}" if (a, b) != (c, d) else " of both")
    between = f"the difference is between {change.low:.4g} and {change.high:.4g}"
    return f"{change.signal}: {change.before:.4g} before, {change.after:.4g} after; {between} ({where})"


def _changes(found: Verification) -> RenderableType:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("", "symptom"):
        table.add_column(name)
    for name in ("before", "after", "noise"):
        table.add_column(name, justify="right")
    for change in found.changes:
        noise = f"{change.after_range[0]:.2f} to {change.after_range[1]:.2f}"
        mark = "*" if change.primary else ""
        table.add_row(mark, clean(change.title), f"{change.before:.2f}", f"{change.after:.2f}", noise)
    return table


def _promise(promise: dict[str, Any]) -> str:
    value = "not in the log" if promise["value"] is None else f"now {promise['value']:.4g}"
    kept = {True: "kept", False: "not kept", None: "cannot be told"}[promise["kept"]]
    within = f" within {promise['within_steps']:,.0f} steps" if promise["within_steps"] else ""
    words = str(promise["direction"]).replace("_", " ")
    return f"{promise['feature']} {words} {promise['target']:.4g}{within}: {value}, {kept}"


def _percent(value: float | None) -> str:
    return "not assessable" if value is None else f"{value:.0%}"
