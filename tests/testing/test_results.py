"""Running the tests of a book: outcomes, ledgers, what is not covered, and files that are wrong."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from rl_diagnose.errors import RulebookError
from rl_diagnose.report.rule_tests import to_json, to_junit
from rl_diagnose.rules.library import list_books, load_book
from rl_diagnose.testing.model import schema_of_tests
from rl_diagnose.testing.read import file_beside
from rl_diagnose.testing.results import BookResults, run_tests

ROOT = Path(__file__).resolve().parents[2]
BOOK = """\
schema: rulebook/v1
id: house
title: The house rules
version: "1.0.0"
applies_to: {algorithm: [ppo, a2c]}
symptoms:
  low:
    title: The return is low
    feature: reward.train.median
    falling: {low: 10.0, high: 20.0}
    base_rate: common
causes:
  too_low:
    title: Too low
    prior: 0.2
    requires: [reward.train]
    evidence: [{symptom: low, seen: always}]
"""
TESTS = """\
tests:
  - name: found
    series: {reward.train: "5x40"}
    expect: [{cause: too_low, at_least: 0.4}]
  - name: near miss
    series: {reward.train: "25x40"}
    reject: [{cause: too_low, at_most: 0.1}]
  - name: wrong on purpose
    series: {reward.train: "25x40"}
    expect: [{cause: too_low}]
  - name: known gap
    todo: not yet
    series: {reward.train: "25x40"}
    expect: [{cause: too_low}]
  - name: gap that is none any more
    todo: not yet
    series: {reward.train: "5x40"}
    expect: [{cause: too_low, at_least: 0.4}]
  - name: without its signal
    series: {policy.kl: "0.1x40"}
    not_assessable: [too_low]
"""


def results(folder: Path, tests: str = TESTS, only: str = "*") -> BookResults:
    (folder / "house.yaml").write_text(BOOK, "utf-8")
    (folder / "house.test.yaml").write_text(tests, "utf-8")
    return run_tests(load_book(folder / "house.yaml"), file_beside(folder / "house.yaml"), only)


def test_each_test_has_its_outcome(tmp_path: Path) -> None:
    found = {result.name: result.outcome for result in results(tmp_path).results}
    assert found == {
        "found": "passed", "near miss": "passed", "wrong on purpose": "failed", "known gap": "todo",
        "gap that is none any more": "todo_passes", "without its signal": "passed",
    }  # fmt: skip


def test_a_failing_test_shows_the_ledger_of_its_cause(tmp_path: Path) -> None:
    (failed,) = results(tmp_path, only="wrong*").results
    (failure,) = failed.failures
    assert "too_low is" in failure.message
    assert failure.ledger is not None
    assert failure.ledger.lines[0].symptom == "low"
    assert failure.ledger.probability is not None
    assert failed.place.endswith("house.test.yaml:8")


def test_causes_that_lack_a_kind_of_test_are_listed(tmp_path: Path) -> None:
    assert results(tmp_path).uncovered == ()
    only_one = TESTS[: TESTS.index("  - name: near miss")]
    assert results(tmp_path, only_one).uncovered == (("too_low", ("reject", "not_assessable")),)


def test_json_and_junit_hold_all_results(tmp_path: Path) -> None:
    found = results(tmp_path)
    assert [r["outcome"] for r in json.loads(to_json([found]))["books"][0]["results"]].count("passed") == 3
    suite = ET.fromstring(to_junit([found])).find("testsuite")  # noqa: S314 - our own output
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("6", "2", "1")


def test_a_log_below_the_folder_is_read(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "a.csv").write_text("step,reward\n" + "".join(f"{i},5\n" for i in range(40)), "utf-8")
    tests = "tests:\n  - {name: recorded, log: logs/a.csv, expect: [{cause: too_low, at_least: 0.4}]}\n"
    assert [result.outcome for result in results(tmp_path, tests).results] == ["passed"]


@pytest.mark.parametrize(
    ("old", "new", "line", "fact"),
    [
        ("cause: too_low, at_least: 0.4", "cause: too_lo", 4, "no cause 'too_lo'"),
        ("reward.train", "reward.trian", 3, "'reward.trian' is no signal"),
        ('"5x40"', '"5y40"', 3, "'5y40' is no item"),
        ("    expect: [{cause: too_low, at_least: 0.4}]\n", "", 2, "expects nothing"),
        ('    series: {reward.train: "5x40"}\n', "", 2, "either series or a log"),
        ("at_least: 0.4", "at_leest: 0.4", 4, "at_leest"),
        ("at_least: 0.4", "at_least: 4", 4, "at most 1"),
        ("name: near miss", "name: found", 5, "two tests are called 'found'"),
        ('series: {reward.train: "5x40"}', "log: ../../etc/passwd", 3, "below the folder"),
        ('series: {reward.train: "5x40"}', "log: absent.csv", 3, "there is no 'absent.csv'"),
        ('"5x40"}\n', '"5x40"}\n    config: {clip_rang: 0.2}\n', 4, "'clip_rang' is no hyper-parameter"),
        ('"5x40"}\n', '"5x40"}\n    action_space: discrete\n', 4, "'discrete' is no action space"),
        ('"5x40"}\n', '"5x40"}\n    algorithm: sac\n', 4, "the book is not about the algorithm 'sac'"),
        ('reward.train: "5x40"', 'policy.kl_scaled: "1x40"', 3, "'policy.kl_scaled' is not logged but computed"),
    ],
)
def test_a_mistake_in_a_test_file_is_reported_at_its_line(
    tmp_path: Path, old: str, new: str, line: int, fact: str
) -> None:
    with pytest.raises(RulebookError) as caught:
        results(tmp_path, TESTS.replace(old, new, 1))
    found = [(problem.line, problem.message) for problem in caught.value.problems]
    assert any(at == line and fact in message for at, message in found), found


def test_mistakes_of_shape_do_not_hide_other_mistakes(tmp_path: Path) -> None:
    wrong = TESTS.replace("at_least: 0.4", "at_leest: 0.4", 1).replace('"25x40"', '"25y40"', 1)
    with pytest.raises(RulebookError) as caught:
        results(tmp_path, wrong.replace("not_assessable: [too_low]", "not_assessable: [too_slow]"))
    assert [(problem.line, problem.code) for problem in caught.value.problems] == [
        (4, "RB011"),
        (6, "RB012"),
        (21, "RB021"),
    ]


def test_a_mistake_in_a_curve_is_reported_at_its_column(tmp_path: Path) -> None:
    with pytest.raises(RulebookError) as caught:
        results(tmp_path, TESTS.replace('"5x40"', '"5x40 5y40"', 1))
    (problem,) = caught.value.problems
    assert problem.snippet[problem.column - 1 :].startswith("5y40")


def test_a_file_with_too_many_points_is_refused(tmp_path: Path) -> None:
    many = "".join(
        f'  - {{name: t{i}, series: {{reward.train: "1x10000"}}, reject: [{{cause: too_low}}]}}\n' for i in range(101)
    )
    with pytest.raises(RulebookError) as caught:
        results(tmp_path, "tests:\n" + many)
    assert [problem.code for problem in caught.value.problems] == ["RB002"]


def test_a_gap_may_be_marked_without_a_reason(tmp_path: Path) -> None:
    (gap,) = results(tmp_path, TESTS.replace("todo: not yet", "todo: true"), "known gap").results
    assert (gap.outcome, gap.todo) == ("todo", "a known gap")
    (open_,) = results(tmp_path, TESTS.replace("todo: not yet", "todo: false"), "known gap").results
    assert open_.outcome == "failed"


def test_an_issue_of_the_log_can_be_said(tmp_path: Path) -> None:
    issue = "{issue: resumed, rising: {low: 0, high: 1}}"
    book = BOOK.replace(
        "    feature: reward.train.median\n    falling: {low: 10.0, high: 20.0}\n", f"    all: [{issue}]\n"
    )
    (tmp_path / "house.yaml").write_text(book, "utf-8")
    expected = "expect: [{cause: too_low, at_least: 0.4}]"
    said = f'tests:\n  - {{name: a, series: {{reward.train: "1x40"}}, issues: [resumed], {expected}}}\n'
    silent = said.replace(" issues: [resumed],", "")
    for text, outcome in ((said, "passed"), (silent, "failed")):
        (tmp_path / "house.test.yaml").write_text(text, "utf-8")
        found = run_tests(load_book(tmp_path / "house.yaml"), tmp_path / "house.test.yaml")
        assert [result.outcome for result in found.results] == [outcome]


def test_a_cause_that_is_not_about_the_run_is_not_called_not_assessable(tmp_path: Path) -> None:
    (tmp_path / "house.yaml").write_text(BOOK + "    applies_to: {algorithm: [a2c]}\n", "utf-8")
    text = 'tests:\n  - {name: a, algorithm: ppo, series: {policy.kl: "1x40"}, not_assessable: [too_low]}\n'
    (tmp_path / "house.test.yaml").write_text(text, "utf-8")
    (result,) = run_tests(load_book(tmp_path / "house.yaml"), tmp_path / "house.test.yaml").results
    assert [failure.message for failure in result.failures] == [
        "too_low is not about such a run, not_assessable was expected"
    ]


@pytest.mark.parametrize("name", [book.id for book in list_books() if file_beside(book.latest).is_file()])
def test_the_built_in_books_pass_their_tests(name: str) -> None:
    book = next(one for one in list_books() if one.id == name)
    found = run_tests(load_book(name), file_beside(book.latest))
    bad = [result for result in found.results if result.outcome not in {"passed", "todo"}]
    assert [(result.name, [failure.message for failure in result.failures]) for result in bad] == []


def test_the_published_schema_of_test_files_is_current() -> None:
    published = (ROOT / "docs" / "schema" / "rulebook-test-v1.schema.json").read_text("utf-8")
    assert published == schema_of_tests()
