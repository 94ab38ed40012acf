"""From runs to pairs: which runs a book is held to, and which pairs of a run and a fault count."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rl_diagnose.calibrating.labels import Answer
from rl_diagnose.calibrating.measure import admits, at_probabilities, measure, pairs_of, raw_probabilities
from rl_diagnose.diagnosis.pipeline import diagnose_runs
from rl_diagnose.logs.load import load_run
from rl_diagnose.rules.library import load_book

from .made import CAUSES, SIGNS, book, measured

DATA = Path(__file__).resolve().parents[1] / "data" / "sb3"


def answer(name: str, harmed: str = "no", *causes: str) -> Answer:
    return Answer(name, Path(name), "env", "f", harmed, frozenset(causes))  # type: ignore[arg-type]


def test_what_is_measured_gives_the_probabilities_that_a_diagnosis_states() -> None:
    run = load_run(DATA / "ppo_gaussian")
    plain = replace(load_book("ppo"), calibration=None)
    (found,) = measure([plain], [(answer("r1"), run)])

    raw = raw_probabilities(plain, found)
    (diagnosis,) = diagnose_runs([run], [plain])
    stated = {cause.id: cause.probability for cause in diagnosis.findings}
    names = [cause.id for cause in plain.causes]
    assert {names[i] for i in np.flatnonzero(found.spoken[0])} == set(stated)
    for name, probability in stated.items():
        assert raw[0, names.index(name)] == pytest.approx(probability)


def test_runs_of_other_algorithms_and_unreadable_ones_are_told_apart() -> None:
    run = load_run(DATA / "ppo_gaussian")
    for_dqn, for_all = measure([load_book("dqn"), load_book("core")], [(answer("r1"), run), (answer("r2"), None)])

    assert (for_dqn.others, for_dqn.unreadable, len(for_dqn.answers)) == (("r1",), ("r2",), 0)
    assert (for_all.others, for_all.unreadable, len(for_all.answers)) == ((), ("r2",), 1)
    assert for_dqn.mu.shape[0] == 0


def test_an_algorithm_that_the_log_does_not_tell_is_not_what_a_book_is_about() -> None:
    run = replace(load_run(DATA / "ppo_gaussian"), algorithm=None)

    assert not admits(load_book("ppo"), run)
    assert admits(load_book("core"), run)


def test_of_several_right_causes_the_most_probable_one_is_true_and_the_others_do_not_count() -> None:
    made = measured(book(), np.zeros((1, len(CAUSES) * SIGNS)), ["rate"], ["a"])
    either = replace(made, answers=(answer("r", "yes", "rate", "bonus", "unheard_of"),))

    found = pairs_of(either, np.array([[0.2, 0.6, 0.1]]))
    assert sorted(zip(found.p, found.y, found.cause, strict=True)) == [(0.1, 0, 2), (0.6, 1, 1)]
    assert at_probabilities(found, np.array([[0.5, 0.4, 0.3]])).tolist() == [0.4, 0.3]


def test_unclear_runs_and_faults_that_users_do_not_see_give_no_pairs() -> None:
    made = measured(book(), np.zeros((2, len(CAUSES) * SIGNS)), ["rate", "healthy"], ["a", "b"])
    unclear = replace(made, answers=(answer("r", "unclear", "rate"), made.answers[1]))
    assert set(pairs_of(unclear, np.full((2, 3), 0.5)).run) == {1}

    hidden = replace(made, spoken=np.array([[False, True, True], [True, True, False]]))
    found = pairs_of(hidden, np.array([[0.9, 0.2, 0.1], [np.nan, 0.2, 0.1]]))
    assert found.y.sum() == 0
    assert list(zip(found.run, found.cause, strict=True)) == [(0, 1), (0, 2), (1, 1)]
