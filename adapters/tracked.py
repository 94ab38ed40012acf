"""Which run of an experiment tracker a log was kept by: W&B or MLflow, told by the tracker's own files."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from rl_diagnose.signals.run import TrackedRun

from .readers.wandb_file import MAGIC, message_fields, wandb_records

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from rl_diagnose.signals.run import LogIssue

__all__ = ["tracked_run"]

_HEAD = 1 << 20  # the record of the run is among the first
# Field numbers of wandb_internal.proto
_RECORD_RUN, _RUN_ID, _ENTITY, _PROJECT = 17, 1, 2, 3


def tracked_run(files: Iterable[Path]) -> TrackedRun | None:
    """The run that `files` are a tracker's own record of; None for the logs of others and for files that cannot be
    read."""
    for path in files:
        if path.suffix == ".wandb":
            found = _wandb(path)
            if found is not None:
                return found
        elif path.name == "meta.yaml" and (path.parent / "metrics").is_dir():
            return TrackedRun("mlflow", path.parent.name, str(path.absolute().parent))
    return None


def _wandb(path: Path) -> TrackedRun | None:
    issues: list[LogIssue] = []
    try:
        with path.open("rb") as file:
            data = file.read(_HEAD)
        if not data.startswith(MAGIC):
            return None
        for payload in wandb_records(data, path.name, issues):
            for field, value in message_fields(payload):
                if field == _RECORD_RUN and isinstance(value, bytes):
                    return _run(value, path)
    except (OSError, IndexError, struct.error, ValueError):  # what cannot be read is told by whoever reads the log
        return None
    return None


def _run(message: bytes, path: Path) -> TrackedRun | None:
    texts = {
        field: part.decode("utf-8", "replace") for field, part in message_fields(message) if isinstance(part, bytes)
    }
    if not texts.get(_RUN_ID):
        return None
    place = str(path.absolute().parent)
    return TrackedRun("wandb", texts[_RUN_ID], place, texts.get(_PROJECT) or None, texts.get(_ENTITY) or None)
