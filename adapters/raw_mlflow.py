"""Raw MLflow: a run of the file store (``meta.yaml`` beside ``metrics/``) whose keys no tag map knows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rl_diagnose.errors import LogError

from .event_table import event_table
from .named_columns import NamedColumns
from .readers.mlflow_store import read_mlflow_run

if TYPE_CHECKING:
    from pathlib import Path

    from .readers.points import Table

__all__ = ["ADAPTER", "read_metrics"]

_FILE = "meta.yaml"


def read_metrics(path: Path, *, head: int | None = None) -> Table:  # noqa: ARG001 - each key is a small file
    """The metrics of the run whose ``meta.yaml`` is `path`. Raises `LogError` where there are none."""
    if path.name != _FILE or not (path.parent / "metrics").is_dir():
        raise LogError("this is no run of an MLflow file store", place=path)
    return event_table(read_mlflow_run(path.parent), path)


ADAPTER = NamedColumns(
    name="mlflow",
    title="MLflow file stores (keys recognised by name, or by --map)",
    read_file=read_metrics,
    file_names=re.compile(re.escape(_FILE)),
    quiet=True,
)
