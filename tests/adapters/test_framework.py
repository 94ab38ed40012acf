"""The adapters that are made of a tag map, on real logs of Tianshou and RLlib."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pytest

from rl_diagnose.adapters import frameworks
from rl_diagnose.adapters.framework import MapAdapter
from rl_diagnose.logs.load import find_runs, load_run


def runs_of(shared: Path, framework: str) -> list[dict[str, str]]:
    with (shared / "corpus" / "labels.csv").open(encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if row["framework"] == framework]


ADAPTERS = frameworks.ADAPTERS


@pytest.mark.parametrize("adapter", ADAPTERS, ids=lambda adapter: str(adapter.name))
def test_the_tag_map_loads_and_names_what_only_this_framework_writes(adapter: MapAdapter) -> None:
    assert adapter.tag_map.framework == (adapter.map or adapter.name)
    assert len(adapter.tag_map.rules) >= 3
    assert len(adapter.tag_map.fingerprint) >= 5
    assert adapter.title


@pytest.mark.corpus
@pytest.mark.parametrize(("label", "name"), [("tianshou", "tianshou"), ("ray-rllib", "rllib")])
def test_every_labelled_run_is_recognised_with_its_algorithm(shared: Path, label: str, name: str) -> None:
    rows = runs_of(shared, label)
    assert rows
    for row in rows:
        run = load_run(shared / "corpus" / "runs" / row["run_id"])
        assert (run.framework, run.algorithm) == (name, row["algorithm"].lower()), row["run_id"]
        assert run.x_axis == "env_steps"
        assert "reward.train" in run.series


@pytest.mark.corpus
def test_rllib_signals_are_those_of_its_results_at_environment_steps(shared: Path) -> None:
    for row in runs_of(shared, "ray-rllib"):
        folder = shared / "corpus" / "runs" / row["run_id"]
        results = [json.loads(line) for line in (folder / "result.json").read_text(encoding="utf-8").splitlines()]
        series = load_run(folder).series["reward.train"]
        wanted = {
            float(r["num_env_steps_sampled_lifetime"]): r["env_runners"]["episode_return_mean"]
            for r in results
            if np.isfinite(r["env_runners"].get("episode_return_mean", np.nan))
        }
        finite = np.isfinite(series.value)
        assert dict(zip(series.step[finite], series.value[finite], strict=True)) == pytest.approx(wanted)


@pytest.mark.corpus
def test_an_rllib_event_file_alone_is_moved_from_iterations_to_environment_steps(shared: Path) -> None:
    for row in runs_of(shared, "ray-rllib"):
        folder = shared / "corpus" / "runs" / row["run_id"]
        (events,) = folder.glob("events.out.tfevents*")
        alone, whole = load_run(events), load_run(folder)
        entropy = alone.series["policy.entropy"]
        assert entropy.step.tolist() == pytest.approx(whole.series["policy.entropy"].step.tolist())
        assert entropy.value.tolist() == pytest.approx(whole.series["policy.entropy"].value.tolist(), rel=1e-5)


@pytest.mark.corpus
def test_tianshou_updates_are_placed_between_the_collects_around_them(shared: Path) -> None:
    for row in runs_of(shared, "tianshou"):
        run = load_run(shared / "corpus" / "runs" / row["run_id"])
        key = "policy.entropy" if row["algorithm"] == "PPO" else "critic.loss"
        updates, collects = run.series[key], run.series["time.fps"]
        assert np.all(np.diff(updates.step) > 0), row["run_id"]
        assert updates.step[-1] <= collects.step[-1]
        assert updates.step[-1] >= 0.9 * collects.step[-1]


@pytest.mark.corpus
def test_entropy_is_positive_although_tianshou_calls_it_a_loss(shared: Path) -> None:
    ppo = [row for row in runs_of(shared, "tianshou") if row["algorithm"] == "PPO"]
    for row in ppo:
        entropy = load_run(shared / "corpus" / "runs" / row["run_id"]).series["policy.entropy"]
        assert entropy.value[0] > 0.5


@pytest.mark.parametrize(("kl", "computed"), [(0.0, False), (0.01, True)])
def test_a_kl_that_is_not_computed_is_missing_and_not_zero(tmp_path: Path, kl: float, computed: bool) -> None:
    lines = [
        {
            "training_iteration": i,
            "num_env_steps_sampled_lifetime": 1000 * i,
            "env_runners": {"episode_return_mean": float(i)},
            "learners": {"default_policy": {"mean_kl_loss": kl, "entropy": 0.6}},
        }
        for i in range(1, 6)
    ]
    (tmp_path / "result.json").write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
    run = load_run(tmp_path)
    assert run.framework == "rllib"
    assert ("policy.kl" in run.series) is computed
    assert ("not_computed" in {issue.code for issue in run.issues}) is not computed


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("sample", "signals"),
    [
        ("rllib/ray0.6_impala_pong", {"reward.train"}),  # its entropy is a sum over the batch and stays raw
        ("rllib/ray0.7_ppo_ring", {"reward.train", "policy.entropy", "policy.kl"}),
        ("rllib/ray2.7_ppo_learner_api", {"reward.train", "policy.entropy", "policy.kl"}),
        ("tianshou/v0.5_ppo", {"policy.entropy", "value.loss"}),
    ],
)
def test_older_generations_are_read_too(shared: Path, sample: str, signals: set[str]) -> None:
    found = find_runs(shared / "samples" / sample)
    assert found.sources[0].adapter.name == sample.partition("/")[0]
    run = load_run(shared / "samples" / sample)
    assert signals <= set(run.series)


@pytest.mark.corpus
def test_a_real_rsl_rl_run_counts_iterations_and_reads_its_adaptive_learning_rate(shared: Path) -> None:
    run = load_run(shared / "samples" / "rsl_rl" / "legged_gym_flat_anymal")
    assert (run.framework, run.algorithm, run.x_axis) == ("rsl_rl", "ppo", "iterations")
    assert {"reward.train", "value.loss", "optim.learning_rate", "policy.std"} <= set(run.series)
    assert len(run.series["reward.train"]) > 250


def test_a_counter_with_gaps_and_a_restart_puts_no_point_under_a_wrong_step(
    tmp_path: Path, write_events: Callable[[Path, Iterable[tuple[str, float, float, float]]], Path]
) -> None:
    counter = "ray/tune/num_env_steps_sampled_lifetime"
    points: list[tuple[str, float, float, float]] = []
    for clock, iteration in enumerate((1, 2, 3, 4, 2, 3, 4, 5, 6)):  # restarted from iteration 2
        points.append(("ray/tune/env_runners/episode_return_mean", iteration, clock, iteration))
        points.append(("ray/tune/training_iteration", iteration, clock, iteration))
        points.append((counter, iteration, clock, float("nan") if clock == 2 else iteration * 1000.0))
    write_events(tmp_path / "PPO_1" / "events.out.tfevents.1.host", points)
    series = load_run(tmp_path / "PPO_1").series["reward.train"]
    assert dict(zip(series.step.tolist(), series.value.tolist(), strict=True)) == {
        1000.0 * i: float(i) for i in range(1, 7)
    }


def test_a_log_that_ends_within_an_iteration_does_not_put_its_points_on_the_one_before(
    tmp_path: Path, write_events: Callable[[Path, Iterable[tuple[str, float, float, float]]], Path]
) -> None:
    """The record with the counter of the last iteration was cut off or damaged."""
    points: list[tuple[str, float, float, float]] = []
    for iteration in range(1, 7):
        points.append(("ray/tune/env_runners/episode_return_mean", iteration, iteration, iteration))
        points.append(("ray/tune/training_iteration", iteration, iteration, iteration))
        points.append(("ray/tune/num_env_steps_sampled_lifetime", iteration, iteration, iteration * 1000.0))
    write_events(tmp_path / "PPO_1" / "events.out.tfevents.1.host", points[:-1])
    series = load_run(tmp_path / "PPO_1").series["reward.train"]
    assert series.step.tolist() == [1000.0 * i for i in range(1, 7)]
    assert series.value.tolist() == [1, 2, 3, 4, 5, 6]
