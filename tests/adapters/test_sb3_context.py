"""What a saved model, RL Zoo's YAML files and names say about a run."""

from __future__ import annotations

import json
import zipfile
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from rl_diagnose.adapters.sb3_context import Context, read_context
from rl_diagnose.adapters.sb3_files import classify, settings_below
from rl_diagnose.adapters.tagmap import TagMap, load_tag_map


@pytest.fixture(scope="module")
def tag_map() -> TagMap:
    return load_tag_map(files("rl_diagnose.adapters.maps").joinpath("sb3.yaml"))


def save(path: Path, **data: object) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data", json.dumps(data))
        archive.writestr("policy.pth", b"")
        archive.writestr("_stable_baselines3_version", "2.9.2")


def policy(module: str) -> dict[str, str]:
    return {":type:": "<class 'abc.ABCMeta'>", ":serialized:": "gAS=", "__module__": module}


def context(folder: Path, tag_map: TagMap, *keys: str, **extra: Any) -> Context:
    found = classify([path for path in folder.iterdir() if path.is_file()], tag_map)
    return read_context(found, folder, frozenset(keys), tag_map, **extra)


PPO = {"n_epochs": 10, "clip_range": 0.2, "n_steps": 128, "vf_coef": 0.5}
TD3 = {"policy_delay": 2, "target_policy_noise": 0.2, "target_noise_clip": 0.5}


@pytest.mark.parametrize(
    ("module", "data", "algorithm"),
    [
        ("stable_baselines3.common.policies", PPO, "ppo"),
        ("sb3_contrib.common.recurrent.policies", PPO, "recurrent_ppo"),
        ("sb3_contrib.common.maskable.policies", PPO, "maskable_ppo"),
        ("stable_baselines3.common.policies", {"n_steps": 5, "vf_coef": 0.5}, "a2c"),
        ("stable_baselines3.common.policies", {"n_steps": 5, "vf_coef": 0.5, "cg_max_steps": 10}, "trpo"),
        ("stable_baselines3.dqn.policies", {"exploration_fraction": 0.1}, "dqn"),
        ("sb3_contrib.qrdqn.policies", {"exploration_fraction": 0.1, "n_quantiles": 200}, "qrdqn"),
        ("stable_baselines3.sac.policies", {"target_entropy": -1.0, "ent_coef": "auto"}, "sac"),
        ("sb3_contrib.tqc.policies", {"target_entropy": -1.0, "top_quantiles_to_drop_per_net": 2}, "tqc"),
        ("sb3_contrib.crossq.policies", {"target_entropy": -1.0, "policy_delay": 3}, "crossq"),
        ("stable_baselines3.td3.policies", TD3, "td3"),
        ("stable_baselines3.td3.policies", {**TD3, "policy_delay": 1, "target_noise_clip": 0.0}, "ddpg"),
        ("sb3_contrib.ars.policies", {"n_delta": 8, "pop_size": 16}, "ars"),
        ("my_project.policies", PPO, "ppo"),
        ("my_project.policies", {"target_entropy": -1.0, "ent_coef": "auto"}, "sac"),
    ],
)
def test_a_saved_model_tells_the_algorithm(
    tmp_path: Path, tag_map: TagMap, module: str, data: dict[str, object], algorithm: str
) -> None:
    save(tmp_path / "best_model.zip", policy_class=policy(module), **data)
    got = context(tmp_path, tag_map)
    assert (got.algorithm, got.version) == (algorithm, "2.9.2")


@pytest.mark.parametrize(
    ("saved", "kind", "size", "more"),
    [
        ({":type:": "<class 'gymnasium.spaces.discrete.Discrete'>", "n": "4", "start": "0"}, "discrete", 4, {}),
        ({":type:": "<class 'gym.spaces.discrete.Discrete'>", "n": 2}, "discrete", 2, {}),
        (
            {":type:": "<class 'gymnasium.spaces.multi_discrete.MultiDiscrete'>", "nvec": "[3 5]"},
            "multi_discrete",
            8,
            {"cardinalities": (3, 5)},
        ),
        ({":type:": "<class 'gymnasium.spaces.multi_binary.MultiBinary'>", "n": "6"}, "multi_binary", 6, {}),
        (
            {":type:": "<class 'gymnasium.spaces.box.Box'>", "_shape": [2], "low": "[-2. -2.]", "high": "[2. 2.]"},
            "continuous",
            2,
            {"low": -2.0, "high": 2.0},
        ),
        (
            {":type:": "<class 'gym.spaces.box.Box'>", "shape": [3], "low": "[-inf -inf -inf]", "high": "[1. inf 1.]"},
            "continuous",
            3,
            {"low": None, "high": 1.0},
        ),
    ],
)
def test_a_saved_model_tells_the_action_space(
    tmp_path: Path, tag_map: TagMap, saved: dict[str, object], kind: str, size: int, more: dict[str, object]
) -> None:
    save(tmp_path / "model.zip", action_space=saved, **PPO)
    space = context(tmp_path, tag_map).action_space
    assert space is not None
    assert (space.kind, space.size, space.origin) == (kind, size, "config")
    assert {name: getattr(space, name) for name in more} == more


def test_plain_values_are_read_and_others_left_out(tmp_path: Path, tag_map: TagMap) -> None:
    save(
        tmp_path / "model.zip",
        n_epochs=10,
        clip_range={":type:": "FloatSchedule", "value_schedule": "ConstantSchedule(val=0.2)"},
        learning_rate={":type:": "<class 'function'>", ":serialized:": "gAS="},
        target_kl=None,
        seed=0,
        _total_timesteps=0,
        gradient_steps=-1,
        normalize_advantage=True,
        gamma="nan",
        policy_kwargs={"net_arch": {"pi": [32], "vf": [64, 128]}, "n_critics": 4096},
    )
    config = {name: value.value for name, value in context(tmp_path, tag_map).config.items()}
    assert config == {"n_epochs": 10, "clip_range": 0.2, "seed": 0, "normalize_advantage": True, "network_width": 128}


def test_yaml_settings_are_understood(tmp_path: Path, tag_map: TagMap) -> None:
    (tmp_path / "config.yml").write_text(
        "learning_rate: lin_0.001\nn_timesteps: 1e5\nbatch_size: 64\nent_coef: 0.01\n"
        "policy_kwargs: 'dict(log_std_init=-2, net_arch=[64, 32], activation_fn=nn.ReLU)'\n"
        "normalize: \"{'norm_obs': True, 'norm_reward': False}\"\n",
        "utf-8",
    )
    (tmp_path / "args.yml").write_text("algo: ppo\nenv: CartPole-v1\nseed: 7\nn_timesteps: -1\n", "utf-8")
    got = context(tmp_path, tag_map)
    assert (got.algorithm, got.env) == ("ppo", "CartPole-v1")
    assert {name: value.value for name, value in got.config.items()} == {
        "learning_rate": 0.001,
        "learning_rate_schedule": "linear",
        "total_timesteps": 100000,
        "batch_size": 64,
        "entropy_coef": 0.01,
        "network_width": 64,
        "normalize_observations": True,
        "normalize_reward": False,
        "seed": 7,
    }


@pytest.mark.parametrize(
    "policy_kwargs",
    ["__import__('os').system('false')", "dict(net_arch=open('x'))", "[1, 2", "dict(**{})", "(" * 500, "lambda: 1"],
)
def test_settings_that_are_no_literal_are_not_run(tmp_path: Path, tag_map: TagMap, policy_kwargs: str) -> None:
    (tmp_path / "config.yml").write_text(json.dumps({"policy_kwargs": policy_kwargs, "gamma": 0.9}), "utf-8")
    got = context(tmp_path, tag_map)
    assert {name: value.value for name, value in got.config.items()} == {"gamma": 0.9}


def test_a_saved_model_wins_over_yaml_and_yaml_over_logged_hyper_parameters(tmp_path: Path, tag_map: TagMap) -> None:
    save(tmp_path / "model.zip", gamma=0.9, **PPO)
    (tmp_path / "config.yml").write_text("gamma: 0.8\ngae_lambda: 0.7\n", "utf-8")
    got = context(tmp_path, tag_map, hparams={"gamma": 0.1, "gae_lambda": 0.2, "max_grad_norm": 0.3})
    assert [got.config[name].value for name in ("gamma", "gae_lambda", "max_grad_norm")] == [0.9, 0.7, 0.3]
    assert [got.config[name].origin for name in ("gamma", "gae_lambda", "max_grad_norm")] == [
        "model.zip: gamma",
        "config.yml: gae_lambda",
        "hparams: max_grad_norm",
    ]


def test_sac_temperature_is_not_an_entropy_coefficient(tmp_path: Path, tag_map: TagMap) -> None:
    save(tmp_path / "model.zip", ent_coef=0.2, target_entropy=-1.0, policy_class=policy("stable_baselines3.sac.p"))
    assert "entropy_coef" not in context(tmp_path, tag_map).config


def test_a_final_model_is_preferred_to_a_checkpoint_and_a_broken_one_is_passed_over(
    tmp_path: Path, tag_map: TagMap
) -> None:
    save(tmp_path / "a_model_100_steps.zip", gamma=0.1, **PPO)
    save(tmp_path / "z_model.zip", gamma=0.9, **PPO)
    assert context(tmp_path, tag_map).config["gamma"].value == 0.9
    with zipfile.ZipFile(tmp_path / "z_model.zip", "w") as archive:
        archive.writestr("data", "{not json")
        archive.writestr("policy.pth", b"")
    got = context(tmp_path, tag_map)
    assert got.config["gamma"].value == 0.1
    assert [(issue.code, issue.source) for issue in got.issues] == [("unreadable_file", "z_model.zip")]


def test_broken_yaml_is_an_issue_not_an_end(tmp_path: Path, tag_map: TagMap) -> None:
    (tmp_path / "config.yml").write_text("a: [1\n", "utf-8")
    got = context(tmp_path, tag_map, "train/policy_gradient_loss")
    assert got.algorithm == "ppo"
    assert [issue.code for issue in got.issues] == ["unreadable_file"]


def test_the_averaging_window_is_the_saved_one(tmp_path: Path, tag_map: TagMap) -> None:
    save(tmp_path / "model.zip", _stats_window_size=20, **PPO)
    assert context(tmp_path, tag_map).window_episodes == 20


def test_settings_are_taken_from_a_sub_folder_only_when_there_is_one(tmp_path: Path) -> None:
    for name in ("CartPole-v1", "plots"):
        (tmp_path / name).mkdir()
    (tmp_path / "CartPole-v1" / "config.yml").write_text("gamma: 0.9\n", "utf-8")
    assert [path.name for path in settings_below(tmp_path)] == ["config.yml"]
    (tmp_path / "plots" / "config.yml").write_text("gamma: 0.9\n", "utf-8")
    assert settings_below(tmp_path) == ()
    assert settings_below(tmp_path / "absent") == ()


@pytest.mark.parametrize(
    ("folder", "env"), [("CartPole-v1_3", "CartPole-v1"), ("PongNoFrameskip-v4", "PongNoFrameskip-v4"), ("PPO_1", None)]
)
def test_a_zoo_folder_is_named_after_its_environment(
    tmp_path: Path, tag_map: TagMap, folder: str, env: str | None
) -> None:
    (tmp_path / folder).mkdir()
    assert context(tmp_path / folder, tag_map).env == env
