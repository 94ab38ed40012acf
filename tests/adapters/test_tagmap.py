"""Tag maps: look-ups, transforms, and what is said about a map that cannot be used."""

from __future__ import annotations

import time
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from rl_diagnose.adapters.tagmap import TagMap, Transform, load_tag_map
from rl_diagnose.errors import UsageError


@pytest.fixture(scope="module")
def sb3() -> TagMap:
    return load_tag_map(files("rl_diagnose.adapters.maps").joinpath("sb3.yaml"))


def signals(tag_map: TagMap, key: str, algorithm: str | None) -> list[str]:
    return [rule.signal for rule in tag_map.rules_for(key, algorithm)]


@pytest.mark.parametrize(
    ("text", "factor"), [("x", 1.0), ("-x", -1.0), ("x*2", 2.0), ("-x / 4", -0.25), (" x * 1e-3 ", 1e-3)]
)
def test_a_transform_is_a_factor(text: str, factor: float) -> None:
    transform = Transform.parse(text)
    np.testing.assert_allclose(transform(np.array([1.0, -2.0])), [factor, -2.0 * factor])
    assert transform.text == text


@pytest.mark.parametrize("text", ["", "y", "x+1", "x**2", "exp(x)", "x/0", "2", "--x", "x*-1", "__import__('os')"])
def test_anything_else_is_no_transform(text: str) -> None:
    with pytest.raises(ValueError, match="is not one of x"):
        Transform.parse(text)


@pytest.mark.parametrize(
    ("key", "algorithm", "expected"),
    [
        ("train/loss", "ppo", ["loss.total"]),
        ("train/loss", "dqn", ["loss.total", "critic.loss"]),
        ("train/loss", None, ["loss.total"]),
        ("train/actor_loss", "sac", ["actor.loss"]),
        ("train/actor_loss", "td3", ["actor.loss", "q.mean"]),
        ("train/critic_loss", "tqc", ["critic.loss"]),
        ("train/critic_loss", None, ["critic.loss"]),
        ("rollout/return_std", "ppo", []),
        ("train/unheard_of", "ppo", []),
    ],
)
def test_the_signals_of_a_key_depend_on_the_algorithm(
    sb3: TagMap, key: str, algorithm: str | None, expected: list[str]
) -> None:
    assert signals(sb3, key, algorithm) == expected


@pytest.mark.parametrize(
    "key",
    [
        *("rollout/ep_rew_mean", "rollout/ep_len_mean", "rollout/success_rate", "rollout/exploration_rate"),
        *("eval/mean_reward", "eval/mean_ep_length", "eval/success_rate", "time/fps"),
        *("train/entropy_loss", "train/policy_gradient_loss", "train/value_loss", "train/approx_kl"),
        *("train/clip_fraction", "train/loss", "train/explained_variance", "train/clip_range", "train/std"),
        *("train/learning_rate", "train/n_updates", "train/policy_loss", "train/policy_objective"),
        *("train/kl_divergence_loss", "train/is_line_search_success", "train/ent_coef", "train/ent_coef_loss"),
        *("train/actor_loss", "train/critic_loss", "rollout/exploration rate", "rollout/success rate"),
    ],
)
def test_every_key_of_sb3_and_contrib_is_a_signal(sb3: TagMap, key: str) -> None:
    assert signals(sb3, key, None)


@pytest.mark.parametrize(
    "key",
    [
        *("time/total_timesteps", "time/total timesteps", "time/iterations", "time/episodes", "time/time_elapsed"),
        *("train/clip_range_vf", "train/delta_std", "train/step_size", "mean/disc/disc_acc", "raw/disc/disc_loss"),
        *("mean/gen/train/approx_kl", "raw/gen/time/iterations"),
    ],
)
def test_keys_without_a_signal_of_their_own_are_understood(sb3: TagMap, key: str) -> None:
    assert sb3.understands(key)


def test_a_misspelt_key_is_not_understood_but_suggested(sb3: TagMap) -> None:
    assert not sb3.understands("train/aprox_kl")
    assert sb3.suggest("train/aprox_kl") == "policy.kl"
    assert sb3.suggest("my/approx_kl") == "policy.kl"
    assert sb3.suggest("custom/zzz") is None


def test_old_spellings_are_joined_with_the_new_ones(sb3: TagMap) -> None:
    assert sb3.spelling("rollout/exploration rate") == "rollout/exploration_rate"
    assert sb3.spelling("mean/gen/rollout/success rate") == "mean/gen/rollout/success_rate"
    assert sb3.spelling("custom/key") == "custom/key"


def test_only_training_keys_are_one_iteration_behind(sb3: TagMap) -> None:
    assert sb3.lag("train/approx_kl") == 1
    assert sb3.lag("rollout/ep_rew_mean") == 0


@pytest.mark.parametrize(
    "keys",
    [
        {"train/loss", "train/learning_rate", "train/epoch", "eval/loss", "train/entropy"},  # Hugging Face Trainer
        {"train/env_step", "train/reward", "update/gradient_step", "update/loss/clip", "test/reward"},  # Tianshou
        {"ray/tune/episode_reward_mean", "ray/tune/timesteps_total"},  # RLlib
        {"charts/episodic_return", "losses/approx_kl", "charts/SPS"},  # CleanRL
        {"Loss/surrogate", "Train/mean_reward"},  # rsl_rl
        {"train/entropy_loss", "train/pg_loss", "train/ppo_kl", "train/grad_norm"},  # slime
    ],
)
def test_keys_of_other_frameworks_are_no_fingerprint(sb3: TagMap, keys: set[str]) -> None:
    assert sb3.fingerprints(keys) == ()


def test_hyper_parameter_names_depend_on_the_algorithm(sb3: TagMap) -> None:
    assert sb3.config_name("ent_coef", "ppo") == "entropy_coef"
    assert sb3.config_name("ent_coef", "sac") is None  # SAC's is a temperature
    assert sb3.config_name("n_steps", "dqn") is None  # there it is the length of n-step returns
    assert sb3.config_name("vf_coef", None) == "value_coef"
    assert sb3.config_name("verbose", "ppo") is None


MINIMAL = "framework: f\nx_axis: env_steps\nrules:\n"


def test_a_star_stands_for_one_segment(tmp_path: Path) -> None:
    path = tmp_path / "map.yaml"
    path.write_text(MINIMAL + "  - {key: learner/*/kl, signal: policy.kl}\n", "utf-8")
    tag_map = load_tag_map(path)
    assert signals(tag_map, "learner/default_policy/kl", None) == ["policy.kl"]
    assert signals(tag_map, "learner/kl", None) == []
    assert signals(tag_map, "learner/a/b/kl", None) == []


def test_many_stars_are_matched_at_once(tmp_path: Path) -> None:
    path = tmp_path / "map.yaml"
    path.write_text(
        MINIMAL + f'  - {{key: "{"*a" * 30}b", signal: policy.kl}}\n  - {{key: x*b*/**c, signal: value.loss}}\n'
    )
    tag_map = load_tag_map(path)
    started = time.process_time()
    assert signals(tag_map, "a" * 20_000, None) == []
    assert signals(tag_map, "a" * 200 + "b", None) == ["policy.kl"]
    assert signals(tag_map, "xbb/cc", None) == ["value.loss"]
    assert signals(tag_map, "xb/b/cc", None) == []
    assert time.process_time() - started < 1.0


@pytest.mark.parametrize(
    ("text", "fact", "hint"),
    [
        (MINIMAL + "  - {key: a, signal: policy.entropi}\n", "'policy.entropi'", "did you mean policy.entropy?"),
        (MINIMAL + "  - {key: a, signal: policy.kl, transform: x+1}\n", "transform 'x\\+1'", "compare"),
        (MINIMAL + "  - {key: a, signal: policy.kl, colour: red}\n", "colour", "compare"),
        (
            MINIMAL + "  - {key: a, signal: policy.kl, aliases: b}\n",
            "entry 1: aliases is not a list of texts",
            "compare",
        ),
        (MINIMAL + "  - {signal: policy.kl}\n", "key", "compare"),
        ("framework: f\nx_axis: parsecs\nrules: []\n", "'parsecs' is not an x axis", "one of env_steps"),
        (MINIMAL + "  []\nconfig_keys: [{key: a, name: gama}]\n", "'gama'", "did you mean gamma?"),
        (MINIMAL + "  - {key: 5, signal: policy.kl}\n", "entry 1: key is not a text; put numbers", "compare"),
        (MINIMAL + "  - {key: a, signal: [policy.kl]}\n", "signal is not a text", "compare"),
        (MINIMAL + "  - {key: a, signal: policy.kl, benign: [1]}\n", "benign is not true or false", "compare"),
        (MINIMAL + "  - {key: a, signal: policy.kl, transform: x*1e308}\n", "is not one of x", "compare"),
        (MINIMAL + "  - reward\n", "rules, entry 1, is no table", "compare"),
        (MINIMAL + "  []\nstep_keys: step\n", "step_keys is not a list of texts", "compare"),
        (MINIMAL + "  []\nlags: {a: b}\n", "lags: the value of a is not a whole number", "compare"),
        (MINIMAL + "  []\nfingerprints: [a]\n", "did you mean 'fingerprint'", "compare"),
        (MINIMAL + "  []\nalgorithms: [{id: ppo, values: {a: b}}]\n", "values is not a table", "compare"),
        ("[1]", "it is no table of", "compare"),
        ("rules: [\n", "cannot be used", "compare"),
        ("", "cannot be used", "compare"),
    ],
)
def test_a_wrong_map_is_refused_with_the_way_out(tmp_path: Path, text: str, fact: str, hint: str) -> None:
    path = tmp_path / "map.yaml"
    path.write_text(text, "utf-8")
    with pytest.raises(UsageError, match=fact) as caught:
        load_tag_map(path)
    assert caught.value.place == str(path)
    assert hint in (caught.value.hint or "")
