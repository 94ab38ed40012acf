"""The whole loop with a real agent: it breaks, the diagnosis says why, its code is applied, and verify says fixed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

sb3 = pytest.importorskip("stable_baselines3")

from rl_diagnose import diagnose  # noqa: E402 - after the skip
from rl_diagnose.logs.load import load_run  # noqa: E402 - after the skip
from rl_diagnose.verify.check import verify_runs  # noqa: E402 - after the skip

from .patches import run  # noqa: E402 - after the skip

HALF = 25_600
RATE = 1e-3
SEED: dict[str, Any] = {"seed": 2, "device": "cpu"}


def log_to(model: Any, folder: Path) -> None:
    from stable_baselines3.common.logger import configure

    model.set_logger(configure(str(folder), ["csv"]))


def train_until_it_breaks(folder: Path, checkpoint: Path) -> None:
    """PPO on CartPole; half-way the learning rate is multiplied by 100, as a wrong schedule would do it."""
    from stable_baselines3.common.env_util import make_vec_env

    env = make_vec_env("CartPole-v1", n_envs=8, seed=2)
    model = sb3.PPO("MlpPolicy", env, learning_rate=RATE, n_steps=64, batch_size=128, n_epochs=5, **SEED)
    log_to(model, folder)
    model.learn(HALF, log_interval=1)
    model.save(checkpoint)
    model.lr_schedule = lambda _: 100 * RATE
    model.learn(HALF, log_interval=1, reset_num_timesteps=False)
    model.logger.close()


def continue_from(checkpoint: Path, folder: Path, code: str | None) -> None:
    """Load the checkpoint, apply the code, and train for as long as the broken half was."""
    from stable_baselines3.common.env_util import make_vec_env

    model = sb3.PPO.load(checkpoint, env=make_vec_env("CartPole-v1", n_envs=8, seed=1), device="cpu")
    if code is None:
        model.lr_schedule = lambda _: 100 * RATE
    else:
        run(code, {"model": model})
    log_to(model, folder)
    model.learn(HALF, log_interval=1, reset_num_timesteps=False)
    model.logger.close()
    # A log that begins with a trained policy does not show how many actions there are; the model beside it does.
    model.save(folder / "final_model.zip")


def test_a_broken_run_is_diagnosed_fixed_and_verified(tmp_path: Path) -> None:
    checkpoint = tmp_path / "before_the_jump.zip"
    train_until_it_breaks(tmp_path / "broken", checkpoint)

    (found,) = diagnose(tmp_path / "broken").runs
    assert found.top is not None
    assert found.top.id == "learning_rate_jumped"
    remedy = found.top.remedies[0]
    assert "from a checkpoint from before the jump" in remedy.summary
    assert remedy.framework == "sb3"
    assert remedy.proposed == pytest.approx(RATE, rel=1e-3)
    assert remedy.after is not None

    continue_from(checkpoint, tmp_path / "fixed", remedy.after)
    continue_from(checkpoint, tmp_path / "unchanged", None)
    broken, fixed, unchanged = (load_run(tmp_path / name) for name in ("broken", "fixed", "unchanged"))
    result = verify_runs(broken, fixed)
    assert result.outcome == "fixed", result.reason
    assert result.cause == "learning_rate_jumped"
    assert [promise.kept for promise in result.promises] == [True]
    assert result.returns is not None
    assert result.returns.better
    assert verify_runs(broken, fixed, controls=[unchanged]).outcome == "fixed"

    without = verify_runs(broken, unchanged)
    assert without.outcome == "unchanged", without.reason
