"""How many processes share the runs of a sweep."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal

from ..errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ..logs.load import FoundRun

__all__ = ["MOST", "Jobs", "processes_for", "slice_size"]

Jobs = int | Literal["auto"] | None

MOST = 256
_BY_ITSELF = 8  # processes started without being asked for: the machine may be shared
_PAYS = 250  # runs of usual size: with fewer, the most of a second that a process takes to start is not won back
_SHARE = 50  # the same for each process
_TABLES = (".csv", ".json", ".jsonl", ".log", ".ndjson", ".out", ".tsv", ".txt")  # event files are read in no time
_LONG = 100_000  # bytes of a table which take longer to read than a run takes otherwise
_LARGEST_SLICE = 16  # runs; larger batches are hardly faster, smaller ones share out more evenly
_ROUNDS = 4  # slices for each process, at least, so that all end at about the same time


def processes_for(jobs: Jobs, sources: Sequence[FoundRun]) -> int:
    """How many processes to start; 1 means none but this. Raises `UsageError` for a number that cannot be meant."""
    if jobs is None:
        load = _load(sources)
        asked = min(_cores(), _BY_ITSELF, load // _SHARE) if load >= _PAYS else 1
    elif jobs == "auto" or (jobs == 0 and not isinstance(jobs, bool)):
        asked = _cores()
    elif isinstance(jobs, int) and not isinstance(jobs, bool) and 0 < jobs <= MOST:
        asked = jobs
    else:
        raise UsageError(
            f"{jobs!r} is no number of processes", place="jobs", hint=f"say 1 to {MOST}, or auto for one a core"
        )
    return max(1, min(asked, len(sources)))


def slice_size(runs: int, processes: int) -> int:
    """How many runs a process is handed at a time."""
    return max(1, min(_LARGEST_SLICE, runs // (_ROUNDS * processes)))


def _load(sources: Sequence[FoundRun]) -> int:
    """The work, in runs of usual size: long tables count as several."""
    tables = {file for source in sources for file in source.source.files if file.name.lower().endswith(_TABLES)}
    return len(sources) + sum(map(_size, tables)) // _LONG


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:  # gone since it was found: reading it will tell
        return 0


def _cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
