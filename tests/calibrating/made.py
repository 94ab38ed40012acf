"""A made book and runs drawn from what it says, or from something else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rl_diagnose.calibrating.labels import Answer
from rl_diagnose.calibrating.measure import Measured
from rl_diagnose.rules.book import AppliesTo, Book, Cause, Leaf, Link, Ramp, Symptom

Floats = NDArray[np.float64]
CAUSES = ("rate", "bonus", "critic")
SIGNS = 3


def book(seen: float = 0.8, base_rate: float = 0.1, causes: Sequence[str] = CAUSES) -> Book:
    """Each cause has `SIGNS` symptoms of its own, all as telling as one another."""
    symptoms = tuple(
        Symptom(f"{cause}_{i}", "S", Leaf("feature", "x", Ramp("rising", 0.0, 1.0)), base_rate)
        for cause in causes
        for i in range(SIGNS)
    )
    made = tuple(Cause(c, c, 0.1, tuple(Link(f"{c}_{i}", seen) for i in range(SIGNS))) for c in causes)
    return Book("made", "1.0.0", "", "Made", "made.yaml", AppliesTo(), (), (), symptoms, made)


def measured(made: Book, mu: Floats, faults: Sequence[str], groups: Sequence[str]) -> Measured:
    """All causes take part in every run; a run with fault ``healthy`` is unharmed."""
    answers = tuple(
        Answer(f"r{i}", Path("runs") / f"r{i}", group, fault, "no" if fault == "healthy" else "yes", frozenset({fault}))
        for i, (fault, group) in enumerate(zip(faults, groups, strict=True))
    )
    everything = np.ones((len(faults), len(made.causes)), dtype=np.bool_)
    return Measured(made, answers, mu, mu != 0.5, everything, everything, (), ())


def drawn(
    made: Book, runs: int, seen: float | Mapping[str, float], base_rate: float, *, seed: int = 1, groups: int = 4
) -> Measured:
    """Runs of which a third have a cause; symptoms are seen with `seen` (perhaps by group), else with `base_rate`.

    `made` may say something else: then its probabilities are wrong.

    """
    rng = np.random.default_rng(seed)
    names = [cause.id for cause in made.causes]
    faults = [str(rng.choice(names)) if rng.random() < 1 / 3 else "healthy" for _ in range(runs)]
    group = [f"env{i % groups}" for i in range(runs)]
    mu = np.empty((runs, len(made.symptoms)))
    for row, fault in enumerate(faults):
        rate = seen if isinstance(seen, float) else seen[group[row]]
        for column, symptom in enumerate(made.symptoms):
            mu[row, column] = rng.random() < (rate if symptom.id.startswith(fault) else base_rate)
    return measured(made, mu, faults, group)
