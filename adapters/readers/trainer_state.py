"""Hugging Face `trainer_state.json`: the `log_history` of a Trainer run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from rl_diagnose.errors import LogError

from .records import flatten, table_from_records

if TYPE_CHECKING:
    from pathlib import Path

    from .points import Table

__all__ = ["read_trainer_state"]

MAX_BYTES = 512 * 1024 * 1024


def read_trainer_state(path: Path) -> Table:
    """One row per entry of `log_history`, `step` among its columns; other entries of the file are ignored.

    Raises `LogError` when the file is not JSON, is larger than 512 MiB, or has no log history.
    """
    if path.stat().st_size > MAX_BYTES:
        raise LogError("the trainer state is larger than 512 MiB", place=path)
    try:
        state = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise LogError(
            f"this is not a JSON file ({error})", place=path, hint="the run may have died while saving"
        ) from None
    history = state.get("log_history") if isinstance(state, dict) else None
    if not isinstance(history, list) or not history:
        raise LogError("the trainer state has no log history", place=path)
    return table_from_records(path.name, [flatten(entry) for entry in history if isinstance(entry, dict)])
