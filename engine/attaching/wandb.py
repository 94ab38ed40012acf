"""A report beside a run of W&B: as a file of the run, with the verdict in its summary.

A run that was logged offline stays offline: a further folder is written beside its own, which ``wandb sync`` merges
into the run. Any other run is resumed as `WANDB_MODE` says, by default over the network.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from .report import FILE_NAME, TAG

if TYPE_CHECKING:
    from ..signals.run import TrackedRun

__all__ = ["PACKAGE", "attach"]

PACKAGE = "wandb"


def attach(run: TrackedRun, html: str, verdict: str) -> str:
    """Attach the report and say where it is. Raises what W&B raises, `ImportError` where it is not installed."""
    import wandb

    place = Path(run.place)
    offline = place.name.startswith("offline-run-") or os.environ.get("WANDB_MODE") == "offline"
    # Nothing of this process belongs into their run: neither what it prints, nor its code, nor the machine's load.
    quiet = wandb.Settings(
        console="off", silent=True, disable_git=True, disable_code=True, save_code=False, x_disable_stats=True
    )
    resumed = wandb.init(
        id=run.id,
        project=run.project,
        entity=run.entity,
        dir=str(place.parent.parent if place.parent.name == "wandb" else place.parent),
        mode="offline" if offline else "online",
        resume="allow" if offline else "must",
        settings=quiet,
    )
    try:
        file = Path(resumed.dir) / FILE_NAME
        file.write_text(html, encoding="utf-8")
        resumed.save(str(file), base_path=resumed.dir, policy="now")
        resumed.summary[TAG] = verdict
        folder = Path(resumed.dir).parent
    finally:
        resumed.finish()
    return f"W&B run {run.id}: wandb sync {folder} sends it" if offline else f"W&B run {run.id}: file {FILE_NAME}"
