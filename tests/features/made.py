"""Runs made of plain arrays, for the tests of features."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rl_diagnose.features.extract import Plan, extract
from rl_diagnose.signals.run import ActionSpace, ConfigValue, NonFinite, Run, Semantics, Series

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

__all__ = ["feature", "run", "series"]


def series(name: str, value: ArrayLike, step: ArrayLike | None = None, episodes: int | None = None) -> Series:
    """A series with non-finite values taken out as an adapter does."""
    values: Floats = np.asarray(value, dtype=np.float64)
    steps: Floats = (
        np.arange(1, values.size + 1, dtype=np.float64) * 100 if step is None else np.asarray(step, dtype=np.float64)
    )
    bad = ~np.isfinite(values)
    first = float(steps[bad][0]) if bad.any() else None
    seen = NonFinite(int(np.isnan(values).sum()), int(np.isposinf(values).sum()), int(np.isneginf(values).sum()), first)
    clean = np.where(bad, np.nan, values)
    n = values.size
    return Series(
        name,
        steps,
        clean,
        np.arange(n, dtype=np.float64),
        np.full(n, np.nan),
        Semantics(name, window_episodes=episodes),
        non_finite=seen,
    )


def run(
    values: Mapping[str, ArrayLike | Series],
    *,
    space: ActionSpace | None = None,
    config: Mapping[str, float] | None = None,
) -> Run:
    """A run with these signals; plain arrays get steps 100, 200, …"""
    all_series = {k: v if isinstance(v, Series) else series(k, v) for k, v in values.items()}
    settings = {k: ConfigValue(v, "test") for k, v in (config or {}).items()}
    return Run("r", "r", "csv", all_series, config=settings, action_space=space or ActionSpace())


def feature(made: Run, *names: str) -> list[float | None]:
    """Values of features of one run."""
    row = extract(made, Plan.build(names))
    return [row.get(ref.text)[0] for ref in row.plan.refs]
