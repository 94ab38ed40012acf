"""The callback for RLlib in real trainings, under Tune and in a loop of one's own."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

ray = pytest.importorskip("ray")
pytest.importorskip("ray.rllib")

from rl_diagnose.callbacks.rllib import DiagnosisCallback  # noqa: E402 - after the skip
from rl_diagnose.logs.load import load_run  # noqa: E402 - after the skip

ALWAYS = Path(__file__).with_name("always.yaml")


@pytest.fixture(scope="module")
def _ray() -> Iterator[None]:
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, object_store_memory=150_000_000)
    yield
    ray.shutdown()


def config(**options: Any) -> Any:
    from ray.rllib.algorithms.ppo import PPOConfig

    made = PPOConfig().environment("CartPole-v1").framework("torch").env_runners(num_env_runners=0)
    made = made.training(lr=1e-3, train_batch_size_per_learner=256, minibatch_size=64, num_epochs=2)
    return made.callbacks(partial(DiagnosisCallback, **options))


@pytest.mark.usefixtures("_ray")
def test_the_log_it_keeps_has_the_curves_of_tunes_own(tmp_path: Path) -> None:
    from ray import tune
    from ray.tune import CheckpointConfig, RunConfig

    run_config = RunConfig(
        name="t",
        storage_path=str(tmp_path / "own"),
        stop={"training_iteration": 3},
        verbose=0,
        checkpoint_config=CheckpointConfig(checkpoint_frequency=0, checkpoint_at_end=False),
    )
    tune.Tuner("PPO", param_space=config(folder=str(tmp_path / "kept")), run_config=run_config).fit()
    (trial,) = {path.parent for path in (tmp_path / "own").rglob("result.json")}
    own, kept = load_run(trial), load_run(tmp_path / "kept" / "PPO")
    assert (kept.framework, kept.algorithm, kept.env) == ("rllib", "ppo", "CartPole-v1")
    named = {name for name in own.series if not name.startswith("raw.")}
    assert named <= kept.series.keys()
    for name in named:
        assert kept.series[name].step.tolist() == own.series[name].step.tolist(), name
        assert kept.series[name].value.tolist() == pytest.approx(own.series[name].value.tolist(), nan_ok=True), name
    assert {name: value.value for name, value in own.config.items()} == {
        name: value.value for name, value in kept.config.items()
    }


@pytest.mark.usefixtures("_ray")
def test_a_loop_sees_the_verdict_in_the_result_and_that_it_is_done(tmp_path: Path) -> None:
    options: dict[str, Any] = {"every": 2, "share": 1.0, "stop_at": 0.3, "rulebooks": str(ALWAYS)}
    algorithm = config(folder=str(tmp_path), **options).build_algo()
    results = []
    for _ in range(20):  # a look takes no more time than the training has taken so far
        results.append(algorithm.train())
        if results[-1].get("done"):
            break
    algorithm.stop()
    assert results[-1]["done"]
    assert len(results) >= 6, "three looks, two rows apart"
    assert "What is always there" in results[-1]["rl_diagnose"]
    assert len(load_run(tmp_path / "PPO").series["reward.train"]) == len(results)


@pytest.mark.usefixtures("_ray")
def test_wrong_options_are_refused_when_the_algorithm_is_built() -> None:
    with pytest.raises(Exception, match="no_such_book"):
        config(rulebooks="no_such_book").build_algo()
