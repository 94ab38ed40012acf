"""What another tool says about the same runs, from a CSV file: run, cause, probability."""

from __future__ import annotations

import csv
import math
from typing import TYPE_CHECKING

from rl_diagnose.errors import UsageError

from .acceptable import acceptable_causes
from .metrics import FINDING_AT
from .outcomes import Outcome, Said

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from .acceptable import Row
    from .corpus import Label

__all__ = ["judge_predictions", "read_predictions"]

_COLUMNS = ("run", "cause", "probability")


def read_predictions(path: Path) -> dict[str, list[Said]]:
    """Run → what is said of it, the most probable first.

    One row a run and cause. A row without cause says that the tool looked at the run and found nothing. Raises
    `UsageError` for a file that cannot be read, a missing column, a probability outside 0…1, and a row that stands
    twice.
    """
    hint = f"one row a run and cause, with the columns {', '.join(_COLUMNS)}"
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            missing = [name for name in _COLUMNS if name not in (reader.fieldnames or ())]
            if missing:
                raise UsageError(f"columns are missing: {', '.join(missing)}", place=path, hint=hint)
            rows = [(reader.line_num, row) for row in reader]
    except (OSError, ValueError, csv.Error) as error:
        raise UsageError(f"the predictions cannot be read: {error}", place=path, hint=hint) from None
    said: dict[str, list[Said]] = {}
    for line, row in rows:
        run, cause = (row["run"] or "").strip(), (row["cause"] or "").strip()
        if not run:
            raise UsageError("the run is empty", place=f"{path}:{line}", hint=hint)
        causes = said.setdefault(run, [])
        if not cause:
            continue
        if any(one.cause == cause for one in causes):
            raise UsageError(f"'{cause}' is said twice of {run}", place=f"{path}:{line}")
        causes.append(Said(cause, _probability(row["probability"], f"{path}:{line}"), math.nan))
    return {run: sorted(causes, key=lambda one: (-one.probability, one.cause)) for run, causes in said.items()}


def judge_predictions(
    said: dict[str, list[Said]], labels: Sequence[Label], acceptable: Sequence[Row], place: Path
) -> list[Outcome]:
    """The outcome of every label in order. A run that the file does not name counts as one without an answer.

    Raises `UsageError` for a run that has no label.
    """
    known = {label.run_id for label in labels}
    strange = sorted(said.keys() - known)
    if strange:
        raise UsageError(f"runs that have no label: {', '.join(strange[:5])}", place=place)
    return [_outcome(label, said.get(label.run_id), acceptable) for label in labels]


def _outcome(label: Label, said: list[Said] | None, acceptable: Sequence[Row]) -> Outcome:
    answers = acceptable_causes(acceptable, label)
    if said is None:
        return Outcome(label, answers, "unreadable")
    verdict = "finding" if said and said[0].probability >= FINDING_AT else "nothing_found"
    return Outcome(label, answers, verdict, tuple(said))


def _probability(text: str | None, place: str) -> float:
    try:
        value = float(text or "")
    except ValueError:
        value = math.nan
    if not 0 <= value <= 1:
        raise UsageError(f"'{text or ''}' is no probability", place=place, hint="a number from 0 to 1")
    return value
