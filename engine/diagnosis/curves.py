"""The curves that a report shows: which five, and thinned so that every peak and dip survives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..signals.taxonomy import is_known_signal, signal
from .model import Curve

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from ..signals.run import Run, Series

__all__ = ["DISPLAY_POINTS", "display_curves", "shown_signals", "thin"]

DISPLAY_POINTS = 240

# One curve a row: the first signal of the row that the run has. Reward, losses, entropy, KL, learning rate for
# algorithms that learn from fresh data; reward, critic, actor, exploration, learning rate for the others.
_ON_POLICY = (
    ("reward.train", "reward.eval"),
    ("value.loss", "loss.total", "policy.loss"),
    ("policy.entropy",),
    ("policy.kl", "policy.kl_ref", "policy.clip_fraction"),
    ("optim.learning_rate",),
)
_OFF_POLICY = (
    ("reward.train", "reward.eval"),
    ("critic.loss", "loss.total"),
    ("actor.loss", "q.mean", "q.max"),
    ("alpha", "exploration.epsilon", "policy.entropy"),
    ("optim.learning_rate",),
)
_OFF_POLICY_SIGNS = ("critic.loss", "q.mean", "exploration.epsilon", "alpha", "actor.loss")
_ON_POLICY_SIGNS = ("policy.kl", "policy.clip_fraction", "value.loss")


def shown_signals(run: Run) -> list[str]:
    """Ids of the five standard curves that this run has, in reading order."""
    have = {name for name, series in run.series.items() if len(series)}
    off_policy = bool(have.intersection(_OFF_POLICY_SIGNS)) and not have.intersection(_ON_POLICY_SIGNS)
    rows = _OFF_POLICY if off_policy else _ON_POLICY
    return [name for row in rows if (name := next((n for n in row if n in have), None)) is not None]


def display_curves(series: Iterable[Series], bad: tuple[float, float] | None) -> tuple[Curve, ...]:
    """Each series as a `Curve` of at most `DISPLAY_POINTS` points, with the interval `bad` to mark."""
    curves = []
    for one in series:
        spec = signal(one.signal) if is_known_signal(one.signal) else None
        kept = thin(one.value)
        step, value, iteration = one.step[kept], one.value[kept], one.iteration[kept]
        known = one.x_axis != "iterations" and iteration.size > 0 and bool(np.isfinite(iteration).all())
        title, unit = (spec.title, spec.unit) if spec else (one.signal, "")
        curves.append(Curve(one.signal, title, unit, step, value, bad, iteration if known else None))
    return tuple(curves)


def thin(value: NDArray[np.float64], limit: int = DISPLAY_POINTS) -> NDArray[np.intp]:
    """Positions of at most `limit` points to keep of `value`, of shape (n,): in each stretch its smallest and largest,
    in order.

    The first and the last point are always kept. A stretch without a finite value gives one NaN.
    """
    n = value.size
    if n <= limit:
        return np.arange(n)
    stretches = max((limit - 2) // 2, 1)
    size = -(-n // stretches)
    padded = np.full(size * stretches, np.nan)
    padded[:n] = value
    rows = padded.reshape(stretches, size)
    offset = np.arange(stretches) * size
    finite = np.isfinite(rows)
    low = np.where(finite, rows, np.inf).argmin(axis=1) + offset
    high = np.where(finite, rows, -np.inf).argmax(axis=1) + offset
    keep = np.unique(np.concatenate([low, high, [0, n - 1]]))
    return keep[keep < n]
