"""The frameworks that need no more than a tag map: one adapter for each ``maps/<name>.yaml`` that has a title."""

from __future__ import annotations

from importlib.resources import files

from .framework import MapAdapter

__all__ = ["ADAPTERS"]

_OTHERS = frozenset({"raw_csv", "sb3"})  # no tag map, and one with an adapter of its own


def _names() -> list[str]:
    found = (entry.name for entry in files("rl_diagnose.adapters.maps").iterdir())
    return sorted(name.removesuffix(".yaml") for name in found if name.endswith(".yaml"))


ADAPTERS = (
    *(MapAdapter(name) for name in _names() if name not in _OTHERS),
    # Stable-Baselines3's own files have an adapter of their own; what was synced elsewhere has its keys only.
    MapAdapter("sb3_synced", map="sb3", containers=("mlflow", "parquet", "wandb")),
)
