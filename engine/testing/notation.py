"""A curve in a line of text: ``20+2x40 250-8x30 _x3 9.5x10 noise:0.5``.

Items stand one after the other, separated by spaces:

    3.5          one point                       3.5x10       ten points of 3.5
    2+0.5x10     ten points 2, 2.5, … 6.5        2-0.5x10     ten points 2, 1.5, …
    1*0.9x10     ten points 1, 0.9, 0.81, …      _  _x5       one missing point, five
    nan inf -inf                                 values that are not finite
    noise:0.2    Gaussian noise of that standard deviation on every finite point (absolute)
    noise:5%     the same relative to each point

The noise of a curve is the same in every run of the test: its seed is made of the test's and the signal's name.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["MAX_POINTS", "Curve", "NotationError", "parse_curve"]

MAX_POINTS = 10_000
_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_ITEM = re.compile(
    rf"(?:(?P<blank>_)|(?P<odd>nan|[+-]?inf)|(?P<start>{_NUMBER})(?:(?P<operator>[+\-*])(?P<by>(?:\d+\.?\d*|\.\d+)"
    r"(?:[eE][+-]?\d+)?))?)(?:x(?P<times>\d{1,5}))?"
)
_NOISE = re.compile(r"noise:(?P<size>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(?P<relative>%)?")


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


def parse_curve(text: str, seed: str = "") -> Curve:
    """The curve that `text` describes; raises `NotationError` for an item that is none or too many points."""
    values: list[NDArray[np.float64]] = []
    logged: list[NDArray[np.bool_]] = []
    noise: tuple[float, bool] | None = None
    total = 0
    for found in re.finditer(r"\S+", text):
        item, column = found.group(), found.start() + 1
        is_noise = _NOISE.fullmatch(item)
        if is_noise:
            noise = float(is_noise["size"]), is_noise["relative"] is not None
            continue
        match = _ITEM.fullmatch(item)
        if match is None:
            examples = "3, 3x10, 2+0.5x10, 1*0.9x10, _x5, noise:0.1"
            raise NotationError(f"'{item}' is no item of a curve such as {examples}", column)
        times = int(match["times"] or 1)
        total += times
        if total > MAX_POINTS:
            raise NotationError(f"a curve has at most {MAX_POINTS} points", column)
        values.append(_points(match, times))
        logged.append(np.full(times, match["blank"] is None))
    if not total:
        raise NotationError("the curve has no point", 1)
    value = np.concatenate(values)
    return Curve(_with_noise(value, noise, seed), np.concatenate(logged))


def _points(match: re.Match[str], times: int) -> NDArray[np.float64]:
    if match["blank"]:
        return np.full(times, np.nan)
    if match["odd"]:
        return np.full(times, float(match["odd"]))
    start, steps = float(match["start"]), np.arange(times)
    by = float(match["by"] or 0.0)
    with np.errstate(over="ignore"):
        if match["operator"] == "*":
            return np.asarray(start * by**steps, dtype=np.float64)
        return np.asarray(start + (-by if match["operator"] == "-" else by) * steps, dtype=np.float64)


def _with_noise(value: NDArray[np.float64], noise: tuple[float, bool] | None, seed: str) -> NDArray[np.float64]:
    if noise is None:
        return value
    size, relative = noise
    draws = np.random.default_rng(zlib.crc32(seed.encode("utf-8"))).normal(size=value.size)
    scale = size / 100 * np.abs(value) if relative else np.full(value.size, size)
    finite = np.isfinite(value)
    return np.where(finite, value + np.where(finite, scale, 0.0) * draws, value)
