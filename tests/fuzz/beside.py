"""Targets that read what lies beside logs: evaluations, saved models, settings, and the user's own files."""

from __future__ import annotations

import zipfile

import numpy as np

from rl_diagnose.adapters.readers.evaluations import read_evaluations
from rl_diagnose.adapters.sb3 import tag_map
from rl_diagnose.adapters.sb3_context import read_context
from rl_diagnose.adapters.sb3_files import Sb3Files
from rl_diagnose.adapters.tagmap import load_tag_map
from rl_diagnose.errors import LogError, UsageError
from rl_diagnose.project import read_project

from .framing import pack, unpack, zip_file
from .invariants import (
    check_evaluations,
)
from .seeds import heads, members, whole
from .target import TEXT, Target, written

__all__ = ["BESIDE"]

_LOG = (LogError, UsageError)


# -- archives ----------------------------------------------------------------------------------------------------------


def _evaluations(data: bytes) -> None:
    check_evaluations(read_evaluations(written("evaluations.npz", data)))


def _evaluation_seeds() -> list[bytes]:
    made = {f"{name}.npy": _npy(np.ones((9, 3))) for name in _ARRAYS}
    return [*(zip_file(made, packed) for packed in _COMPRESSIONS), *whole("evaluations.npz", 1 << 15, 8)]


_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
_ARRAYS = ("timesteps", "results", "ep_lengths", "successes")


def _npy(array: np.ndarray) -> bytes:
    path = written("array.npy", b"")
    np.save(path, array)
    return path.read_bytes()


def _evaluation_arrays(data: bytes) -> None:
    stored = zip(_ARRAYS, unpack(data), strict=False)
    _evaluations(zip_file({f"{name}.npy": array for name, array in stored}))


def _evaluation_array_seeds() -> list[bytes]:
    small = [np.array([100, 200]), np.array([[1.0], [2.0]]), np.array([[5], [6]]), np.array([[True], [False]])]
    halves = [np.array([1.0, 2.0], np.float16), np.asfortranarray(np.arange(6.0).reshape(2, 3)), np.array([], ">i4")]
    real = [pack(members(archive, ".npy")[:4]) for archive in whole("evaluations.npz", 1 << 12, 4)]
    return [pack(map(_npy, small)), pack(map(_npy, halves)), *real]


def _model_zip(data: bytes) -> None:
    """A saved model is passed over where it cannot be read: what surrounds a run never raises."""
    path = written("model.zip", data)
    read_context(Sb3Files(models=(path,)), path.parent, frozenset(), tag_map())


_MODEL = (
    b'{"gamma": 0.99, "n_steps": 128, "n_epochs": 10, "learning_rate": 3e-4, "seed": null, "_stats_window_size": 100,'
    b' "clip_range": {":type:": "FloatSchedule", "value_schedule": "ConstantSchedule(val=0.2)", ":serialized:": "gA"},'
    b' "policy_class": {"__module__": "stable_baselines3.common.policies"}, "vf_coef": 0.5,'
    b' "action_space": {":type:": "<class \'gym.spaces.box.Box\'>", "_shape": [2], "low": "[-1. -2.]", "high": "[1.]"},'
    b' "policy_kwargs": {"net_arch": {"pi": [32], "vf": [64]}}}'
)
_SPACES = (
    b'{"action_space": {":type:": "<class \'gymnasium.spaces.discrete.Discrete\'>", "n": "2"}}',
    b'{"action_space": {":type:": "<class \'gymnasium.spaces.multi_discrete.MultiDiscrete\'>", "nvec": "[3 5]"}}',
    b'{"action_space": {":type:": "<class \'gym.spaces.multi_binary.MultiBinary\'>", "n": 6}, "policy_delay": 2}',
)


def _model_zip_seeds() -> list[bytes]:
    made = [{"data": data, "_stable_baselines3_version": b"2.3.0"} for data in (_MODEL, *_SPACES)]
    return [zip_file(files, packed) for files, packed in zip(made, _COMPRESSIONS, strict=True)]


def _model_data(data: bytes) -> None:
    _model_zip(zip_file({"data": data, "_stable_baselines3_version": data[:9]}))


def _model_data_seeds() -> list[bytes]:
    return [_MODEL, *_SPACES]


def _settings(data: bytes) -> None:
    path = written("config.yml", data)
    read_context(Sb3Files(settings=(path,)), path.parent, frozenset(), tag_map())


def _settings_seeds() -> list[bytes]:
    tagged = (
        b"!!python/object/apply:collections.OrderedDict\n- - - gamma\n    - 0.9\n  - - policy_kwargs\n"
        b"    - dict(net_arch=[64, 32], activation_fn=nn.ReLU)\n  - - normalize\n    - '{''norm_obs'': True}'\n"
    )
    odd = (
        b"learning_rate: lin_3e-4\nclip_range: &a lin_0.2\nseed: 1\nn_steps: *a\nt: 2020-01-01\nb: !!binary AA==\n"
        b"c: !!int '1'\nd: !!bool on\n"
    )
    return [tagged, odd, *heads("config.y*ml", TEXT, 6), *heads("args.y*ml", TEXT, 4)]


# -- what users configure ----------------------------------------------------------------------------------------------


def _tag_map(data: bytes) -> None:
    path = written("mine.yaml", data)
    found = load_tag_map(path, own=path)
    for key in ("train/loss", "rollout/ep_rew_mean", "*", *found.bookkeeping, *found.step_keys):
        found.understands(key)
        found.rules_for(key, "ppo")
        found.suggest(found.spelling(key))
    found.algorithms_by_keys(found.fingerprint)


def _tag_map_seeds() -> list[bytes]:
    made = (
        b"framework: f\ntitle: F\nx_axis: env_steps\nstep_keys: [step]\nprefixes: [{prefix: w/, x_axis: iterations}]\n"
        b"lags: {train/: 1}\nbookkeeping: [count/*]\nfingerprint: [train/kl]\nrules:\n"
        b"  - {key: score, aliases: [old], signal: reward.train, window: last 5 episodes, window_episodes: 5}\n"
        b"  - {key: train/*/h, signal: policy.entropy, transform: -x, algorithms: [ppo]}\n"
        b"config_keys: [{key: lr, name: learning_rate}]\nalgorithms: [{id: ppo, names: [ppo], keys: [score]}]\n"
        b"files: [a*.csv]\nsettings: [c.json]\nswitches: {a: b}\n"
    )
    return [made, *heads("maps/*.yaml", 1 << 12, 3)]


def _project(data: bytes) -> None:
    read_project(written("rl-diagnose.toml", data))


def _project_seeds() -> list[bytes]:
    made = (
        b'rulebooks = ["ppo", "a.yaml"]\nfail-at = 0.5\naction-space = "discrete:4"\n[map]\n"a.b" = "reward.train"\n'
        b'[[suppress]]\ncause = "truncation"\nreason = "r"\nexpires = 2027-03-01\nruns = "s/*"\n'
    )
    return [made, b"", b"fail-at = 1e-1\n"]


# -- all ---------------------------------------------------------------------------------------------------------------

BESIDE = (
    Target("evaluations", _evaluation_seeds, _evaluations, _LOG),
    Target("evaluation_arrays", _evaluation_array_seeds, _evaluation_arrays, _LOG),
    Target("model_zip", _model_zip_seeds, _model_zip),
    Target("model_data", _model_data_seeds, _model_data),
    Target("settings", _settings_seeds, _settings),
    Target("tag_map", _tag_map_seeds, _tag_map, (UsageError,)),
    Target("project", _project_seeds, _project, (UsageError,)),
)
