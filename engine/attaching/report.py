"""What is attached to the run of a tracker, and to which runs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..diagnosis.numbers import count
from ..errors import UsageError
from ..logs.find import ATTACHED as FILE_NAME
from ..report.html import to_html
from ..report.text import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..diagnosis.model import Diagnosis, RunDiagnosis
    from ..signals.run import TrackedRun

    Attach = Callable[[TrackedRun, str, str], str]

__all__ = ["FILE_NAME", "TAG", "attach_all", "tracked_runs"]

TAG = "rl_diagnose.verdict"


def tracked_runs(diagnosis: Diagnosis) -> list[RunDiagnosis]:
    """The runs that can be given a report. Raises `UsageError` where no run was kept by a tracker."""
    found = [run for run in diagnosis.runs if run.tracked is not None]
    if not found:
        fact = f"none of {count(len(diagnosis.runs), 'run')} was read from the files of W&B or MLflow"
        raise UsageError(fact, place="--attach", hint="it needs a folder such as wandb/ or mlruns/")
    return found


def attach_all(diagnosis: Diagnosis) -> Iterator[tuple[str, bool]]:
    """Attach to each run of a tracker its own report; for each a sentence, and whether it was done.

    Raises `UsageError` as `tracked_runs` does, and where the tracker's package is not installed.
    """
    for run in tracked_runs(diagnosis):
        tracked = run.tracked
        if tracked is None:
            continue
        try:
            attach = _attacher(tracked.tracker)
            done = attach(tracked, to_html(replace(diagnosis, runs=(run,), notes=(), associations=())), verdict(run))
        except ImportError as error:
            package = "mlflow" if tracked.tracker == "mlflow" else "wandb"
            fact = f"the run {run.id} is kept by {tracked.tracker}, whose package cannot be imported: {error}"
            raise UsageError(fact, place="--attach", hint=f"pip install 'rl-diagnose[{package}]'") from None
        except Exception as error:  # noqa: BLE001 - the trackers' clients raise what they like; the other runs go on
            yield clean(f"{run.id}: the report was not attached: {type(error).__name__}: {error}"), False
        else:
            yield clean(f"{run.id}: {done}"), True


def verdict(run: RunDiagnosis) -> str:
    """The verdict in one line, as it stands beside the run's other values."""
    return clean(f"{run.verdict}: {run.verdict_reason}")


def _attacher(tracker: str) -> Attach:
    if tracker == "mlflow":
        from .mlflow import attach

        return attach
    from .wandb import attach as to_wandb

    return to_wandb
