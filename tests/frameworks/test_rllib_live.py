"""The RLlib adapter's signals equal the result dictionaries that RLlib returns while a real agent trains."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ray = pytest.importorskip("ray")
pytest.importorskip("ray.rllib")

from rl_diagnose.logs.load import load_run  # noqa: E402 - after the skip


@pytest.fixture(scope="module")
def _ray() -> Iterator[None]:
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, object_store_memory=150_000_000)
    yield
    ray.shutdown()


def train(folder: Path, *, new_stack: bool) -> tuple[Path, list[dict[str, Any]]]:
    """Train PPO on CartPole through Tune's own loggers; return the trial folder and its results."""
    from ray import tune
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.tune import Callback, CheckpointConfig, RunConfig

    results: list[dict[str, Any]] = []

    class Record(Callback):
        def on_trial_result(self, iteration: int, trials: Any, trial: Any, result: Any, **info: Any) -> None:  # noqa: ARG002
            results.append(dict(result))

    config = PPOConfig().environment("CartPole-v1").framework("torch").env_runners(num_env_runners=0)
    config = config.api_stack(enable_rl_module_and_learner=new_stack, enable_env_runner_and_connector_v2=new_stack)
    config = config.training(
        lr=1e-3, **({"train_batch_size_per_learner": 512, "num_epochs": 2} if new_stack else {"train_batch_size": 512})
    )
    run_config = RunConfig(
        name="t",
        storage_path=str(folder),
        stop={"training_iteration": 3},
        verbose=0,
        callbacks=[Record()],
        checkpoint_config=CheckpointConfig(checkpoint_frequency=0, checkpoint_at_end=False),
    )
    tune.Tuner("PPO", param_space=config, run_config=run_config).fit()
    (trial,) = {path.parent for path in folder.rglob("result.json")}
    return trial, results


def dig(result: dict[str, Any], path: str) -> float:
    value: Any = result
    for part in path.split("|"):
        value = value[part]
    return float(value)


NEW = {
    "reward.train": "env_runners|episode_return_mean",
    "policy.entropy": "learners|default_policy|entropy",
    "policy.kl": "learners|default_policy|mean_kl_loss",
    "value.explained_variance": "learners|default_policy|vf_explained_var",
    "policy.loss": "learners|default_policy|policy_loss",
}
OLD = {
    "reward.train": "env_runners|episode_reward_mean",
    "policy.entropy": "info|learner|default_policy|learner_stats|entropy",
    "policy.kl": "info|learner|default_policy|learner_stats|kl",
    "value.explained_variance": "info|learner|default_policy|learner_stats|vf_explained_var",
    "policy.loss": "info|learner|default_policy|learner_stats|policy_loss",
}


@pytest.mark.usefixtures("_ray")
@pytest.mark.parametrize(("new_stack", "keys"), [(True, NEW), (False, OLD)])
def test_ppo_signals_equal_the_results_of_tune(tmp_path: Path, new_stack: bool, keys: dict[str, str]) -> None:
    trial, results = train(tmp_path, new_stack=new_stack)
    run = load_run(trial)
    assert (run.framework, run.algorithm, run.x_axis) == ("rllib", "ppo", "env_steps")
    assert run.env == "CartPole-v1"
    assert run.config["learning_rate"].value == 1e-3
    steps = [float(r["num_env_steps_sampled_lifetime"]) for r in results]
    for signal, key in keys.items():
        series = run.series[signal]
        assert series.value.tolist() == pytest.approx([dig(r, key) for r in results], rel=1e-5), signal
        assert series.step.tolist() == steps, signal
