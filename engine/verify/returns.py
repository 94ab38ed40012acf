"""The return before and after: compared at the same progress, against the noise of both curves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .model import ReturnChange
from .resample import resampled_values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ..signals.run import Run, Series

    Floats = NDArray[np.float64]

__all__ = ["compare_returns"]

_SIGNALS = ("reward.eval", "reward.train")
_LATE = 0.75
_DRAWS = 400
_LOW, _HIGH = 10.0, 90.0
_FEWEST = 4
# A difference within this share of the return's own range is none that anybody would act on.
_NEGLIGIBLE = 0.05
# A run that starts after this share of the other's length continues it; otherwise it starts anew.
_CONTINUES = 0.5


def compare_returns(before: Run, after: Run, controls: Sequence[Run] = ()) -> ReturnChange | None:
    """The late return of both runs; None where they do not share a return or have too few points.

    A run that starts anew is compared at the same steps, so that a shorter one is not blamed for being shorter; one
    that continues, by the last quarter of each. The spread over `controls` (unchanged re-runs) widens the noise.
    """
    for name in _SIGNALS:
        first, second = before.series.get(name), after.series.get(name)
        if first is not None and second is not None:
            found = _compare(name, first, second, [c.series[name] for c in controls if name in c.series])
            if found is not None:
                return found
    return None


def _compare(name: str, before: Series, after: Series, controls: Sequence[Series]) -> ReturnChange | None:
    if not (len(before) and len(after)):
        return None
    parts = _parts(before, after)
    inside = [_inside(series, part) for series, part in zip((before, after), parts, strict=True)]
    if any(one.sum() < _FEWEST for one in inside):
        return None
    generator = np.random.default_rng(0)
    levels = [_level(series.value, chosen) for series, chosen in zip((before, after), inside, strict=True)]
    draws = [
        np.nanmedian(resampled_values(series.value, _DRAWS, generator)[:, chosen], axis=1)
        for series, chosen in zip((before, after), inside, strict=True)
    ]
    difference = draws[1] - draws[0]
    low, high = (float(np.percentile(difference, p)) for p in (_LOW, _HIGH))
    spread = _spread([_level(c.value, _inside(c, parts[0])) for c in controls])
    low, high = low - spread, high + spread
    finite = np.concatenate([s.value[np.isfinite(s.value)] for s in (before, after)])
    negligible = _NEGLIGIBLE * float(np.ptp(finite))
    return ReturnChange(name, levels[0], levels[1], low, high, parts, worse=high < -negligible, better=low > negligible)


def _parts(before: Series, after: Series) -> tuple[tuple[float, float], tuple[float, float]]:
    ends = [float(series.step[-1]) for series in (before, after)]
    starts = [float(series.step[0]) for series in (before, after)]
    if starts[1] > _CONTINUES * ends[0]:
        first, second = ((start + _LATE * (end - start), end) for start, end in zip(starts, ends, strict=True))
        return first, second
    shared = min(ends)
    part = (_LATE * shared, shared)
    return part, part


def _inside(series: Series, part: tuple[float, float]) -> NDArray[np.bool_]:
    return (series.step >= part[0]) & (series.step <= part[1]) & np.isfinite(series.value)


def _level(values: Floats, inside: NDArray[np.bool_]) -> float:
    return float(np.median(values[inside])) if inside.any() else float("nan")


def _spread(levels: list[float]) -> float:
    """How far an unchanged re-run's return is from the controls' median, at the 80th percentile; 0 below two."""
    known = np.array([level for level in levels if np.isfinite(level)])
    return float(np.percentile(np.abs(known - np.median(known)), 80)) if known.size > 1 else 0.0
