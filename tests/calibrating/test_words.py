"""What words are worth: counted where they are used, shrunk where little is known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rl_diagnose.calibrating.measure import Measured, pairs_of, raw_probabilities
from rl_diagnose.calibrating.words import STRENGTH, Used, Word, fit_words, used_words, with_words
from rl_diagnose.rules.library import load_book, read_book

from .made import CAUSES, SIGNS, book, drawn, measured

LINKS = {(cause, f"{cause}_{i}"): "usually" for cause in CAUSES for i in range(SIGNS)}
RATES = {f"{cause}_{i}": "uncommon" for cause in CAUSES for i in range(SIGNS)}
TEXT = """\
schema: rulebook/v1
id: house
version: "1.0.0"
title: House
symptoms:
  low: {title: Low, base_rate: rare, feature: reward.train.late.mean, falling: {low: 0, high: 1}}
  odd: {title: Odd, base_rate: 0.03, feature: reward.train.late.std, rising: {low: 0, high: 1}}
causes:
  a:
    title: A
    prior: 0.1
    evidence:
      - {symptom: low, seen: usually}
      - {symptom: odd, seen: 0.8}
      - {feature: reward.train.slope, falling: {low: 0, high: 1}, seen: often, base_rate: common}
"""


def fitted(made: Measured, used: Used, runs: list[bool] | None = None) -> dict[str, Word]:
    pairs = pairs_of(made, raw_probabilities(made.book, made))
    chosen = np.ones(len(made.answers), dtype=np.bool_) if runs is None else np.array(runs)
    return {word.word: word for word in fit_words(made, used, pairs, chosen)}


def test_a_word_is_how_often_its_symptoms_were_seen_in_runs_with_the_cause() -> None:
    made = drawn(book(), 900, 0.6, 0.1)
    word = fitted(made, Used(LINKS, {}))["usually"]

    column = {symptom.id: i for i, symptom in enumerate(made.book.symptoms)}
    seen = [
        made.mu[row, column[f"{answer.fault}_{i}"]]
        for row, answer in enumerate(made.answers)
        if answer.harmed == "yes"
        for i in range(SIGNS)
    ]
    assert word.n == len(seen)
    assert word.fitted == pytest.approx((sum(seen) + STRENGTH * 0.8) / (len(seen) + STRENGTH))


def test_a_base_rate_is_counted_in_unharmed_runs() -> None:
    made = drawn(book(), 300, 0.8, 0.3)
    word = fitted(made, Used({}, RATES))["uncommon"]

    silent = [i for i, answer in enumerate(made.answers) if answer.harmed == "no"]
    total = made.mu[silent].sum()
    n = len(silent) * len(RATES)
    assert word.fitted == pytest.approx((total + STRENGTH * 0.1) / (n + STRENGTH))


def test_without_a_run_that_speaks_about_it_a_word_keeps_its_usual_number() -> None:
    made = measured(book(), np.zeros((4, len(CAUSES) * SIGNS)), ["healthy"] * 4, ["a"] * 4)

    word = fitted(made, Used(LINKS, {}))["usually"]
    assert (word.usual, word.n) == (0.8, 0)
    assert word.fitted == pytest.approx(0.8)


def test_memberships_of_one_half_say_nothing() -> None:
    mu = np.full((30, len(CAUSES) * SIGNS), 0.5)
    made = measured(book(), mu, ["rate"] * 30, ["a"] * 30)
    known = replace(made, known=np.ones_like(mu, dtype=np.bool_))

    assert fitted(known, Used(LINKS, {}))["usually"].fitted == pytest.approx(0.8)


def test_runs_that_are_left_out_and_links_that_ignore_absence_do_not_count() -> None:
    made = drawn(book(), 120, 0.2, 0.1)
    nobody = fitted(made, Used(LINKS, {}), [False] * 120)
    assert nobody["usually"].n == 0

    causes = tuple(
        replace(cause, links=tuple(replace(link, absence="ignore") for link in cause.links))
        for cause in made.book.causes
    )
    assert fitted(replace(made, book=replace(made.book, causes=causes)), Used(LINKS, {})) == {}


def test_base_rates_of_symptoms_of_benign_causes_are_not_counted() -> None:
    made = drawn(book(), 60, 0.8, 0.1)
    causes = tuple(replace(cause, kind="benign") for cause in made.book.causes)

    assert fitted(replace(made, book=replace(made.book, causes=causes)), Used({}, RATES)) == {}


def test_words_are_found_where_they_are_written_and_numbers_are_not_words(tmp_path: Path) -> None:
    path = tmp_path / "house.yaml"
    path.write_text(TEXT, "utf-8")
    merged = read_book(path)[0]
    assert merged is not None
    used = used_words(merged)

    assert used.seen == {("a", "low"): "usually", ("a", "a__3"): "often"}
    assert used.rates == {"low": "rare", "a__3": "common"}
    changed = with_words(load_book(path), used, {"usually": 0.7, "often": 0.5, "rare": 0.01, "common": 0.4})
    assert [(link.symptom, link.seen) for link in changed.causes[0].links] == [
        ("low", 0.7),
        ("odd", 0.8),
        ("a__3", 0.5),
    ]
    assert {s.id: s.base_rate for s in changed.symptoms} == {"low": 0.01, "odd": 0.03, "a__3": 0.4}


def test_words_in_a_calibration_count_in_the_book_that_has_them(tmp_path: Path) -> None:
    path = tmp_path / "house.yaml"
    block = 'calibration: {a: 1.0, b: 0.0, words: {usually: 0.7, rare: 0.01}, corpus: "sha256:0", n: 30, brier: 0.1, '
    path.write_text(TEXT + block + 'log_loss: 0.2, ece: 0.02, date: "2026-12-01"}\n', "utf-8")
    made = load_book(path)

    assert {link.symptom: link.seen for link in made.causes[0].links} == {"low": 0.7, "odd": 0.8, "a__3": 0.6}
    assert {s.id: s.base_rate for s in made.symptoms} == {"low": 0.01, "odd": 0.03, "a__3": 0.3}
    assert made.calibration is not None
    assert made.calibration.words == (("rare", 0.01), ("usually", 0.7))
