"""`rules test` as a user meets it."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Done

Command = Callable[..., Done]
BOOK = """\
schema: rulebook/v1
id: house
title: House
version: "1.0.0"
symptoms:
  low: {title: Low, base_rate: uncommon, feature: reward.train.median, falling: {low: 10, high: 20}}
causes:
  poor: {title: Poor, prior: 0.3, requires: [reward.train], evidence: [{symptom: low, seen: always}]}
"""
FOUND = '  - {name: found, series: {reward.train: "5x40"}, expect: [{cause: poor}]}\n'
NEAR = '  - {name: near, series: {reward.train: "25x40"}, reject: [{cause: poor, at_most: 0.1}]}\n'
BLIND = '  - {name: blind, series: {policy.kl: "0.01x40"}, not_assessable: [poor]}\n'
WRONG = '  - {name: wrong, series: {reward.train: "25x40"}, expect: [{cause: poor, at_least: 0.9}]}\n'
GAP = '  - {name: gap, todo: "not yet", series: {reward.train: "25x40"}, expect: [{cause: poor}]}\n'
OLD_GAP = '  - {name: old gap, todo: "not yet", series: {reward.train: "5x40"}, expect: [{cause: poor}]}\n'


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Write the book and these tests of it into the working folder."""
    monkeypatch.chdir(tmp_path)

    def make(*tests: str) -> None:
        Path("house.yaml").write_text(BOOK, "utf-8")
        Path("house.test.yaml").write_text("tests:\n" + "".join(tests), "utf-8")

    return make


def test_passing_tests_are_counted(command: Command, write: Callable[..., None]) -> None:
    write(FOUND, NEAR, BLIND, GAP)
    done = command("rules", "test", "house.yaml")
    assert done.code == 0
    assert done.out.splitlines()[-1] == "4 tests: 3 ok, 1 todo"
    assert "not yet" in done.out


def test_a_failing_test_shows_place_expectation_and_ledger(command: Command, write: Callable[..., None]) -> None:
    write(FOUND, WRONG)
    done = command("rules", "test", "house.yaml")
    assert done.code == 1
    assert "FAIL  wrong  house.test.yaml:3" in done.out
    assert ", at least 0.9 was expected" in done.out
    ledger = done.out[done.out.index("at least 0.9") :]
    assert "Before any evidence" in ledger
    assert "reward.train.median = 25" in ledger
    assert " dB" in ledger
    assert "found" not in done.out


def test_a_known_gap_that_passes_fails(command: Command, write: Callable[..., None]) -> None:
    write(OLD_GAP)
    done = command("rules", "test", "house.yaml")
    assert done.code == 1
    assert "todo passes  old gap" in done.out


def test_a_glob_chooses_tests(command: Command, write: Callable[..., None]) -> None:
    write(FOUND, WRONG)
    assert command("rules", "test", "house.yaml", "--run", "f*").code == 0
    nothing = command("rules", "test", "house.yaml", "--run", "zzz")
    assert nothing.code == 2
    assert "zzz" in nothing.err


def test_strict_fails_where_a_cause_lacks_a_kind_of_test(command: Command, write: Callable[..., None]) -> None:
    write(FOUND, NEAR)
    assert command("rules", "test", "house.yaml").code == 0
    done = command("rules", "test", "house.yaml", "--strict", "--verbose")
    assert done.code == 1
    assert "poor: one without its signals" in done.out
    write(FOUND, NEAR, BLIND)
    assert command("rules", "test", "house.yaml", "--strict").code == 0


def test_json_has_outcomes_and_ledgers(command: Command, write: Callable[..., None]) -> None:
    write(FOUND, WRONG, GAP)
    done = command("rules", "test", "house.yaml", "--format", "json")
    document = json.loads(done.out)
    assert (done.code, document["schema"]) == (1, "rl-diagnose/rule-tests/v1")
    (book,) = document["books"]
    assert [result["outcome"] for result in book["results"]] == ["passed", "failed", "todo"]
    assert book["results"][1]["failures"][0]["ledger"]["cause"] == "poor"
    assert book["uncovered"] == [["poor", ["reject", "not_assessable"]]]


def test_junit_has_a_case_for_every_test(command: Command, write: Callable[..., None]) -> None:
    write(FOUND, WRONG, GAP)
    done = command("rules", "test", "house.yaml", "--format", "junit")
    assert done.code == 1
    cases = ET.fromstring(done.out).findall("testsuite/testcase")  # noqa: S314 - our own output
    assert [(case.get("name"), [child.tag for child in case]) for case in cases] == [
        ("found", []),
        ("wrong", ["failure"]),
        ("gap", ["skipped"]),
    ]


def test_a_mistake_in_a_test_file_is_shown_at_its_place(command: Command, write: Callable[..., None]) -> None:
    write(FOUND.replace("poor", "pore"), NEAR.replace("25x40", "25xx40"))
    done = command("rules", "test", "house.yaml")
    assert done.code == 3
    assert "house.test.yaml:2:68: error[RB021]: the book has no cause 'pore'" in done.err
    assert "did you mean 'poor'?" in done.err
    assert "house.test.yaml:3:42: error[RB012]" in done.err


def test_a_book_that_is_invalid_is_refused(command: Command, write: Callable[..., None]) -> None:
    write(FOUND)
    Path("house.yaml").write_text(BOOK + "nonsense: 1\n", "utf-8")
    done = command("rules", "test", "house.yaml")
    assert done.code == 3
    assert "nonsense" in done.err


@pytest.mark.usefixtures("write")
def test_a_book_without_tests_is_said(command: Command) -> None:
    Path("house.yaml").write_text(BOOK, "utf-8")
    done = command("rules", "test", "house.yaml")
    assert done.code == 2
    assert "house.test.yaml" in done.err


def test_the_schema_of_test_files_is_the_published_one(command: Command) -> None:
    published = Path(__file__).resolve().parents[2] / "docs" / "schema" / "rulebook-test-v1.schema.json"
    assert command("rules", "schema", "test").out == published.read_text("utf-8")


def test_a_test_file_cannot_steer_the_terminal(command: Command, write: Callable[..., None]) -> None:
    write(WRONG.replace("name: wrong", 'name: "\\e[31mred [bold]\\u202e"'))
    done = command("rules", "test", "house.yaml")
    assert done.code == 1
    assert "red [bold]" in done.out
    assert "\x1b" not in done.out
    assert "\u202e" not in done.out
