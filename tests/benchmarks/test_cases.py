"""Cases of public threads: the files in the tree can be meant, and the runner scores them as it says."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from cases import CASES, Answer, Case, answer_cases, main, read_case, read_cases, summary

from rl_diagnose.diagnosis.reading import parse_action_space
from rl_diagnose.errors import UsageError
from rl_diagnose.rules.library import list_books, load_book
from rl_diagnose.signals.taxonomy import hyperparameters

ALL = read_cases(CASES)

TEXT = """\
source: https://example.org/thread
framework: own
algorithm: ppo
settled: It was so.
file: train.csv
log: |
  step,episode_reward
  1,2
"""


def case(expected: set[str]) -> Case:
    return Case("c", "https://example.org", "own", "ppo", "so", "train.csv", "x", frozenset(expected))


def test_there_are_enough_cases_across_frameworks_algorithms_and_outcomes() -> None:
    assert len(ALL) >= 30
    assert sum(one.benign for one in ALL) >= 8
    assert len({one.framework for one in ALL}) >= 10
    assert {"ppo", "sac", "dqn", "ddpg", "grpo"} <= {one.algorithm for one in ALL}


def test_no_thread_is_counted_twice() -> None:
    assert len({one.source for one in ALL}) == len(ALL)
    assert len({one.log for one in ALL}) == len(ALL)
    assert all(one.source.startswith("https://") for one in ALL)


def test_the_expected_causes_exist() -> None:
    causes = {cause.id for book in list_books() for cause in load_book(book.id).causes}

    for one in ALL:
        assert one.expected <= causes, one.id


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.id)
def test_what_a_thread_says_of_the_settings_has_canonical_names_and_finite_values(one: Case) -> None:
    known = dict(one.known)
    space = known.pop("action_space", None)

    assert space is None or parse_action_space(str(space)).kind != "unknown"
    assert set(known) <= set(hyperparameters())
    assert all(math.isfinite(value) for value in known.values() if isinstance(value, int | float))


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.id)
def test_a_log_holds_numbers_and_neither_names_of_people_nor_addresses(one: Case) -> None:
    assert any(character.isdigit() for character in one.log) or "nan" in one.log
    assert "@" not in one.log.replace("@1", "")
    assert "http" not in one.log


@pytest.mark.parametrize(
    ("change", "fact"),
    [
        (("settled: It was so.\n", ""), "a case has the fields"),
        (("settled:", "setled:"), "a case has the fields"),
        (("settled: It was so.", "settled: ''"), "are texts"),
        (("file: train.csv", "file: train.zip"), "is read as one of"),
        (("file:", "benign: true\nexpected: [learning_rate_too_high]\nfile:"), "either by a list"),
        (("file:", "expected: learning_rate_too_high\nfile:"), "either by a list"),
    ],
)
def test_a_case_that_cannot_be_meant_is_an_error_with_its_place(
    tmp_path: Path, change: tuple[str, str], fact: str
) -> None:
    path = tmp_path / "thread.yaml"
    text = TEXT.replace(*change)
    path.write_text(text if "expected" in text else text.replace("file:", "benign: true\nfile:"), encoding="utf-8")

    with pytest.raises(UsageError, match=fact) as caught:
        read_case(path)

    assert "thread.yaml" in (caught.value.place or "")


def test_a_case_without_an_outcome_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "thread.yaml"
    path.write_text(TEXT, encoding="utf-8")

    with pytest.raises(UsageError, match="either by a list"):
        read_case(path)


def test_a_folder_without_cases_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no case"):
        read_cases(tmp_path)


def test_a_settled_cause_counts_in_the_first_three_and_not_as_a_remainder() -> None:
    settled = case({"b"})

    assert Answer(settled, "finding", "", (("a", 0.5), ("c", 0.3), ("b", 0.2))).right
    assert not Answer(settled, "finding", "", (("a", 0.5), ("c", 0.3), ("d", 0.25), ("b", 0.2))).right
    assert not Answer(settled, "cannot_tell", "", (("b", 0.02),)).right
    assert Answer(settled, "cannot_tell", "", (), ("b",)).right


def test_a_benign_case_is_right_without_an_alarm() -> None:
    benign = case(set())

    assert Answer(benign, "nothing_found", "", (("a", 0.49),)).right
    assert not Answer(benign, "finding", "", (("a", 0.5),)).right


def test_the_counts_add_up() -> None:
    answers = [
        Answer(case({"a"}), "finding", "", (("a", 0.9),)),
        Answer(case({"a"}), "unreadable", ""),
        Answer(case(set()), "cannot_tell", ""),
    ]

    counts = summary(answers)

    assert (counts["settled"], counts["settled_in_first_three"], counts["settled_first"]) == (2, 1, 1)
    assert (counts["benign"], counts["benign_without_alarm"]) == (1, 1)
    assert (counts["cannot_tell"], counts["unreadable"]) == (1, 1)


def test_the_product_reads_the_posted_text_and_is_told_the_settings_only_when_they_are_known(tmp_path: Path) -> None:
    path = tmp_path / "thread.yaml"
    rows = "".join(f"  {i},{i},0.5\n" for i in range(10))
    log = f"known: {{learning_rate: 10.0}}\nlog: |\n  step,episode_reward,explained_variance\n{rows}"
    path.write_text(TEXT.split("log:")[0] + "expected: [learning_rate_too_high]\n" + log, encoding="utf-8")
    cases = read_cases(tmp_path)

    unknown, known = (dict(answer_cases(cases, None, mode)[0].said) for mode in ("unknown", "known"))

    assert known["learning_rate_too_high"] > unknown.get("learning_rate_too_high", 0.0)


def test_a_log_that_cannot_be_read_is_an_answer(tmp_path: Path) -> None:
    path = tmp_path / "thread.yaml"
    path.write_text(TEXT.split("log:")[0] + "benign: true\nlog: nothing of use\n", encoding="utf-8")

    (answer,) = answer_cases(read_cases(tmp_path), None, "unknown")

    assert answer.verdict == "unreadable"
    assert answer.reason


def test_the_script_prints_each_case_and_writes_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "thread.yaml").write_text(TEXT.replace("file:", "benign: true\nfile:"), encoding="utf-8")
    out = tmp_path / "out.json"

    assert main(["--cases", str(tmp_path), "--json", str(out)]) == 0

    printed = capsys.readouterr().out
    assert "thread" in printed
    assert "benign without a cause" in printed
    assert json.loads(out.read_text(encoding="utf-8"))["summary"]["benign"] == 1


def test_the_script_names_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--cases", str(tmp_path)]) == 2

    assert "no case" in capsys.readouterr().err
