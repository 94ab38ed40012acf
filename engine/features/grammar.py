"""Feature names: ``signal[.window].statistic[(arguments)]`` and ``relation(signal, signal)[.window]``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ..signals.spelling import closest
from ..signals.taxonomy import is_known_signal, signal_specs
from .vocabulary import RELATIONS, STATISTICS
from .windows import BUILT_IN_WINDOWS

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = ["FeatureNameError", "FeatureRef", "parse_feature"]

_ARGUMENTS = re.compile(r"^(?P<name>.*\.[a-z_0-9]+)\((?P<args>[^()]*)\)$")
_RELATION = re.compile(r"^(?P<name>[a-z_]+)\((?P<args>[^()]*)\)(?:\.(?P<window>[a-z_0-9]+))?$")


class FeatureNameError(Exception):
    """A feature name that cannot be understood: where (`column` from 1), why, and the closest known name if any."""

    def __init__(self, text: str, column: int, message: str, suggestion: str | None = None) -> None:
        self.text, self.column, self.message, self.suggestion = text, column, message, suggestion
        super().__init__(f"{text}: {message}")


@dataclass(frozen=True, slots=True)
class FeatureRef:
    """A parsed name. `signals` has one entry for a statistic and two for a relation; `text` is the canonical name."""

    text: str
    kind: Literal["statistic", "relation"]
    signals: tuple[str, ...]
    window: str
    stat: str
    args: tuple[float, ...] = ()

    @property
    def signal(self) -> str:
        """The (first) signal."""
        return self.signals[0]


def parse_feature(text: str, windows: Collection[str] = tuple(BUILT_IN_WINDOWS)) -> FeatureRef:
    """Parse a name; `windows` are the names of windows that may stand in it. Raises `FeatureNameError`."""
    own = text.strip()
    relation = _RELATION.match(own)
    if relation is not None:
        return _relation(own, relation, windows)
    with_arguments = _ARGUMENTS.match(own)
    path, args = (with_arguments["name"], with_arguments["args"]) if with_arguments else (own, None)
    rest, _, stat = path.rpartition(".")
    if not rest:
        raise FeatureNameError(own, 1, f"'{own}' is not signal.statistic", closest(own, signal_specs()))
    spec = STATISTICS.get(stat)
    if spec is None:
        raise FeatureNameError(own, len(rest) + 2, f"unknown statistic '{stat}'", closest(stat, STATISTICS))
    numbers = _numbers(own, args, spec.arguments, stat)
    signal, window = rest, "all"
    if not is_known_signal(rest) or rest.startswith("raw."):
        head, _, last = rest.rpartition(".")
        if last in windows and is_known_signal(head):
            signal, window = head, last
        elif is_known_signal(head):
            raise FeatureNameError(own, len(head) + 2, f"unknown window '{last}'", closest(last, windows))
        elif not is_known_signal(rest):
            known = head if last in windows else rest
            raise FeatureNameError(own, 1, f"unknown signal '{known}'", closest(known, signal_specs()))
    inner = f"({', '.join(_shortest(n) for n in numbers)})" if numbers else ""
    window_part = "" if window == "all" else f".{window}"
    return FeatureRef(f"{signal}{window_part}.{stat}{inner}", "statistic", (signal,), window, stat, numbers)


def _relation(text: str, match: re.Match[str], windows: Collection[str]) -> FeatureRef:
    name = match["name"]
    if name not in RELATIONS:
        raise FeatureNameError(text, 1, f"unknown relation '{name}'", closest(name, RELATIONS))
    signals = tuple(part.strip() for part in match["args"].split(","))
    if len(signals) != 2:
        raise FeatureNameError(text, len(name) + 2, f"{name} takes two signals")
    for signal in signals:
        if not is_known_signal(signal):
            raise FeatureNameError(
                text, text.index(signal) + 1, f"unknown signal '{signal}'", closest(signal, signal_specs())
            )
    window = match["window"] or "all"
    if window not in windows:
        raise FeatureNameError(text, match.start("window") + 1, f"unknown window '{window}'", closest(window, windows))
    window_part = "" if window == "all" else f".{window}"
    return FeatureRef(f"{name}({signals[0]}, {signals[1]}){window_part}", "relation", signals, window, name)


def _numbers(text: str, args: str | None, wanted: tuple[str, ...], stat: str) -> tuple[float, ...]:
    parts = [part.strip() for part in args.split(",")] if args is not None and args.strip() else []
    column = text.index("(") + 2 if args is not None else len(text)
    if len(parts) != len(wanted):
        what = f"({', '.join(wanted)})" if wanted else "no arguments"
        raise FeatureNameError(text, column, f"{stat} takes {what}")
    try:
        numbers = tuple(float(part) for part in parts)
    except ValueError:
        raise FeatureNameError(text, column, f"the arguments of {stat} must be numbers") from None
    if any(n != n or n in (float("inf"), float("-inf")) for n in numbers):
        raise FeatureNameError(text, column, f"the arguments of {stat} must be finite numbers")
    if wanted == ("width",) and numbers[0] <= 0:
        raise FeatureNameError(text, column, "the width must be above 0")
    if wanted == ("alpha",) and not 0 <= numbers[0] < 1:
        raise FeatureNameError(text, column, "alpha must be at least 0 and below 1")
    return numbers


def _shortest(number: float) -> str:
    """The shortest text that reads as the same number."""
    short = f"{number:g}"
    return short if float(short) == number else repr(number)
