"""A diagnosis as a polars table: one row a run, to sort, filter and join with what a sweep varied."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from .text import encodable

if TYPE_CHECKING:
    from ..diagnosis.model import Diagnosis, RunDiagnosis

__all__ = ["SCHEMA", "to_polars"]

SCHEMA: dict[str, type[pl.DataType]] = {
    "run": pl.String,
    "path": pl.String,
    "verdict": pl.String,
    "reason": pl.String,
    "framework": pl.String,
    "algorithm": pl.String,
    "env": pl.String,
    "x_axis": pl.String,
    "last_step": pl.Float64,
    "points": pl.Int64,
    "symptom": pl.String,
    "onset_step": pl.Float64,
    "cause": pl.String,
    "book": pl.String,
    "probability": pl.Float64,
    "knob": pl.String,
    "current": pl.Float64,
    "proposed": pl.Float64,
}


def to_polars(diagnosis: Diagnosis) -> pl.DataFrame:
    """The runs in the order of the diagnosis, columns as in `SCHEMA`; steps are in units of the run's `x_axis`.

    `cause`, `book` and `probability` are of the most probable fault that was assessed, whatever the verdict; `knob`,
    `current` and `proposed` of its first remedy. Null: not known, or there is none.
    """
    rows = [_row(run) for run in diagnosis.runs]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _row(run: RunDiagnosis) -> tuple[Any, ...]:
    symptom = run.primary_symptom
    cause = run.findings[0] if run.findings else None
    plan = cause.remedies[0] if cause is not None and cause.remedies else None
    return (
        _text(run.id),
        _text(run.path),
        run.verdict,
        _text(run.verdict_reason),
        run.framework,
        run.algorithm,
        _text(run.env),
        run.x_axis,
        run.last_step,
        run.points,
        symptom.id if symptom else None,
        symptom.onset_step if symptom else None,
        cause.id if cause else None,
        cause.book if cause else None,
        cause.probability if cause else None,
        plan.knob if plan else None,
        plan.current if plan else None,
        plan.proposed if plan else None,
    )


def _text(text: str | None) -> str | None:
    return None if text is None else encodable(text)
