"""Each run against the healthy ones of its environment, as a user with a known-good sweep would have it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rl_diagnose.diagnosis.baseline import Baseline

from .outcomes import read_labelled

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from rl_diagnose.signals.run import Run

    from .corpus import Label

__all__ = ["against_healthy"]


def against_healthy(corpus: Path, labels: Sequence[Label]) -> Callable[[str, Run], Run]:
    """A function that compares a run (its id, the run) with the unharmed healthy runs of the same corpus,
    environment and algorithm, never with itself; a run without any is left as it is."""
    by_id = {label.run_id: label for label in labels}
    good = [label for label in labels if label.fault == "healthy" and label.harmed == "no"]
    healthy = [(label, run) for label, run in read_labelled(corpus, good) if run is not None]

    def compare(run_id: str, run: Run) -> Run:
        own = by_id[run_id]
        mates = tuple(
            mate
            for label, mate in healthy
            if label.run_id != run_id and (label.env, label.algorithm) == (own.env, own.algorithm)
        )
        return Baseline("the healthy runs", mates).compared(run) if mates else run

    return compare
