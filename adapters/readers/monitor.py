"""Monitor files of Stable-Baselines3, Gym wrappers and OpenAI baselines: one row per finished episode."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from rl_diagnose.errors import LogError
from rl_diagnose.signals.run import LogIssue

from .csv_table import read_table
from .records import number

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from .points import Table

__all__ = ["Monitor", "read_monitor"]

_MOST_STEPS = 2.0**53  # as far as float64 counts


@dataclass(frozen=True, slots=True)
class Monitor:
    """Episodes of one environment in order of their ends.

    `t_start` is the start in seconds since the epoch, `env_id` the environment's id (None where the header does not
    say). float64 arrays of shape (n,): `returns` as written, NaN and infinities included; `lengths` in steps; `times`
    of the episode's end in seconds since `t_start`. `left_out` are episodes whose return is missing, shape (m, 3): how
    many of the others come before each, its length and its time. `extras` are further numeric columns
    (``is_success`` …), NaN where blank.
    """

    file: str
    t_start: float | None
    env_id: str | None
    returns: NDArray[np.float64]
    lengths: NDArray[np.float64]
    times: NDArray[np.float64]
    left_out: NDArray[np.float64]
    extras: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    issues: tuple[LogIssue, ...] = ()


def read_monitor(path: Path) -> Monitor:
    """Read a monitor file: a comment with JSON (``#{"t_start": …, "env_id": …}``), then columns r, l, t.

    A header without rows is a run whose first episode has not ended: arrays of length 0. Rows without return or length
    are left out (issue ``rows_without_length`` where nobody knows how many steps they took; ``episodes_missing`` for
    whole lines), and a length that is no whole number of steps is none. Raises `LogError` when the file cannot be read
    or has no such columns.
    """
    table = read_table(path, separator=",")
    missing = [name for name in ("r", "l", "t") if name not in table.numbers]
    if missing:
        raise LogError(
            f"this is no monitor file: there is no numeric column {' or '.join(missing)}",
            place=path,
            hint="a monitor file has the columns r (return), l (length) and t (time)",
        )
    head = _head(table.comment)
    columns = {name: _as_written(table, name) for name in table.numbers}
    measured = _measured(columns["l"])
    complete = _filled(table, "r") & measured
    silent = measured & ~complete
    left_out = np.stack([np.cumsum(complete)[silent], columns["l"][silent], columns["t"][silent]], axis=1)
    issues = list(table.issues)
    if not measured.all():
        first = int(np.flatnonzero(~measured)[0]) + 1
        text = f"{int((~measured).sum())} episodes have no length (first: row {first}): steps from there on are too low"
        issues.append(LogIssue("rows_without_length", text, table.file))
    if any(issue.code in ("ragged_rows", "nul_bytes") for issue in issues):
        text = "lines were left out: where they were episodes, steps from there on are too low"
        issues.append(LogIssue("episodes_missing", text, table.file))
    start, env = head.get("t_start"), head.get("env_id")
    return Monitor(
        file=table.file,
        t_start=_finite(start),
        env_id=env if isinstance(env, str) and env not in ("", "None") else None,
        returns=columns.pop("r")[complete],
        lengths=columns.pop("l")[complete],
        times=columns.pop("t")[complete],
        left_out=left_out,
        extras={name: values[complete] for name, values in columns.items()},
        issues=tuple(issues),
    )


def _head(comment: str) -> dict[str, object]:
    """The JSON object of the first comment line; empty where it cannot be read."""
    try:
        loaded = json.loads(comment.partition("\n")[0])
    except (ValueError, RecursionError):
        return {}
    return loaded if isinstance(loaded, dict) else {}


def _finite(value: object) -> float | None:
    """A number that JSON gave, None for everything else: it may hold an infinity, and integers beyond float64."""
    found = number(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
    return found if found is not None and math.isfinite(found) else None


def _as_written(table: Table, name: str) -> NDArray[np.float64]:
    """A column with its infinities; a NaN is a NaN that was written or a blank cell."""
    marks = table.non_finite.get(name)
    return table.numbers[name] if marks is None else np.where(marks == 0, table.numbers[name], marks)


def _measured(lengths: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Where a length is one."""
    with np.errstate(invalid="ignore"):
        count: NDArray[np.bool_] = (lengths >= 0) & (lengths <= _MOST_STEPS) & (lengths == np.floor(lengths))
    return count


def _filled(table: Table, name: str) -> NDArray[np.bool_]:
    """Where a cell is not blank."""
    filled = ~np.isnan(table.numbers[name])
    marks = table.non_finite.get(name)
    return filled if marks is None else filled | (marks != 0)
