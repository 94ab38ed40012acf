"""The frameworks that need no more than their tag map, one line each. Adding one is a line here and a YAML file."""

from __future__ import annotations

from .framework import MapAdapter

__all__ = [
    "BASELINES", "CLEANRL", "OPENRLHF", "RLLIB", "RL_GAMES", "RSL_RL", "SAMPLE_FACTORY", "SB3_ELSEWHERE", "SKRL",
    "SPINNINGUP", "TIANSHOU", "TORCHRL", "TRL", "VERL",
]  # fmt: skip

BASELINES = MapAdapter("baselines", "OpenAI baselines")
CLEANRL = MapAdapter("cleanrl", "CleanRL")
OPENRLHF = MapAdapter("openrlhf", "OpenRLHF")
RLLIB = MapAdapter("rllib", "RLlib")
RL_GAMES = MapAdapter("rl_games", "rl_games")
RSL_RL = MapAdapter("rsl_rl", "rsl_rl")
SAMPLE_FACTORY = MapAdapter("sample_factory", "Sample Factory")
SB3_ELSEWHERE = MapAdapter(
    "sb3_synced", "Stable-Baselines3 in W&B, MLflow or Parquet", map="sb3", containers=("mlflow", "parquet", "wandb")
)
SKRL = MapAdapter("skrl", "skrl")
SPINNINGUP = MapAdapter("spinningup", "Spinning Up")
TIANSHOU = MapAdapter("tianshou", "Tianshou")
TORCHRL = MapAdapter("torchrl", "TorchRL")
TRL = MapAdapter("trl", "TRL")
VERL = MapAdapter("verl", "verl")
