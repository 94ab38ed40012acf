"""A corpus scored by two books: labels, unreadable runs, and where the verdicts differ."""

from __future__ import annotations

from pathlib import Path

import pytest

from rl_diagnose.errors import NoReadableRunError, UsageError
from rl_diagnose.rules.library import load_book
from rl_diagnose.testing.corpus import read_corpus, runs_of
from rl_diagnose.testing.flips import rescore

BOOK = """\
schema: rulebook/v1
id: house
title: House
version: "1.0.0"
symptoms:
  low: {{title: Low, base_rate: uncommon, feature: reward.train.median, falling: {{low: {low}, high: {high}}}}}
causes:
  poor: {{title: Poor, prior: 0.3, requires: [reward.train], evidence: [{{symptom: low, seen: always}}]}}
"""


def book(folder: Path, name: str, low: float, high: float) -> Path:
    path = folder / f"{name}.yaml"
    path.write_text(BOOK.format(low=low, high=high), "utf-8")
    return path


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Three runs with a return of 5, 15 and 50; a fourth has a label and no log."""
    lines = ["run_id,cause"]
    for name, value in (("a", 5), ("b", 15), ("c", 50)):
        folder = tmp_path / "runs" / name
        folder.mkdir(parents=True)
        rows = "".join(f"{1000 * i},{value}\n" for i in range(1, 41))
        (folder / "progress.csv").write_text("time/total_timesteps,rollout/ep_rew_mean\n" + rows, "utf-8")
        lines.append(f"{name},{'poor' if value < 20 else ''}")
    (tmp_path / "labels.csv").write_text("\n".join([*lines, "gone,"]) + "\n", "utf-8")
    return tmp_path


def test_a_run_that_one_book_finds_and_the_other_does_not_is_a_flip(corpus: Path) -> None:
    old, new = (load_book(book(corpus, name, *bounds)) for name, bounds in (("strict", (8, 12)), ("lenient", (18, 30))))
    found = rescore(old, new, read_corpus(corpus))
    assert found.runs == 3
    assert found.unreadable == ("gone",)
    (flip,) = found.flips
    assert (flip.run, flip.label) == ("b", "poor")
    assert (flip.old.verdict, flip.old.cause, flip.old.found) == ("nothing_found", None, ())
    assert (flip.new.verdict, flip.new.cause, flip.new.found) == ("finding", "poor", ("poor",))
    assert found.moved is not None
    run, cause, was, now = found.moved
    assert (run, cause) == ("b", "poor")
    assert was < 0.1 < 0.5 < now


def test_a_book_flips_nothing_against_itself(corpus: Path) -> None:
    same = load_book(book(corpus, "same", 8, 12))
    found = rescore(same, same, read_corpus(corpus))
    assert (found.flips, found.moved) == ((), None)


def test_progress_counts_every_labelled_run(corpus: Path) -> None:
    told: list[tuple[int, int]] = []
    read = list(runs_of(read_corpus(corpus), lambda done, of: told.append((done, of))))
    assert [labelled.id for labelled, _ in read] == ["a", "b", "c", "gone"]
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_a_corpus_without_a_readable_run_is_said(corpus: Path) -> None:
    (corpus / "labels.csv").write_text("run_id\ngone\n", "utf-8")
    same = load_book(book(corpus, "same", 8, 12))
    with pytest.raises(NoReadableRunError, match="no labelled run can be read"):
        rescore(same, same, read_corpus(corpus))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name,cause\na,poor\n", "there is no column run_id"),
        ("", "there is no column run_id"),
        ("run_id,cause\n", "there is no run in it"),
        ("run_id\na\nb\na\n", "the run 'a' is labelled twice"),
        ("run_id\n../../secret\n", "'../../secret' is no id of a run"),
        ("run_id,cause\n,poor\n", "'' is no id of a run"),
        ("run_id\n..\n", "'..' is no id of a run"),
    ],
)
def test_labels_that_cannot_be_meant_are_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "labels.csv").write_text(text, "utf-8")
    with pytest.raises(UsageError, match=message.replace(".", r"\.")):
        read_corpus(tmp_path)


def test_labels_that_are_missing_or_no_text_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the labels cannot be read"):
        read_corpus(tmp_path)
    (tmp_path / "labels.csv").write_bytes(b"run_id\n\xff\xfe\n")
    with pytest.raises(UsageError, match="the labels cannot be read"):
        read_corpus(tmp_path)
