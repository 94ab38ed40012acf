"""Derived signals: functions of a run, in `DERIVED` under their ids of the taxonomy; None where there is nothing."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from math import erf
from typing import TYPE_CHECKING

import numpy as np

from ..signals.run import NonFinite, Semantics, Series
from .middle import median
from .trends import smooth

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from ..signals.run import Run

    Floats = NDArray[np.float64]

__all__ = ["DERIVED", "RunSignals", "get_series", "implied_clip_fraction", "implied_kl"]

GAUSSIAN_ENTROPY = 0.5 * np.log(2.0 * np.pi * np.e)  # of a unit normal, in nats: 1.4189
_KL_GRID = np.logspace(-5.0, 1.0, 241)
_LEAST_CLIP = 1e-3  # below this a clip fraction is a handful of samples and implies nothing
_LEAST_KL = 1e-7


def get_series(run: Run, signal: str) -> Series | None:
    """The logged series of `signal`, else the derived one; None when the run has neither, or no points in it."""
    series = run.series.get(signal)
    if series is None and signal in DERIVED:
        series = DERIVED[signal](run)
    return series if series is not None and len(series) else None


def _made(source: Series, signal: str, value: Floats, formula: str) -> Series:
    keep = np.isfinite(value)
    if not keep.any():
        return replace(
            source,
            signal=signal,
            step=source.step[:0],
            value=source.value[:0],
            iteration=source.iteration[:0],
            wall_time=source.wall_time[:0],
        )
    return Series(
        signal,
        source.step[keep],
        value[keep],
        source.iteration[keep],
        source.wall_time[keep],
        Semantics(
            source.semantics.source_key,
            source.semantics.file,
            formula,
            source.semantics.estimator,
            source.semantics.window,
        ),
        source.x_axis,
        NonFinite(),
    )


def _entropy_ratio(run: Run) -> Series | None:
    """H / Hmax of a discrete action space."""
    entropy, largest = run.series.get("policy.entropy"), run.action_space.max_entropy
    if entropy is None or largest is None:
        return None
    return _made(entropy, "policy.entropy_ratio", entropy.value / largest, f"H / {largest:.4g}")


def _sigma(run: Run) -> tuple[Series, Floats] | None:
    """Effective width per dimension of a continuous policy, exp(H/d − 1.4189)."""
    entropy, space = run.series.get("policy.entropy"), run.action_space
    if entropy is None or space.kind != "continuous" or not space.size:
        return None
    with np.errstate(over="ignore"):
        return entropy, np.exp(entropy.value / space.size - GAUSSIAN_ENTROPY)


def _sigma_ratio(run: Run) -> Series | None:
    found = _sigma(run)
    if found is None:
        return None
    entropy, sigma = found
    finite = np.isfinite(sigma)
    early = sigma[finite & (entropy.step <= entropy.step[0] + 0.05 * (entropy.step[-1] - entropy.step[0]))]
    start = median(early) if early.size else 0.0
    if start <= 0.0:
        return None
    return _made(entropy, "policy.sigma_ratio", sigma / start, "exp(H/d − 1.4189) over its start")


def _sigma_range(run: Run) -> Series | None:
    found, space = _sigma(run), run.action_space
    if found is None or space.low is None or space.high is None or not space.high > space.low:
        return None
    entropy, sigma = found
    return _made(
        entropy, "policy.sigma_range", sigma / ((space.high - space.low) / 2), "exp(H/d − 1.4189) / half the range"
    )


def implied_clip_fraction(kl: Floats, epsilon: float) -> Floats:
    """P(|r − 1| > ε) for log r ~ N(−δ, 2δ): what a Gaussian log-ratio of divergence δ = `kl` gives."""
    deviation = np.sqrt(2.0 * kl)
    low = np.full_like(kl, -np.inf) if epsilon >= 1 else (np.log1p(-epsilon) + kl) / deviation
    high = (np.log1p(epsilon) + kl) / deviation

    def normal(z: Floats) -> Floats:
        return np.array([0.5 * (1 + erf(x / np.sqrt(2.0))) for x in z])

    result: Floats = normal(low) + 1 - normal(high)
    return result


def implied_kl(clip_fraction: Floats, epsilon: float) -> Floats:
    """The inverse of `implied_clip_fraction` by interpolation; NaN where the fraction is too small to say anything."""
    fractions = _fractions(epsilon)
    kl = np.exp(np.interp(clip_fraction, fractions, np.log(_KL_GRID)))
    usable = (clip_fraction >= _LEAST_CLIP) & (clip_fraction < fractions[-1])
    return np.where(usable, kl, np.nan)


@lru_cache(maxsize=256)
def _fractions(epsilon: float) -> Floats:
    """The clip fraction of each divergence of the grid, never falling."""
    return np.maximum.accumulate(implied_clip_fraction(_KL_GRID, epsilon))


def _clip_range_at(run: Run, step: Floats) -> Floats | None:
    logged = run.series.get("optim.clip_range")
    if logged is not None and np.isfinite(logged.value).any():
        finite = np.isfinite(logged.value)
        return np.interp(step, logged.step[finite], logged.value[finite])
    known = run.config.get("clip_range")
    if known is None or isinstance(known.value, str) or not float(known.value) > 0:
        return None
    return np.full(step.shape, float(known.value))


def _kl_implied(run: Run) -> Series | None:
    clip = run.series.get("policy.clip_fraction")
    epsilon = None if clip is None else _clip_range_at(run, clip.step)
    if clip is None or epsilon is None:
        return None
    value = np.full(clip.value.shape, np.nan)
    rounded = np.round(epsilon, 3)  # a schedule passes through many values; three digits are enough
    for e in np.unique(rounded[rounded > 0]):
        at = rounded == e
        value[at] = implied_kl(clip.value[at], float(e))
    return _made(clip, "policy.kl_implied", value, "KL of a Gaussian log-ratio with this clip fraction")


def _kl_residual(run: Run) -> Series | None:
    kl, implied = run.series.get("policy.kl"), get_series(run, "policy.kl_implied")
    if kl is None or implied is None:
        return None
    common, i, j = np.intersect1d(kl.step, implied.step, return_indices=True)
    if not common.size:
        return None
    value = np.full(kl.value.shape, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        value[i] = np.where(kl.value[i] > _LEAST_KL, np.log10(kl.value[i] / implied.value[j]), np.nan)
    return _made(kl, "policy.kl_residual", value, "log10(KL / KL implied by the clip fraction)")


def _kl_scaled(run: Run) -> Series | None:
    kl = run.series.get("policy.kl")
    epsilon = None if kl is None else _clip_range_at(run, kl.step)
    if kl is None or epsilon is None:
        return None
    with np.errstate(divide="ignore"):
        value = np.where(epsilon > 0, kl.value / (epsilon**2 / 2), np.nan)
    return _made(kl, "policy.kl_scaled", value, "KL / (ε²/2)")


def _rollout_steps(run: Run) -> Series | None:
    """Env steps from one row to the next over iterations from one to the next; where rows skip iterations but do not
    say so this is too large, never too small."""
    for signal in ("value.loss", "policy.loss", "policy.kl", "reward.train"):
        series = run.series.get(signal)
        if series is None or series.x_axis != "env_steps" or np.isfinite(series.iteration).sum() < 2:
            continue
        rows = np.isfinite(series.iteration)
        step, iteration = series.step[rows], series.iteration[rows]
        value = np.full(series.value.shape, np.nan)
        gone = np.diff(iteration)
        with np.errstate(divide="ignore", invalid="ignore"):
            value[np.flatnonzero(rows)[1:]] = np.where(gone > 0, np.diff(step) / gone, np.nan)
        return _made(series, "time.rollout_steps", value, "steps / iterations between rows")
    return None


def _reward_gap(run: Run) -> Series | None:
    train, evaluation = run.series.get("reward.train"), run.series.get("reward.eval")
    if train is None or evaluation is None:
        return None
    finite = np.isfinite(train.value)
    spread = float(np.ptp(train.value[finite])) if finite.any() else 0.0
    if spread <= 0.0:
        return None
    at = np.interp(evaluation.step, train.step[finite], train.value[finite])
    return _made(
        evaluation, "reward.gap", (at - evaluation.value) / spread, "(training − evaluation) / range of training"
    )


def _reward_below_best(run: Run) -> Series | None:
    train = run.series.get("reward.train")
    if train is None:
        return None
    finite = np.isfinite(train.value)
    if finite.sum() < 3:
        return None
    value = np.full(train.value.shape, np.nan)
    level = smooth(train.value[finite])
    best, worst = np.maximum.accumulate(level), np.minimum.accumulate(level)
    spread = best - worst
    settled = spread > 1e-9 * max(float(np.abs(level).max()), 1e-12)
    value[finite] = np.where(settled, (best - level) / np.where(settled, spread, 1.0), np.nan)
    return _made(train, "reward.below_best", value, "(best so far − return) / (best − worst so far)")


def _value_loss_scaled(run: Run) -> Series | None:
    loss, train = run.series.get("value.loss"), run.series.get("reward.train")
    if loss is None or train is None:
        return None
    variance = float(np.nanvar(train.value)) if np.isfinite(train.value).any() else 0.0
    if not variance > 0.0:
        return None
    return _made(loss, "value.loss_scaled", loss.value / variance, "value loss / variance of training return")


DERIVED: dict[str, Callable[[Run], Series | None]] = {
    "policy.entropy_ratio": _entropy_ratio,
    "policy.sigma_ratio": _sigma_ratio,
    "policy.sigma_range": _sigma_range,
    "policy.kl_implied": _kl_implied,
    "policy.kl_residual": _kl_residual,
    "policy.kl_scaled": _kl_scaled,
    "time.rollout_steps": _rollout_steps,
    "reward.gap": _reward_gap,
    "reward.below_best": _reward_below_best,
    "value.loss_scaled": _value_loss_scaled,
}


class RunSignals:
    """The signals of a run, logged and computed, each computed once."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._known: dict[str, Series | None] = {}

    def get(self, name: str) -> Series | None:
        """The series of `name`; None when the run has none, or no points in it."""
        if name not in self._known:
            self._known[name] = get_series(self.run, name)
        return self._known[name]

    def available(self, names: Iterable[str]) -> frozenset[str]:
        """Those of `names` that the run has."""
        return frozenset(name for name in names if self.get(name) is not None)
