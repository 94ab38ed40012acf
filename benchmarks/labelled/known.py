"""Hyper-parameters of `meta/<run_id>.json` under canonical names: what a user knows beside the log."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rl_diagnose.errors import UsageError
from rl_diagnose.signals.run import ConfigValue

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rl_diagnose.signals.run import Run

    AddConfig = Callable[[str, Run], Run]

__all__ = ["canonical", "known_config"]

# The frameworks' own names where they differ from the canonical ones.
_NAMES = {
    "lr": "learning_rate",
    "lambda_": "gae_lambda",
    "clip_param": "clip_range",
    "ent_coef": "entropy_coef",
    "entropy_coeff": "entropy_coef",
    "vf_coef": "value_coef",
    "vf_loss_coeff": "value_coef",
    "vf_clip_param": "clip_range_vf",
    "kl_coeff": "kl_coef",
    "kl_target": "target_kl",
    "batch": "batch_size",
    "minibatch_size": "batch_size",
    "num_epochs": "n_epochs",
    "rollout": "n_steps",
}
_SAME = (
    "learning_rate",
    "gamma",
    "gae_lambda",
    "clip_range",
    "clip_range_vf",
    "max_grad_norm",
    "target_kl",
    "n_steps",
    "n_envs",
    "batch_size",
    "n_epochs",
    "normalize_advantage",
    "buffer_size",
    "learning_starts",
    "train_freq",
    "gradient_steps",
    "tau",
    "target_update_interval",
    "exploration_fraction",
    "exploration_final_eps",
    "action_noise",
    "total_timesteps",
    "seed",
)
_FLAGS = ("normalize_advantage",)


def known_config(corpus: Path) -> AddConfig:
    """A function that adds the hyper-parameters of a run id to its run; what the log itself tells goes first.

    Raises `UsageError` at once when there is no meta/, and later for a run without a file in it.
    """
    folder = corpus / "meta"
    if not folder.is_dir():
        raise UsageError("there is no meta/ with hyper-parameters", place=corpus, hint="use --config unknown")

    def add(run_id: str, run: Run) -> Run:
        path = folder / f"{run_id}.json"
        if not path.is_file():
            raise UsageError(f"no hyper-parameters of {run_id}", place=path)
        try:
            config = canonical(json.loads(path.read_text(encoding="utf-8")))
        except json.JSONDecodeError as error:
            raise UsageError(f"not JSON: {error}", place=path) from None
        origin = f"meta/{run_id}.json"
        known = {name: ConfigValue(value, origin) for name, value in config.items()}
        return replace(run, config={**known, **run.config})

    return add


def canonical(meta: dict[str, Any]) -> dict[str, float | int | bool | str]:
    """Canonical name → value of everything in a meta file that has a canonical name; containers are left out."""
    given = {**meta, **meta.get("effective", {}), **meta["hyperparameters"]}
    config: dict[str, float | int | bool | str] = {}
    for key, value in given.items():
        name = _NAMES.get(key, key if key in _SAME else None)
        if name is not None and isinstance(value, bool | int | float | str):
            config[name] = bool(value) if name in _FLAGS else value
    if isinstance(meta.get("vec_normalize"), bool):
        config["normalize_observations"] = config["normalize_reward"] = meta["vec_normalize"]
    return config
