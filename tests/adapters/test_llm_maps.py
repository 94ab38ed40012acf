"""TRL, verl and OpenRLHF: which key is which signal, in each kind of file that they write."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import numpy as np
import pytest

from rl_diagnose.logs.load import find_runs, load_run, load_source
from rl_diagnose.signals.run import Run

Writer = Callable[[Path, Iterable[tuple[str, float, float, float]]], Path]
NAME = "events.out.tfevents.1.host"

GRPO = {"reward": 0.5, "reward_std": 0.2, "completions/mean_length": 90.0, "frac_reward_zero_std": 0.1, "entropy": 0.4}
PPO = {
    "objective/kl": -0.4,
    "objective/entropy": 30.0,
    "objective/scores": 1.5,
    "objective/rlhf_reward": 1.4,
    "policy/approxkl_avg": 0.02,
    "policy/clipfrac_avg": 0.1,
    "policy/entropy_avg": 0.9,
    "loss/policy_avg": -0.01,
    "loss/value_avg": 0.25,
    "val/ratio": 1.0,
    "lr": 1e-6,
    "episode": 64,
}
VERL = {
    "actor/entropy": 0.5,
    "actor/entropy_loss": 0.4,
    "actor/ppo_kl": -0.001,
    "actor/kl_loss": 0.02,
    "actor/reward_kl_penalty": 0.03,
    "actor/pg_loss": 0.01,
    "actor/pg_clipfrac": 0.05,
    "critic/score/mean": 0.6,
    "critic/rewards/mean": 0.55,
    "critic/advantages/mean": 0.0,
    "critic/vf_loss": 0.25,
    "critic/vpred_mean": 0.3,
    "critic/values/mean": 0.2,
    "response_length/clip_ratio": 0.1,
    "response_length/mean": 200.0,
    "training/rollout_probs_diff_mean": 0.004,
    "training/rollout_probs_diff_max": 0.5,
    "rollout_corr/kl": 0.001,
    "val-core/openai/gsm8k/reward/mean@1": 0.3,
    "val-core/openai/gsm8k/reward/best@4/mean": 0.8,
    "val-aux/openai/gsm8k/reward/std@4": 0.1,
}


def trainer_state(folder: Path, rows: Iterable[Mapping[str, float]]) -> Path:
    history = [{"step": i, **row} for i, row in enumerate(rows, start=1)]
    (folder / "trainer_state.json").write_text(json.dumps({"log_history": history}), "utf-8")
    return folder


def last(run: Run) -> dict[str, float]:
    return {signal: float(series.value[-1]) for signal, series in run.series.items() if not signal.startswith("raw.")}


def test_trl_ppo_tells_the_two_kls_and_the_two_entropies_apart(tmp_path: Path) -> None:
    run = load_run(trainer_state(tmp_path, [PPO] * 10))
    assert (run.framework, run.algorithm) == ("trl", "rlhf_ppo")
    values = last(run)
    assert values["policy.kl"] == 0.02
    assert run.series["policy.kl"].semantics.estimator == "k2"
    assert values["policy.kl_ref"] == -0.4
    assert values["policy.entropy"] == 0.9  # the mean per token, not the sum over a sequence
    assert values["value.loss"] == 0.5
    assert values["reward.train"] == 1.5
    assert not run.unmapped


def test_rloo_in_ppos_keys_has_no_value_loss(tmp_path: Path) -> None:
    newer = {key: value for key, value in PPO.items() if key != "loss/value_avg"}
    assert load_run(trainer_state(tmp_path, [newer] * 10)).algorithm == "rloo"
    older = load_run(trainer_state(tmp_path, [PPO | {"loss/value_avg": 0.0}] * 10))
    assert "value.loss" not in older.series
    assert "not_computed" in {issue.code for issue in older.issues}


def test_old_ppo_of_trl_is_read_with_its_coefficient(tmp_path: Path) -> None:
    rows = [
        {
            "ppo/mean_scores": 1.0,
            "ppo/policy/entropy": 2.0,
            "ppo/policy/approxkl": 0.01,
            "objective/kl": 3.0,
            "objective/kl_coef": 0.2,
            "ppo/val/var_explained": 0.5,
        }
    ] * 6
    run = load_run(trainer_state(tmp_path, rows))
    assert (run.framework, run.algorithm) == ("trl", "rlhf_ppo")
    values = last(run)
    assert (values["policy.kl"], values["policy.kl_ref"], values["optim.kl_coef"]) == (0.01, 3.0, 0.2)


@pytest.mark.parametrize(
    ("params", "algorithm", "estimator"),
    [
        ({"num_generations": 8, "scale_rewards": "group", "beta": 0.04}, "grpo", "k3"),
        ({"num_generations": 8, "normalize_advantages": False, "beta": 0.05}, "rloo", "k1"),
    ],
)
def test_settings_tell_rloo_from_grpo_where_the_keys_do_not(
    tmp_path: Path, params: dict[str, object], algorithm: str, estimator: str
) -> None:
    folder = tmp_path / "run"
    files = {f"metrics/{key}": "".join(f"1700000000000 {v} {s}\n" for s in range(1, 9)) for key, v in GRPO.items()}
    files |= {"metrics/kl": "1700000000000 0.01 1\n"} | {f"params/{key}": str(value) for key, value in params.items()}
    for name, text in (files | {"meta.yaml": "run_id: run\n"}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    run = load_run(folder)
    assert (run.framework, run.algorithm) == ("trl", algorithm)
    assert run.series["policy.kl_ref"].semantics.estimator == estimator
    assert (run.config["kl_coef"].value, run.config["num_generations"].value) == (params["beta"], 8)


def test_trls_event_files_have_the_signals_of_its_trainer_state(tmp_path: Path, write_events: Writer) -> None:
    rows = GRPO | {"kl": 0.01, "loss": 0.001}
    (tmp_path / "tb").mkdir()
    points = [(f"train/{key}", float(step), step, value) for step in range(1, 9) for key, value in rows.items()]
    write_events(tmp_path / "tb" / NAME, points)
    (tmp_path / "state").mkdir()
    events, state = load_run(tmp_path / "tb"), load_run(trainer_state(tmp_path / "state", [rows] * 8))
    assert (events.framework, events.algorithm) == ("trl", "grpo")
    assert last(events) == pytest.approx(last(state))
    assert events.series["policy.kl_ref"].step.tolist() == state.series["policy.kl_ref"].step.tolist()


def test_evaluation_rows_and_the_summary_row_are_understood(tmp_path: Path) -> None:
    rows: list[dict[str, float]] = [GRPO] * 9
    rows.append({"eval_reward": 0.7, "eval_loss": 0.1, "eval_rewards/f/mean": 0.2, "eval_completions/mean_length": 5.0})
    rows.append({"train_runtime": 10.0, "train_loss": 0.1, "total_flos": 0.0})
    run = load_run(trainer_state(tmp_path, rows))
    assert last(run)["reward.eval"] == 0.7
    assert not run.unmapped


def verl_files(folder: Path, kind: str) -> Path:
    if kind == "jsonl":
        path = folder / "exp.jsonl"
        lines = [json.dumps({"step": i, "data": VERL | {"training/global_step": i}}) for i in range(1, 11)]
    else:
        path = folder / "train.log"
        shown = " - ".join(f"{key}:np.float64({v})" if "throughput" in key else f"{key}:{v}" for key, v in VERL.items())
        lines = [f"\x1b[36m(TaskRunner pid=4)\x1b[0m step:{i} - {shown}" for i in range(1, 11)]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


@pytest.mark.parametrize("kind", ["jsonl", "console"])
def test_verl_is_the_same_in_json_lines_and_on_the_console(tmp_path: Path, kind: str) -> None:
    run = load_run(verl_files(tmp_path, kind))
    assert (run.framework, run.algorithm, run.x_axis) == ("verl", "rlhf_ppo", "iterations")
    values = last(run)
    assert values["policy.entropy"] == 0.5  # before the update, rather than that of the loss
    assert values["policy.kl"] == -0.001
    assert values["policy.kl_ref"] == 0.02
    assert values["reward.train"] == 0.6  # the score, not what is left after the KL penalty
    assert values["reward.eval"] == 0.3  # the mean, not the best of four
    assert values["value.loss"] == 0.5
    assert values["value.mean"] == 0.3
    assert values["llm.sampler_mismatch"] == 0.004
    assert run.series["reward.train"].step.tolist() == list(range(1, 11))
    assert run.series["reward.train"].iteration.tolist() == list(range(10))
    assert not run.unmapped


def test_numbers_that_numpy_prints_with_their_type_are_read(tmp_path: Path) -> None:
    line = "step:{0} - actor/pg_loss:0.1 - actor/ppo_kl:0.2 - perf/throughput:np.float64({0}50.5)"
    (tmp_path / "train.log").write_text("\n".join(line.format(i) for i in range(1, 9)), "utf-8")
    assert load_run(tmp_path).series["time.fps"].value[-1] == 850.5


@pytest.mark.parametrize(
    ("estimator", "algorithm"),
    [("gae", "rlhf_ppo"), ("grpo", "grpo"), ("rloo", "rloo"), ("reinforce_plus_plus", "reinforce_pp")],
)
def test_verls_settings_beside_its_log_say_which_estimator_and_which_kl_count(
    tmp_path: Path, estimator: str, algorithm: str
) -> None:
    folder = tmp_path / "verl_ppo"
    (folder / ".hydra").mkdir(parents=True)
    verl_files(folder, "console")
    (folder / ".hydra" / "config.yaml").write_text(
        "actor_rollout_ref:\n  actor: {use_kl_loss: false, kl_loss_coef: 0.5, clip_ratio: 0.2}\n"
        f"algorithm: {{adv_estimator: {estimator}, use_kl_in_reward: true, kl_ctrl: {{kl_coef: 0.01}}, gamma: 1.0}}\n",
        "utf-8",
    )
    run = load_run(folder)
    assert run.algorithm == algorithm
    assert {name: value.value for name, value in run.config.items()} == {
        "clip_range": 0.2,
        "gamma": 1.0,
        "kl_coef": 0.01,
    }


def test_settings_are_no_ones_where_two_runs_share_the_folder(tmp_path: Path) -> None:
    (tmp_path / ".hydra").mkdir()
    (tmp_path / ".hydra" / "config.yaml").write_text("algorithm: {gamma: 0.9}\n", "utf-8")
    verl_files(tmp_path, "console").rename(tmp_path / "a.log")
    verl_files(tmp_path, "console").rename(tmp_path / "b.log")
    runs = [load_source(found) for found in find_runs(tmp_path).sources]
    assert [run.config for run in runs] == [{}, {}]


def test_openrlhf_in_event_files_is_read_at_iterations(tmp_path: Path, write_events: Writer) -> None:
    keys = {
        "policy_loss": 0.1,
        "actor_lr": 1e-6,
        "actor_grad_norm": 2.0,
        "ppo_kl": -0.001,
        "ppo_clip_ratio": 0.05,
        "kl": 0.0,
        "entropy_loss": 0.7,
        "reward": 0.3,
        "critic_loss": 0.25,
        "critic_lr": 1e-5,
        "response_clip_ratio": 0.1,
        "vllm_kl": -0.002,
        "timing/ppo_train": 9.0,
    }
    points = [(f"train/{key}", float(step), step, value) for step in range(1, 13) for key, value in keys.items()]
    points += [("eval/eval_math_pass1", 6.0, 6, 0.4), ("eval/eval_math_pass4", 6.0, 6, 0.8)]
    write_events(tmp_path / NAME, points)
    run = load_run(tmp_path)
    assert (run.framework, run.algorithm, run.x_axis) == ("openrlhf", "rlhf_ppo", "iterations")
    values = last(run)
    assert values["policy.entropy"] == pytest.approx(0.7)
    assert values["policy.kl"] == pytest.approx(-0.001)
    assert values["value.loss"] == pytest.approx(0.5)
    assert values["reward.eval"] == pytest.approx(0.4)
    assert values["llm.truncated_fraction"] == pytest.approx(0.1)
    assert "policy.kl_ref" not in values  # 0 throughout: there was no reference model
    assert np.array_equal(run.series["reward.train"].iteration, np.arange(12.0))
    assert not run.unmapped
