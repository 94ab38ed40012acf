"""What `inspect` says, as JSON: which adapter read a run and why, and how each key of the log was understood."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from ..signals.taxonomy import is_known_signal, signal
from .text import encodable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..signals.run import Run, Series

__all__ = ["SCHEMA", "is_raw", "last_value", "to_document", "to_json"]

SCHEMA = "rl-diagnose/inspect/v1"


def to_document(
    path: str, runs: Sequence[Run], unreadable: Sequence[tuple[str, str]], notes: Sequence[str] = ()
) -> dict[str, Any]:
    """All runs as dicts and lists; `unreadable` holds (path, reason) pairs, `notes` what else was met."""
    return {
        "schema": SCHEMA,
        "path": path,
        "runs": [_run(run) for run in runs],
        "unreadable": [{"path": where, "reason": reason} for where, reason in unreadable],
        "notes": list(notes),
    }


def to_json(path: str, runs: Sequence[Run], unreadable: Sequence[tuple[str, str]], notes: Sequence[str] = ()) -> str:
    """The document as strict JSON text with a final newline."""
    document = to_document(path, runs, unreadable, notes)
    return encodable(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)) + "\n"


def _run(run: Run) -> dict[str, Any]:
    return {
        "id": run.id,
        "path": run.path,
        "adapter": run.adapter,
        "adapter_reason": run.adapter_reason,
        "framework": run.framework,
        "framework_version": run.framework_version,
        "algorithm": run.algorithm,
        "env": run.env,
        "x_axis": run.x_axis,
        "step_key": run.step_key,
        "files": list(run.files),
        "action_space": {**asdict(run.action_space), "max_entropy": run.action_space.max_entropy},
        "config": {name: {"value": v.value, "origin": v.origin} for name, v in sorted(run.config.items())},
        "signals": [_signal(series) for _, series in sorted(run.series.items()) if not is_raw(series)],
        "unmapped": [asdict(key) for key in run.unmapped],
        "issues": [asdict(issue) for issue in run.issues],
    }


def _signal(series: Series) -> dict[str, Any]:
    return {
        "signal": series.signal,
        "key": series.semantics.source_key,
        "file": series.semantics.file,
        "transform": series.semantics.transform,
        "estimator": series.semantics.estimator,
        "window": series.semantics.window,
        "points": len(series),
        "first_step": float(series.step[0]) if len(series) else None,
        "last_step": float(series.step[-1]) if len(series) else None,
        "last_value": last_value(series),
        "unit": signal(series.signal).unit if is_known_signal(series.signal) else None,
        "non_finite": series.non_finite.count,
    }


def last_value(series: Series) -> float | None:
    """The last finite value; None when there is none."""
    finite = series.value[np.isfinite(series.value)]
    return float(finite[-1]) if finite.size else None


def is_raw(series: Series) -> bool:
    """Whether this is a key that no tag map knows."""
    return series.signal.startswith("raw.")
