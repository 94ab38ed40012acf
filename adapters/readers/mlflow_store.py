"""MLflow's file store: `metrics/<key>` (one line a value) and `params/<key>` of one run folder."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import numpy as np

from rl_diagnose.errors import LogError
from rl_diagnose.signals.run import LogIssue

from .points import EventFile, EventPoints
from .records import number

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["read_mlflow_run"]

MAX_PARAM = 16_384
MAX_FILES = 100_000


def read_mlflow_run(folder: Path) -> EventFile:
    """One run folder as points per key; `hparams` are its params, texts that are numbers as numbers.

    A metric line is `timestamp_ms value [step [dataset digest]]`; without a step the index of the line is used, with an
    issue. A line whose time or step is no finite number is left out, with an issue, too. Raises `LogError` when no
    metric holds a readable value.
    """
    root = folder / "metrics"
    scalars: dict[str, EventPoints] = {}
    issues: list[LogIssue] = []
    for count, path in enumerate(sorted(p for p in root.rglob("*") if p.is_file() and not p.is_symlink())):
        if count >= MAX_FILES:
            issues.append(
                LogIssue("too_many_files", f"more than {MAX_FILES} metric files: the rest was left out", str(root))
            )
            break
        key = path.relative_to(root).as_posix()
        points = _metric(path, key, issues)
        if points is not None:
            scalars[key] = points
    if not scalars:
        raise LogError("the MLflow run has no readable metric", place=folder, hint="check that metrics/ holds files")
    return EventFile(folder.name, scalars, hparams=_params(folder / "params"), issues=tuple(issues))


def _metric(path: Path, key: str, issues: list[LogIssue]) -> EventPoints | None:
    rows: list[tuple[float, float, float]] = []
    bad = without_step = 0
    text = path.read_text("utf-8", errors="replace")
    lines = text.split("\n")
    if text and not text.endswith("\n"):  # the writer ends every line: what is left is half-written
        lines.pop()
        issues.append(
            LogIssue(
                "partial_last_line",
                f"the last line of {key} is half-written and was left out",
                key,
                severity="info",
            )
        )
    for index, line in enumerate(lines):
        parts = line.split()
        if not parts:
            continue
        stamp = number(parts[0])
        value = number(parts[1]) if len(parts) > 1 else None
        step = number(parts[2]) if len(parts) > 2 else float(index)
        if value is None or stamp is None or step is None or not math.isfinite(stamp + step):
            bad += 1
            continue
        without_step += len(parts) == 2
        rows.append((step, stamp / 1000.0, value))
    if bad:
        issues.append(LogIssue("bad_lines", f"{bad} lines of {key} are not MLflow metric lines and were left out", key))
    if without_step:
        issues.append(LogIssue("no_step", f"{key} has no steps: the index of the line is used", key, severity="info"))
    if not rows:
        return None
    table = np.array(rows, dtype=np.float64)
    return EventPoints(table[:, 0].copy(), table[:, 1].copy(), table[:, 2].copy())


def _params(root: Path) -> dict[str, float | int | bool | str]:
    params: dict[str, float | int | bool | str] = {}
    if not root.is_dir():
        return params
    for path in sorted(p for p in root.rglob("*") if p.is_file() and not p.is_symlink()):
        text = path.read_bytes()[:MAX_PARAM].decode("utf-8", "replace").strip()
        params[path.relative_to(root).as_posix()] = _param(text)
    return params


def _param(text: str) -> float | int | bool | str:
    """A parameter as what it means: MLflow writes all of them as text."""
    if re.fullmatch(r"[-+]?\d{1,18}", text):
        return int(text)
    parsed = number(text)
    return {"true": True, "false": False}.get(text.lower(), text) if parsed is None else parsed
