"""Diagnosing runs while they are being written: again whenever their files have changed.

Each answer is that of a fresh diagnosis of what the logs hold at that moment; between changes only the sizes and times
of the files are looked at.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import LogError, NoReadableRunError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .model import Diagnosis, RunDiagnosis

__all__ = ["Look", "changes", "watch"]

State = tuple[tuple[str, int, int], ...]


@dataclass(frozen=True, slots=True)
class Look:
    """What was seen at one time: the diagnosis (None: nothing can be read yet, and `reason` says why), and what became
    of each run since the look before, in words."""

    diagnosis: Diagnosis | None
    reason: str = ""
    news: tuple[str, ...] = ()


def watch(
    folder: Path, look: Callable[[], Diagnosis], every: float, wait: Callable[[float], None] = time.sleep
) -> Iterator[Look]:
    """A `Look` at once, and another whenever a file below `folder` has changed, asked every `every` seconds.

    `look` diagnoses; a log that cannot be read yet is waited for. Ends never by itself.
    """
    seen: State | None = None
    before: Diagnosis | None = None
    while True:
        state = _state(folder)
        if state != seen:
            seen = state
            try:
                found = look()
            except (LogError, NoReadableRunError) as error:
                yield Look(None, str(error))
            else:
                yield Look(found, news=tuple(changes(before, found)))
                before = found
        wait(every)


def changes(before: Diagnosis | None, after: Diagnosis) -> Iterator[str]:
    """What is new since `before`, a sentence a run whose verdict or cause changed."""
    old = {run.id: run for run in before.runs} if before is not None else {}
    for run in after.runs:
        was = old.get(run.id)
        if was is None:
            if run.verdict == "finding":
                yield f"{run.id}: {run.verdict_reason}"
        elif (was.verdict, _cause(was)) != (run.verdict, _cause(run)):
            yield f"{run.id}: {run.verdict_reason} (before: {was.verdict_reason})"


def _cause(run: RunDiagnosis) -> str | None:
    return run.top.id if run.top is not None else None


def _state(folder: Path) -> State:
    """Names, sizes and times of all files below `folder`; a file that goes away meanwhile is left out."""
    found: list[tuple[str, int, int]] = []
    pending = [str(folder)]
    if folder.is_file():
        return (_entry(str(folder)),)
    while pending:
        try:
            with os.scandir(pending.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
                    elif entry.is_file():
                        found.append(_entry(entry.path))
        except OSError:  # a folder that went away, or one that may not be opened: the diagnosis names it
            continue
    return tuple(sorted(found))


def _entry(path: str) -> tuple[str, int, int]:
    try:
        known = Path(path).stat()
    except OSError:
        return path, -1, -1
    return path, known.st_size, known.st_mtime_ns
