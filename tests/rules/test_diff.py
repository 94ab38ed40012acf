"""The difference of two rulebooks: every kind of change, and the version that it asks for."""

from __future__ import annotations

from pathlib import Path

import pytest

from rl_diagnose.errors import RulebookError
from rl_diagnose.rules.diff import BookDiff, Change, diff
from rl_diagnose.rules.library import list_books

from .made import Write

BOOK = """\
title: House
requires: {engine: ">=0.1"}
windows: {opening: {fraction: {from: 0.0, to: 0.1}}}
derive: {ratio: "reward.train.max / reward.train.min"}
symptoms:
  low:
    title: Low
    base_rate: 0.1
    all:
      - {feature: reward.train.late.median, falling: {low: 10, high: 20}}
      - {not: {derived: ratio, rising: {low: 2, high: 8}, scale: log}}
  opened: {title: Opened, base_rate: rare, feature: reward.train.opening.mean, rising: {low: 1, high: 2}}
causes:
  poor:
    title: Poor
    prior: 0.1
    requires: [reward.train]
    applies_to: {algorithm: [ppo, a2c]}
    evidence:
      - {symptom: low, seen: usually}
      - {symptom: opened, seen: often, absence: ignore}
    remedies:
      - {knob: learning_rate, summary: Lower it, set: "learning_rate / 3", patch: {sb3: "model.lr = {value}"}}
  rich:
    title: Rich
    prior: 0.02
    evidence: [{symptom: opened, seen: always}]
"""
HEAD = 'schema: rulebook/v1\nid: house\nversion: "{}"\n'


def differ(write: Write, *changes: tuple[str, str], version: str = "1.0.0", was: str = "1.0.0") -> BookDiff:
    """The difference that replacing each of `changes` in the book makes."""
    new = BOOK
    for old, by in changes:
        assert old in new
        new = new.replace(old, by)
    first, second = write(name="old/house.yaml"), write(name="new/house.yaml")
    first.write_text(HEAD.format(was) + BOOK, "utf-8")
    second.write_text(HEAD.format(version) + new, "utf-8")
    return diff(first, second)


def only(found: BookDiff) -> Change:
    (change,) = found.changes
    return change


@pytest.mark.parametrize("name", [book.id for book in list_books()])
def test_a_book_does_not_differ_from_itself(name: str) -> None:
    found = diff(name, name)
    assert found.changes == ()
    assert (found.advice.bump, found.advice.enough) == ("none", True)
    assert found.advice.version == found.old.version


@pytest.mark.parametrize(
    ("old", "new", "kind", "name", "field", "bump"),
    [
        ("title: House", "title: The house", "book", "house", "title", "patch"),
        ("title: Low\n", "title: Very low\n", "symptom", "low", "title", "patch"),
        ("summary: Lower it", "summary: Reduce it", "remedy", "poor / learning_rate", "summary", "patch"),
        ("model.lr = ", "model.rate = ", "remedy", "poor / learning_rate", "patch", "patch"),
        ("learning_rate / 3", "learning_rate / 5", "remedy", "poor / learning_rate", "set", "minor"),
        ("prior: 0.02", "prior: 0.03", "cause", "rich", "prior", "minor"),
        ("low: 10, high: 20", "low: 10, high: 25", "symptom", "low", "feature reward.train.late.median", "minor"),
        ("low: 2, high: 8", "low: 2, high: 9", "symptom", "low", "derived ratio", "minor"),
        ("}, scale: log}", "}}", "symptom", "low", "derived ratio", "minor"),
        ("reward.train.late.median", "reward.train.end.median", "symptom", "low", "condition", "minor"),
        ("seen: usually", "seen: always", "evidence", "poor / low", "", "minor"),
        ("often, absence: ignore", "often", "evidence", "poor / opened", "", "minor"),
        ("to: 0.1", "to: 0.2", "window", "opening", "end", "minor"),
        ("max / reward", "mean / reward", "derive", "ratio", "value", "minor"),
        ("[ppo, a2c]", "[ppo, a2c, trpo]", "cause", "poor", "applies_to.algorithm", "minor"),
        ("[ppo, a2c]", "[ppo]", "cause", "poor", "applies_to.algorithm", "major"),
        ("[reward.train]", "[reward.train, policy.kl]", "cause", "poor", "requires", "major"),
        ("    requires: [reward.train]\n", "", "cause", "poor", "requires", "minor"),
        ("title: Rich\n", "title: Rich\n    kind: benign\n", "cause", "rich", "kind", "major"),
        ('">=0.1"', '">=0.0.1"', "book", "house", "requires.engine", "major"),
        ('requires: {engine: ">=0.1"}\n', "", "book", "house", "requires.engine", "minor"),
        ("windows: {", "applies_to: {algorithm: [ppo]}\nwindows: {", "book", "house", "applies_to.algorithm", "major"),
        ("title: House\n", "title: House\ndefault: false\n", "book", "house", "default", "major"),
        ("title: Rich\n", "title: Rich\n    status: experimental\n", "cause", "rich", "status", "minor"),
    ],
)  # fmt: skip
def test_one_change_is_found_and_asks_for_its_step(
    write: Write, old: str, new: str, kind: str, name: str, field: str, bump: str
) -> None:
    change = only(differ(write, (old, new)))
    assert (change.kind, change.name, change.field, change.bump) == (kind, name, field, bump)
    assert change.old != change.new


def test_weights_are_told_in_decibans(write: Write) -> None:
    change = only(differ(write, ("seen: usually", "seen: always")))
    assert change.old == "+9.0 dB where seen, -6.5 dB where not (0.8 against 0.1)"
    assert change.new == "+9.8 dB where seen, -12.6 dB where not (0.95 against 0.1)"
    ignoring = only(differ(write, ("often, absence: ignore", "often")))
    assert "nothing where not" in (ignoring.old or "")


def test_a_base_rate_moves_every_weight_that_rests_on_it(write: Write) -> None:
    found = differ(write, ("base_rate: rare", "base_rate: uncommon"))
    assert [(c.kind, c.name) for c in found.changes] == [
        ("symptom", "opened"),
        ("evidence", "poor / opened"),
        ("evidence", "rich / opened"),
    ]


def test_a_cause_that_is_gone_is_a_major_change_and_a_new_one_a_minor(write: Write) -> None:
    found = differ(write, ("  rich:\n", "  richer:\n"))
    assert [(c.name, c.old, c.new, c.bump) for c in found.changes] == [
        ("rich", "Rich", None, "major"),
        ("richer", None, "Rich", "minor"),
    ]
    assert found.advice.reasons == ("a cause is gone that others may name",)


def test_remedies_that_come_go_and_swap_are_minor(write: Write) -> None:
    second = "      - {knob: gamma, summary: Raise it}\n"
    first = next(line for line in BOOK.splitlines(keepends=True) if "knob: learning_rate" in line)
    new = only(differ(write, (first, first + second)))
    assert (new.name, new.old, new.new, new.bump) == ("poor / gamma", None, "Raise it", "minor")
    twice = only(differ(write, (first, first + "      - {knob: learning_rate, summary: Or anneal it}\n")))
    assert twice.name == "poor / learning_rate #2"


@pytest.mark.parametrize(
    ("was", "change", "wanted"),
    [
        ("1.2.3", ("title: House", "title: The house"), "1.2.4"),
        ("1.2.3", ("prior: 0.02", "prior: 0.03"), "1.3.0"),
        ("1.2.3", ("  rich:\n", "  richer:\n"), "2.0.0"),
        ("0.2.3", ("  rich:\n", "  richer:\n"), "0.3.0"),
    ],
)
def test_the_advised_version_is_the_next_of_its_step(
    write: Write, was: str, change: tuple[str, str], wanted: str
) -> None:
    same = differ(write, change, was=was, version=was).advice
    assert (same.version, same.enough) == (wanted, False)
    assert differ(write, change, was=was, version=wanted).advice.enough


def test_a_step_larger_than_needed_is_enough(write: Write) -> None:
    assert differ(write, ("title: House", "title: The house"), version="2.0.0").advice.enough


def test_another_version_alone_is_no_change(write: Write) -> None:
    found = differ(write, version="1.0.1")
    assert found.changes == ()
    assert found.advice.enough


def test_changes_that_come_in_through_an_extended_book_count(write: Write) -> None:
    child = "extends: [base.yaml]\ncauses:\n  own: {title: Own, prior: 0.1, evidence: [{symptom: low, seen: often}]}\n"
    for place in ("old", "new"):
        base = BOOK if place == "old" else BOOK.replace("prior: 0.02", "prior: 0.04")
        write(name=f"{place}/base.yaml").write_text(HEAD.format("1.0.0").replace("house", "base") + base, "utf-8")
        write(child, name=f"{place}/house.yaml")
    folder = Path(write(name="x.yaml")).parent
    change = only(diff(folder / "old" / "house.yaml", folder / "new" / "house.yaml"))
    assert (change.name, change.field) == ("rich", "prior")
    assert (change.old, change.new) == ("0.02 (-16.9 dB)", "0.04 (-13.8 dB)")


def test_an_invalid_book_is_refused_with_its_problems(write: Write) -> None:
    good, bad = write(name="good.yaml"), write("nonsense: 1\n", name="bad.yaml")
    with pytest.raises(RulebookError, match="nonsense"):
        diff(good, bad)
