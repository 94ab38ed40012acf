"""Probabilities from memberships: weights of evidence, competition between causes, coverage.

The model is a two-layer noisy-OR network (QMR-DT), truncated to sets of at most two causes and enumerated exactly. The
probability of a symptom with a set S of causes is p_S = 1 − (1 − p₀)·Π_{c∈S} (1 − p₁c)/(1 − p₀), within [ε, 1 − ε]; for
one cause that is its p₁. A membership μ enters as virtual evidence with likelihoods μ : (1 − μ) (Pearl 1988), so that
½, the value of a missing symptom, has no effect:

    w_S = ln[(μ·p_S + (1 − μ)(1 − p_S)) / (μ·p₀ + (1 − μ)(1 − p₀))]

which for one cause is Good's weight of evidence; shown in decibans, 10·log₁₀. The single-cause log-odds are
logit(prior) + Σ w; the probability of a cause is the share of the sets that hold it.

`absence: ignore` on a link means that the link is looked at only while the symptom is rather present, μ ≥ ½. Below, the
link is left out of Π, in the sum of weights and in every set alike; its weight is then 0, and a cause beside it in the
set that does count absence is judged by its own p₁. At μ = ½ both readings give 0, so nothing jumps.

Sums run in the order of the book (by id) and row by row, so that a run gets the same bits in any batch.
"""

from __future__ import annotations

import math
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
    Ints = NDArray[np.intp]

__all__ = ["DECIBANS", "Scores", "score", "weight_of_evidence"]

DECIBANS = 10.0 / np.log(10.0)
EPSILON = 1e-6
# Numbers in the largest working array (runs × sets), about 16 MB.
_CHUNK = 2_000_000


@dataclass(frozen=True, slots=True)
class Scores:
    """What scoring says about R runs and C causes (in the book's order).

    `probability` (R, C): calibrated where the book has a calibration; NaN where not assessable or not applicable.
    `raw` (R, C): before calibration. `single_logit` (R, C): prior log-odds plus all weights, as in the ledger.
    `explained_away` (R, C): decibans that competition takes (negative) or gives, 0 for causes that take no part.
    `coverage` (R, C): share of the evidence, by its largest possible weight, that could be looked at.
    `assessable` (R, C): all required signals are there. `applicable` (R, C): about the run, and not deprecated.
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


def weight_of_evidence(mu: Floats, p1: float | Floats, p0: float) -> Floats:
    """Natural-log weight of a symptom with membership `mu` for a cause: 0 at ½, bounded, monotone in `mu`."""
    # μp + (1 − μ)(1 − p) written around ½, so that a missing symptom weighs exactly 0.
    distance = 2 * (mu - 0.5)
    result: Floats = np.log((0.5 + distance * (p1 - 0.5)) / (0.5 + distance * (p0 - 0.5)))
    return result


def score(book: Book, mu: Floats, known: Bools, available: Sequence[frozenset[str]], applicable: Bools) -> Scores:
    """Score every cause of `book` for every run.

    `mu` and `known` have shape (R, symptoms of the book): membership, and whether anything about the symptom was seen
    (an unknown symptom must be ½). `available[r]` are the signals of run r; `applicable` (R, C) says which causes are
    about the run at all. Runs do not influence one another; a cause that is not assessable, not applicable or
    deprecated does not compete with the others.
    """
    runs, causes = mu.shape[0], book.causes
    index = {symptom.id: i for i, symptom in enumerate(book.symptoms)}
    p0 = _inside(np.array([s.base_rate for s in book.symptoms], dtype=np.float64))
    assessable = np.array([[have.issuperset(c.requires) for c in causes] for have in available], dtype=np.bool_)
    assessable = assessable.reshape(runs, len(causes))
    applicable = applicable & np.array([c.status != "deprecated" for c in causes], dtype=np.bool_)
    active = applicable & assessable
    single, coverage = np.empty((runs, len(causes))), np.empty((runs, len(causes)))
    weights: dict[str, Floats] = {}
    missing: dict[str, Bools] = {}
    for column, cause in enumerate(causes):
        at = [index[link.symptom] for link in cause.links]
        natural, largest = _link_weights(cause, mu[:, at], p0[at])
        single[:, column] = _logit(cause.prior)
        seen, total = np.zeros(runs), float(sum(largest))
        for j in range(len(at)):
            single[:, column] += natural[:, j]
            seen += known[:, at[j]] * largest[j]
        coverage[:, column] = seen / total if total else 1.0
        weights[cause.id], missing[cause.id] = natural * DECIBANS, ~known[:, at]
    raw, logit = np.empty((runs, len(causes))), np.empty((runs, len(causes)))
    model = _Sets.of(causes, index, p0)
    step = max(1, _CHUNK // model.first.size)
    for start in range(0, runs, step):
        part = slice(start, start + step)
        raw[part], logit[part] = model.marginals(mu[part], active[part])
    raw[~active] = np.nan
    explained = np.where(active, (logit - single) * DECIBANS, 0.0)
    calibration = book.calibration
    probability = raw if calibration is None else apply_platt(raw, calibration.a, calibration.b)
    names = tuple(c.id for c in causes)
    return Scores(names, probability, raw, single, explained, coverage, assessable, applicable, weights, missing)


def _link_weights(cause: Cause, mu: Floats, p0: Floats) -> tuple[Floats, list[float]]:
    """Natural-log weights (R, links) of the links of a cause, and the largest that each could have."""
    weights, largest = np.zeros(mu.shape), []
    for j, link in enumerate(cause.links):
        p1, base = _inside_one(link.seen), float(p0[j])
        weights[:, j] = weight_of_evidence(mu[:, j], p1, base)
        absent, present = abs(math.log((1 - p1) / (1 - base))), abs(math.log(p1 / base))
        if link.absence == "ignore":
            weights[:, j] = np.where(mu[:, j] >= 0.5, weights[:, j], 0.0)
            absent = 0.0
        largest.append(max(absent, present))
    return weights, largest


@dataclass(frozen=True, slots=True)
class _Symptom:
    """How the sets see one symptom: the sets it concerns, and their probabilities, each distinct one once.

    `sets` (n,) are rows of the enumeration, `kind` (n,) the column of `present` and `counting` (kinds,): the
    probability of the symptom with all links, and with those only that count absence.
    """

    column: int
    base: float
    sets: Ints
    kind: Ints
    present: Floats
    counting: Floats


@dataclass(frozen=True, slots=True)
class _Sets:
    """All admissible sets of at most two causes. `first` and `second` (sets,) are their members; C stands for none."""

    causes: int
    first: Ints
    second: Ints
    log_prior: Floats
    symptoms: tuple[_Symptom, ...]

    @classmethod
    def of(cls, causes: Sequence[Cause], index: dict[str, int], p0: Floats) -> _Sets:
        count = len(causes)
        position = {cause.id: i for i, cause in enumerate(causes)}
        apart = {
            frozenset((i, position[other]))
            for i, cause in enumerate(causes)
            for other in cause.excludes
            if other in position
        }
        pairs = [pair for pair in combinations(range(count), 2) if frozenset(pair) not in apart]
        members = [(count, count), *((i, count) for i in range(count)), *pairs]
        first, second = (np.array([m[k] for m in members], dtype=np.intp) for k in (0, 1))
        prior = np.array([*(_logit(cause.prior) for cause in causes), 0.0])
        # (1 − p₁)/(1 − p₀) of each cause, 1 where it says nothing; the last row is "no cause".
        factor, counting = np.ones((count + 1, p0.size)), np.ones((count + 1, p0.size))
        linked = np.zeros((count + 1, p0.size), dtype=np.bool_)
        for i, cause in enumerate(causes):
            for link in cause.links:
                s = index[link.symptom]
                linked[i, s] = True
                factor[i, s] = (1 - _inside_one(link.seen)) / (1 - p0[s])
                counting[i, s] = factor[i, s] if link.absence == "counts" else 1.0
        symptoms = []
        for s in np.flatnonzero(linked.any(axis=0)).tolist():
            sets = np.flatnonzero(linked[first, s] | linked[second, s])
            product, product_counting = (t[first[sets], s] * t[second[sets], s] for t in (factor, counting))
            # Both numbers as one complex number, which numpy finds the distinct ones of much faster than of rows.
            kinds, kind = np.unique(product + 1j * product_counting, return_inverse=True)
            present, absent = (_inside(1 - (1 - p0[s]) * part) for part in (kinds.real, kinds.imag))
            symptoms.append(_Symptom(s, float(p0[s]), sets, kind.reshape(-1), present, absent))
        return cls(count, first, second, prior[first] + prior[second], tuple(symptoms))

    def marginals(self, mu: Floats, active: Bools) -> tuple[Floats, Floats]:
        """P(cause | memberships) and its log-odds, both (R, C). Sets with an inactive cause do not exist."""
        runs = mu.shape[0]
        total = np.repeat(self.log_prior[None, :], runs, axis=0)
        for symptom in self.symptoms:
            m = mu[:, symptom.column, None]
            p = np.where(m >= 0.5, symptom.present, symptom.counting)
            w = weight_of_evidence(m, p, symptom.base)
            total[:, symptom.sets] += np.take(w, symptom.kind, axis=1)
        takes_part = np.concatenate([active, np.ones((runs, 1), dtype=np.bool_)], axis=1)
        possible = np.take(takes_part, self.first, axis=1) & np.take(takes_part, self.second, axis=1)
        total = np.where(possible, total, -np.inf)
        # Floored, so that the log-odds of the least possible cause stay finite.
        distance = np.maximum(total - total.max(axis=1, keepdims=True), -700.0)
        weight = np.where(possible, np.exp(distance), 0.0)
        raw, logit = np.zeros((runs, self.causes)), np.full((runs, self.causes), -np.inf)
        for cause in range(self.causes):
            holds = (self.first == cause) | (self.second == cause)
            # np.take, not indexing: the layout decides the order of a sum, and with it the last bit.
            with_it = np.take(weight, np.flatnonzero(holds), axis=1).sum(axis=1)
            without = np.take(weight, np.flatnonzero(~holds), axis=1).sum(axis=1)
            raw[:, cause] = with_it / (with_it + without)
            with np.errstate(divide="ignore"):
                logit[:, cause] = np.log(with_it) - np.log(without)
        return raw, logit


def _inside(p: Floats) -> Floats:
    result: Floats = np.clip(p, EPSILON, 1 - EPSILON)
    return result


def _inside_one(p: float) -> float:
    return min(max(p, EPSILON), 1 - EPSILON)


def _logit(p: float) -> float:
    inside = _inside_one(p)
    return math.log(inside / (1 - inside))
