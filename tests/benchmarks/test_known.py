"""Hyper-parameters of a meta file under canonical names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from labelled.known import canonical, known_config

from rl_diagnose.errors import UsageError
from rl_diagnose.signals.run import ConfigValue, Run
from rl_diagnose.signals.taxonomy import hyperparameters


def test_names_of_the_frameworks_become_canonical() -> None:
    sb3 = canonical({"hyperparameters": {"ent_coef": 0.01, "vf_coef": 0.5, "clip_range": 0.2}, "n_envs": 8})
    rllib = canonical({"hyperparameters": {"lr": 1e-6, "lambda_": 0.95, "clip_param": 0.3, "num_epochs": 30}})

    assert sb3 == {"entropy_coef": 0.01, "value_coef": 0.5, "clip_range": 0.2, "n_envs": 8}
    assert rllib == {"learning_rate": 1e-6, "gae_lambda": 0.95, "clip_range": 0.3, "n_epochs": 30}


def test_the_settings_in_force_fill_what_the_user_left_to_defaults() -> None:
    meta = {"hyperparameters": {"gamma": 0.5}, "effective": {"gamma": 0.99, "normalize_advantage": 1.0}}

    assert canonical(meta) == {"gamma": 0.5, "normalize_advantage": True}


def test_normalisation_of_the_environment_is_about_observations_and_rewards() -> None:
    assert canonical({"hyperparameters": {}, "vec_normalize": True}) == {
        "normalize_observations": True,
        "normalize_reward": True,
    }


def test_what_has_no_canonical_name_or_is_a_container_stays_out() -> None:
    assert canonical({"hyperparameters": {"policy_kwargs": {"net_arch": [1]}, "train_freq": [1, "episode"]}}) == {}


def test_every_name_is_one_that_rulebooks_know() -> None:
    everything = {"hyperparameters": {"lr": 1, "lambda_": 1, "clip_param": 1, "ent_coef": 1, "vf_coef": 1}}

    assert set(canonical(everything)) <= set(hyperparameters())


def test_what_the_log_tells_goes_before_the_meta_file(tmp_path: Path) -> None:
    (tmp_path / "meta").mkdir()
    (tmp_path / "meta" / "r1.json").write_text(json.dumps({"hyperparameters": {"gamma": 0.5, "lr": 0.1}}), "utf-8")
    run = Run("r1", "runs/r1", "sb3", {}, config={"gamma": ConfigValue(0.9, "config.yml")})

    known = known_config(tmp_path)("r1", run)

    assert known.config["gamma"] == ConfigValue(0.9, "config.yml")
    assert known.config["learning_rate"] == ConfigValue(0.1, "meta/r1.json")


def test_a_corpus_without_meta_files_cannot_be_known(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no meta/"):
        known_config(tmp_path)

    (tmp_path / "meta").mkdir()
    with pytest.raises(UsageError, match="no hyper-parameters of r1"):
        known_config(tmp_path)("r1", Run("r1", "runs/r1", "sb3", {}))
