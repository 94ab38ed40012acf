"""What a verification says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Change", "Outcome", "Promise", "ReturnChange", "Verification"]

Outcome = Literal["fixed", "partly", "unchanged", "worse", "cannot_tell"]


@dataclass(frozen=True, slots=True)
class Change:
    """A symptom before and after: its memberships (0…1), each with the range that noise alone gives it (10th to 90th
    percentile of the bootstrap), its weight for the cause in decibans, and the number that decides it.

    `feature` and its values are None where the symptom rests on no single number or the log lacks it.
    """

    symptom: str
    title: str
    decibans: float
    before: float
    before_range: tuple[float, float]
    after: float
    after_range: tuple[float, float]
    primary: bool
    feature: str | None = None
    value_before: float | None = None
    value_after: float | None = None


@dataclass(frozen=True, slots=True)
class Promise:
    """What the remedy promised about one feature: `direction` is ``rises_to`` or ``falls_to`` `target`, within so many
    steps where that was said. `value` is the feature after the fix (None = cannot be computed), `kept` whether it is
    there (None = cannot be told).
    """

    feature: str
    direction: str
    target: float
    within_steps: float | None
    value: float | None
    kept: bool | None


@dataclass(frozen=True, slots=True)
class ReturnChange:
    """The return in the compared parts, in its own unit; `low` and `high` bound the difference after − before that
    noise leaves open (10th to 90th percentile). `steps` are the compared parts, before and after.
    """

    signal: str
    before: float
    after: float
    low: float
    high: float
    steps: tuple[tuple[float, float], tuple[float, float]]
    worse: bool
    better: bool


@dataclass(frozen=True, slots=True)
class Verification:
    """Whether the fix of `cause` worked. `reason` is a sentence with the numbers that decided.

    `probability_before` and `probability_after` are those of the cause (None = not assessable). `controls` is how many
    unchanged re-runs were given, `controls_without` in how many of them the symptom was gone as well.
    """

    outcome: Outcome
    reason: str
    before: str
    after: str
    cause: str | None = None
    title: str = ""
    book: str = ""
    probability_before: float | None = None
    probability_after: float | None = None
    changes: tuple[Change, ...] = ()
    promises: tuple[Promise, ...] = ()
    returns: ReturnChange | None = None
    controls: int = 0
    controls_without: int = 0
    notes: tuple[str, ...] = ()
