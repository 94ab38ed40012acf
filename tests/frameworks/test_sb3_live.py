"""The SB3 adapter's signals equal what SB3's own callbacks and logger report while a real agent trains."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("stable_baselines3")

from rl_diagnose.logs.load import load_run
from rl_diagnose.signals.run import Run

Dumps = list[tuple[int, dict[str, float]]]
SIGNS = {"policy.entropy": ("train/entropy_loss", -1.0)}
KEYS = {
    "reward.train": "rollout/ep_rew_mean",
    "episode.length": "rollout/ep_len_mean",
    "policy.kl": "train/approx_kl",
    "policy.clip_fraction": "train/clip_fraction",
    "policy.loss": "train/policy_gradient_loss",
    "value.loss": "train/value_loss",
    "value.explained_variance": "train/explained_variance",
    "optim.learning_rate": "train/learning_rate",
    "optim.clip_range": "train/clip_range",
    "loss.total": "train/loss",
    "policy.std": "train/std",
    "critic.loss": "train/critic_loss",
    "actor.loss": "train/actor_loss",
    "alpha": "train/ent_coef",
    "exploration.epsilon": "rollout/exploration_rate",
}


def train(algorithm: str, env: str, folder: Path, formats: list[str], steps: int, **settings: Any) -> Dumps:
    """Train, let SB3 write its logs, and record what its logger holds at every dump."""
    import stable_baselines3 as sb3
    from stable_baselines3.common.logger import configure

    model = getattr(sb3, algorithm)("MlpPolicy", env, seed=1, device="cpu", **settings)
    logger = configure(str(folder), formats)
    dumps: Dumps = []
    original = logger.dump

    def dump(step: int = 0) -> None:
        values = {k: float(v) for k, v in logger.name_to_value.items() if isinstance(v, int | float | np.number)}
        dumps.append((step, values))
        original(step)

    logger.dump = dump
    model.set_logger(logger)
    model.learn(steps, log_interval=1)
    logger.close()
    return dumps


def reported(dumps: Dumps, key: str, sign: float) -> dict[float, float]:
    return {float(step): sign * values[key] for step, values in dumps if key in values and np.isfinite(values[key])}


def assert_signals_equal(run: Run, dumps: Dumps, *, at_least: int) -> None:
    compared = 0
    for signal in [*KEYS, *SIGNS]:
        key, sign = SIGNS.get(signal, (KEYS.get(signal, ""), 1.0))
        wanted = reported(dumps, key, sign)
        if not wanted:
            continue
        series = run.series[signal]
        finite = np.isfinite(series.value)
        got = dict(zip(series.step[finite].tolist(), series.value[finite].tolist(), strict=True))
        assert got.keys() == wanted.keys(), signal
        assert list(got.values()) == pytest.approx(list(wanted.values()), rel=1e-5), signal
        compared += 1
    assert compared >= at_least


@pytest.mark.parametrize("formats", [["tensorboard"], ["csv"], ["json"], ["csv", "tensorboard", "json"]])
def test_ppo_signals_equal_what_the_logger_held(tmp_path: Path, formats: list[str]) -> None:
    folder = tmp_path / "PPO_1"
    dumps = train("PPO", "CartPole-v1", folder, formats, 1200, n_steps=256, batch_size=64, n_epochs=2)
    run = load_run(folder)
    assert (run.framework, run.algorithm) == ("sb3", "ppo")
    assert_signals_equal(run, dumps, at_least=10)


def test_a_gaussian_policy_is_seen_as_continuous(tmp_path: Path) -> None:
    folder = tmp_path / "PPO_1"
    dumps = train("PPO", "Pendulum-v1", folder, ["tensorboard"], 1200, n_steps=256, batch_size=64, n_epochs=2)
    run = load_run(folder)
    assert (run.action_space.kind, run.action_space.size) == ("continuous", 1)
    assert_signals_equal(run, dumps, at_least=11)


@pytest.mark.parametrize(
    ("algorithm", "env", "settings", "signals"),
    [
        ("A2C", "CartPole-v1", {}, 4),
        ("DQN", "CartPole-v1", {"learning_starts": 100}, 4),
        ("SAC", "Pendulum-v1", {"learning_starts": 100}, 4),
        ("TD3", "Pendulum-v1", {"learning_starts": 100}, 4),
        ("DDPG", "Pendulum-v1", {"learning_starts": 100}, 4),
    ],
)
def test_every_algorithm_is_recognised_and_read(
    tmp_path: Path, algorithm: str, env: str, settings: dict[str, Any], signals: int
) -> None:
    folder = tmp_path / f"{algorithm}_1"
    dumps = train(algorithm, env, folder, ["tensorboard", "csv"], 900, **settings)
    run = load_run(folder)
    assert run.algorithm == algorithm.lower()
    assert_signals_equal(run, dumps, at_least=signals)


def test_a_saved_model_beside_the_log_gives_configuration_and_action_space(tmp_path: Path) -> None:
    import stable_baselines3 as sb3

    folder = tmp_path / "logs"
    train("PPO", "CartPole-v1", folder, ["csv"], 600, n_steps=256, batch_size=64, n_epochs=2)
    sb3.PPO("MlpPolicy", "CartPole-v1", gamma=0.97, ent_coef=0.01, device="cpu").save(folder / "best_model.zip")
    run = load_run(folder)
    assert run.config["gamma"].value == 0.97
    assert run.config["entropy_coef"].value == 0.01
    assert (run.action_space.kind, run.action_space.size, run.action_space.origin) == ("discrete", 2, "config")
