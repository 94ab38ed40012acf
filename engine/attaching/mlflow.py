"""A report beside a run in MLflow's file store: as an artifact, with the verdict as a tag."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from .report import FILE_NAME, TAG

if TYPE_CHECKING:
    from ..signals.run import TrackedRun

__all__ = ["PACKAGE", "attach"]

PACKAGE = "mlflow"


def attach(run: TrackedRun, html: str, verdict: str) -> str:
    """Attach the report and say where it is. Raises what MLflow raises, `ImportError` where it is not installed."""
    # MLflow 3.18 and newer ask for consent before they touch a store in files; this run is in one already.
    os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")
    from mlflow import MlflowClient

    client = MlflowClient(tracking_uri=Path(run.place).parent.parent.as_uri())
    client.log_text(run.id, html, FILE_NAME)
    client.set_tag(run.id, TAG, verdict)
    return f"MLflow run {run.id}: artifact {FILE_NAME}"
