"""What W&B leaves beside a run's datastore: the configuration and the last values, as context.

``files/config.yaml`` holds ``key: {value: …}`` and ``files/wandb-summary.json`` the last value of every key. Both are
there when the run was synced or ended orderly; neither is needed.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from rl_diagnose.errors import LogError
from rl_diagnose.signals.run import LogIssue

from .records import flatten, number
from .text_bytes import read_text_bytes
from .yaml_config import read_yaml_config

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["beside_wandb", "wandb_config"]

_MAX_BYTES = 16_000_000
_FOLDERS = ("files", "logs")  # console output, copies of event files, W&B's own log


def beside_wandb(path: Path) -> tuple[Path, ...]:
    """The folders beside a datastore whose logs repeat its run."""
    return tuple(path.parent / name for name in _FOLDERS)


def wandb_config(path: Path, last_step: float) -> tuple[dict[str, object], tuple[LogIssue, ...]]:
    """The configuration beside the datastore `path`, flat as `flatten` makes it, and what is odd.

    `last_step` is W&B's counter (``_step``) in the last row of the datastore: where the summary has counted further,
    the end of the history is missing (issue ``incomplete_history``).
    """
    config: dict[str, object] = {}
    issues: list[LogIssue] = []
    settings, summary = (path.parent / "files" / name for name in ("config.yaml", "wandb-summary.json"))
    try:
        config = _config(settings) if settings.is_file() else {}
        reached = _counted(summary) if summary.is_file() else None
    except LogError as error:
        issues.append(LogIssue("unreadable_file", error.fact, str(error.place), severity="info"))
        reached = None
    if reached is not None and reached > last_step:
        text = f"W&B's summary counts {reached:.0f} steps, the datastore ends at {last_step:.0f}: its end is missing"
        issues.append(LogIssue("incomplete_history", text, path.name))
    return config, tuple(issues)


def _config(path: Path) -> dict[str, object]:
    loaded = read_yaml_config(path)
    entries = loaded if isinstance(loaded, dict) else {}
    return flatten(
        {
            str(key): entry["value"]
            for key, entry in entries.items()
            if isinstance(entry, dict) and "value" in entry and not str(key).startswith("_wandb")
        }
    )


def _counted(path: Path) -> float | None:
    try:
        loaded = json.loads(read_text_bytes(path, limit=_MAX_BYTES).data)
    except (ValueError, RecursionError):
        return None  # half-written by a run that was killed: nothing can be said
    return number(loaded.get("_step")) if isinstance(loaded, dict) else None
