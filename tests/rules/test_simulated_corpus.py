"""The scheme on simulated runs: its figures are of the order expected, and each part of it earns its place.

Reference figures for 6,000 runs, 10 causes and 24 graded symptoms, truth = noisy-OR (Brier score over all pairs of
cause and run): hard thresholds .087, log-odds .046, sets of two .043; with a quarter of the signals missing .072, .054
and .053.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from rl_diagnose.rules.book import Book
from rl_diagnose.rules.calibration import brier, ece, log_loss

from .made import book, cause, scores, single

Floats = NDArray[np.float64]
RUNS, CAUSES, SYMPTOMS = 2_000, 10, 24


@dataclass(frozen=True)
class Corpus:
    book: Book
    present: Floats  # (runs, causes)
    mu: Floats  # (runs, symptoms)
    thinned: Floats  # the same with a quarter of the symptoms missing


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    """Causes drawn independently, symptoms by noisy-OR, memberships such that μ is the chance of the symptom."""
    rng = np.random.default_rng(20)
    rates = {f"s{i:02d}": float(rng.choice([0.03, 0.1, 0.2])) for i in range(SYMPTOMS)}
    causes = []
    for i in range(CAUSES):
        linked = rng.choice(list(rates), size=5, replace=False)
        seen = {str(s): float(rng.choice([0.6, 0.8, 0.95])) for s in linked}
        causes.append(cause(f"c{i}", float(rng.uniform(0.05, 0.2)), seen))
    made = book(rates, causes)
    present = (rng.random((RUNS, CAUSES)) < np.array([c.prior for c in causes])).astype(float)
    p0 = np.array(list(rates.values()))
    absent = np.repeat(1 - p0[None, :], RUNS, axis=0)
    for i, c in enumerate(causes):
        for link in c.links:
            s = int(link.symptom[1:])
            absent[:, s] *= np.where(present[:, i] > 0, (1 - link.seen) / (1 - p0[s]), 1.0)
    shown = rng.random(absent.shape) > absent
    sharp = 0.4
    mu = np.where(shown, rng.beta(sharp + 1, sharp, shown.shape), rng.beta(sharp, sharp + 1, shown.shape))
    return Corpus(made, present, mu, np.where(rng.random(mu.shape) < 0.25, 0.5, mu))


def figures(stated: Floats, corpus: Corpus) -> tuple[float, float, float]:
    return brier(stated, corpus.present), log_loss(stated, corpus.present), ece(stated, corpus.present)


def test_competition_beats_single_scores_and_both_beat_thresholds(corpus: Corpus) -> None:
    graded = scores(corpus.book, corpus.mu)
    hard = single(scores(corpus.book, np.round(corpus.mu)))
    assert 0.02 < brier(graded.raw, corpus.present) < 0.06
    assert brier(graded.raw, corpus.present) < brier(single(graded), corpus.present) < brier(hard, corpus.present)
    assert log_loss(graded.raw, corpus.present) < log_loss(single(graded), corpus.present)


def test_probabilities_mean_what_they_say(corpus: Corpus) -> None:
    assert ece(scores(corpus.book, corpus.mu).raw, corpus.present) < 0.04


def test_missing_signals_cost_little_and_are_not_read_as_absence(corpus: Corpus) -> None:
    thinned = brier(scores(corpus.book, corpus.thinned).raw, corpus.present)
    absent = np.where(corpus.thinned == 0.5, 0.0, corpus.thinned)
    as_absent = brier(scores(corpus.book, absent).raw, corpus.present)
    assert brier(scores(corpus.book, corpus.mu).raw, corpus.present) < thinned < as_absent
    assert thinned < 0.08


def test_one_symptom_under_three_names_makes_scores_overconfident(corpus: Corpus) -> None:
    """Near-duplicates belong into one symptom (`mean`), not side by side."""
    rates = {f"{s.id}{k}": s.base_rate for s in corpus.book.symptoms for k in "abc"}
    causes = [
        cause(c.id, c.prior, {f"{link.symptom}{k}": link.seen for link in c.links for k in "abc"})
        for c in corpus.book.causes
    ]
    thrice = scores(book(rates, causes), np.repeat(corpus.mu, 3, axis=1)).raw
    assert log_loss(thrice, corpus.present) > 1.5 * log_loss(scores(corpus.book, corpus.mu).raw, corpus.present)


def test_one_word_for_every_link_is_enough_to_start(corpus: Corpus) -> None:
    rates = dict.fromkeys((s.id for s in corpus.book.symptoms), 0.1)
    causes = [cause(c.id, 0.1, {link.symptom: 0.8 for link in c.links}) for c in corpus.book.causes]
    rough = brier(scores(book(rates, causes), corpus.thinned).raw, corpus.present)
    assert rough < 1.5 * brier(scores(corpus.book, corpus.thinned).raw, corpus.present)
