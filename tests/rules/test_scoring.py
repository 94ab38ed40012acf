"""Weights of evidence behave as they should; causes compete as the model says; gaps are no evidence."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rl_diagnose.rules.book import Book, Calibration
from rl_diagnose.rules.scoring import DECIBANS, score, weight_of_evidence

from .made import book, brute_force, cause, scores, single

PROBABILITY = st.floats(0.01, 0.99)
MEMBERSHIP = st.floats(0.0, 1.0)


# -- one weight ------------------------------------------------------------------------------------------------------


@given(PROBABILITY, PROBABILITY)
def test_a_symptom_that_nobody_can_judge_weighs_exactly_nothing(p1: float, p0: float) -> None:
    assert float(weight_of_evidence(np.array([0.5]), p1, p0)[0]) == 0.0


@given(PROBABILITY, PROBABILITY, MEMBERSHIP)
def test_a_weight_stays_between_those_of_clear_absence_and_clear_presence(p1: float, p0: float, mu: float) -> None:
    ends = sorted((math.log(p1 / p0), math.log((1 - p1) / (1 - p0))))
    weight = float(weight_of_evidence(np.array([mu]), p1, p0)[0])
    assert ends[0] - 1e-9 <= weight <= ends[1] + 1e-9


@given(PROBABILITY, PROBABILITY, MEMBERSHIP, MEMBERSHIP)
def test_a_weight_rises_with_membership_exactly_where_the_cause_makes_the_symptom_likelier(
    p1: float, p0: float, a: float, b: float
) -> None:
    low, high = weight_of_evidence(np.array(sorted((a, b))), p1, p0)
    assert (high - low) * (p1 - p0) >= -1e-12


def test_a_clear_symptom_weighs_the_log_of_its_likelihood_ratio() -> None:
    made = scores(book({"s": 0.1}, [cause("a", 0.1, {"s": 0.8})]), [[1.0], [0.0]])
    assert made.weights["a"][:, 0] == pytest.approx([10 * math.log10(8), 10 * math.log10(0.2 / 0.9)])
    assert made.single_logit[:, 0] == pytest.approx([math.log(8 / 9), math.log(0.2 / 0.9 / 9)])


def test_a_symptom_that_is_rarer_with_the_cause_speaks_against_it() -> None:
    made = scores(book({"s": 0.3}, [cause("a", 0.2, {"s": 0.03})]), [[1.0], [0.0]])
    assert made.weights["a"][0, 0] == pytest.approx(-10.0)
    assert made.raw[0, 0] < 0.2 < made.raw[1, 0]


# -- competition -----------------------------------------------------------------------------------------------------

SHARED = [cause("a", 0.1, {"s": 0.9}), cause("b", 0.1, {"s": 0.9, "t": 0.9})]


def test_a_cause_whose_only_symptom_another_explains_is_explained_away() -> None:
    """Both cause S, only B causes T; S and T are seen. By hand: alone .67 and .97, in competition .15 and .93."""
    made = scores(book({"s": 0.05, "t": 0.05}, SHARED), [[1.0, 1.0]])
    assert np.round(single(made)[0], 2).tolist() == [0.67, 0.97]
    assert np.round(made.raw[0], 2).tolist() == [0.15, 0.93]
    logit = np.log(made.raw / (1 - made.raw))
    assert made.explained_away == pytest.approx((logit - made.single_logit) * DECIBANS)
    assert made.explained_away[0, 0] == pytest.approx(-10.6, abs=0.05)


def test_without_the_telling_symptom_both_causes_share_the_evidence_alike() -> None:
    made = scores(book({"s": 0.05, "t": 0.05}, SHARED), [[1.0, 0.5]])
    assert made.raw[0, 0] == pytest.approx(made.raw[0, 1])
    assert made.raw[0, 0] < single(made)[0, 0]


def test_a_cause_that_competes_with_nobody_keeps_its_single_score() -> None:
    made = scores(book({"s": 0.1, "t": 0.1}, [cause("a", 0.1, {"s": 0.8, "t": 0.6})]), [[0.9, 0.2], [0.5, 0.5]])
    assert made.raw == pytest.approx(single(made), abs=1e-12)
    assert made.explained_away == pytest.approx(0.0, abs=1e-9)
    assert made.raw[1, 0] == pytest.approx(0.1)


def test_causes_that_share_nothing_hardly_disturb_each_other() -> None:
    made = scores(book({"s": 0.1, "t": 0.1}, [cause("a", 0.1, {"s": 0.8}), cause("b", 0.1, {"t": 0.8})]), [[1.0, 0.0]])
    assert made.raw == pytest.approx(single(made), abs=1e-12)


def test_the_same_symptom_as_three_names_counts_three_times_and_as_one_only_once() -> None:
    thrice = scores(book(dict.fromkeys("rst", 0.1), [cause("a", 0.1, dict.fromkeys("rst", 0.8))]), [[1.0, 1.0, 1.0]])
    once = scores(book({"s": 0.1}, [cause("a", 0.1, {"s": 0.8})]), [[1.0]])
    assert thrice.weights["a"].sum() == pytest.approx(3 * once.weights["a"].sum())
    assert (round(float(once.raw[0, 0]), 2), round(float(thrice.raw[0, 0]), 2)) == (0.47, 0.98)


def test_causes_that_exclude_each_other_share_one_probability() -> None:
    pair = [cause("a", 0.4, {"s": 0.9}, excludes=("b",)), cause("b", 0.4, {"s": 0.9})]
    made = scores(book({"s": 0.05}, pair), [[1.0]])
    assert made.raw[0].sum() <= 1.0
    apart = scores(book({"s": 0.05}, [replace(pair[0], excludes=()), pair[1]]), [[1.0]])
    assert apart.raw[0].sum() > made.raw[0].sum()


@st.composite
def small_books(draw: st.DrawFn, causes: int) -> tuple[Book, dict[str, float]]:
    names = [f"s{i}" for i in range(draw(st.integers(1, 5)))]
    ids = [f"c{i}" for i in range(causes)]
    made = []
    for name in ids:
        linked = draw(st.lists(st.sampled_from(names), unique=True, max_size=len(names)))
        seen = {s: draw(st.floats(0.02, 0.98)) for s in linked}
        ignore = [s for s in linked if draw(st.booleans())]
        others = draw(st.lists(st.sampled_from(ids), unique=True, max_size=1))
        excludes = tuple(other for other in others if other != name)
        made.append(cause(name, draw(st.floats(0.02, 0.6)), seen, ignore=ignore, excludes=excludes))
    rates = {s: draw(st.floats(0.02, 0.7)) for s in names}
    return book(rates, made), {s: draw(MEMBERSHIP) for s in names}


@settings(deadline=None, max_examples=60)
@given(small_books(causes=2))
def test_two_causes_are_enumerated_in_full(case: tuple[Book, dict[str, float]]) -> None:
    made, mu = case
    exact = brute_force(made, mu, largest=2)
    assert dict(zip(exact, scores(made, [list(mu.values())]).raw[0], strict=True)) == pytest.approx(exact, abs=1e-9)


@settings(deadline=None, max_examples=60)
@given(small_books(causes=5))
def test_more_causes_are_enumerated_up_to_pairs(case: tuple[Book, dict[str, float]]) -> None:
    made, mu = case
    truncated = brute_force(made, mu, largest=2)
    found = scores(made, [list(mu.values())]).raw[0]
    assert dict(zip(truncated, found, strict=True)) == pytest.approx(truncated, abs=1e-9)


def test_pairs_are_close_to_all_sets_where_causes_are_rare() -> None:
    names = {f"s{i}": 0.05 + 0.02 * i for i in range(6)}
    seen = [
        {"s0": 0.9, "s1": 0.6},
        {"s1": 0.8, "s2": 0.8},
        {"s2": 0.6, "s3": 0.9},
        {"s4": 0.9, "s0": 0.35},
        {"s5": 0.8},
    ]
    made = book(names, [cause(f"c{i}", 0.08, s) for i, s in enumerate(seen)])
    mu = dict(zip(names, (0.9, 0.8, 0.3, 0.1, 0.6, 0.0), strict=True))
    exact = brute_force(made, mu, largest=5)
    found = scores(made, [list(mu.values())]).raw[0]
    assert found == pytest.approx(list(exact.values()), abs=0.03)


# -- one-way signs ---------------------------------------------------------------------------------------------------


def test_the_absence_of_a_one_way_sign_says_nothing() -> None:
    made = scores(book({"s": 0.1}, [cause("a", 0.2, {"s": 0.8}, ignore="s")]), [[0.0], [0.49], [1.0]])
    assert made.weights["a"][:2, 0].tolist() == [0.0, 0.0]
    assert made.raw[:2, 0] == pytest.approx(0.2)
    assert made.raw[2, 0] == pytest.approx(0.2 * 8 / (0.2 * 8 + 0.8))


def test_a_one_way_sign_against_a_cause_does_not_speak_for_it_when_absent() -> None:
    made = scores(book({"s": 0.5}, [cause("a", 0.2, {"s": 0.03}, ignore="s")]), [[0.0], [1.0]])
    assert made.weights["a"][0, 0] == 0.0
    assert made.weights["a"][1, 0] < -10


@given(MEMBERSHIP)
def test_the_single_score_and_the_sets_clamp_one_way_signs_alike(mu: float) -> None:
    made = scores(book({"s": 0.2, "t": 0.2}, [cause("a", 0.1, {"s": 0.9, "t": 0.7}, ignore="s")]), [[mu, 0.8]])
    assert made.raw == pytest.approx(single(made), abs=1e-12)


def test_in_a_pair_absence_is_judged_by_the_cause_that_counts_it_alone() -> None:
    """A ignores the absence of S, B does not: with S absent, having A as well must not make S any more expected."""
    both = [cause("a", 0.3, {"s": 0.9}, ignore="s"), cause("b", 0.3, {"s": 0.6})]
    made = scores(book({"s": 0.1}, both), [[0.0]])
    alone = scores(book({"s": 0.1}, both[1:]), [[0.0]])
    assert made.raw[0].tolist() == pytest.approx([0.3, float(alone.raw[0, 0])])


# -- what is not there -----------------------------------------------------------------------------------------------


def test_a_cause_without_its_required_signal_has_no_probability_and_leaves_the_others_alone() -> None:
    causes = [replace(SHARED[0], requires=("policy.kl",)), SHARED[1]]
    made = book({"s": 0.05, "t": 0.05}, causes)
    mu, known, every = np.ones((2, 2)), np.ones((2, 2), dtype=bool), np.ones((2, 2), dtype=bool)
    found = score(made, mu, known, [frozenset({"policy.kl"}), frozenset()], every)
    assert found.assessable.tolist() == [[True, True], [False, True]]
    assert np.isnan(found.probability[1, 0])
    assert np.isnan(found.raw[1, 0])
    assert found.explained_away[1, 0] == 0.0
    assert found.raw[1, 1] == pytest.approx(float(single(found)[1, 1]))
    assert found.raw[0, 0] == pytest.approx(0.147, abs=1e-3)


def test_a_cause_that_is_not_about_the_run_takes_no_part() -> None:
    made = book({"s": 0.05, "t": 0.05}, SHARED)
    mu, known = np.ones((1, 2)), np.ones((1, 2), dtype=bool)
    found = score(made, mu, known, [frozenset()], np.array([[True, False]]))
    assert found.assessable.tolist() == [[True, True]]
    assert found.applicable.tolist() == [[True, False]]
    assert found.raw[0, 0] == pytest.approx(float(single(found)[0, 0]))
    assert np.isnan(found.probability[0, 1])


def test_a_deprecated_cause_is_not_scored() -> None:
    made = book({"s": 0.05, "t": 0.05}, [replace(SHARED[0], status="deprecated"), SHARED[1]])
    found = scores(made, [[1.0, 1.0]])
    assert found.applicable.tolist() == [[False, True]]
    assert np.isnan(found.probability[0, 0])


def test_coverage_is_the_share_of_the_evidence_by_its_largest_weight() -> None:
    made = book({"s": 0.1, "t": 0.1, "u": 0.3}, [cause("a", 0.1, {"s": 0.8, "t": 0.35, "u": 0.6}, ignore="t")])
    mu = np.array([[0.9, 0.9, 0.5], [0.5, 0.5, 0.5]])
    found = scores(made, mu)
    largest = [math.log(8), math.log(3.5), math.log(2)]
    assert found.coverage[:, 0] == pytest.approx([sum(largest[:2]) / sum(largest), 0.0])
    assert found.missing["a"].tolist() == [[False, False, True], [True, True, True]]
    assert found.raw[1, 0] == pytest.approx(0.1)


def test_a_cause_without_evidence_keeps_its_prior_and_is_covered() -> None:
    found = scores(book({"s": 0.1}, [cause("a", 0.1, {})]), [[1.0]])
    assert (found.raw[0, 0], found.coverage[0, 0]) == (pytest.approx(0.1), 1.0)


def test_empty_batches_and_empty_books_have_empty_scores() -> None:
    assert scores(book({"s": 0.1}, SHARED[:1]), np.zeros((0, 1))).raw.shape == (0, 1)
    assert scores(book({}, []), np.zeros((3, 0))).raw.shape == (3, 0)


def test_overwhelming_evidence_stays_finite() -> None:
    names = {f"s{i}": 0.999 for i in range(200)}
    made = book(names, [cause("a", 0.5, dict.fromkeys(names, 0.001)), cause("b", 0.5, {"s0": 0.5})])
    found = scores(made, np.ones((1, 200)))
    assert 0.0 <= found.raw[0, 0] < 1e-100
    assert np.isfinite(found.explained_away).all()
    assert np.isfinite(scores(made, np.zeros((1, 200))).explained_away).all()


# -- the same bits ---------------------------------------------------------------------------------------------------


def large_book(causes: int, symptoms: int) -> Book:
    rng = np.random.default_rng(7)
    names = {f"s{i:02d}": float(rng.uniform(0.02, 0.3)) for i in range(symptoms)}
    made = []
    for i in range(causes):
        chosen = rng.choice(list(names), size=5, replace=False)
        seen = {str(s): float(rng.choice([0.03, 0.35, 0.6, 0.8, 0.95])) for s in chosen}
        made.append(cause(f"c{i:02d}", float(rng.uniform(0.02, 0.2)), seen, ignore=[str(chosen[0])]))
    return book(names, made)


def test_a_run_gets_the_same_bits_alone_as_in_any_batch() -> None:
    made = large_book(causes=30, symptoms=40)
    mu = np.random.default_rng(8).uniform(0, 1, (700, 40))
    mu[np.random.default_rng(9).random(mu.shape) < 0.2] = 0.5
    together = scores(made, mu)
    for start, stop in ((0, 1), (13, 14), (699, 700), (3, 5), (100, 117), (0, 699)):
        part = scores(made, mu[start:stop])
        for name in ("probability", "raw", "single_logit", "explained_away", "coverage"):
            assert np.array_equal(getattr(part, name), getattr(together, name)[start:stop]), name
        for name, weights in part.weights.items():
            assert np.array_equal(weights, together.weights[name][start:stop]), name


def test_the_memory_layout_of_the_memberships_does_not_matter() -> None:
    made = large_book(causes=12, symptoms=20)
    mu = np.random.default_rng(8).uniform(0, 1, (50, 20))
    assert np.array_equal(scores(made, mu).raw, scores(made, np.asfortranarray(mu)).raw)


def test_calibration_is_applied_to_what_competition_leaves() -> None:
    platt = Calibration(0.5, -0.3, "sha256:0", 100, 0.1, 0.3, 0.02, "2026-01-01")
    plain, calibrated = (scores(book({"s": 0.05, "t": 0.05}, SHARED, c), [[1.0, 1.0]]) for c in (None, platt))
    assert np.array_equal(plain.raw, calibrated.raw)
    assert np.array_equal(plain.probability, plain.raw)
    logit = np.log(plain.raw / (1 - plain.raw))
    assert calibrated.probability == pytest.approx(1 / (1 + np.exp(-(0.5 * logit - 0.3))))
