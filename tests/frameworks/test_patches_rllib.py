"""The code that remedies print works with RLlib: configurations take and keep it, and train with it."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("ray.rllib")

from .patches import Shown, run, shown

CODE = shown("rllib", ["ppo", "appo", "dqn", "sac", "tqc"])
SPACE = {"TOTAL_STEPS": 1000, "math": math, "plateau": 500, "horizon": 1000}


def configuration(algorithm: str) -> Any:
    from ray.rllib.algorithms.appo import APPOConfig
    from ray.rllib.algorithms.dqn import DQNConfig
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.algorithms.sac import SACConfig
    from ray.rllib.algorithms.tqc import TQCConfig

    made = {"ppo": PPOConfig, "appo": APPOConfig, "dqn": DQNConfig, "sac": SACConfig, "tqc": TQCConfig}[algorithm]()
    env = "Pendulum-v1" if algorithm in {"sac", "tqc"} else "CartPole-v1"
    return made.environment(env).env_runners(num_env_runners=1 if algorithm == "appo" else 0)


def settings(code: str, space: dict[str, Any]) -> dict[str, Any]:
    """The settings that the code gives, by their names, with their values."""
    calls = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)]
    given = [k for call in calls if ast.unparse(call.func).startswith("config.") for k in call.keywords]
    return {str(k.arg): run(ast.unparse(k.value), dict(space)) for k in given}


@pytest.mark.parametrize("one", [pytest.param(one, id=one.id) for one in CODE])
def test_rllib_keeps_what_the_patch_sets(one: Shown) -> None:
    config = configuration(one.algorithm)
    space = {**SPACE, "config": config}
    run(one.code, space)
    config.validate()
    given = settings(one.code, space)
    assert given, one.code
    for name, value in given.items():
        held = getattr(config, name)
        assert value.items() <= held.items() if isinstance(value, dict) else held == value, name


@pytest.fixture(scope="module")
def _ray() -> Iterator[None]:
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=150_000_000)
    yield
    ray.shutdown()


@pytest.mark.usefixtures("_ray")
@pytest.mark.parametrize("algorithm", ["ppo", "dqn", "sac", "tqc"])
def test_rllib_trains_with_all_patches_of_an_algorithm_together(algorithm: str) -> None:
    config = configuration(algorithm)
    for one in CODE:
        if one.algorithm == algorithm:
            run(one.code, {**SPACE, "config": config})
    # Small, so that one iteration is short; what the patches said about these was held to in the test above.
    if algorithm == "ppo":
        config.training(train_batch_size_per_learner=128, minibatch_size=64, num_epochs=1)
    else:
        config.training(num_steps_sampled_before_learning_starts=32, train_batch_size_per_learner=32)
    config.reporting(min_sample_timesteps_per_iteration=200, min_time_s_per_iteration=None)
    built = config.build_algo()
    try:
        assert built.train()["training_iteration"] == 1
    finally:
        built.stop()
