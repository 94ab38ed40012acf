"""What the product makes of a folder: its rows, what it tells of the log, and its verdict."""

from __future__ import annotations

import traceback
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from rl_diagnose.diagnosis.pipeline import diagnose_runs
from rl_diagnose.diagnosis.reading import Unreadable, locate, read_runs
from rl_diagnose.errors import LogError, NoReadableRunError, UsageError
from rl_diagnose.logs.adapter import ReadOptions

if TYPE_CHECKING:
    from pathlib import Path

    from rl_diagnose.signals.run import LogIssue, Run

__all__ = ["TELLING", "Reading", "Rows", "read_folder"]

Rows = dict[str, set[tuple[float, float]]]
"""Signal → (step, value) of each of its rows; a value that is not finite is `NOT_FINITE`."""

NOT_FINITE = 1.7e308
TELLING = frozenset({
    "backward_steps", "bad_lines", "concurrent_writers", "csv_overwritten", "damaged_names", "damaged_record",
    "damaged_table", "duplicate_steps", "empty_file", "encoding", "episodes_missing", "gzip_cut", "header_changed",
    "header_repeated", "incomplete_history", "monitor_appended", "no_rows", "no_scalars", "nul_bytes",
    "object_array", "oversized_record", "partial_last_line", "ragged_rows", "restart", "rows_without_length",
    "rows_without_step", "truncated_tail", "unbalanced_quotes", "unequal_lengths", "unreadable_array",
    "unreadable_cells", "unreadable_file", "unreadable_steps", "zero_tail",
})  # fmt: skip
"""Issues which say that something that was logged is missing, or is not taken as it stands."""


@dataclass(frozen=True)
class Reading:
    """The runs of a folder, why others could not be read, and how the product broke, if it did."""

    runs: tuple[Run, ...] = ()
    refused: tuple[str, ...] = ()
    crash: str | None = None
    verdicts: tuple[tuple[str, str], ...] = ()
    issues: frozenset[LogIssue] = field(default_factory=frozenset)

    @cached_property
    def rows(self) -> Rows:
        """All rows of all runs."""
        found: Rows = defaultdict(set)
        for run in self.runs:
            for signal, series in run.series.items():
                value = np.where(np.isfinite(series.value), series.value, NOT_FINITE)
                found[signal].update(zip(series.step.tolist(), value.tolist(), strict=True))
        return dict(found)

    def told_beyond(self, whole: Reading) -> list[LogIssue]:
        """Issues of a loss that the reading of the undamaged folder does not have."""
        return [issue for issue in self.issues - whole.issues if issue.code in TELLING]


def read_folder(folder: Path) -> Reading:
    """Find, read and diagnose all runs of a folder. Every exception but the project's own is a crash."""
    runs: list[Run] = []
    refused: list[str] = []
    try:
        located = locate([str(folder)])
        refused += [note for note in located.notes if "failed (" in note]
        for read in read_runs(located.sources, ReadOptions()):
            if isinstance(read, Unreadable):
                refused.append(read.reason)
            else:
                runs.append(read)
        crash = next((text for text in refused if "the adapter" in text and "failed (" in text), None)
        diagnosed = diagnose_runs(runs) if runs else []
    except (LogError, NoReadableRunError, UsageError) as error:
        return Reading(refused=(str(error),), crash=str(error) if "failed (" in str(error) else None)
    except Exception:  # noqa: BLE001 - what the benchmark is after
        return Reading(crash=traceback.format_exc(limit=-3))
    verdicts = sorted({(one.verdict, one.findings[0].id if one.findings else "") for one in diagnosed})
    issues = frozenset(issue for run in runs for issue in run.issues)
    return Reading(tuple(runs), tuple(refused), crash, tuple(verdicts), issues)
