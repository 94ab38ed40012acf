"""What the product says about each labelled run: its own pipeline, in batches, and the answer against the label."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rl_diagnose.diagnosis.pipeline import diagnose_runs
from rl_diagnose.diagnosis.reading import Unreadable, locate, read_runs
from rl_diagnose.errors import LogError, NoReadableRunError, UsageError
from rl_diagnose.logs.adapter import ReadOptions

from .acceptable import acceptable_causes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from rl_diagnose.diagnosis.model import RunDiagnosis
    from rl_diagnose.rules.book import Book
    from rl_diagnose.signals.run import Run

    from .acceptable import Row
    from .corpus import Label

__all__ = ["Outcome", "Said", "diagnose_corpus", "judge_run"]

BATCH = 64


@dataclass(frozen=True, slots=True)
class Said:
    """One assessed fault: its probability, and the share of its evidence that could be looked at."""

    cause: str
    probability: float
    coverage: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """One run: its label, the acceptable answers, and what was said.

    `said` are the assessed faults, the most probable first; `not_assessable` is the share of the faults that could not
    be assessed (0 for an unreadable run). `verdict` is the product's own.
    """

    label: Label
    acceptable: frozenset[str]
    verdict: str
    said: tuple[Said, ...] = ()
    not_assessable: float = 0.0

    @property
    def top(self) -> Said | None:
        """The most probable fault, however probable."""
        return self.said[0] if self.said else None

    def hit(self, within: int) -> bool:
        """Whether an acceptable cause is among the `within` most probable ones."""
        return any(s.cause in self.acceptable for s in self.said[:within])


def diagnose_corpus(
    corpus: Path,
    labels: Sequence[Label],
    acceptable: Sequence[Row],
    books: Sequence[Book] | None = None,
    add_config: Callable[[str, Run], Run] | None = None,
) -> tuple[list[Outcome], float]:
    """The outcome of every label in order, and the seconds that reading and diagnosing took."""
    began = time.perf_counter()
    outcomes: dict[str, Outcome] = {}
    for batch in _batches(_read(corpus, labels)):
        readable = [(label, run) for label, run in batch if run is not None]
        runs = [run if add_config is None else add_config(label.run_id, run) for label, run in readable]
        diagnoses = iter(diagnose_runs(runs, books))
        for label, run in batch:
            answers = acceptable_causes(acceptable, label)
            diagnosis = None if run is None else next(diagnoses)
            outcomes[label.run_id] = judge_run(label, answers, diagnosis)
    return [outcomes[label.run_id] for label in labels], time.perf_counter() - began


def judge_run(label: Label, answers: frozenset[str], diagnosis: RunDiagnosis | None) -> Outcome:
    """The outcome of one run; `diagnosis` is None for a run that cannot be read."""
    if diagnosis is None:
        return Outcome(label, answers, "unreadable")
    faults = [cause for cause in diagnosis.causes if cause.kind == "fault" and not cause.experimental]
    blind = sum(cause.status == "not_assessable" for cause in faults)
    said = tuple(Said(c.id, c.probability, c.coverage) for c in diagnosis.findings if c.probability is not None)
    return Outcome(label, answers, diagnosis.verdict, said, blind / len(faults) if faults else 0.0)


def _read(corpus: Path, labels: Iterable[Label]) -> Iterator[tuple[Label, Run | None]]:
    """Each label with its run, or None where it cannot be read; of several runs in one folder the longest counts."""
    if not (corpus / "runs").is_dir():
        raise UsageError("there is no runs/ with logs", place=corpus)
    for label in labels:
        try:
            sources = locate([str(corpus / "runs" / label.run_id)]).sources
        except (NoReadableRunError, LogError):
            yield label, None
            continue
        runs = [run for run in read_runs(sources, ReadOptions()) if not isinstance(run, Unreadable)]
        yield label, max(runs, key=lambda run: run.points, default=None)


def _batches(pairs: Iterable[tuple[Label, Run | None]]) -> Iterator[list[tuple[Label, Run | None]]]:
    batch: list[tuple[Label, Run | None]] = []
    for pair in pairs:
        batch.append(pair)
        if len(batch) == BATCH:
            yield batch
            batch = []
    yield batch
