"""Rows of the table on cold starts: processes of their own, from the start of the interpreter to its end."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from .event_logs import write_event_file
from .measure import Goal, Row, child_cpu_seconds
from .sweeps import POINTS, TAGS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["rows"]


def rows(*, quick: bool) -> Iterator[Row]:
    """`--help` against an empty program, a diagnosis against importing two of its packages; none where the system does
    not tell the processor time of ended processes (Windows).
    """
    if sys.platform == "win32":
        return
    rounds = 5 if quick else 15
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        write_event_file(Path(folder) / "events.out.tfevents.1700000000.host.1.0", "simple", len(TAGS), POINTS, TAGS)
        seconds = child_cpu_seconds(
            {
                "help": _program("-m", "rl_diagnose", "--help"),
                "pass": _program("-c", "pass"),
                "diagnosis": _program("-m", "rl_diagnose", folder),
                "imports": _program("-c", "import polars, pydantic"),
            },
            rounds=rounds,
        )
    name = "× python -c pass"
    yield Row(
        "cold start, --help", f"{1e3 * seconds['help']:.0f} ms",
        {name: seconds["help"] / seconds["pass"]}, {name: Goal(3, at_most=True)},
    )  # fmt: skip
    name = "× importing polars and pydantic"
    yield Row(
        "cold start, diagnosis of a run", f"{1e3 * seconds['diagnosis']:.0f} ms",
        {name: seconds["diagnosis"] / seconds["imports"]}, {name: Goal(1.3, at_most=True, met_yet=False)},
    )  # fmt: skip


def _program(*words: str) -> Callable[[], object]:
    command = [sys.executable, *words]
    return lambda: subprocess.run(command, capture_output=True, check=True)  # noqa: S603 - our own interpreter
