"""The labels of a corpus: which fault was injected into each run, and whether it did any harm."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast

from rl_diagnose.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["HEALTHY", "Harm", "Label", "read_labels"]

HEALTHY = "healthy"
Harm = Literal["yes", "no", "unclear"]
_HARM = ("yes", "no", "unclear")
_COLUMNS = ("run_id", "framework", "algorithm", "injected_fault", "fault_details", "harmed")


@dataclass(frozen=True, slots=True)
class Label:
    """One row of `labels.csv`. `details` says in words how the fault was made; `env` is empty where no column tells."""

    run_id: str
    framework: str
    algorithm: str
    fault: str
    details: str
    harmed: Harm
    env: str = ""

    @property
    def silent(self) -> bool:
        """True where saying nothing is the right answer: no fault, or one that did no harm."""
        return self.harmed == "no"


def read_labels(corpus: Path) -> tuple[Label, ...]:
    """All rows of `labels.csv`, in file order. Raises `UsageError` for a missing file or column, or an odd value."""
    path = corpus / "labels.csv"
    if not path.is_file():
        raise UsageError("there is no labels.csv", place=corpus, hint="--corpus names the folder that has it")
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        missing = [name for name in _COLUMNS if name not in (reader.fieldnames or ())]
        if missing:
            raise UsageError(f"columns are missing: {', '.join(missing)}", place=path)
        labels = tuple(_label(row, path, line) for line, row in enumerate(reader, start=2))
    doubled = {label.run_id for label in labels if sum(other.run_id == label.run_id for other in labels) > 1}
    if doubled:
        raise UsageError(f"runs are labelled twice: {', '.join(sorted(doubled))}", place=path)
    return labels


def _label(row: dict[str, str], path: Path, line: int) -> Label:
    if row["harmed"] not in _HARM:
        raise UsageError(f"harmed is '{row['harmed']}'", place=f"{path}:{line}", hint=f"known are {', '.join(_HARM)}")
    return Label(
        run_id=row["run_id"],
        framework=row["framework"],
        algorithm=row["algorithm"],
        fault=row["injected_fault"],
        details=row["fault_details"],
        harmed=cast("Harm", row["harmed"]),
        env=row.get("env") or "",
    )
