"""A curve in a line of text: ``20+2x40 250-8x30 _x3 (9.5x4 12)x2 noise:0.5``.

Items stand one after the other, separated by spaces:

    3.5          one point                       3.5x10       ten points of 3.5
    2+0.5x10     ten points 2, 2.5, … 6.5        2-0.5x10     ten points 2, 1.5, …
    1*0.9x10     ten points 1, 0.9, 0.81, …      _  _x5       one missing point, five
    nan inf -inf                                 values that are not finite
    (1x9 5)x8                                    the items in brackets, eight times over; not within one another
    noise:0.2    Gaussian noise of that standard deviation on every finite point (absolute)
    noise:5%     the same relative to each point
    seed:7       another draw of the noise

The noise of a curve is the same in every run of the test: its seed is made of the signal's name and `seed:`, so that
a test that is renamed keeps its numbers.
"""

from __future__ import annotations

import math
import re
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["MAX_POINTS", "Curve", "NotationError", "parse_curve"]

MAX_POINTS = 10_000
_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_ITEM = re.compile(
    rf"(?:(?P<blank>_)|(?P<odd>nan|[+-]?inf)|(?P<start>{_NUMBER})(?:(?P<operator>[+\-*])(?P<by>(?:\d+(?:\.\d*)?|\.\d+)"
    r"(?:[eE][+-]?\d+)?))?)(?:x(?P<times>\d{1,5}))?"
)
_CLOSING = re.compile(r"\)(?:x(?P<times>\d{1,5}))?")
_TOKEN = re.compile(r"\(|\)[^\s()]*|[^\s()]+")
_SEED = re.compile(r"seed:(?P<seed>\d{1,9})")
_SHOWN = 40
_EXAMPLES = "3, 3x10, 2+0.5x10, 1*0.9x10, _x5, (1x9 5)x8, noise:0.1"
_NOISE = re.compile(r"noise:(?P<size>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)(?P<relative>%)?")


class NotationError(ValueError):
    """An item that is none; `column` counts from 1 within the text."""

    def __init__(self, message: str, column: int) -> None:
        super().__init__(message)
        self.column = column


@dataclass(frozen=True, slots=True)
class Curve:
    """Points of a curve: `value` (n,) with NaN and infinities as written, `logged` (n,) False where one is missing."""

    value: NDArray[np.float64]
    logged: NDArray[np.bool_]


def parse_curve(text: str, signal: str = "") -> Curve:
    """The curve that `text` describes, its noise drawn for `signal`.

    Raises `NotationError` for an item that is none, brackets that do not match, or too many points.
    """
    parts = _Parts()
    group: _Parts | None = None
    opened = 0
    noise: tuple[float, bool] | None = None
    seed = 0
    for found in _TOKEN.finditer(text):
        item, column = found.group(), found.start() + 1
        closing = _CLOSING.fullmatch(item)
        if item == "(":
            if group is not None:
                raise NotationError("brackets cannot stand in brackets", column)
            group, opened = _Parts(), column
        elif closing is not None:
            if group is None:
                raise NotationError("a bracket is closed that was not opened", column)
            parts.repeat(group, int(closing["times"] or 1), opened)
            group = None
        elif (match := _NOISE.fullmatch(item)) is not None:
            noise = _finite(match["size"], column), match["relative"] is not None
        elif (match := _SEED.fullmatch(item)) is not None:
            seed = int(match["seed"])
        elif (match := _ITEM.fullmatch(item)) is not None:
            (parts if group is None else group).add(match, column)
        else:
            shown = item if len(item) <= _SHOWN else f"{item[:_SHOWN]}…"
            raise NotationError(f"'{shown}' is no item of a curve such as {_EXAMPLES}", column)
    if group is not None:
        raise NotationError("a bracket is not closed", opened)
    if not parts.total:
        raise NotationError("the curve has no point", 1)
    value = np.concatenate(parts.values)
    return Curve(_with_noise(value, noise, f"{signal}/{seed}"), np.concatenate(parts.logged))


class _Parts:
    """Pieces of a curve, one behind the other, and how many points they have."""

    def __init__(self) -> None:
        self.values: list[NDArray[np.float64]] = []
        self.logged: list[NDArray[np.bool_]] = []
        self.total = 0

    def add(self, match: re.Match[str], column: int) -> None:
        times = int(match["times"] or 1)
        self._grow(times, column)
        for name in ("start", "by"):
            _finite(match[name] or "0", column)
        self.values.append(_points(match, times))
        self.logged.append(np.full(times, match["blank"] is None))

    def repeat(self, group: _Parts, times: int, column: int) -> None:
        if not group.total:
            raise NotationError("there is nothing in the brackets", column)
        self._grow(group.total * times, column)
        self.values.append(np.tile(np.concatenate(group.values), times))
        self.logged.append(np.tile(np.concatenate(group.logged), times))

    def _grow(self, points: int, column: int) -> None:
        self.total += points
        if self.total > MAX_POINTS:
            raise NotationError(f"a curve has at most {MAX_POINTS} points", column)


def _finite(text: str, column: int) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise NotationError("a number is too large; for an infinity write inf", column)
    return number


def _points(match: re.Match[str], times: int) -> NDArray[np.float64]:
    if match["blank"]:
        return np.full(times, np.nan)
    if match["odd"]:
        return np.full(times, float(match["odd"]))
    start, steps = float(match["start"]), np.arange(times, dtype=np.float64)
    by = float(match["by"] or 0.0)
    with np.errstate(over="ignore"):
        if match["operator"] == "*":
            return np.asarray(
                start * by**steps if start else 0.0 * steps, dtype=np.float64
            )  # 0 stays 0 however it grows
        return np.asarray(start + (-by if match["operator"] == "-" else by) * steps, dtype=np.float64)


def _with_noise(value: NDArray[np.float64], noise: tuple[float, bool] | None, seed: str) -> NDArray[np.float64]:
    if noise is None:
        return value
    size, relative = noise
    draws = np.random.default_rng(zlib.crc32(seed.encode("utf-8"))).normal(size=value.size)
    finite = np.isfinite(value)
    known = np.where(finite, value, 0.0)
    with np.errstate(over="ignore"):
        scale = size / 100 * np.abs(known) if relative else np.full(value.size, size)
        return np.where(finite, known + scale * draws, value)
