"""Small books made by hand, and the model written out in plain Python to hold the vectorised one to."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rl_diagnose.rules.book import AppliesTo, Book, Calibration, Cause, Leaf, Link, Ramp, Symptom
from rl_diagnose.rules.scoring import Scores, score

Floats = NDArray[np.float64]
Write = Callable[..., Path]
Said = Callable[[Path], list[str]]
RISING = Ramp("rising", 0.0, 1.0)


def symptom(name: str, base_rate: float) -> Symptom:
    return Symptom(name, name, Leaf("feature", name, RISING), base_rate)


def cause(
    name: str,
    prior: float,
    seen: Mapping[str, float],
    *,
    ignore: Sequence[str] = (),
    excludes: tuple[str, ...] = (),
    requires: tuple[str, ...] = (),
) -> Cause:
    links = tuple(Link(s, p, "ignore" if s in ignore else "counts") for s, p in seen.items())
    return Cause(name, name, prior, links, excludes=excludes, requires=requires)


def book(symptoms: Mapping[str, float], causes: Iterable[Cause], calibration: Calibration | None = None) -> Book:
    made = tuple(symptom(name, rate) for name, rate in symptoms.items())
    return Book(
        "made", "1.0.0", "", "Made", "made.yaml", AppliesTo(), (), (), made, tuple(causes), calibration=calibration
    )


def scores(made: Book, mu: Sequence[Sequence[float]] | Floats) -> Scores:
    """Scores where every cause is applicable and assessable; a membership of ½ counts as unknown."""
    values = np.asarray(mu, dtype=np.float64)
    runs = values.shape[0]
    everything = frozenset(name for c in made.causes for name in c.requires)
    return score(made, values, values != 0.5, [everything] * runs, np.ones((runs, len(made.causes)), dtype=bool))


def single(made: Scores) -> Floats:
    """Single-cause probabilities."""
    return 1 / (1 + np.exp(-made.single_logit))


def brute_force(made: Book, mu: Mapping[str, float], largest: int) -> dict[str, float]:
    """P(cause | memberships) over all sets of at most `largest` causes: loops over the definition, nothing else."""
    base = {s.id: s.base_rate for s in made.symptoms}
    total, held = 0.0, dict.fromkeys((c.id for c in made.causes), 0.0)
    for size in range(largest + 1):
        for chosen in combinations(made.causes, size):
            ids = {c.id for c in chosen}
            if any(other in ids for c in chosen for other in c.excludes):
                continue
            weight = 1.0
            for c in made.causes:
                weight *= c.prior if c.id in ids else 1 - c.prior
            for name, p0 in base.items():
                links = [link for c in chosen for link in c.links if link.symptom == name]
                if mu[name] < 0.5:
                    links = [link for link in links if link.absence == "counts"]
                p = 1 - (1 - p0) * math.prod((1 - link.seen) / (1 - p0) for link in links)
                p = min(max(p, 1e-6), 1 - 1e-6)
                weight *= mu[name] * p + (1 - mu[name]) * (1 - p)
            total += weight
            for name in ids:
                held[name] += weight
    return {name: value / total for name, value in held.items()}
