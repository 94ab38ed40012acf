"""Hugging Face `trainer_state.json`: the `log_history` of a Trainer run."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from rl_diagnose.errors import LogError

from .records import flatten, number, table_from_records

if TYPE_CHECKING:
    from pathlib import Path

    from .points import Table

__all__ = ["read_trainer_state", "superseded_by"]

MAX_BYTES = 512 * 1024 * 1024
_CHECKPOINT = re.compile(r"checkpoint-(\d+)")
_HEADER = ("max_steps", "num_train_epochs", "train_batch_size", "logging_steps")


def read_trainer_state(path: Path) -> Table:
    """One row per entry of `log_history`, `step` among its columns; `config` has what the file says of the settings.

    Raises `LogError` when the file cannot be opened, is not JSON, is larger than 512 MiB, or has no log history.
    """
    state = _state(path)
    history = state.get("log_history")
    if not isinstance(history, list) or not history:
        raise LogError("the trainer state has no log history", place=path)
    table = table_from_records(path.name, [flatten(entry) for entry in history if isinstance(entry, dict)])
    return replace(table, config={key: state[key] for key in _HEADER if state.get(key) is not None})


def superseded_by(path: Path) -> tuple[Path, ...]:
    """The folders of checkpoints whose history is in this state, too: earlier ones beside it, and ones below it."""
    own = _CHECKPOINT.fullmatch(path.parent.name)
    if own is not None:
        return tuple(sorted(place for at, place in _checkpoints(path.parent.parent) if at < int(own[1])))
    below = _checkpoints(path.parent)
    reached = number(_state(path).get("global_step")) if below else None
    return tuple(sorted(place for at, place in below if reached is not None and at <= reached))


def _checkpoints(folder: Path) -> list[tuple[int, Path]]:
    """Step and place of each ``checkpoint-<step>`` in a folder."""
    try:
        places = [entry for entry in folder.iterdir() if entry.is_dir()]
    except OSError:  # a folder that may be entered but not listed
        return []
    return [(int(match[1]), place) for place in places if (match := _CHECKPOINT.fullmatch(place.name))]


def _state(path: Path) -> dict[str, object]:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise LogError("the trainer state is larger than 512 MiB", place=path)
        state = json.loads(path.read_bytes())
    except OSError as error:
        raise LogError(f"the file cannot be read: {error.strerror or error}", place=path) from None
    except (ValueError, RecursionError) as error:
        raise LogError(
            f"this is not a JSON file ({error})", place=path, hint="the run may have died while saving"
        ) from None
    return state if isinstance(state, dict) else {}
