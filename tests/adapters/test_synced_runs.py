"""Runs in W&B datastores, MLflow file stores and trainer states: whose they are, axes, settings, and their copies."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from rl_diagnose.adapters.readers.trainer_state import superseded_by
from rl_diagnose.errors import LogError, NoReadableRunError
from rl_diagnose.logs.load import find_runs, load_run
from rl_diagnose.signals.run import Run

DATA = Path(__file__).resolve().parents[1] / "data"
TABLE = """\
----------------------------
| rollout/           |     |
|    ep_rew_mean     | {0} |
| time/              |     |
|    total_timesteps | {1} |
| train/             |     |
|    approx_kl       | 0.1 |
----------------------------
"""


def config(run: Run) -> dict[str, object]:
    return {name: value.value for name, value in run.config.items()}


@pytest.mark.parametrize(
    ("name", "algorithm", "x_axis", "step_key", "last"),
    [
        ("cleanrl", "ppo", "env_steps", "global_step", 6144.0),
        ("trl", "grpo", "updates", "train/global_step", 120.0),
        ("verl", "grpo", "iterations", "training/global_step", 15.0),
        ("openrlhf", "rlhf_ppo", "iterations", "train/global_step", 12.0),
    ],
)
def test_a_wandb_run_is_its_frameworks_at_the_frameworks_own_steps(
    name: str, algorithm: str, x_axis: str, step_key: str, last: float
) -> None:
    run = load_run(DATA / "wandb" / name / f"run-{name}.wandb")
    assert (run.framework, run.algorithm, run.x_axis, run.step_key) == (name, algorithm, x_axis, step_key)
    assert max(float(series.step[-1]) for series in run.series.values()) == last
    assert not run.unmapped


def test_rows_that_hold_only_a_part_of_the_keys_keep_their_steps_and_times() -> None:
    run = load_run(DATA / "wandb" / "cleanrl" / "run-cleanrl.wandb")
    reward, entropy = run.series["reward.train"], run.series["policy.entropy"]
    assert reward.step.tolist() == [512.0 * i - 100 for i in range(1, 13)]
    assert entropy.step.tolist() == [512.0 * i for i in range(1, 13)]
    assert entropy.value.tolist() == [0.69] * 12
    assert np.all(np.diff(entropy.wall_time) >= 0)
    assert 1.7e9 < entropy.wall_time[0] < 1e11


def test_settings_of_a_wandb_run_come_from_the_datastore_and_what_it_lacks_from_beside_it() -> None:
    found = config(load_run(DATA / "wandb" / "cleanrl" / "run-cleanrl.wandb"))
    assert (found["gamma"], found["max_grad_norm"], found["clip_range"], found["n_envs"]) == (0.99, 0.5, 0.2, 4)


@pytest.mark.parametrize(("counted", "missing"), [(23, False), (24, True)])
def test_a_history_that_ends_before_its_summary_is_reported(tmp_path: Path, counted: int, missing: bool) -> None:
    folder = shutil.copytree(DATA / "wandb" / "cleanrl", tmp_path / "run")
    (folder / "files" / "wandb-summary.json").write_text(f'{{"_step": {counted}}}', "utf-8")
    codes = {issue.code for issue in load_run(folder).issues}
    assert ("incomplete_history" in codes) is missing


@pytest.mark.parametrize("broken", ["files/config.yaml", "files/wandb-summary.json"])
def test_what_is_broken_beside_a_wandb_run_does_not_stop_it(tmp_path: Path, broken: str) -> None:
    folder = shutil.copytree(DATA / "wandb" / "cleanrl", tmp_path / "run")
    (folder / broken).write_text("{: [\x00", "utf-8")
    run = load_run(folder)
    assert config(run)["gamma"] == 0.99
    assert len(run.series["reward.train"]) == 12


def test_what_wandb_copied_beside_its_datastore_is_no_second_run(tmp_path: Path) -> None:
    folder = shutil.copytree(DATA / "wandb" / "cleanrl", tmp_path / "run")
    printed = "".join(TABLE.format(i, 2048 * i) for i in range(1, 9))
    (folder / "files" / "output.log").write_text(printed, "utf-8")
    assert [found.id for found in find_runs(tmp_path).sources] == ["run/run-cleanrl.wandb"]
    assert load_run(folder / "files" / "output.log").framework == "sb3"  # named itself, it is read


def test_without_a_history_what_was_printed_is_the_run(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "run-x.wandb").write_bytes(b"")
    (tmp_path / "files" / "output.log").write_text("".join(TABLE.format(i, 2048 * i) for i in range(1, 9)), "utf-8")
    (found,) = find_runs(tmp_path).sources
    assert found.id == "files/output.log"


def test_a_cut_datastore_is_read_up_to_its_last_whole_record(tmp_path: Path) -> None:
    whole = (DATA / "wandb" / "verl" / "run-verl.wandb").read_bytes()
    (tmp_path / "run-verl.wandb").write_bytes(whole[: len(whole) // 2])
    run = load_run(tmp_path)
    assert run.framework == "verl"
    assert 3 <= len(run.series["reward.train"]) < 15
    assert {"truncated_tail", "no_exit_record"} <= {issue.code for issue in run.issues}


@pytest.mark.corpus
@pytest.mark.parametrize(("sample", "fact"), [("old_empty", "no history rows"), ("zero_byte", "0 bytes")])
def test_a_datastore_without_a_history_is_refused_with_the_reason(shared: Path, sample: str, fact: str) -> None:
    with pytest.raises(NoReadableRunError, match=fact):
        find_runs(shared / "samples" / "wandb" / sample)


def test_verl_in_mlflow_has_its_params_its_estimator_and_its_validation() -> None:
    run = load_run(DATA / "mlflow" / "verl")
    assert (run.framework, run.algorithm, run.x_axis) == ("verl", "rloo", "iterations")
    assert run.series["policy.kl"].value.tolist() == pytest.approx([-0.0003 * i for i in range(1, 13)])
    assert run.series["policy.kl_ref"].value[-1] == 0.012
    assert run.series["reward.eval"].step.tolist() == [4.0, 8.0, 12.0]
    assert run.series["policy.kl"].iteration.tolist() == list(range(12))
    assert config(run) == {"gamma": 1.0, "kl_coef": 0.002, "num_generations": 8, "max_response_length": 1024}
    assert isinstance(config(run)["num_generations"], int)
    assert not run.unmapped


def test_an_mlflow_run_of_nobody_is_read_by_the_names_of_its_keys(tmp_path: Path) -> None:
    (tmp_path / "metrics").mkdir()
    (tmp_path / "meta.yaml").write_text("run_id: a\n", "utf-8")
    lines = "".join(f"1700000000{i:03d} {i}.5 {100 * i}\n" for i in range(1, 31))
    for key in ("mean_reward", "entropy"):
        (tmp_path / "metrics" / key).write_text(lines, "utf-8")
    run = load_run(tmp_path)
    assert run.framework == "mlflow"
    assert {"reward.train", "policy.entropy"} <= set(run.series)


def test_a_real_trainer_state_of_grpo_has_the_reference_kl_only() -> None:
    run = load_run(DATA / "trl" / "grpo")
    assert (run.framework, run.algorithm, run.x_axis, run.step_key) == ("trl", "grpo", "updates", "step")
    assert run.series["reward.train"].step.tolist() == [10.0 * i for i in range(1, 26)]
    assert run.series["policy.kl_ref"].semantics.estimator == "k3"
    assert "policy.kl" not in run.series
    assert {"llm.reward_std", "llm.response_length", "llm.reward_task", "optim.grad_norm"} <= set(run.series)
    assert not run.unmapped


def state(folder: Path, steps: int, *, reached: int | None = None) -> Path:
    row = {"reward": 0.5, "reward_std": 0.1, "kl": 0.01, "completion_length": 10.0}
    folder.mkdir(parents=True, exist_ok=True)
    history = [{"step": step, **row} for step in range(10, steps + 1, 10)]
    path = folder / "trainer_state.json"
    text = json.dumps({"global_step": reached or steps, "train_batch_size": 4, "log_history": history})
    path.write_text(text, "utf-8")
    return path


def test_checkpoints_below_a_state_that_goes_as_far_are_not_read_again(tmp_path: Path) -> None:
    for last in (90, 100):
        state(tmp_path / f"checkpoint-{last}", last)
    whole = state(tmp_path, 100)
    assert [found.id for found in find_runs(tmp_path).sources] == [tmp_path.name]
    assert {place.name for place in superseded_by(whole)} == {"checkpoint-90", "checkpoint-100"}
    assert config(load_run(tmp_path)) == {"batch_size": 4}


def test_a_checkpoint_that_goes_further_than_the_state_above_it_counts(tmp_path: Path) -> None:
    state(tmp_path / "checkpoint-200", 200)
    state(tmp_path, 100)
    assert "checkpoint-200" in [found.id for found in find_runs(tmp_path).sources]


def test_an_earlier_checkpoint_is_read_when_it_is_named(tmp_path: Path) -> None:
    for last in (100, 200):
        state(tmp_path / f"checkpoint-{last}", last)
    assert len(load_run(tmp_path / "checkpoint-100").series["reward.train"]) == 10


def test_completions_that_trl_saved_are_no_run(tmp_path: Path) -> None:
    state(tmp_path, 100)
    (tmp_path / "completions").mkdir()
    frame = pl.DataFrame({"step": [1.0, 2.0, 3.0], "reward": [0.0, 1.0, 1.0], "completion": ["a", "b", "c"]})
    frame.write_parquet(tmp_path / "completions" / "completions_00001.parquet")
    assert [found.id for found in find_runs(tmp_path).sources] == [tmp_path.name]


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"log_history": []}', '{"log_history": [1, 2'])
def test_what_is_no_trainer_state_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "trainer_state.json").write_text(content, "utf-8")
    with pytest.raises((NoReadableRunError, LogError)):
        load_run(tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "fact"),
    [("run-x.wandb", b"", "the W&B file is empty"), ("x.parquet", b"PAR1", "the Parquet file is damaged")],
)
def test_a_file_that_is_named_is_refused_for_what_its_own_kind_says(
    tmp_path: Path, name: str, content: bytes, fact: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(NoReadableRunError) as caught:
        find_runs(tmp_path / name)
    assert fact in caught.value.fact
    assert "text" not in caught.value.fact


@pytest.mark.parametrize("named", [True, False])
def test_a_script_that_died_before_its_first_step_left_no_run(tmp_path: Path, named: bool) -> None:
    text = (
        "Total training steps: 30\n"
        "Before critic FSDP, memory allocated (GB): 0.0, memory reserved (GB): 0.0\n"
        "Total steps: 30, num_warmup_steps: 0\n"
        "Error executing job with overrides: ['data.train_batch_size=256', 'critic.optim.lr=1e-5']\n"
    )
    (tmp_path / "train.log").write_text(text, "utf-8")
    with pytest.raises(NoReadableRunError):
        find_runs(tmp_path / "train.log" if named else tmp_path)
