"""Any container with any tag map: who reads what, settings from beside the logs, and a user's own tag map."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

import polars as pl
import pytest

from rl_diagnose.adapters.framework import own
from rl_diagnose.adapters.readers.parquet import read_parquet
from rl_diagnose.errors import LogError, UsageError
from rl_diagnose.logs.adapter import Folder, ReadOptions
from rl_diagnose.logs.load import find_runs, load_run

Writer = Callable[[Path, Iterable[tuple[str, float, float, float]]], Path]
NAME = "events.out.tfevents.1.host"
SPINNINGUP = Path(__file__).resolve().parents[1] / "data" / "csv" / "spinningup_ppo.txt"

SB3: dict[str, list[float]] = {
    "global_step": [i * 2048.0 for i in range(1, 31)],
    "rollout/ep_rew_mean": [float(i) for i in range(30)],
    "rollout/ep_len_mean": [float(i) for i in range(30)],
    "train/approx_kl": [0.01] * 30,
    "train/entropy_loss": [-0.6] * 30,
    "train/policy_gradient_loss": [0.01] * 30,
    "time/fps": [100.0] * 30,
}


def lines(count: int, text: str) -> str:
    return "".join(text.format(i=i, x=i / count) + "\n" for i in range(1, count + 1))


def test_spinning_ups_table_is_read_with_its_config(tmp_path: Path) -> None:
    folder = tmp_path / "cmd_ppo_pytorch_s0"
    folder.mkdir()
    shutil.copy(SPINNINGUP, folder / "progress.txt")
    (folder / "config.json").write_text('{"clip_ratio": 0.2, "lam": 0.97, "pi_lr": 3e-4, "env_name": "X-v1"}', "utf-8")
    run = load_run(folder)
    assert (run.framework, run.algorithm, run.env) == ("spinningup", "ppo", "X-v1")
    assert {"reward.train", "policy.kl", "policy.entropy", "policy.clip_fraction"} <= set(run.series)
    assert run.series["policy.kl"].semantics.estimator == "k1"
    config = {name: value.value for name, value in run.config.items()}
    assert config == {"clip_range": 0.2, "gae_lambda": 0.97, "learning_rate": 3e-4}


def test_stable_baselines3_synced_into_parquet_keeps_its_signs(tmp_path: Path) -> None:
    pl.DataFrame(SB3).write_parquet(tmp_path / "history.parquet")
    run = load_run(tmp_path / "history.parquet")
    assert (run.framework, run.algorithm) == ("sb3", "ppo")
    assert run.series["policy.entropy"].value[0] == 0.6


def test_an_mlflow_run_is_read_with_its_params(tmp_path: Path) -> None:
    folder = tmp_path / "mlruns" / "0" / "abc"
    for key, values in SB3.items():
        if key == "global_step":
            continue
        path = folder / "metrics" / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"1700000000000 {v} {s}\n" for v, s in zip(values, SB3["global_step"], strict=True)))
    (folder / "meta.yaml").write_text("run_id: abc\n", "utf-8")
    run = load_run(tmp_path / "mlruns")
    assert (run.framework, run.algorithm, run.id) == ("sb3", "ppo", "0/abc")
    assert run.series["reward.train"].step[-1] == 30 * 2048


def test_console_output_with_a_frameworks_keys_is_that_frameworks(tmp_path: Path) -> None:
    keys = "actor/pg_loss:0.01 - actor/ppo_kl:0.001 - critic/score/mean:{x} - actor/kl_loss:0.2"
    text = f"(TaskRunner pid=1) step:{{i}} - {keys}"
    (tmp_path / "train.log").write_text("loading\n" * 50 + lines(20, text), "utf-8")
    run = load_run(tmp_path)
    assert run.framework == "verl"
    assert run.series["policy.kl"].value[0] == 0.001
    assert run.series["policy.kl_ref"].value[0] == 0.2
    assert len(run.series["reward.train"]) == 20


def test_printed_dicts_of_trl_are_trls(tmp_path: Path) -> None:
    text = "{{'loss': 0.0, 'reward': {x}, 'reward_std': 0.2, 'kl': 0.01, 'completion_length': 120.5, 'step': {i}}}"
    (tmp_path / "out.log").write_text(lines(12, text), "utf-8")
    run = load_run(tmp_path / "out.log")
    assert (run.framework, run.algorithm) == ("trl", "grpo")
    assert "policy.kl_ref" in run.series
    assert "policy.kl" not in run.series


def test_of_checkpoints_of_one_run_only_the_last_counts(tmp_path: Path) -> None:
    row = {"reward": 0.5, "reward_std": 0.1, "kl": 0.01, "completion_length": 10.0}
    for last in (100, 200):
        folder = tmp_path / f"checkpoint-{last}"
        folder.mkdir()
        history = [{"step": step, **row} for step in range(10, last + 1, 10)]
        (folder / "trainer_state.json").write_text(json.dumps({"log_history": history}), "utf-8")
    (found,) = find_runs(tmp_path).sources
    assert found.id == "checkpoint-200"


def test_tables_of_several_seeds_in_one_folder_stay_apart(tmp_path: Path) -> None:
    for seed in (1, 2):
        shutil.copy(SPINNINGUP, tmp_path / f"seed{seed}.tsv")
    assert [found.id for found in find_runs(tmp_path).sources] == ["seed1.tsv", "seed2.tsv"]


def test_settings_beside_an_rsl_rl_log_are_read(tmp_path: Path, write_events: Writer) -> None:
    keys = ("Loss/surrogate", "Loss/value_function", "Train/mean_reward", "Policy/mean_noise_std")
    points = [(key, float(s), s, 0.5) for s in range(30) for key in keys]
    write_events(tmp_path / NAME, points)
    (tmp_path / "params").mkdir()
    settings = "algorithm:\n  class_name: PPO\n  desired_kl: 0.01\n  lam: 0.95\n"
    (tmp_path / "params" / "agent.yaml").write_text(settings, "utf-8")
    run = load_run(tmp_path)
    assert run.framework == "rsl_rl"
    assert run.config["gae_lambda"].value == 0.95
    assert "agent.yaml" in " ".join(run.files)


MAP = """\
framework: ours
x_axis: env_steps
files: ["log_*.csv"]
step_keys: [t]
fingerprint: [zeta, omega]
rules:
  - {key: zeta, signal: reward.train}
  - {key: omega, signal: policy.entropy, transform: "-x"}
"""


def test_a_tag_map_of_ones_own_goes_before_all_others(tmp_path: Path) -> None:
    (tmp_path / "our.yaml").write_text(MAP, "utf-8")
    (tmp_path / "log_7.csv").write_text("t,zeta,omega\n" + lines(9, "{i},{x},-0.5"), "utf-8")
    adapter = own(tmp_path / "our.yaml")
    sniff = adapter.sniff(Folder(tmp_path, (tmp_path / "log_7.csv", tmp_path / "our.yaml")))
    assert sniff.score == 1.0
    run = adapter.read(sniff.sources[0], ReadOptions())
    assert run.series["policy.entropy"].value[0] == 0.5
    assert run.series["reward.train"].step.tolist() == list(range(1, 10))
    assert run.step_key == "t"


@pytest.mark.parametrize(
    ("old", "new", "fact"),
    [
        ("reward.train", "reward.trian", "is not a signal"),
        ("rules:", "rule:", "cannot be used"),
        ("env_steps", "miles", "is not an x axis"),
        ("fingerprint: [zeta, omega]", "fingerprint: [zeta]", "no two keys as fingerprint"),
    ],
)
def test_a_tag_map_that_cannot_be_used_is_named(tmp_path: Path, old: str, new: str, fact: str) -> None:
    path = tmp_path / "our.yaml"
    path.write_text(MAP.replace(old, new), "utf-8")
    with pytest.raises(UsageError, match=fact) as caught:
        own(path)
    assert "our.yaml" in str(caught.value)


def test_parquet_tells_blank_from_non_finite_and_keeps_words(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {"a": [1.0, None, float("nan"), float("inf")], "b": ["x", None, "y", "z"], "c": [[1], [2], [3], [4]]}
    )
    frame.write_parquet(tmp_path / "x.parquet")
    table = read_parquet(tmp_path / "x.parquet")
    assert table.rows == 4
    assert table.numbers["a"].tolist()[0] == 1.0
    assert table.non_finite["a"].tolist()[:2] == [0.0, 0.0]
    assert table.non_finite["a"][3] == float("inf")
    assert table.texts["b"] == ("x", "", "y", "z")
    assert "c" not in table.numbers


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1 and then nothing of use PAR1", b"a,b\n1,2\n"])
def test_what_is_no_parquet_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.parquet"
    path.write_bytes(content)
    with pytest.raises(LogError):
        read_parquet(path)


@pytest.mark.corpus
def test_public_samples_are_read_as_their_frameworks(shared: Path) -> None:
    samples = shared / "samples"
    for place, framework, algorithm in (
        ("trl/grpo_unsloth_llama", "trl", "grpo"),
        ("trl/grpo_gemma3", "trl", "grpo"),
        ("spinningup/ppo_hopper", "spinningup", "ppo"),
        ("spinningup/td3_humanoid", "spinningup", "td3"),
        ("rllib/ray2.7_ppo_learner_api/run-08bd7_00000.wandb", "rllib", "ppo"),
    ):
        run = load_run(samples / place)
        assert (run.framework, run.algorithm) == (framework, algorithm), place
        assert "reward.train" in run.series


def test_a_dopamine_log_is_read_at_iterations(tmp_path: Path, write_events: Writer) -> None:
    points = [(key, float(i), i, 10.0 * i) for i in range(20) for key in ("Train/AverageReturns", "Train/NumEpisodes")]
    points += [("HuberLoss", float(i), i, 0.1) for i in range(20)]
    write_events(tmp_path / "rainbow" / NAME, points)
    run = load_run(tmp_path / "rainbow")
    assert (run.framework, run.algorithm, run.x_axis) == ("dopamine", "dqn", "iterations")
    assert run.series["reward.train"].value[-1] == 190.0
    assert "critic.loss" in run.series
    assert not run.unmapped
