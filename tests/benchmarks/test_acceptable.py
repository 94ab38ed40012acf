"""Which causes answer which fault, and that the list in the tree is complete and speaks of causes that exist."""

from __future__ import annotations

from pathlib import Path

import pytest
from labelled.acceptable import Row, acceptable_causes, read_acceptable
from labelled.corpus import HEALTHY, Label, read_labels

from rl_diagnose.errors import UsageError
from rl_diagnose.rules.library import list_books, load_book

FILE = Path(__file__).resolve().parents[2] / "benchmarks" / "acceptable.yaml"


def label(fault: str, details: str = "") -> Label:
    return Label("r1", "sb3", "PPO", fault, details, "yes")


def test_rows_of_one_fault_add_up() -> None:
    rows = [Row("f", ("a",), "x"), Row("f", ("b", "c"), "y"), Row("g", ("d",), "z")]

    assert acceptable_causes(rows, label("f")) == {"a", "b", "c"}
    assert acceptable_causes(rows, label("unknown")) == frozenset()


def test_a_row_may_speak_of_some_injections_only() -> None:
    rows = [Row("f", ("a",), "x"), Row("f", ("b",), "y", when="learning rate")]

    assert acceptable_causes(rows, label("f", "learning rate x30")) == {"a", "b"}
    assert acceptable_causes(rows, label("f", "random actions")) == {"a"}


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("fault: f", "a list of rows is expected"),
        ("- {fault: f, causes: [a]}", "fault, causes and why"),
        ("- {fault: f, causes: [a], why: x, whne: y}", "fault, causes and why"),
        ("- {fault: f, causes: [], why: x}", "causes is a list"),
        ("- {fault: f, causes: [a], why: ' '}", "causes is a list"),
        ("- {fault: f, causes: [a], why: x, when: 1e30}", "is text"),
        ("- {fault: f, causes: [1], why: x}", "is text"),
    ],
)
def test_a_row_that_cannot_be_meant_is_an_error_with_its_place(tmp_path: Path, text: str, fact: str) -> None:
    path = tmp_path / "rows.yaml"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(UsageError, match=fact) as caught:
        read_acceptable(path)

    assert "rows.yaml" in (caught.value.place or "")


def test_every_cause_of_the_list_exists_in_a_built_in_book() -> None:
    known = {cause.id for info in list_books() for cause in load_book(info.id).causes}
    unknown = {cause for row in read_acceptable(FILE) for cause in row.causes} - known

    assert not unknown


@pytest.mark.corpus
def test_every_injected_fault_of_the_corpus_has_an_answer(shared: Path) -> None:
    rows = read_acceptable(FILE)
    unanswered = {
        label.fault
        for label in read_labels(shared / "corpus")
        if label.fault != HEALTHY and not acceptable_causes(rows, label)
    }

    assert not unanswered
