"""What an earlier diagnosis (its JSON report) said and promised about a run."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["Earlier", "read_earlier"]

_SCHEMA = "rl-diagnose/diagnosis/v1"
_MAX_BYTES = 64 * 1024 * 1024
_HINT = "write one with: rl-diagnose RUN --format json --output report.json"


@dataclass(frozen=True, slots=True)
class Earlier:
    """The run's `path`, the `cause` that the verdict rested on, the `books` that spoke (``ppo@1.0.0``), and what the
    cause's first remedy promised (feature, direction, target, within so many steps)."""

    path: str
    cause: str
    books: tuple[str, ...]
    promised: tuple[tuple[str, str, float, float | None], ...]


def read_earlier(report: Path, run: str | None = None) -> Earlier:
    """Read a JSON report; `run` names one by its id where it holds several.

    Raises `UsageError` for a file that is no such report, holds no finding, or several without `run` being given.
    """
    document = _document(report)
    found = [one for one in document["runs"] if one["verdict"] == "finding" and run in (None, one["id"])]
    if len(found) != 1:
        ids = ", ".join(str(one["id"]) for one in found[:8])
        fact = f"{len(found)} runs with a finding are in it: {ids}" if found else "it holds no run with a finding"
        raise UsageError(fact, place=report, hint="name one with --run ID" if found else _HINT)
    (one,) = found
    cause = next(c for c in one["causes"] if c["kind"] == "fault" and c["status"] == "assessed")
    remedies = cause.get("remedies") or [{}]
    expect = remedies[0].get("expect") or []
    return Earlier(
        str(one["path"]),
        str(cause["id"]),
        tuple(f"{book['id']}@{book['version']}" for book in one["rulebooks"]),
        tuple((str(e["feature"]), str(e["direction"]), float(e["target"]), _number(e)) for e in expect),
    )


def _number(expectation: Mapping[str, Any]) -> float | None:
    within = expectation.get("within_steps")
    return None if within is None else float(within)


def _document(report: Path) -> dict[str, Any]:
    try:
        if report.stat().st_size > _MAX_BYTES:
            raise UsageError("the report is larger than 64 MiB", place=report, hint=_HINT)
        loaded = json.loads(report.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"the report cannot be read: {error.strerror or error}", place=report, hint=_HINT) from None
    except (ValueError, RecursionError):
        raise UsageError("this is no JSON report", place=report, hint=_HINT) from None
    if not isinstance(loaded, dict) or loaded.get("schema") != _SCHEMA or not isinstance(loaded.get("runs"), list):
        raise UsageError(f"this is no report of the schema {_SCHEMA}", place=report, hint=_HINT)
    return loaded
