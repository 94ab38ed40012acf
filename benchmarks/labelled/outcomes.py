"""What the product says about each labelled run: its own pipeline, in batches, and the answer against the label."""

from __future__ import annotations

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

__all__ = ["Outcome", "Said", "diagnose_corpus", "judge_run", "read_labelled"]

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
    books: Callable[[Label, Run], Sequence[Book]],
    add_config: Callable[[str, Run], Run] | None = None,
) -> list[Outcome]:
    """The outcome of every label in order; `books` says which rulebooks a run is diagnosed with."""
    outcomes: dict[str, Outcome] = {}
    for batch in _batches(read_labelled(corpus, labels, add_config)):
        groups: dict[tuple[int, ...], tuple[Sequence[Book], list[tuple[Label, Run]]]] = {}
        for label, run in batch:
            if run is None:
                outcomes[label.run_id] = judge_run(label, acceptable_causes(acceptable, label), None)
            else:
                own = books(label, run)
                groups.setdefault(tuple(id(book) for book in own), (own, []))[1].append((label, run))
        for chosen, members in groups.values():
            diagnoses = diagnose_runs([run for _, run in members], chosen)
            for (label, _), diagnosis in zip(members, diagnoses, strict=True):
                outcomes[label.run_id] = judge_run(label, acceptable_causes(acceptable, label), diagnosis)
    return [outcomes[label.run_id] for label in labels]


def judge_run(label: Label, answers: frozenset[str], diagnosis: RunDiagnosis | None) -> Outcome:
    """The outcome of one run; `diagnosis` is None for a run that cannot be read."""
    if diagnosis is None:
        return Outcome(label, answers, "unreadable")
    faults = [cause for cause in diagnosis.causes if cause.kind == "fault" and not cause.experimental]
    blind = sum(cause.status == "not_assessable" for cause in faults)
    said = tuple(Said(c.id, c.probability, c.coverage) for c in diagnosis.findings if c.probability is not None)
    return Outcome(label, answers, diagnosis.verdict, said, blind / len(faults) if faults else 0.0)


def read_labelled(
    corpus: Path, labels: Iterable[Label], add_config: Callable[[str, Run], Run] | None = None
) -> Iterator[tuple[Label, Run | None]]:
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
        longest = max(runs, key=lambda run: run.points, default=None)
        yield label, longest if longest is None or add_config is None else add_config(label.run_id, longest)


def _batches(pairs: Iterable[tuple[Label, Run | None]]) -> Iterator[list[tuple[Label, Run | None]]]:
    batch: list[tuple[Label, Run | None]] = []
    for pair in pairs:
        batch.append(pair)
        if len(batch) == BATCH:
            yield batch
            batch = []
    yield batch
