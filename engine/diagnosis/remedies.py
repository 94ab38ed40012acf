"""From a cause to the smallest intervention: one knob, computed from the run's own numbers, kept inside safe bounds."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..signals.taxonomy import Hyperparameter, hyperparameters
from .model import RemedyPlan
from .numbers import exact, number, steps

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ..rules.book import Cause, Code, Expect, Remedy
    from ..signals.run import ConfigValue

__all__ = ["EXAMPLE_FRAMEWORK", "RemedyContext", "limit", "plan_remedies"]

EXAMPLE_FRAMEWORK = "sb3"
_FRAMEWORK_NAMES = {"sb3": "Stable-Baselines3", "tianshou": "Tianshou", "rllib": "RLlib", "cleanrl": "CleanRL"}
_OTHER = "other"
# What was computed is no more exact than this; what the user set is shown as it is.
COMPUTED_DIGITS = 4
KNOWN_DIGITS = 6
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class RemedyContext:
    """What a remedy may compute with.

    `config` holds hyper-parameters under canonical names, `evaluate` gives the value of an expression over them, the
    features and the derived numbers (None where a name in it is missing), `framework` is the key of the run's patches,
    `feature` gives the present value of a feature, `knobs` are the hyper-parameters that the rulebook adds to the
    canonical ones. `framework`, `algorithm` and `action_space` are None where the log does not tell.
    """

    config: Mapping[str, ConfigValue]
    evaluate: Callable[[str], float | None]
    feature: Callable[[str], float | None]
    framework: str | None = None
    axis: str = "steps"
    knobs: Sequence[Hyperparameter] = ()
    algorithm: str | None = None
    action_space: str | None = None


@dataclass(frozen=True, slots=True)
class _Limits:
    low: float | None
    high: float | None
    step: float | None
    one_minus: bool = False
    integer: bool = False


@dataclass(slots=True)
class _Limited:
    value: float
    reasons: list[str] = field(default_factory=list)


def plan_remedies(cause: Cause, context: RemedyContext) -> tuple[RemedyPlan, ...]:
    """One plan for each remedy of `cause` that is about such a run, in the rulebook's order; those that would change
    nothing come last."""
    run = (context.algorithm, context.framework, context.action_space)
    plans = [_plan(remedy, context) for remedy in cause.remedies if remedy.applies_to.admits(*run)]
    return tuple(sorted(plans, key=lambda p: p.proposed is not None and p.proposed == p.current))


def limit(proposed: float, current: float | None, limits: _Limits) -> tuple[float, tuple[str, ...]]:
    """`proposed` kept within the step limit around `current` and within the bounds; and in words what held it back.

    The step limit is a factor (of 1 − x where the knob lives there) and says nothing about a present value of 0. Where
    the run's own value is already beyond a bound, that value is the bound: no further out, no jump back inside.
    """
    result = _Limited(proposed)
    if current is not None and limits.step:
        _limit_step(result, current, limits)
    low, high = limits.low, limits.high
    if current is not None:
        low = min(low, current) if low is not None else None
        high = max(high, current) if high is not None else None
    if low is not None and result.value < low:
        result.value = low
        result.reasons.append(f"{number(low)} is the lowest value held to be safe")
    if high is not None and result.value > high:
        result.value = high
        result.reasons.append(f"{number(high)} is the highest value held to be safe")
    if limits.integer:
        result.value = float(round(result.value))
    return result.value, tuple(result.reasons)


def _limit_step(result: _Limited, current: float, limits: _Limits) -> None:
    factor = limits.step or 1.0
    base = 1.0 - current if limits.one_minus else current
    if base == 0.0:
        return
    wanted = 1.0 - result.value if limits.one_minus else result.value
    near, far = sorted((base / factor, base * factor))
    held = min(max(wanted, near), far)
    if not math.isclose(held, wanted, rel_tol=1e-9):
        result.value = 1.0 - held if limits.one_minus else held
        what = "distance from 1" if limits.one_minus else "present value"
        result.reasons.append(f"one step changes the {what} ({number(base)}) by at most a factor of {number(factor)}")


def _plan(remedy: Remedy, context: RemedyContext) -> RemedyPlan:
    house = {knob.name: knob for knob in context.knobs}
    knob = hyperparameters().get(remedy.knob) or house.get(remedy.knob, Hyperparameter(remedy.knob, ""))
    known = context.config.get(remedy.knob)
    current = _as_number(known)
    wanted = context.evaluate(remedy.set) if remedy.set else None
    proposed, reasons = (None, ()) if wanted is None else limit(wanted, current, _limits(remedy, knob))
    values = tuple((name, value) for name, text in remedy.values if (value := context.evaluate(text)) is not None)
    patches = _for_algorithm(remedy.patch, context.algorithm)
    framework, note = _framework(patches, context.framework)
    unchanged = proposed is not None and current is not None and math.isclose(proposed, current, rel_tol=1e-9)
    if unchanged:
        proposed = current
        reasons = (*reasons, "the run is already there, so this knob has no room left")
    words = _words(knob, current, proposed, known, dict(values))
    return RemedyPlan(
        knob=remedy.knob,
        summary=remedy.summary,
        current=current,
        current_origin=known.origin if known is not None and current is not None else None,
        proposed=proposed,
        values=values,
        relative=remedy.relative,
        before=None if unchanged else _before(remedy, patches.get(framework or ""), framework, context, words),
        after=None if unchanged else _fill(patches.get(framework or ""), words),
        framework=framework,
        clamped="; ".join(reasons) or None,
        expected=tuple(_promise(e, context) for e in remedy.expect),
        expect=tuple((e.feature, e.direction, e.target, e.within_steps) for e in remedy.expect),
        note=note,
        integer=knob.kind == "integer",
    )


def _as_number(known: ConfigValue | None) -> float | None:
    if known is None or isinstance(known.value, str):
        return None
    return float(known.value)


def _limits(remedy: Remedy, knob: Hyperparameter) -> _Limits:
    def own(mine: float | None, default: float | None) -> float | None:
        return default if mine is None else mine

    return _Limits(
        own(remedy.low, knob.low),
        own(remedy.high, knob.high),
        own(remedy.step_limit, knob.step_limit),
        knob.one_minus,
        knob.kind == "integer",
    )


def _for_algorithm(templates: Sequence[tuple[str, Code]], algorithm: str | None) -> dict[str, str]:
    """Framework → the template for `algorithm` (where that is not known, the most general one); those without it are
    left out."""
    chosen = {}
    for framework, code in templates:
        if isinstance(code, str):
            chosen[framework] = code
            continue
        by_algorithm = dict(code)
        fallback = by_algorithm.get(_OTHER) or (code[0][1] if algorithm is None else None)
        text = by_algorithm.get(algorithm or "", fallback)
        if text is not None:
            chosen[framework] = text
    return chosen


def _framework(patches: Mapping[str, str], own: str | None) -> tuple[str | None, str | None]:
    """The framework to show code for, and a remark where it is not the run's own."""
    if own in patches or not patches:
        return own, None
    shown = EXAMPLE_FRAMEWORK if EXAMPLE_FRAMEWORK in patches else next(iter(patches))
    name = _FRAMEWORK_NAMES.get(shown, shown)
    if own is None:
        return shown, f"code for {name} as an example: the log does not say which framework wrote it"
    return shown, f"code for {name} as an example: the rulebook has none for {_FRAMEWORK_NAMES.get(own, own)}"


def _words(
    knob: Hyperparameter,
    current: float | None,
    proposed: float | None,
    known: ConfigValue | None,
    values: Mapping[str, float],
) -> dict[str, str]:
    """Placeholder → text for the code templates; what is unknown is not in it."""

    def literal(value: float, digits: int) -> str:
        whole = knob.kind == "integer"
        return str(bool(value)) if knob.kind == "boolean" else exact(value, digits, integer=whole)

    words = {name: exact(value, COMPUTED_DIGITS) for name, value in values.items()}
    if current is not None:
        words["current"] = literal(current, KNOWN_DIGITS)
    elif known is not None:
        words["current"] = repr(known.value)
    if proposed is not None:
        words["value"] = literal(proposed, COMPUTED_DIGITS)
    return words


def _before(
    remedy: Remedy, patch: str | None, framework: str | None, context: RemedyContext, words: Mapping[str, str]
) -> str | None:
    """The present code: the rulebook's own template, or a one-line patch with the present value in it."""
    own = _for_algorithm(remedy.before, context.algorithm).get(framework or "")
    if own is not None:
        return _fill(own, words)
    if (
        patch is None
        or "\n" in patch.strip()
        or set(_PLACEHOLDER.findall(patch)) != {"value"}
        or "current" not in words
    ):
        return None
    return _fill(patch, {"value": words["current"]})


def _fill(template: str | None, words: Mapping[str, str]) -> str | None:
    """`template` with its {names} filled in; None where a name has no value. Doubled braces are single ones."""
    if template is None:
        return None
    parts = re.split(r"(\{\{|\}\}|\{\w+\})", template.rstrip())
    filled = []
    for part in parts:
        name = _PLACEHOLDER.fullmatch(part)
        if name and name[1] not in words:
            return None
        filled.append(words[name[1]] if name else part[0] if part in {"{{", "}}"} else part)
    return "".join(filled)


def _promise(expect: Expect, context: RemedyContext) -> str:
    verb = "rises to" if expect.direction == "rises_to" else "falls to"
    within = f" within {steps(expect.within_steps)} {context.axis}" if expect.within_steps is not None else ""
    now = context.feature(expect.feature)
    at = f" (now {number(now)})" if now is not None else ""
    return f"{expect.feature} {verb} {number(expect.target)}{within}{at}"
