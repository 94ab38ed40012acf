"""The JSON contract ``rl-diagnose/diagnosis/v1``; its schema is `docs/schema/diagnosis-v1.schema.json`.

The document is the result model field by field, in declaration order, without the curves. Bytes depend on the
diagnosis and on `created` only: floats carry ten significant digits, and what is not finite or not known is null.
"""

from __future__ import annotations

import json
import math
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from .text import encodable

if TYPE_CHECKING:
    from ..diagnosis.model import Diagnosis, RunDiagnosis

__all__ = ["SCHEMA", "to_document", "to_json"]

SCHEMA = "rl-diagnose/diagnosis/v1"
SIGNIFICANT_DIGITS = 10
# Curves are for display: the log itself holds them in full.
_LEFT_OUT = {"curves"}


def to_document(diagnosis: Diagnosis) -> dict[str, Any]:
    """`diagnosis` as dicts, lists, strings, finite numbers, booleans and None."""
    return {
        "schema": SCHEMA,
        "created": diagnosis.created,
        "path": encodable(diagnosis.path),
        "rulebooks": [_plain(book) for book in diagnosis.rulebooks],
        "runs": [_run(run) for run in diagnosis.runs],
        "suppressed": diagnosis.suppressed,
        "notes": [encodable(note) for note in diagnosis.notes],
        "associations": [_plain(one) for one in diagnosis.associations],
    }


def to_json(diagnosis: Diagnosis) -> str:
    """The document as indented JSON text with a final newline; strict JSON, never NaN."""
    return json.dumps(to_document(diagnosis), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _run(run: RunDiagnosis) -> dict[str, Any]:
    plain: dict[str, Any] = _plain(run)
    if run.action_space is not None:
        plain["action_space"]["max_entropy"] = _number(run.action_space.max_entropy)
    for cause, finding in zip(plain["causes"], run.causes, strict=True):
        for line in cause["evidence"]:
            # The symptom with its sentence and all its numbers stands once a run; a ledger line cites what decides it.
            del line["statement"]
            number = line.pop("measurement") or {}
            line |= {"signal": number.get("signal"), "value": number.get("value"), "steps": number.get("steps")}
        for remedy, plan in zip(cause["remedies"], finding.remedies, strict=True):
            remedy["values"] = {name: _number(value) for name, value in plan.values}
            remedy["expect"] = [
                {"feature": feature, "direction": direction, "target": _number(target), "within_steps": _number(within)}
                for feature, direction, target, within in plan.expect
            ]
    return plain


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value) if f.name not in _LEFT_OUT}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, str):
        return encodable(value)
    if value is None or isinstance(value, bool | int):
        return value
    return _number(value)


def _number(value: float | None) -> float | None:
    """`value` to ten significant digits: the last bits of a float differ between processors."""
    if value is None or not math.isfinite(value):
        return None
    return float(f"{float(value):.{SIGNIFICANT_DIGITS}g}")
