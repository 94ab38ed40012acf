"""Probabilities from memberships: weights of evidence, competition between causes, coverage.

The model is a two-layer noisy-OR network, truncated to sets of at most two causes and enumerated exactly. For a set S
the symptom probability is `1 − (1 − p₀)·Π_{c∈S} (1 − p₁c)/(1 − p₀)`, which for one cause is its p₁. A membership μ
enters as virtual evidence with likelihood ratio μ : (1 − μ) (Pearl 1988), so that ½, the value of a missing symptom,
has no effect. The weight of one link is Good's weight of evidence in decibans, `10·log₁₀` of the likelihood ratio.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from .calibration import apply_platt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from .book import Book, Cause

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

__all__ = ["DECIBANS", "Scores", "score", "weight_of_evidence"]

DECIBANS = 10.0 / np.log(10.0)
_EPSILON = 1e-6
_CHUNK = 256


@dataclass(frozen=True, slots=True)
class Scores:
    """What scoring says about R runs and C causes (in the book's order), with L links in all.

    `probability` (R, C): calibrated where the book has a calibration; NaN where not assessable or not applicable.
    `raw` (R, C): before calibration. `single_logit` (R, C): prior log-odds plus all weights, the ledger's last line.
    `explained_away` (R, C): decibans that competition takes (negative) or gives. `coverage` (R, C): share of the evidence,
    by its largest possible weight, that could be looked at. `assessable`, `applicable` (R, C).
    `weights` maps a cause to decibans (R, links of the cause), `missing` to a mask of the same shape.
    """

    causes: tuple[str, ...]
    probability: Floats
    raw: Floats
    single_logit: Floats
    explained_away: Floats
    coverage: Floats
    assessable: Bools
    applicable: Bools
    weights: dict[str, Floats]
    missing: dict[str, Bools]


def weight_of_evidence(mu: Floats, p1: float, p0: float) -> Floats:
    """Natural-log weight of a symptom with membership `mu` for a cause: 0 at ½, bounded, monotone."""
    result: Floats = np.log((mu * p1 + (1 - mu) * (1 - p1)) / (mu * p0 + (1 - mu) * (1 - p0)))
    return result


def score(book: Book, mu: Floats, known: Bools, available: Sequence[frozenset[str]], applicable: Bools) -> Scores:
    """Score every cause of `book` for every run.

    `mu` and `known` have shape (R, symptoms of the book): membership, and whether anything about the symptom was seen
    (an unknown symptom must be ½). `available[r]` are the signals of run r; `applicable` (R, C) says which causes are
    about the run at all. Runs do not influence one another.
    """
    runs, causes = mu.shape[0], book.causes
    index = {symptom.id: i for i, symptom in enumerate(book.symptoms)}
    p0 = np.clip(np.array([s.base_rate for s in book.symptoms]), _EPSILON, 1 - _EPSILON)
    assessable = np.array([[set(c.requires) <= have for c in causes] for have in available], dtype=bool).reshape(
        runs, len(causes)
    )
    active = applicable & assessable
    single = np.empty((runs, len(causes)))
    coverage = np.zeros((runs, len(causes)))
    weights: dict[str, Floats] = {}
    missing: dict[str, Bools] = {}
    for column, cause in enumerate(causes):
        at = [index[link.symptom] for link in cause.links]
        w = np.zeros((runs, len(at)))
        largest = np.zeros(len(at))
        for j, (link, s) in enumerate(zip(cause.links, at, strict=True)):
            p1 = float(np.clip(link.seen, _EPSILON, 1 - _EPSILON))
            w[:, j] = weight_of_evidence(mu[:, s], p1, float(p0[s]))
            if link.absence == "ignore":
                w[:, j] = np.maximum(w[:, j], 0.0) if p1 > p0[s] else np.minimum(w[:, j], 0.0)
            ends = np.abs(weight_of_evidence(np.array([0.0, 1.0]), p1, float(p0[s])))
            largest[j] = ends[1] if link.absence == "ignore" else ends.max()
        seen = known[:, at] if at else np.zeros((runs, 0), dtype=bool)
        total = float(largest.sum())
        coverage[:, column] = (seen * largest).sum(axis=1) / total if total else 1.0
        single[:, column] = _logit(cause.prior) + w.sum(axis=1)
        weights[cause.id], missing[cause.id] = w * DECIBANS, ~seen
    raw = np.full((runs, len(causes)), np.nan)
    model = _Sets.of(causes, index, p0)
    for start in range(0, runs, _CHUNK):
        part = slice(start, start + _CHUNK)
        raw[part] = model.marginals(mu[part], active[part])
    raw[~active] = np.nan
    clipped = np.clip(raw, _EPSILON, 1 - _EPSILON)
    explained = np.where(active, (np.log(clipped / (1 - clipped)) - single) * DECIBANS, 0.0)
    calibration = book.calibration
    probability = raw if calibration is None else apply_platt(raw, calibration.a, calibration.b)
    return Scores(
        tuple(c.id for c in causes),
        probability,
        raw,
        single,
        explained,
        coverage,
        assessable,
        applicable,
        weights,
        missing,
    )


@dataclass(frozen=True, slots=True)
class _Sets:
    """All admissible sets of at most two causes, with their symptom probabilities."""

    members: Bools  # (sets, causes)
    log_prior: Floats  # (sets,)
    present: Floats  # (sets, symptoms): P(symptom | set)
    one_way: NDArray[np.int8]  # (sets, symptoms): 1 = only speaks for, −1 = only against the set's causes, 0 = both

    @classmethod
    def of(cls, causes: Sequence[Cause], index: dict[str, int], p0: Floats) -> _Sets:
        count, symptoms = len(causes), len(index)
        factor = np.ones((count, symptoms))  # (1 − p₁)/(1 − p₀), 1 where the cause says nothing
        linked = np.zeros((count, symptoms), dtype=bool)
        ignore = np.zeros((count, symptoms), dtype=bool)
        for i, cause in enumerate(causes):
            for link in cause.links:
                s = index[link.symptom]
                factor[i, s] = (1 - np.clip(link.seen, _EPSILON, 1 - _EPSILON)) / (1 - p0[s])
                linked[i, s] = True
                ignore[i, s] = link.absence == "ignore"
        position = {cause.id: i for i, cause in enumerate(causes)}
        excluded = {
            frozenset((i, position[other]))
            for i, cause in enumerate(causes)
            for other in cause.excludes
            if other in position
        }
        pairs = [p for p in combinations(range(count), 2) if frozenset(p) not in excluded]
        sets: list[tuple[int, ...]] = [(), *((i,) for i in range(count)), *pairs]
        members = np.zeros((len(sets), count), dtype=bool)
        for row, chosen in enumerate(sets):
            members[row, list(chosen)] = True
        logits = np.array([_logit(cause.prior) for cause in causes])
        log_prior = members @ logits if count else np.zeros(1)
        product = np.ones((len(sets), symptoms))
        speaks = np.zeros((len(sets), symptoms), dtype=bool)
        counts = np.zeros((len(sets), symptoms), dtype=bool)
        for row, chosen in enumerate(sets):
            for i in chosen:
                product[row] *= factor[i]
                speaks[row] |= linked[i]
                counts[row] |= linked[i] & ~ignore[i]
        present = np.clip(1 - (1 - p0) * product, _EPSILON, 1 - _EPSILON)
        single_way = speaks & ~counts
        one_way = np.where(single_way, np.where(present > p0, 1, -1), 0).astype(np.int8)
        return cls(members, log_prior, present, one_way)

    def marginals(self, mu: Floats, active: Bools) -> Floats:
        """P(cause | memberships), shape (R, C); inactive causes take no part (their column is 0)."""
        base = self.present[0]  # the empty set: p₀ of every symptom
        reference = mu * base + (1 - mu) * (1 - base)  # (R, symptoms)
        log_likelihood = np.empty((mu.shape[0], self.members.shape[0]))
        for row in range(self.members.shape[0]):
            p = self.present[row]
            w = np.log((mu * p + (1 - mu) * (1 - p)) / reference)
            way = self.one_way[row]
            w = np.where(way > 0, np.maximum(w, 0.0), np.where(way < 0, np.minimum(w, 0.0), w))
            log_likelihood[:, row] = w.sum(axis=1)
        score = log_likelihood + self.log_prior
        impossible = (~active).astype(np.float64) @ self.members.T.astype(np.float64) > 0
        score[impossible] = -np.inf
        score -= score.max(axis=1, keepdims=True)
        weight = np.exp(score)
        weight /= weight.sum(axis=1, keepdims=True)
        result: Floats = np.stack(
            [(weight * column).sum(axis=1) for column in self.members.T.astype(np.float64)], axis=1
        )
        return result


def _logit(p: float) -> float:
    p = min(max(p, _EPSILON), 1 - _EPSILON)
    return float(np.log(p / (1 - p)))
