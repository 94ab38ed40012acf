"""With which calibration a run is judged: the book's, none, or one that has not seen its environment."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
from labelled.acceptable import Row
from labelled.calibrations import Choice, as_shipped, left_out, uncalibrated
from labelled.corpus import Label, read_labels
from labelled.outcomes import read_labelled

from rl_diagnose.errors import UsageError
from rl_diagnose.rules.book import Book, Calibration
from rl_diagnose.rules.library import load_book
from rl_diagnose.signals.run import Run

BOOK = """\
schema: rulebook/v1
id: house
version: "1.0.0"
title: House
symptoms:
  low_return: {title: Low return, base_rate: rare, feature: reward.train.late.mean, falling: {low: 0, high: 100}}
causes:
  wrapper_bug: {title: Wrapper, prior: 0.3, evidence: [{symptom: low_return, seen: always}]}
calibration: {a: 2.0, b: 0.0, corpus: x, n: 1, brier: 0.1, log_loss: 0.1, ece: 0.1, date: "2026-12-01"}
"""

ROWS = [Row("wrapper_bug", ("wrapper_bug",), "the fault itself")]
Pair = tuple[Label, Run | None]


@pytest.fixture
def house(tmp_path: Path) -> Book:
    path = tmp_path / "house.yaml"
    path.write_text(BOOK, "utf-8")
    return load_book(path)


@pytest.fixture
def runs(tmp_path: Path) -> list[Pair]:
    """Ninety runs of three environments. What the book takes for a proof is often there without the cause."""
    draw = random.Random(7)  # noqa: S311 - no secret, a made corpus
    lines = ["run_id,framework,algorithm,env,injected_fault,fault_details,harmed"]
    for i in range(90):
        harmed = draw.random() < 0.5
        level = -5 if draw.random() < (0.7 if harmed else 0.3) else 105
        folder = tmp_path / "runs" / f"r{i}"
        folder.mkdir(parents=True)
        rows = [f"{step},{level + draw.random()}" for step in range(1000, 61000, 1000)]
        (folder / "progress.csv").write_text("\n".join(["time/total_timesteps,rollout/ep_rew_mean", *rows]), "utf-8")
        lines.append(f"r{i},sb3,PPO,{'ABC'[i % 3]},{'wrapper_bug,,yes' if harmed else 'healthy,,no'}")
    (tmp_path / "labels.csv").write_text("\n".join(lines) + "\n", "utf-8")
    return list(read_labelled(tmp_path, read_labels(tmp_path)))


def calibration(choice: Choice, pair: Pair) -> Calibration | None:
    label, run = pair
    assert run is not None
    (book,) = choice.books(label, run)
    return book.calibration


def test_a_book_speaks_with_its_own_calibration_or_with_none(house: Book, runs: list[Pair]) -> None:
    assert calibration(as_shipped([house]), runs[0]) == house.calibration
    assert calibration(uncalibrated([house]), runs[0]) is None


def test_each_environment_gets_a_fit_to_the_others_and_what_it_holds_itself_does_not_matter(
    house: Book, runs: list[Pair]
) -> None:
    choice = left_out([house], runs, ROWS)
    in_a = next(pair for pair in runs if pair[0].env == "A")
    fitted = calibration(choice, in_a)
    assert fitted is not None
    assert fitted.a < 1
    assert any(remark.startswith("house without A: a ") for remark in choice.remarks)

    # All labels of A turned round: the fit for A stays, those for the others change.
    turned = [(replace(label, fault="healthy", harmed="no") if label.env == "A" else label, run) for label, run in runs]
    again = left_out([house], turned, ROWS)
    assert calibration(again, in_a) == fitted
    in_b = next(pair for pair in runs if pair[0].env == "B")
    assert calibration(again, in_b) != calibration(choice, in_b)


def test_where_the_other_environments_do_not_suffice_the_book_stays_uncalibrated_and_it_is_said(
    house: Book, runs: list[Pair]
) -> None:
    few = runs[:30]
    choice = left_out([house], few, ROWS)

    assert calibration(choice, few[0]) is None
    assert any("20 are needed" in remark for remark in choice.remarks)


def test_labels_without_environment_cannot_be_left_out(house: Book, runs: list[Pair]) -> None:
    with pytest.raises(UsageError, match="names no env of r0"):
        left_out([house], [(replace(label, env=""), run) for label, run in runs], [])
