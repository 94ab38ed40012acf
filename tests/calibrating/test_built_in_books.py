"""The built-in books that are calibrated say so, and stay right on the labelled corpus."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rl_diagnose.calibrating.fit import SHOWN, TOLERANCE
from rl_diagnose.calibrating.labels import Answer, answers, read_acceptable
from rl_diagnose.calibrating.measure import measure, pairs_of, raw_probabilities
from rl_diagnose.rules.calibration import apply_platt, ece
from rl_diagnose.rules.library import load_book
from rl_diagnose.signals.run import Run
from rl_diagnose.testing.corpus import read_corpus, runs_of

ROOT = Path(__file__).resolve().parents[2]
CALIBRATED = ("actor_critic", "dqn", "ppo")


@pytest.mark.parametrize("name", CALIBRATED)
def test_the_block_names_a_corpus_that_was_large_enough(name: str) -> None:
    block = load_book(name).calibration

    assert block is not None
    assert block.corpus.startswith("sha256:")
    assert block.positives is not None
    assert 20 <= block.positives < block.n
    assert block.ece <= TOLERANCE


@pytest.mark.corpus
def test_what_is_said_is_still_true_on_the_labelled_corpus(shared: Path) -> None:
    corpus = [*read_corpus(shared / "corpus"), *read_corpus(ROOT / "benchmarks" / "corpus" / "off_policy")]
    by_id = {one.id: one for one in answers(corpus, read_acceptable(ROOT / "benchmarks" / "acceptable.yaml"))}

    def labelled() -> Iterator[tuple[Answer, Run | None]]:
        return ((by_id[one.id], run) for one, run in runs_of(corpus))

    for measured in measure([load_book(name) for name in CALIBRATED], labelled()):
        block = measured.book.calibration
        assert block is not None
        pairs = pairs_of(measured, raw_probabilities(measured.book, measured))
        read = pairs.p >= SHOWN
        stated = apply_platt(pairs.p[read], block.a, block.b)
        assert ece(stated, pairs.y[read]) <= TOLERANCE, measured.book.id
