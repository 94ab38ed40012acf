"""Mistakes in shape and mistakes in names come in one go, and a mistake in shape makes no further ones up."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from rl_diagnose.rules.library import read_book
from rl_diagnose.rules.model import AuthoredBook
from rl_diagnose.rules.salvage import salvage
from rl_diagnose.rules.yaml_loader import load_yaml

from .made import Said, Write

BODY = """\
windows: {w: {steps: {from: 0, to: 5000}}}
derive: {d: "policy.kl.w.median"}
symptoms:
  s: {title: S, base_rate: rare, derived: d, rising: {low: 0, high: 1}}
  t: {title: T, base_rate: rare, config: gamma, rising: {low: 0, high: 1}}
causes:
  a:
    title: A
    prior: 0.1
    evidence:
      - {symptom: s, seen: often}
      - {symptom: nope, seen: often}
    remedies:
      - {knob: learning_rate, summary: Turn it, set: "learning_rate / 2"}
      - {knob: learning_rat, summary: Turn it}
  b: {title: B, prior: 0.1, excludes: [a], evidence: [{symptom: t, seen: often}]}
"""
# What is wrong with BODY as it stands.
NAMES = [
    "12:19 RB021 unknown symptom 'nope'",
    "15:16 RB021 unknown knob 'learning_rat' (did you mean 'learning_rate'?)",
]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("title: S, ", "", "4:3 RB010 the field 'title' is missing"),
        ("title: S,", "title: S, severty: 2,", "4:17 RB011 unknown field 'severty' (did you mean 'severity'?)"),
        ("rising: {low: 0, high: 1}}\n  t", "rising: {low: x, high: 1}}\n  t", "4:60 RB012 'low' is not a number"),
        ("derived: d,", "derived: d, config: tau,", "4:3 RB012 give exactly one of"),
        ("prior: 0.1\n", "prior: 7\n", "9:12 RB012 'prior' is not a number below 1"),
        ("{symptom: s, seen: often}", "{symptom: s, seen: offten}", "11:28 RB012 'seen' is not"),
        ("{symptom: s, seen: often}", "{symptom: s}", "11:9 RB010 the field 'seen' is missing"),
        ("{symptom: s, seen: often}", "[1, 2]", "11:9 RB012"),
        ("{symptom: s, seen: often}", "{symptom: s, config: tau, seen: often}", "11:9 RB012 give exactly one of"),
        ('d: "policy.kl.w.median"', "d: 3", "2:13 RB012 'd' is not text"),
        ("{steps: {from: 0, to: 5000}}", "{steps: {from: 0, to: 5000}, fraction: {to: 1}}", "1:11 RB012 give exactly"),
        ("excludes: [a]", "excludes: [a, 3]", "16:43 RB012 'excludes[1]' is not text"),
        ("summary: Turn it, set", "summary: 3, set", "14:40 RB012 'summary' is not text"),
        ("windows:", "descripton: D\nwindows:", "1:1 RB011 unknown field 'descripton' (did you mean 'description'?)"),
        ("title: T,", "title: T, title: U,", "5:17 RB004 the key 'title' appears twice"),
        ("prior: 0.1, ", "prior: .nan, ", "16:24 RB006 .nan is not a finite number"),
    ],
)
def test_one_mistake_in_shape_hides_nothing_and_adds_nothing(
    write: Write, said: Said, old: str, new: str, expected: str
) -> None:
    body = BODY.replace(old, new, 1)
    assert body != BODY
    found = said(write(body))
    shift = body.split("windows:")[0].count("\n")
    names = [f"{int(name.split(':')[0]) + shift}:{name.split(':', 1)[1]}" for name in NAMES]
    assert [one for one in found if one not in names] == [one for one in found if one.startswith(expected)]
    assert len(found) == len(NAMES) + 1


def test_the_body_itself_has_only_its_two_mistakes(write: Write, said: Said) -> None:
    assert said(write(BODY)) == NAMES


def test_many_mistakes_at_once(write: Write, said: Said) -> None:
    body = BODY.replace("base_rate: rare, derived", "base_rate: seldom, derived").replace("prior: 0.1\n", "prior: 7\n")
    codes = [one.split()[1] for one in said(write(body))]
    assert codes == ["RB012", "RB012", "RB021", "RB021"]


@pytest.mark.parametrize("old", ["symptoms:", "derive:", "windows:"])
def test_where_a_whole_block_is_lost_names_are_not_complained_about(write: Write, said: Said, old: str) -> None:
    (found,) = said(write(BODY.replace(old, f"{old[:-2]}:")))
    assert " RB011 unknown field" in found


def test_a_broken_extended_book_is_reported_with_the_book_itself(write: Write, said: Said) -> None:
    write(BODY.replace("title: S, ", ""), "base.yaml")
    found = said(
        write("extends: [base.yaml]\ncauses: {c: {title: C, prior: 0.1, evidence: [{symptom: no, seen: often}]}}\n")
    )
    assert len(found) == 4
    assert "2:57 RB021 unknown symptom 'no'" in " ".join(found)


@pytest.mark.parametrize("data", [None, 3, [], "x", {"extends": 3}, {"symptomss": {}}])
def test_what_has_no_sensible_rest_is_given_up(data: object) -> None:
    assert salvage(data) is None


def test_an_empty_mapping_becomes_a_book() -> None:
    assert isinstance(salvage({}), AuthoredBook)


def test_the_data_themselves_are_left_alone(write: Write) -> None:
    path = write(BODY.replace("prior: 0.1\n", "prior: 7\n"))
    document, _ = load_yaml(Path(path))
    assert document is not None
    assert isinstance(salvage(document.data), AuthoredBook)
    assert document.data["causes"]["a"]["prior"] == 7
    merged, problems = read_book(path)
    assert merged is not None
    assert [p.code for p in problems] == ["RB012"]


def test_a_book_that_is_wrong_everywhere_is_refused_quickly(write: Write, said: Said) -> None:
    line = "  s{}: {{title: C, base_rate: 7, odd: 3, all: [3, [], {{feature: 3}}]}}\n"
    path = write("symptoms:\n" + "".join(line.format(i) for i in range(1500)))
    start = time.perf_counter()
    assert len(said(path)) == 100
    assert time.perf_counter() - start < 5.0  # half a second; minutes if each mistake asked for the schema anew
