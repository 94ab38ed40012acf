"""Rows of the table on event files: the product's reader against tbparse and against reading the bytes."""

from __future__ import annotations

import logging
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rl_diagnose.adapters.readers.event_files import read_event_file

from .event_logs import write_event_file
from .measure import Goal, Row, cpu_seconds, peak_megabytes

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["read_with_tbparse", "rows"]

_FASTER, _BYTES, _MEMORY = "× faster than tbparse", "× reading the bytes", "memory ÷ tbparse's"
_OURS = "from pathlib import Path; from rl_diagnose.adapters.readers.event_files import read_event_file as r"
_OURS += "; x = r(Path(sys.argv[1]))"
_TBPARSE = (
    "from tbparse import SummaryReader as R; x = R(sys.argv[1], extra_columns={'wall_time'}, event_types={'scalars'})"
)
_TBPARSE += ".scalars"


@dataclass(frozen=True, slots=True)
class _Case:
    layout: str
    tags: int
    points: int
    faster: float  # than tbparse, at least
    bytes_at_most: float | None = None
    memory: bool = False


_FULL = (
    _Case("simple", 12, 500, 20),
    _Case("simple", 12, 20_000, 80),
    _Case("simple", 20, 100_000, 100, 25, memory=True),
    _Case("multi", 12, 20_000, 150),
    _Case("tensor", 12, 20_000, 150),
    _Case("jagged", 12, 20_000, 30),
    _Case("mixed", 12, 20_000, 40),
)
_QUICK = (
    _Case("simple", 12, 500, 20),
    _Case("simple", 12, 5000, 80),
    _Case("multi", 12, 5000, 150),
    _Case("tensor", 12, 5000, 150),
    _Case("jagged", 12, 5000, 30),
    _Case("mixed", 12, 5000, 40),
)


def rows(*, quick: bool) -> Iterator[Row]:
    """Measure each layout; `quick` has fewer points and rounds, and leaves memory out."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        for case in _QUICK if quick else _FULL:
            path = Path(folder) / f"events.out.tfevents.{case.layout}"
            write_event_file(path, case.layout, case.tags, case.points)
            yield _row(path, case, quick=quick)
            path.unlink()


def _row(path: Path, case: _Case, *, quick: bool) -> Row:
    kind = "tensors" if case.layout == "tensor" else "scalars"
    read_with_tbparse(path, kind)  # imports what it needs, and warms the page cache
    read_event_file(path)
    seconds = cpu_seconds(
        {
            "ours": lambda: read_event_file(path),
            "tbparse": lambda: read_with_tbparse(path, kind),
            "bytes": path.read_bytes,
        },
        rounds=15,
        budget=1.0 if quick else 20.0,
    )
    ratios = {_FASTER: seconds["tbparse"] / seconds["ours"], _BYTES: seconds["ours"] / seconds["bytes"]}
    goals = {_FASTER: Goal(case.faster)}
    if case.bytes_at_most is not None:
        goals[_BYTES] = Goal(case.bytes_at_most, at_most=True)
    if case.memory:
        ours, theirs = (peak_megabytes(code, [str(path)]) for code in (_OURS, _TBPARSE))
        if ours is not None and theirs is not None:
            ratios[_MEMORY], goals[_MEMORY] = ours / theirs, Goal(1 / 3, at_most=True)
    name = f"event file, {case.layout}, {case.tags} × {case.points}"
    return Row(name, f"{1e3 * seconds['ours']:.1f} ms", ratios, goals)


def read_with_tbparse(path: Path, kind: str) -> object:
    """What tbparse makes of the points of `kind` (``scalars``, ``tensors``) in a file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from tbparse import SummaryReader

        logging.getLogger("tensorboard").setLevel(logging.CRITICAL)
        reader = SummaryReader(str(path), extra_columns={"wall_time"}, event_types={kind})
        return reader.tensors if kind == "tensors" else reader.scalars
