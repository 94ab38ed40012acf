"""Numbers as people read them: few digits, but never so few that a value close to 1 or a change is lost."""

from __future__ import annotations

import math

__all__ = ["count", "exact", "number", "percent", "share", "steps", "unit_words"]


def number(value: float, digits: int = 3) -> str:
    """`value` with `digits` significant digits, and as many more as its distance from 1 needs.

    Discounts, λ and decay factors live in 1 − x: 0.999995 is not 1. Large whole numbers keep all their digits.
    """
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("inf" if value > 0 else "-inf")
    if value == int(value) and abs(value) < 1e15:
        whole = int(value)
        return f"{whole:,}" if abs(whole) < 10_000_000 else f"{value:.{digits}g}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    gap = abs(1.0 - abs(value))
    if 0.0 < gap < 0.1:
        digits = max(digits, 2 - math.floor(math.log10(gap)))
    return f"{value:.{digits}g}"


def exact(value: float, digits: int = 6, *, integer: bool = False) -> str:
    """`value` as a literal for code: whole where `integer`, else `digits` significant digits (of 1 − x near 1)."""
    if integer:
        return str(round(value))
    gap = abs(1.0 - abs(value))
    if 0.0 < gap < 1e-2:
        digits = digits - 1 - math.floor(math.log10(gap))
    return f"{value:.{digits}g}"


def percent(probability: float) -> str:
    """A probability as whole percent; never 0 % or 100 %, which no evidence gives."""
    if probability < 0.01:
        return "<1 %"
    if probability > 0.99:
        return ">99 %"
    return f"{100.0 * probability:.0f} %"


def share(part: float) -> str:
    """A part of a whole as whole percent, with 0 % and 100 % for nothing and all."""
    return f"{100.0 * part:.0f} %"


def steps(value: float) -> str:
    """A step count with thousands separators; fractions of a step are dropped."""
    return f"{round(value):,}"


def unit_words(unit: str) -> str:
    """A unit to put behind a number, with a space; nothing for units that a sentence does not need."""
    return "" if unit in {"", "1", "?", "fraction", "ratio", "count", "coefficient"} else f" {unit}"


def count(amount: int, noun: str, plural: str | None = None) -> str:
    """`1 point`, `2 points`."""
    return f"{amount:,} {noun if amount == 1 else plural or noun + 's'}"
