"""Synthetic runs for the tests of the rulebooks: a run that learns as it should, and changes to single curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
import pytest

from rl_diagnose.diagnosis.pipeline import diagnose_run
from rl_diagnose.signals.run import ActionSpace, ConfigValue, LogIssue, NonFinite, Run, Semantics, Series

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from rl_diagnose.diagnosis.model import RunDiagnosis

    Curve = float | Callable[[NDArray[np.float64]], NDArray[np.float64]] | None

POINTS = 80
STEPS = 1024.0


def _noise(seed: int, n: int) -> NDArray[np.float64]:
    return np.random.default_rng(seed).normal(size=n)


# Each curve is a function of the part of the run that is over, from 0 to 1. The numbers are those of a usual PPO run.
LEARNING: dict[str, Curve] = {
    "reward.train": lambda t: 20 + 180 / (1 + np.exp(-10 * (t - 0.5))) + 1.5 * _noise(1, t.size),
    "policy.kl": lambda t: 0.006 * np.exp(0.35 * _noise(2, t.size)),
    "policy.clip_fraction": lambda t: 0.06 * np.exp(0.3 * _noise(3, t.size)),
    "policy.entropy": lambda t: 0.68 - 0.4 * t + 0.01 * _noise(4, t.size),
    "policy.loss": lambda t: -0.006 + 0.003 * _noise(5, t.size),
    "value.loss": lambda t: 60 * np.exp(0.3 * _noise(6, t.size)) * (1.2 - t),
    "value.explained_variance": lambda t: np.minimum(0.9, 1.5 * t) + 0.03 * _noise(7, t.size),
    "loss.total": lambda t: 30 * (1.2 - t) + _noise(8, t.size),
    "optim.learning_rate": 3e-4,
    "optim.clip_range": 0.2,
}


class MakeRun(Protocol):
    """Build a run: the learning one, with `curves` replaced (None removes a curve)."""

    def __call__(
        self,
        curves: Mapping[str, Curve] | None = None,
        *,
        base: Mapping[str, Curve] = LEARNING,
        algorithm: str = "ppo",
        config: Mapping[str, float | bool] | None = None,
        issues: tuple[str, ...] = (),
        points: int = POINTS,
        sparse: tuple[str, ...] = ("reward.eval",),
    ) -> Run: ...


def _series(name: str, curve: Curve, points: int) -> Series:
    step = np.arange(1, points + 1) * STEPS * POINTS / points
    t = (step - step[0]) / (step[-1] - step[0])
    value = curve(t) if callable(curve) else np.full(points, float(curve or 0.0))
    bad = ~np.isfinite(value)
    non_finite = NonFinite()
    if bad.any():
        non_finite = NonFinite(
            nan=int(np.isnan(value).sum()),
            positive_inf=int(np.isposinf(value).sum()),
            negative_inf=int(np.isneginf(value).sum()),
            first_step=float(step[bad][0]),
        )
    value = np.where(bad, np.nan, value)
    nothing = np.full(points, np.nan)
    return Series(
        name, step, value, np.arange(points, dtype=np.float64), nothing, Semantics(name), non_finite=non_finite
    )


@pytest.fixture(scope="session")
def make_run() -> MakeRun:
    """See `MakeRun`."""

    def make(
        curves: Mapping[str, Curve] | None = None,
        *,
        base: Mapping[str, Curve] = LEARNING,
        algorithm: str = "ppo",
        config: Mapping[str, float | bool] | None = None,
        issues: tuple[str, ...] = (),
        points: int = POINTS,
        sparse: tuple[str, ...] = ("reward.eval",),
    ) -> Run:
        chosen = {**base, **(curves or {})}
        series = {
            name: _series(name, curve, 12 if name in sparse else points)
            for name, curve in chosen.items()
            if curve is not None
        }
        return Run(
            id="synthetic",
            path="synthetic",
            framework="sb3",
            series=series,
            algorithm=algorithm,
            config={name: ConfigValue(value, "test") for name, value in (config or {}).items()},
            action_space=ActionSpace("discrete", 2, origin="config"),
            issues=tuple(LogIssue(code, code) for code in issues),
        )

    return make


@pytest.fixture(scope="session")
def diagnose() -> Callable[[Run, str], RunDiagnosis]:
    """Diagnose one run with one built-in book."""
    return lambda run, book: diagnose_run(run, [book])
