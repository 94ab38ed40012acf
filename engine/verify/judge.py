"""From what was measured to the outcome, with the reason in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .model import Change, Outcome, Promise, ReturnChange

__all__ = ["Facts", "judge"]

_SEEN = 0.5
_FEWEST_POINTS = 10
# A shift of the weighted membership that counts, and how sure it must be that there is one.
_SHIFT = 0.15
_SURE = 0.9
_STILL_PROBABLE = 0.5
# With this share of unchanged re-runs free of the symptom, its absence proves nothing.
_BY_LUCK = 0.2


@dataclass(frozen=True, slots=True)
class Facts:
    """What the outcome rests on; `shift` are draws of the weighted membership after − before, shape (draws,);
    `rescaled` says that the fix changes the unit of the return."""

    changes: tuple[Change, ...]
    shift: NDArray[np.float64]
    known: bool
    promises: tuple[Promise, ...]
    returns: ReturnChange | None
    rescaled: bool
    probability_after: float | None
    other: str | None
    points: int
    controls: int
    controls_without: int


def judge(facts: Facts) -> tuple[Outcome, str, tuple[str, ...]]:
    """Outcome, reason, and notes."""
    notes = _notes(facts)
    doubt = _doubt(facts)
    if doubt is not None:
        return "cannot_tell", doubt, notes
    primary = facts.changes[0]
    moved = f"'{primary.title}' went from {primary.before:.2f} to {primary.after:.2f} (0 absent, 1 present)"
    returns = facts.returns
    if returns is not None and returns.worse and not facts.rescaled:
        return "worse", f"the return fell beyond noise; {moved}", notes
    if float((facts.shift > _SHIFT).mean()) >= _SURE:
        return "worse", f"the symptoms became clearer; {moved}", notes
    gone = primary.after_range[1] <= _SEEN and all(c.after <= _SEEN for c in facts.changes)
    shifted = float((facts.shift < -_SHIFT).mean()) >= _SURE
    broken = [promise for promise in facts.promises if promise.kept is False]
    if not gone and not shifted:
        if any(promise.kept is None and promise.within_steps for promise in facts.promises):
            return "cannot_tell", f"the run is not yet as long as the remedy needs; {moved}", notes
        return "unchanged", f"no symptom moved beyond noise; {moved}", notes
    remaining = _remaining(facts, gone=gone, broken=broken)
    if remaining:
        return "partly", f"{moved}, but {remaining}", notes
    if facts.controls and facts.controls_without >= _BY_LUCK * facts.controls:
        luck = f"so it is in {facts.controls_without} of {facts.controls} re-runs without the fix"
        return "cannot_tell", f"{moved}, but {luck}", notes
    return "fixed", f"{moved}{_return_words(facts)}", notes


def _doubt(facts: Facts) -> str | None:
    if not facts.changes:
        return "no symptom of the cause is seen before the fix"
    primary = facts.changes[0]
    if facts.points < _FEWEST_POINTS:
        return f"the run after the fix has {facts.points} points; at least {_FEWEST_POINTS} are needed"
    if not facts.known:
        return f"the run after the fix does not log what '{primary.title}' needs"
    if facts.returns is None and not facts.rescaled:
        return "the return cannot be compared: both runs must log the same one at the same steps"
    return None


def _remaining(facts: Facts, *, gone: bool, broken: list[Promise]) -> str:
    """What keeps a change from being a fix; empty when nothing does."""
    if not gone:
        left = [change.title for change in facts.changes if change.after > _SEEN] or [facts.changes[0].title]
        return f"not all symptoms are gone: {'; '.join(left)}"
    if broken:
        one = broken[0]
        promise = f"it {one.direction.replace('_', ' ')} {one.target:.4g}"
        return f"{one.feature} is {one.value:.4g}; the remedy promised that {promise}"
    if facts.probability_after is not None and facts.probability_after >= _STILL_PROBABLE:
        return f"the cause is still {facts.probability_after:.0%} probable"
    if facts.other is not None:
        return f"now something else is wrong: {facts.other}"
    return ""


def _return_words(facts: Facts) -> str:
    if facts.returns is None or facts.rescaled:
        return ""
    return "; the return is better beyond noise" if facts.returns.better else "; the return is no worse"


def _notes(facts: Facts) -> tuple[str, ...]:
    notes = []
    if not facts.controls:
        notes.append("without re-runs of the old settings (--control) luck of the seed is not accounted for")
    if facts.rescaled:
        notes.append("the fix changes the reward itself: the return before and after is not compared")
    unknown = [promise.feature for promise in facts.promises if promise.value is None]
    if unknown:
        notes.append(f"the promise about {', '.join(unknown)} cannot be checked: the log does not have it")
    return tuple(notes)
