"""Verdict flips: where two rulebooks say different things about the same runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..diagnosis.pipeline import BATCH, diagnose_runs
from ..diagnosis.verdict import FINDING_AT
from ..errors import NoReadableRunError
from .corpus import runs_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ..diagnosis.model import RunDiagnosis, Verdict
    from ..rules.book import Book
    from ..signals.run import Run
    from .corpus import Labelled

__all__ = ["Flip", "Rescored", "Said", "rescore"]

# What a label is shown by: the first of these columns that says anything.
_LABELS = ("injected_fault", "cause")


@dataclass(frozen=True, slots=True)
class Said:
    """What one book says about a run: the verdict, the cause it rests on with its probability (None: there is none),
    and the ids of all faults of at least 50 %, sorted."""

    verdict: Verdict
    cause: str | None
    probability: float | None
    found: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Flip:
    """A run about which the books disagree; `label` is what `labels.csv` says of it (empty: nothing)."""

    run: str
    label: str
    old: Said
    new: Said


@dataclass(frozen=True, slots=True)
class Rescored:
    """A corpus scored by both books: how many runs were read, the ids of those that could not be, and the flips.

    `moved` is the largest change of a fault's probability in any run, as (run, cause, old, new); None where no
    probability changed.
    """

    runs: int
    unreadable: tuple[str, ...]
    flips: tuple[Flip, ...]
    moved: tuple[str, str, float, float] | None


def rescore(
    old: Book, new: Book, corpus: Sequence[Labelled], progress: Callable[[int, int], None] | None = None
) -> Rescored:
    """Score every run of `corpus` with either book alone. A flip is another verdict, another cause that it rests on,
    or another set of faults of at least 50 %. Raises `NoReadableRunError` where no log can be read."""
    read, unreadable = 0, []
    flips: list[Flip] = []
    moved: tuple[str, str, float, float] | None = None
    for batch in _batches(runs_of(corpus, progress)):
        readable = [(labelled, run) for labelled, run in batch if run is not None]
        unreadable += [labelled.id for labelled, run in batch if run is None]
        read += len(readable)
        runs = [run for _, run in readable]
        pairs = zip(readable, diagnose_runs(runs, [old]), diagnose_runs(runs, [new]), strict=True)
        for (labelled, _), before, after in pairs:
            was, now = _said(before), _said(after)
            if (was.verdict, was.cause, was.found) != (now.verdict, now.cause, now.found):
                flips.append(Flip(labelled.id, _label(labelled), was, now))
            for cause, p, q in _moves(before, after):
                if p != q and (moved is None or abs(q - p) > abs(moved[3] - moved[2])):
                    moved = (labelled.id, cause, p, q)
    if not read:
        place = corpus[0].path.parent if corpus else None
        raise NoReadableRunError("no labelled run can be read", place=place, hint="the logs lie below runs/<run_id>/")
    return Rescored(read, tuple(unreadable), tuple(flips), moved)


def _said(run: RunDiagnosis) -> Said:
    found = sorted(c.id for c in run.findings if (c.probability or 0.0) >= FINDING_AT)
    top = run.top
    if top is None:
        return Said(run.verdict, None, None, tuple(found))
    return Said(run.verdict, top.id, top.probability, tuple(found))


def _moves(old: RunDiagnosis, new: RunDiagnosis) -> Iterator[tuple[str, float, float]]:
    after = {c.id: c.probability for c in new.findings}
    for cause in old.findings:
        now = after.get(cause.id)
        if cause.probability is not None and now is not None:
            yield cause.id, cause.probability, now


def _label(labelled: Labelled) -> str:
    return next((labelled.columns[name] for name in _LABELS if labelled.columns.get(name)), "")


def _batches(pairs: Iterable[tuple[Labelled, Run | None]]) -> Iterator[list[tuple[Labelled, Run | None]]]:
    batch: list[tuple[Labelled, Run | None]] = []
    for pair in pairs:
        batch.append(pair)
        if len(batch) == BATCH:
            yield batch
            batch = []
    yield batch
