"""One log in which the fix was made on the way: the parts before and after a step."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from ..signals.run import Run, Series

    Floats = NDArray[np.float64]

__all__ = ["split_at"]


def split_at(run: Run, step: float) -> tuple[Run, Run]:
    """The run up to and with `step`, and what comes after it. Raises `UsageError` where a part has no points."""
    before = _part(run, "before", lambda steps: steps <= step)
    after = _part(run, "after", lambda steps: steps > step)
    if not before.points or not after.points:
        last = 0 if run.last_step is None else run.last_step
        fact = f"nothing was logged {'up to' if not before.points else 'after'} step {step:,.0f}"
        raise UsageError(fact, place=run.path, hint=f"the log ends at step {last:,.0f}")
    return before, after


def _part(run: Run, name: str, chosen: Callable[[Floats], NDArray[np.bool_]]) -> Run:
    series = {key: _cut(one, chosen(one.step)) for key, one in run.series.items()}
    kept = {key: one for key, one in series.items() if len(one)}
    return replace(run, id=f"{run.id} ({name})", series=kept)


def _cut(series: Series, inside: NDArray[np.bool_]) -> Series:
    return replace(
        series,
        step=series.step[inside],
        value=series.value[inside],
        iteration=series.iteration[inside],
        wall_time=series.wall_time[inside],
    )
