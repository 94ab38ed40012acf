"""A labelled corpus: a folder with `labels.csv`, one row a run, and the logs below `runs/<run_id>/`."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..diagnosis.reading import Unreadable, locate, read_options, read_runs
from ..errors import LogError, NoReadableRunError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ..signals.run import Run

__all__ = ["Labelled", "read_corpus", "runs_of"]

LABELS = "labels.csv"
ID = "run_id"
MAX_BYTES = 20_000_000


@dataclass(frozen=True, slots=True)
class Labelled:
    """One row of `labels.csv`: the run's id, the folder (or file) of its logs, and all columns as text."""

    id: str
    path: Path
    columns: Mapping[str, str]


def read_corpus(folder: str | Path) -> tuple[Labelled, ...]:
    """All rows of `labels.csv` below `folder`, in file order.

    Raises `UsageError` where there is none, where it has no column `run_id` or no row, and for an id that stands twice
    or is no plain name (so that nothing outside the corpus is read).
    """
    file = Path(folder) / LABELS
    hint = f"a corpus has {LABELS} with a column {ID}, and the logs below runs/<{ID}>/"
    try:
        if file.stat().st_size > MAX_BYTES:
            raise UsageError(f"the file is larger than {MAX_BYTES // 1_000_000} MB", place=file, hint=hint)
        with file.open(encoding="utf-8-sig", newline="") as opened:
            reader = csv.DictReader(opened)
            columns = reader.fieldnames or ()
            rows = [(reader.line_num, row) for row in reader]
    except (OSError, ValueError) as error:  # a path that cannot be, and text that is not UTF-8
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"the labels cannot be read: {reason}", place=file, hint=hint) from None
    except csv.Error as error:
        raise UsageError(f"this is no CSV: {error}", place=file, hint=hint) from None
    if ID not in columns:
        raise UsageError(f"there is no column {ID}", place=file, hint=hint)
    if not rows:
        raise UsageError("there is no run in it", place=file, hint=hint)
    found: dict[str, Labelled] = {}
    for line, row in rows:
        name = (row[ID] or "").strip()
        if not name or name in {".", ".."} or any(c in name for c in "/\\:\0"):
            raise UsageError(f"'{name}' is no id of a run", place=f"{file}:{line}", hint=hint)
        if name in found:
            raise UsageError(f"the run '{name}' is labelled twice", place=f"{file}:{line}")
        texts = {column: value or "" for column, value in row.items() if isinstance(column, str)}
        found[name] = Labelled(name, file.parent / "runs" / name, texts)
    return tuple(found.values())


def runs_of(
    corpus: Sequence[Labelled], progress: Callable[[int, int], None] | None = None
) -> Iterator[tuple[Labelled, Run | None]]:
    """Each labelled run, read; None where its log is missing or cannot be read. Of several runs in one folder the
    longest counts. `progress` is told (runs done, runs in all)."""
    options = read_options(None, None)
    for done, labelled in enumerate(corpus, start=1):
        try:
            sources = locate([str(labelled.path)]).sources
        except (NoReadableRunError, LogError, UsageError):  # no log, a broken one, no such folder
            sources = ()
        runs = [run for run in read_runs(sources, options) if not isinstance(run, Unreadable)]
        yield labelled, max(runs, key=lambda run: run.points, default=None)
        if progress is not None:
            progress(done, len(corpus))
