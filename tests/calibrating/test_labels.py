"""Labels become answers: which causes are right, when silence is, and what cannot be meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from rl_diagnose.calibrating.labels import Answer, Row, answers, read_acceptable, unknown_faults
from rl_diagnose.errors import UsageError
from rl_diagnose.testing.corpus import Labelled, read_corpus

from .made import book


def corpus(folder: Path, text: str) -> tuple[Labelled, ...]:
    (folder / "labels.csv").write_text(text, "utf-8")
    return read_corpus(folder)


def test_a_fault_is_the_cause_of_its_name_unless_rows_speak_of_it(tmp_path: Path) -> None:
    rows = [Row("rate_high", ("rate", "update"), "one product"), Row("rate_high", ("nan",), "it blew up", "nan")]
    found = answers(
        corpus(
            tmp_path,
            "run_id,env,injected_fault,fault_details,harmed\n"
            "r1,A,rate_high,x30,yes\nr2,A,rate_high,to nan,yes\nr3,B,bonus,,no\nr4,B,healthy,,unclear\n",
        ),
        rows,
    )

    assert [sorted(answer.causes) for answer in found] == [["rate", "update"], ["nan", "rate", "update"], ["bonus"], []]
    assert [answer.harmed for answer in found] == ["yes", "yes", "no", "unclear"]
    assert [answer.group for answer in found] == ["A", "A", "B", "B"]
    assert found[0].path == tmp_path / "runs" / "r1"


def test_without_a_column_about_harm_every_fault_did_harm(tmp_path: Path) -> None:
    found = answers(corpus(tmp_path, "run_id,team,cause\nr1,A,rate\nr2,B,healthy\n"), by="team")

    assert [answer.harmed for answer in found] == ["yes", "no"]


@pytest.mark.parametrize(
    ("text", "by", "fact"),
    [
        ("run_id,env\nr1,A\n", "env", "there is no column injected_fault or cause"),
        ("run_id,cause\nr1,rate\n", "env", "there is no column env"),
        ("run_id,env,cause\nr1,A,\n", "env", "the column cause is empty"),
        ("run_id,env,cause\nr1,,rate\n", "env", "the column env is empty"),
        ("run_id,env,cause,harmed\nr1,A,rate,maybe\n", "env", "harmed is 'maybe'"),
    ],
)
def test_labels_that_cannot_be_meant_are_errors_with_their_place(tmp_path: Path, text: str, by: str, fact: str) -> None:
    with pytest.raises(UsageError, match=fact) as caught:
        answers(corpus(tmp_path, text), by=by)

    assert "labels.csv" in (caught.value.place or "")


def test_a_missing_column_to_leave_out_by_comes_with_the_columns_there_are(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        answers(corpus(tmp_path, "run_id,cause,team\nr1,rate,A\n"))

    assert "run_id, cause, team" in (caught.value.hint or "")


def test_faults_that_no_cause_of_the_book_answers_are_counted_where_they_harmed() -> None:
    def answer(fault: str, harmed: str) -> Answer:
        return Answer("r", Path("r"), "A", fault, harmed, frozenset({fault}))  # type: ignore[arg-type]

    given = [answer("other", "yes"), answer("other", "yes"), answer("other", "no"), answer("rate", "yes")]
    assert unknown_faults(book(), given) == {"other": 2}


def test_acceptable_causes_that_are_no_yaml_or_too_clever_are_errors(tmp_path: Path) -> None:
    path = tmp_path / "acceptable.yaml"
    path.write_text("- &a {fault: f, causes: [a], why: x}\n- *a\n", "utf-8")

    with pytest.raises(UsageError) as caught:
        read_acceptable(path)

    assert str(path) in (caught.value.place or "")
