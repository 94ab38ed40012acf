"""The tests beside the built-in books: they pass, every cause has each kind, and they notice a book that is spoilt."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from rl_diagnose.rules.book import Book
from rl_diagnose.rules.library import book_file, load_book
from rl_diagnose.testing.read import file_beside, read_tests
from rl_diagnose.testing.results import BookResults, run_tests

TESTED = ("core", "ppo", "off_policy", "dqn", "actor_critic")


@cache
def ran(name: str) -> BookResults:
    return run_tests(load_book(name), file_beside(book_file(name)))


def spoilt(name: str, cause: str, prior: float) -> Book:
    """The book with another prior of one cause."""
    book = load_book(name)
    return replace(book, causes=tuple(replace(c, prior=prior) if c.id == cause else c for c in book.causes))


@pytest.mark.parametrize("name", TESTED)
def test_the_tests_of_a_book_pass(name: str) -> None:
    bad = [result for result in ran(name).results if result.outcome not in {"passed", "todo"}]
    assert [(result.name, [failure.message for failure in result.failures]) for result in bad] == []


@pytest.mark.parametrize("name", TESTED)
def test_every_cause_of_a_book_has_every_kind_of_test(name: str) -> None:
    assert ran(name).uncovered == ()


@pytest.mark.parametrize("name", TESTED)
def test_every_known_gap_has_a_reason(name: str) -> None:
    tests, _ = read_tests(file_beside(book_file(name)), load_book(name))
    assert all(isinstance(test.todo, str) for test in tests.tests)


@pytest.mark.parametrize(
    ("name", "cause", "prior"),
    [
        ("core", "evaluation_gap", 1e-6),
        ("core", "solved", 0.999),
        ("ppo", "learning_rate_jumped", 1e-6),
        ("ppo", "entropy_bonus_too_weak", 0.999),
        ("off_policy", "q_divergence", 1e-6),
        ("dqn", "exploration_never_ends", 0.999),
        ("actor_critic", "temperature_runaway", 1e-6),
    ],
)
def test_a_spoilt_prior_is_noticed(name: str, cause: str, prior: float) -> None:
    results = run_tests(spoilt(name, cause, prior), file_beside(book_file(name))).results
    said = [f.message for result in results if result.outcome == "failed" for f in result.failures]
    assert any(message.startswith(f"{cause} is ") for message in said)
