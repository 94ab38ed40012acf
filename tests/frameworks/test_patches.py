"""The code that remedies print works with Stable-Baselines3: what it sets exists, and training reads it.

An attribute that nothing reads is the worst kind of advice: it looks as if it had been followed. Attributes are
therefore watched while a tiny agent trains.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from .patches import Shown, Watch, assigned, is_constructor, run, shown

SB3 = {
    "ppo": "PPO", "a2c": "A2C", "dqn": "DQN", "sac": "SAC", "td3": "TD3", "ddpg": "DDPG", "trpo": "TRPO",
    "recurrent_ppo": "RecurrentPPO", "maskable_ppo": "MaskablePPO", "qrdqn": "QRDQN", "tqc": "TQC", "crossq": "CrossQ",
}  # fmt: skip
ON_POLICY = {"ppo", "a2c", "trpo", "recurrent_ppo", "maskable_ppo"}
CONTINUOUS = {"sac", "td3", "ddpg", "tqc", "crossq"}
STEPS = 96


def names() -> dict[str, Any]:
    """What a script that uses SB3 has imported."""
    sb3 = pytest.importorskip("stable_baselines3")
    contrib = pytest.importorskip("sb3_contrib")
    import gymnasium as gym
    import torch
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.evaluation import evaluate_policy
    from stable_baselines3.common.noise import NormalActionNoise
    from stable_baselines3.common.vec_env import VecCheckNan, VecNormalize, sync_envs_normalization

    classes = {name: getattr(sb3, name, None) or getattr(contrib, name) for name in SB3.values()}
    own = (BaseCallback, NormalActionNoise, VecCheckNan, VecNormalize, evaluate_policy, sync_envs_normalization)
    return {**classes, **{one.__name__: one for one in own}, "gym": gym, "torch": torch, "np": np, "math": math}


def environment(algorithm: str) -> Any:
    import gymnasium as gym

    class Masked(gym.Wrapper):
        def action_masks(self) -> Any:
            return np.ones(2, dtype=bool)

    env = gym.make("Pendulum-v1" if algorithm in CONTINUOUS else "CartPole-v1")
    return Masked(env) if algorithm == "maskable_ppo" else env


def vectorised(algorithm: str) -> Any:
    from stable_baselines3.common.vec_env import DummyVecEnv

    return DummyVecEnv([lambda: environment(algorithm)])


def policy(algorithm: str) -> str:
    return "MlpLstmPolicy" if algorithm == "recurrent_ppo" else "MlpPolicy"


def small(algorithm: str) -> dict[str, Any]:
    if algorithm in ON_POLICY:
        return {"n_steps": 32, **({} if algorithm == "a2c" else {"batch_size": 16})}
    return {"learning_starts": 20, "buffer_size": 1000, "batch_size": 16}


def make(space: dict[str, Any], algorithm: str, env: Any) -> Any:
    return space[SB3[algorithm]](policy(algorithm), env, seed=0, device="cpu", **small(algorithm))


CODE = shown("sb3", list(SB3))
SETTING = [one for one in CODE if assigned(one.code)]
MAKING = [one for one in CODE if is_constructor(one.code) or re.search(r"(?m)^[A-Z]\w+\(", one.code)]
AROUND = [one for one in CODE if re.match(r"env = ", one.code)]
OTHER = [one for one in CODE if one not in SETTING and one not in MAKING and one not in AROUND]


def ids(codes: list[Shown]) -> list[Any]:
    return [pytest.param(one, id=one.id) for one in codes]


@pytest.mark.parametrize("one", ids(SETTING))
def test_sb3_reads_what_the_patch_sets(one: Shown) -> None:
    space = names()
    env = environment(one.algorithm)
    model = make(space, one.algorithm, env)
    space |= {"model": model, "env": env, "steps": STEPS}
    if one.before:
        run(one.before, space)
    for owner, attribute in assigned(one.code):
        known = space.get(owner)
        assert known is None or hasattr(known, attribute), f"{type(model).__name__} has no {owner}.{attribute}"
    run(one.code, space)
    owners = {owner for owner, _ in assigned(one.code)}
    watches = [Watch(run(owner, space), {a for o, a in assigned(one.code) if o == owner}) for owner in owners]
    model.learn(STEPS, reset_num_timesteps=False)
    read = set().union(*(watch.read for watch in watches))
    unread = {attribute for _, attribute in assigned(one.code)} - read
    assert not unread, f"{type(model).__name__} trains without reading {unread}"
    if "lr_schedule" in read and one.value is not None:
        learner = getattr(model, "actor", None) or model.policy
        assert learner.optimizer.param_groups[0]["lr"] == pytest.approx(one.value, rel=1e-3)


@pytest.mark.parametrize("one", ids(MAKING))
def test_sb3_makes_and_trains_what_the_patch_names(one: Shown) -> None:
    space = names()
    space["env"] = environment(one.algorithm)
    made = run(one.code.replace("(...,", f'("{policy(one.algorithm)}", env,'), space)
    assert type(made).__name__ == SB3[one.algorithm]
    if one.knob not in {"network_width", "entropy_coef"}:
        assert getattr(made, one.knob) == pytest.approx(one.value)
    made.learn(64)


@pytest.mark.parametrize("one", ids(AROUND))
def test_sb3_trains_in_the_environment_that_the_patch_makes(one: Shown) -> None:
    space = names()
    plain = "gym.wrappers" in one.code
    inside = environment(one.algorithm) if plain else vectorised(one.algorithm)
    space |= {"env": inside, "FACTOR": 0.1}
    run(one.code, space)
    assert space["env"] is not inside
    if one.algorithm != "maskable_ppo":  # a wrapper hides the masks, which is the user's own wiring
        make(space, one.algorithm, space["env"]).learn(STEPS)


@pytest.mark.parametrize("one", ids(OTHER))
def test_sb3_continues_or_evaluates_as_the_patch_says(one: Shown, tmp_path: Path) -> None:
    space = names()
    normalise = space["VecNormalize"]
    training = normalise(vectorised(one.algorithm))
    model = make(space, one.algorithm, training)
    model.learn(STEPS)
    model.save(tmp_path / "model.zip")
    training.save(tmp_path / "statistics.pkl")
    space |= {
        "model": model,
        "path": tmp_path / "model.zip",
        "stats_path": tmp_path / "statistics.pkl",
        "venv": vectorised(one.algorithm),
        "eval_env": normalise(vectorised(one.algorithm), training=False),
        "steps": STEPS,
    }
    run(one.code, space)
    if "load" in one.code:
        assert space["model"] is not model
        assert space["model"].num_timesteps > model.num_timesteps
        assert space["model"].get_vec_normalize_env().obs_rms.count > training.obs_rms.count
    else:
        assert np.array_equal(space["eval_env"].obs_rms.mean, training.obs_rms.mean)


def test_every_kind_of_code_for_sb3_is_tested() -> None:
    assert len(SETTING) + len(MAKING) + len(AROUND) + len(OTHER) == len(CODE)
    assert {one.algorithm for one in CODE} == set(SB3)
    assert min(len(SETTING), len(MAKING), len(AROUND), len(OTHER)) >= 5
