"""Iteration numbers: which training iteration was under way at an environment step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["IterationClock", "iteration_clock"]

_ROUNDING = 1e-6


@dataclass(frozen=True, slots=True)
class IterationClock:
    """Maps steps to 0-based iterations. Iteration i collects the steps in (i·R, (i+1)·R], then updates.

    `steps` and `iterations` are knots of shape (n,): the steps at which iterations end. `assumed` says that the log
    does not tell how many iterations lie between two rows, and one was assumed.
    """

    steps: NDArray[np.float64]
    iterations: NDArray[np.float64]
    assumed: bool = False

    def __call__(self, steps: NDArray[np.float64]) -> NDArray[np.float64]:
        """Iteration under way at each step: float64 of the shape of `steps`."""
        return np.ceil(np.interp(steps, self.steps, self.iterations) - _ROUNDING)


def iteration_clock(
    row_steps: NDArray[np.float64],
    counted: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None,
    steps_per_iteration: float | None = None,
) -> IterationClock | None:
    """A clock for an on-policy run; None when there are no rows.

    `row_steps` are the growing steps of the rows that end an iteration, shape (n,). `counted` holds steps and iteration
    counts (1-based, may start again after a restart) where the log has them; `steps_per_iteration` is known where the
    configuration is. Without either, one iteration a row is assumed. Where rows do not fall on multiples of one size,
    rows are counted.
    """
    if not row_steps.size:
        return None
    size = _counted_size(*counted) if counted is not None else None
    size = size or steps_per_iteration
    assumed = size is None
    if size is None:
        size = float(np.median(np.diff(row_steps))) if row_steps.size > 1 else float(row_steps[0])
    if size <= 0:
        return None
    ends = row_steps / size
    if np.mean(np.abs(ends - np.round(ends)) < _ROUNDING * np.maximum(ends, 1.0)) >= 0.9:
        last = np.ceil(ends[-1]) + 1.0
        return IterationClock(np.array([0.0, last * size]), np.array([-1.0, last - 1.0]), assumed)
    knots = np.concatenate([[0.0], row_steps, [row_steps[-1] + size]])
    return IterationClock(knots, np.arange(-1.0, row_steps.size + 1.0), assumed=True)


def _counted_size(steps: NDArray[np.float64], counts: NDArray[np.float64]) -> float | None:
    """Steps per iteration from rows that count iterations; None when no two rows show it."""
    if steps.size == 1 and counts[0] > 0:
        return float(steps[0] / counts[0])
    gained, more = np.diff(steps), np.diff(counts)
    forward = (more > 0) & (gained > 0)
    return float(np.median(gained[forward] / more[forward])) if forward.any() else None
