"""Runs for the tests of `golden_five`: one inside all of the method's bands, its worked case, and logs of that case."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rl_diagnose.signals.run import ActionSpace, ConfigValue, Run, Semantics, Series

Floats = NDArray[np.float64]
Curve = float | Callable[[Floats], Floats] | None
Curves = Mapping[str, Curve]

# The case: the reward falls at step 12,000, entropy follows within a few hundred steps; 8,000 steps later the log ends.
LAST = 20_480.0
FALLS, COLLAPSED = 12_000.0, 12_418.0
POINTS = 1024


def noise(step: Floats, seed: int) -> Floats:
    return np.random.default_rng(seed).normal(size=step.size)


def around(level: float, spread: float, seed: int) -> Callable[[Floats], Floats]:
    """A level with multiplicative noise."""
    return lambda step: level * np.exp(spread * noise(step, seed))


def before_and_after(
    before: Callable[[Floats], Floats], after: Callable[[Floats], Floats]
) -> Callable[[Floats], Floats]:
    """One course before the fall, another from there on."""
    return lambda step: np.where(step < FALLS, before(step), after(step))


def rising_reward(step: Floats) -> Floats:
    return 20 + 175 * np.minimum(step / 18_000, 1.0) + 4 * noise(step, 1)


def cliff(step: Floats) -> Floats:
    """195, then 80 within 400 steps, and swings between 60 and 90."""
    up = 20 + 175 * np.minimum(step / 10_000, 1.0) + 4 * noise(step, 1)
    down = 75 + 15 * np.sin((step - FALLS) / 300)
    share = np.clip((step - FALLS) / 400, 0.0, 1.0)
    return up * (1 - share) + down * share


def plunge(before: float, after: float = 0.018) -> Callable[[Floats], Floats]:
    """An entropy that falls slowly, then within a few hundred steps to practically nothing."""

    def entropy(step: Floats) -> Floats:
        gone = 1 / (1 + np.exp(-np.clip((step - COLLAPSED) / 60, -50, 50)))
        level = before * (1 - 0.15 * step / FALLS)
        return (level * (1 - gone) + after * gone) * (1 + 0.005 * noise(step, 3))

    return entropy


HEALTHY: Curves = {
    "reward.train": rising_reward,
    "policy.entropy": lambda step: 0.9 - 0.3 * step / LAST + 0.003 * noise(step, 3),
    "policy.kl": around(0.015, 0.15, 4),
    "policy.loss": lambda step: -0.01 + 0.004 * noise(step, 5),
    "value.loss": lambda step: 40 * np.exp(-3 * step / LAST) * np.exp(0.05 * noise(step, 6)),
    "optim.learning_rate": 3e-4,
}
CASE: Curves = {
    "reward.train": cliff,
    "policy.entropy": plunge(0.8),
    "policy.kl": before_and_after(around(0.012, 0.1, 4), around(0.003, 0.1, 4)),
    "policy.loss": before_and_after(lambda s: -0.01 + 0.004 * noise(s, 5), lambda s: 1e-5 * noise(s, 5)),
    "value.loss": before_and_after(
        lambda s: (40 - 10 * s / FALLS) * np.exp(0.05 * noise(s, 6)),
        lambda s: (30 + 20 * (s - FALLS) / 8000) * np.exp(0.05 * noise(s, 6)),
    ),
}


def make_run(
    curves: Curves | None = None,
    *,
    base: Curves = HEALTHY,
    actions: int = 4,
    config: Mapping[str, float] | None = None,
    points: int = POINTS,
    last: float = LAST,
    framework: str = "sb3",
) -> Run:
    """A run with the base curves, some replaced; None leaves one out."""
    step = np.linspace(last / points, last, points)
    series = {}
    for name, curve in {**base, **(curves or {})}.items():
        if curve is not None:
            value = curve(step) if callable(curve) else np.full(points, curve)
            clock = np.arange(points, dtype=np.float64)
            series[name] = Series(name, step, value, clock, np.full(points, np.nan), Semantics(name))
    known = {name: ConfigValue(value, "config.yml") for name, value in (config or {}).items()}
    space = ActionSpace("discrete", actions, origin="user", detail=f"discrete:{actions}")
    return Run("case", "case", framework, series, algorithm="ppo", config=known, action_space=space)


def write_table(run: Run, path: Path) -> Path:
    """The run as a plain CSV with the method's own words for columns; entropy as a loss, −H."""
    columns = {
        "step": run.series["reward.train"].step,
        "reward": run.series["reward.train"].value,
        "policy_loss": run.series["policy.loss"].value,
        "value_loss": run.series["value.loss"].value,
        "entropy_loss": -run.series["policy.entropy"].value,
        "kl": run.series["policy.kl"].value,
    }
    return _write(path, columns)


def write_progress(run: Run, folder: Path) -> Path:
    """The run as Stable-Baselines3's `progress.csv`: a row is written before the first update, without its values."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = np.arange(1, len(run.series["reward.train"]) + 1)
    columns = {
        "time/fps": np.full(rows.size, 900),
        "time/iterations": rows,
        "time/total_timesteps": run.series["reward.train"].step.astype(int),
        "rollout/ep_rew_mean": run.series["reward.train"].value,
        "train/approx_kl": run.series["policy.kl"].value,
        "train/entropy_loss": -run.series["policy.entropy"].value,
        "train/policy_gradient_loss": run.series["policy.loss"].value,
        "train/value_loss": run.series["value.loss"].value,
        "train/n_updates": rows * 10,
    }
    _write(folder / "progress.csv", columns, blank=tuple(name for name in columns if name.startswith("train/")))
    return folder


def _write(path: Path, columns: Mapping[str, NDArray[np.generic]], blank: tuple[str, ...] = ()) -> Path:
    """Write the table; the columns `blank` are empty in the first row."""
    rows = [list(row) for row in zip(*(column.tolist() for column in columns.values()), strict=True)]
    rows[0] = ["" if name in blank else value for name, value in zip(columns, rows[0], strict=True)]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(rows)
    return path
