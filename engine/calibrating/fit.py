"""The fit of a book: Platt's (a, b) by shrinkage, judged on groups that it has not seen.

What is fitted and judged are the pairs that users read: faults with a raw probability of 1 % or more (`SHOWN`). Below,
reports say "< 1 %". There are several times as many such pairs, the truths among them are faults that leave no trace in
the log, and no pair (a, b) can raise those without lowering what is said with good reason. Choosing pairs by what was
stated, not by what was true, leaves the fit unbiased.

The offset b never raises probabilities. Labelled runs are rich in faults, as in a case-control study, and their share
is in the offset: above 0 it would carry the abundance of faults in the corpus over to users' runs.

A change is kept only if it lowers the log-loss of groups that were left out, by more than its standard error over
runs; a richer one only if it beats the simpler one in the same way. Otherwise the numbers stay as they are (a = 1,
b = 0), and count as calibrated only if they are right within `TOLERANCE`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np

from ..errors import UsageError
from ..rules.calibration import apply_platt, brier, ece, fit_platt, log_loss
from .measure import at_probabilities, pairs_of, raw_probabilities
from .words import fit_words, with_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .measure import Measured, Pairs
    from .words import Used, Word

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

__all__ = [
    "EDGES",
    "FEWEST_NEGATIVES",
    "FEWEST_POSITIVES",
    "SHOWN",
    "TOLERANCE",
    "Bin",
    "Candidate",
    "Figures",
    "Fit",
    "calibrate",
    "figures",
    "reliability",
]

SHOWN = 0.01
# Ten positives for each of the two fitted numbers, the usual rule of thumb for logistic regression.
FEWEST_POSITIVES = 20
FEWEST_NEGATIVES = 20
# The prior of (a, b): normal around (1, 0) with standard deviation ½.
SHRINKAGE = 4.0
# How far, on average, what is said may be from what is true without a correction.
TOLERANCE = 0.05
# Of the table that is printed; the expected calibration error has bins of equal counts.
EDGES = (0.0, 0.01, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 1.0)
FINDING_AT, SURE_AT = 0.5, 0.8

Kind = Literal["none", "platt", "words", "words_platt"]
Decision = Literal["corrected", "as_is", "rejected"]


@dataclass(frozen=True, slots=True)
class Figures:
    """How good probabilities are over N pairs: Brier score, log-loss (nats), expected calibration error; and of what
    is said at 50 % and 80 % how much is right, as (right, said)."""

    pairs: int
    positives: int
    brier: float
    log_loss: float
    ece: float
    at_half: tuple[int, int]
    at_sure: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Bin:
    """Pairs with a stated probability from `low` to below `high`: how many, the mean stated, and the share true."""

    low: float
    high: float
    pairs: int
    stated: float
    observed: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way to change the probabilities: the words' numbers, then (a, b), and the figures over what users read.

    `in_sample` is after a fit to all runs, `left_out` with each group predicted by a fit to the others; `bins` are
    those of `left_out`. `gain` is the log-loss of left-out groups that is saved against changing nothing, summed over
    pairs (nats), `noise` its standard error over runs.
    """

    kind: Kind
    a: float
    b: float
    words: tuple[Word, ...]
    in_sample: Figures
    left_out: Figures
    bins: tuple[Bin, ...]
    gain: float
    noise: float


@dataclass(frozen=True, slots=True)
class Fit:
    """All candidates, the first of which changes nothing, the one that was kept, and why.

    `decision`: ``corrected``: the kept one helps on left-out groups; ``as_is``: none does, and none is needed;
    ``rejected``: none does although one is needed. `positives` are runs in which a cause of the book is the
    right answer, `runs` those with a label that says something, `everything` the figures over all pairs.
    """

    runs: int
    positives: int
    groups: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    kept: Candidate
    decision: Decision
    everything: Figures


def calibrate(measured: Measured, used: Used | None = None) -> Fit:
    """Fit, cross-validate by group and decide; with `used` the words' numbers are fitted, too.

    Raises `UsageError` where two numbers cannot be fitted and judged: too few positives, or a single group.
    """
    raw = raw_probabilities(measured.book, measured)
    pairs = pairs_of(measured, raw)
    _check(measured, pairs)
    # The pairs that are judged are the same for every candidate: those that users read today.
    read = pairs.p >= SHOWN
    kinds: tuple[Kind, ...] = ("none", "platt") if used is None else ("none", "platt", "words", "words_platt")
    tried = [_candidate(kind, measured, pairs, read, used) for kind in kinds]
    kept, best = tried[0]
    for candidate, saved in tried[1:]:
        if _beyond_chance(saved - best):
            kept, best = candidate, saved
    decision: Decision = "corrected"
    if kept.kind == "none":
        decision = "as_is" if kept.left_out.ece <= TOLERANCE else "rejected"
    clear = sum(answer.harmed != "unclear" for answer in measured.answers)
    everything = figures(pairs.p, pairs.y)
    candidates = tuple(candidate for candidate, _ in tried)
    return Fit(clear, int(pairs.y.sum()), measured.groups, candidates, kept, decision, everything)


def _beyond_chance(saved: Floats) -> bool:
    """Whether what was saved of each run adds up to more than its standard error."""
    return bool(saved.sum() > np.sqrt((saved**2).sum()))


def _check(measured: Measured, pairs: Pairs) -> None:
    book = measured.book
    found = int(pairs.y.sum())
    if found < FEWEST_POSITIVES:
        raise UsageError(
            f"in only {found} runs a cause of this book did harm; {FEWEST_POSITIVES} are needed",
            place=book.id,
            hint="label more runs with faults; until then its probabilities are an order, not frequencies",
        )
    if pairs.p.size - found < FEWEST_NEGATIVES:
        raise UsageError(
            f"fewer than {FEWEST_NEGATIVES} pairs of a run and a cause that it does not have", place=book.id
        )
    if len(measured.groups) < 2:
        raise UsageError(
            f"all runs are of one group ({', '.join(measured.groups)}), so nothing can be left out",
            place=book.id,
            hint="add runs of other environments, or name another column with --by",
        )


def _candidate(
    kind: Kind, measured: Measured, pairs: Pairs, read: Bools, used: Used | None
) -> tuple[Candidate, Floats]:
    """A candidate fitted to all runs, with its predictions for each group from a fit to the others; and what these
    save of each run's log-loss (R,)."""
    every = np.ones(len(measured.answers), dtype=np.bool_)
    a, b, words, in_sample = _predict(kind, measured, pairs, read, used, every)
    group = np.array([answer.group for answer in measured.answers])
    held = np.empty_like(pairs.p)
    for name in measured.groups:
        test = group[pairs.run] == name
        held[test] = _predict(kind, measured, pairs, read, used, group != name)[3][test]
    p, y = held[read], pairs.y[read]
    lost = _loss(pairs.p[read], y) - _loss(p, y)
    saved = np.bincount(pairs.run[read], lost, minlength=len(measured.answers)).astype(np.float64)
    gain, noise = float(saved.sum()), float(np.sqrt((saved**2).sum()))
    inside, outside = figures(in_sample[read], y), figures(p, y)
    return Candidate(kind, a, b, words, inside, outside, reliability(p, y), gain, noise), saved


def _loss(p: Floats, y: Floats) -> Floats:
    result: Floats = -np.log(np.clip(np.where(y == 1, p, 1 - p), 1e-12, 1.0))
    return result


def _predict(
    kind: Kind, measured: Measured, pairs: Pairs, read: Bools, used: Used | None, runs: Bools
) -> tuple[float, float, tuple[Word, ...], Floats]:
    """(a, b), words and the probabilities of all pairs, fitted to the runs for which `runs` (R,) holds."""
    p = pairs.p
    words: tuple[Word, ...] = ()
    if used is not None and kind in {"words", "words_platt"}:
        words = fit_words(measured, used, pairs, runs)
        book = with_words(measured.book, used, {word.word: word.fitted for word in words})
        p = at_probabilities(pairs, raw_probabilities(book, measured))
    a, b = 1.0, 0.0
    if kind in {"platt", "words_platt"}:
        train = read & runs[pairs.run]
        a, b = _platt(p[train], pairs.y[train])
    return a, b, words, apply_platt(p, a, b) if (a, b) != (1.0, 0.0) else p


def _platt(p: Floats, y: Floats) -> tuple[float, float]:
    a, b = fit_platt(p, y, shrinkage=SHRINKAGE)
    return (a, b) if b <= 0 else fit_platt(p, y, shrinkage=SHRINKAGE, fixed_b=0.0)


def figures(p: Floats, y: Floats) -> Figures:
    """All figures of probabilities `p` (N,) against truths `y` (N,)."""
    at_half, at_sure = ((int(y[p >= at].sum()), int((p >= at).sum())) for at in (FINDING_AT, SURE_AT))
    return Figures(int(p.size), int(y.sum()), brier(p, y), log_loss(p, y), ece(p, y), at_half, at_sure)


def reliability(p: Floats, y: Floats) -> tuple[Bin, ...]:
    """The bins between `EDGES` that are not empty, lowest first."""
    rows = []
    for low, high in pairwise(EDGES):
        inside = (p >= low) & ((p < high) | (high == EDGES[-1]))
        if inside.any():
            rows.append(Bin(low, high, int(inside.sum()), float(p[inside].mean()), float(y[inside].mean())))
    return tuple(rows)
