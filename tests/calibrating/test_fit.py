"""The fit: what it corrects, what it leaves, what it refuses, and that left-out groups are not seen."""

from __future__ import annotations

import numpy as np
import pytest

from rl_diagnose.calibrating.fit import EDGES, SHOWN, SHRINKAGE, calibrate, figures, reliability
from rl_diagnose.calibrating.measure import pairs_of, raw_probabilities
from rl_diagnose.calibrating.words import Used
from rl_diagnose.errors import UsageError
from rl_diagnose.rules.calibration import apply_platt, fit_platt, log_loss

from .made import CAUSES, SIGNS, book, drawn, measured


def test_a_book_that_is_too_sure_is_corrected_towards_less_and_left_out_groups_get_better() -> None:
    # The book takes signs for telling that are hardly so.
    fit = calibrate(drawn(book(seen=0.95, base_rate=0.02), 300, 0.5, 0.2))

    assert fit.decision == "corrected"
    assert fit.kept.kind == "platt"
    assert fit.kept.a < 0.8
    assert fit.kept.left_out.log_loss < fit.candidates[0].left_out.log_loss
    assert fit.kept.left_out.ece < fit.candidates[0].left_out.ece
    assert fit.kept.gain > fit.kept.noise > 0


def test_a_book_that_is_right_is_left_as_it_is() -> None:
    fit = calibrate(drawn(book(), 400, 0.8, 0.1))

    assert fit.decision == "as_is"
    assert (fit.kept.kind, fit.kept.a, fit.kept.b) == ("none", 1.0, 0.0)
    assert fit.kept.left_out == fit.kept.in_sample
    assert fit.kept.left_out.ece <= 0.05


def test_probabilities_that_are_wrong_in_opposite_ways_are_rejected() -> None:
    # In one group two of three signs come without the cause half of the time, in the other they always mean it: what
    # one group teaches makes the other worse.
    faults = ["rate", "healthy"] * 40 + ["rate"] * 70 + ["healthy"] * 10
    groups = ["false"] * 80 + ["true"] * 80
    mu = np.zeros((160, len(CAUSES) * SIGNS))
    mu[:150, :2] = 1.0
    fit = calibrate(measured(book(), mu, faults, groups))

    assert fit.decision == "rejected"
    assert fit.kept.kind == "none"
    assert fit.kept.left_out.ece > 0.05


def test_a_left_out_group_is_predicted_by_the_others_alone() -> None:
    made = drawn(book(seen=0.95, base_rate=0.02), 200, 0.5, 0.2)
    fit = calibrate(made)

    pairs = pairs_of(made, raw_probabilities(made.book, made))
    group = np.array([answer.group for answer in made.answers])[pairs.run]
    read = pairs.p >= SHOWN
    held = np.empty_like(pairs.p)
    for name in made.groups:
        train = read & (group != name)
        held[group == name] = apply_platt(
            pairs.p[group == name], *fit_platt(pairs.p[train], pairs.y[train], shrinkage=SHRINKAGE)
        )
    assert fit.candidates[1].left_out.log_loss == pytest.approx(log_loss(held[read], pairs.y[read]))
    assert sum(row.pairs for row in fit.candidates[1].bins) == read.sum() == fit.kept.left_out.pairs


def test_words_are_fitted_where_the_book_uses_them_and_win_where_they_are_what_is_wrong() -> None:
    # "always" is seen in half of the runs only; a pair (a, b) cannot repair a word that one of two causes uses.
    made = drawn(book(seen=0.95, base_rate=0.1), 500, 0.5, 0.1)
    used = Used({(cause, f"{cause}_{i}"): "always" for cause in CAUSES for i in range(SIGNS)}, {})
    fit = calibrate(made, used)

    assert [candidate.kind for candidate in fit.candidates] == ["none", "platt", "words", "words_platt"]
    assert fit.kept.kind in {"words", "words_platt"}
    (word,) = fit.kept.words
    assert word.word == "always"
    assert word.fitted == pytest.approx(0.5, abs=0.08)


def test_a_corpus_that_is_richer_in_faults_than_the_priors_expect_raises_nothing() -> None:
    # Two signs of three, which the book takes for a faint hint, always mean the cause here.
    faults = ["rate"] * 80 + ["healthy"] * 80
    mu = np.zeros((160, len(CAUSES) * SIGNS))
    mu[:80, 0] = mu[80:, 3] = 1.0
    fit = calibrate(measured(book(), mu, faults, ["a", "b"] * 80))

    assert fit.candidates[1].b == 0.0


def test_too_few_harmed_runs_are_refused_with_their_number() -> None:
    faults = ["rate"] * 19 + ["healthy"] * 40
    made = measured(book(), np.zeros((59, len(CAUSES) * SIGNS)), faults, ["a", "b"] * 29 + ["a"])

    with pytest.raises(UsageError, match=r"in only 19 runs .* 20 are needed") as caught:
        calibrate(made)

    assert caught.value.place == "made"


def test_a_fault_that_the_book_does_not_know_is_no_positive() -> None:
    faults = ["something_else"] * 40 + ["healthy"] * 40
    made = measured(book(), np.zeros((80, len(CAUSES) * SIGNS)), faults, ["a", "b"] * 40)

    with pytest.raises(UsageError, match="in only 0 runs"):
        calibrate(made)


def test_one_group_alone_cannot_be_left_out() -> None:
    faults = ["rate"] * 30 + ["healthy"] * 30
    made = measured(book(), np.zeros((60, len(CAUSES) * SIGNS)), faults, ["CartPole"] * 60)

    with pytest.raises(UsageError, match=r"one group \(CartPole\)") as caught:
        calibrate(made)

    assert "--by" in (caught.value.hint or "")


def test_runs_without_harm_need_no_diagnosis_even_where_a_cause_was_there() -> None:
    made = drawn(book(), 200, 0.8, 0.1)
    answers = tuple(
        type(a)(a.id, a.path, a.group, "rate" if a.fault == "healthy" else a.fault, a.harmed, frozenset({"rate"}))
        for a in made.answers
    )
    harmless = type(made)(made.book, answers, made.mu, made.known, made.active, made.spoken, (), ())

    pairs = pairs_of(harmless, raw_probabilities(made.book, harmless))
    silent = np.array([answer.harmed == "no" for answer in answers])
    assert not pairs.y[silent[pairs.run]].any()


def test_bins_hold_every_pair_once_and_what_is_certain_is_in_the_last() -> None:
    p, y = np.array([0.0, 0.01, 0.05, 0.5, 0.999, 1.0]), np.array([0.0, 0.0, 1.0, 1.0, 1.0, 1.0])
    rows = reliability(p, y)

    assert sum(row.pairs for row in rows) == p.size
    assert rows[-1].high == EDGES[-1]
    assert (rows[-1].pairs, rows[-1].observed) == (2, 1.0)
    assert figures(p, y).at_half == (3, 3)
    assert figures(np.array([0.9, 0.6]), np.array([0.0, 1.0])).at_sure == (0, 1)
