"""`extends` brings entries in, `override` changes them key by key, and nothing is replaced by accident."""

from __future__ import annotations

from pathlib import Path

import pytest

from rl_diagnose.errors import RulebookError
from rl_diagnose.rules.book import Book, Link
from rl_diagnose.rules.library import load_book, read_book

from .made import Said, Write

BASE = """\
windows: {startup: {steps: {from: 0, to: 5000}}}
derive: {room: "policy.entropy.startup.median - entropy_coef"}
symptoms:
  s: {title: S, base_rate: rare, derived: room, rising: {low: 0, high: 1}}
  t: {title: T, base_rate: rare, config: gamma, rising: {low: 0, high: 1}}
  u: {title: U, base_rate: rare, all: [{symptom: t}, {config: tau, rising: {low: 0, high: 1}}]}
causes:
  a:
    title: A
    prior: 0.1
    requires: [policy.kl]
    excludes: [b]
    evidence: [{symptom: s, seen: often}, {symptom: t, seen: often}]
  b: {title: B, prior: 0.2, evidence: [{symptom: u, seen: often}]}
"""


@pytest.fixture
def base(write: Write) -> Path:
    return write(BASE, "base.yaml")


def child(write: Write, body: str) -> Book:
    return load_book(write(f"extends: [base.yaml]\n{body}"))


def causes(book: Book) -> dict[str, tuple[float, tuple[str, ...]]]:
    return {c.id: (c.prior, tuple(link.symptom for link in c.links)) for c in book.causes}


def test_a_book_has_everything_of_the_books_it_extends(base: Path, write: Write) -> None:
    book = child(write, "causes:\n  c: {title: C, prior: 0.3, excludes: [a], evidence: [{symptom: s, seen: often}]}\n")
    assert causes(book) == {"a": (0.1, ("s", "t")), "b": (0.2, ("u",)), "c": (0.3, ("s",))}
    assert [s.id for s in book.symptoms] == ["s", "t", "u"]
    assert [w.name for w in book.windows] == ["startup"]
    assert book.derived == load_book(base).derived
    assert (book.id, book.extends) == ("house", ("base.yaml",))


@pytest.mark.usefixtures("base")
def test_a_key_of_an_inherited_entry_can_be_replaced_and_a_list_appended_to(write: Write) -> None:
    book = child(
        write,
        "override:\n"
        "  symptoms: {t: {base_rate: {replace: common}, rising: {replace: {low: 2, high: 3}}}}\n"
        "  causes:\n"
        "    a: {prior: {replace: 0.4}, evidence: {append: [{symptom: u, seen: rarely}]}}\n"
        "    b: {evidence: {replace: [{symptom: t, seen: 0.5}]}, references: {append: [Me]}}\n",
    )
    assert causes(book) == {"a": (0.4, ("s", "t", "u")), "b": (0.2, ("t",))}
    assert book.causes[1].links == (Link("t", 0.5),)
    assert book.causes[1].references == ("Me",)
    symptom = next(s for s in book.symptoms if s.id == "t")
    assert (symptom.base_rate, symptom.title) == (0.3, "T")
    assert book.causes[0].requires == ("policy.kl",)


@pytest.mark.usefixtures("base")
def test_a_cause_that_is_off_is_gone_also_from_what_others_exclude(write: Write) -> None:
    book = child(write, "override: {causes: {b: off}}\n")
    assert causes(book) == {"a": (0.1, ("s", "t"))}
    assert book.causes[0].excludes == ()


@pytest.mark.usefixtures("base")
def test_a_symptom_that_is_off_is_gone_from_the_evidence(write: Write) -> None:
    book = child(write, "override: {symptoms: {s: off}}\n")
    assert causes(book) == {"a": (0.1, ("t",)), "b": (0.2, ("u",))}


@pytest.mark.usefixtures("base")
def test_a_symptom_that_another_is_made_of_cannot_be_off(write: Write, said: Said) -> None:
    assert said(write("extends: [base.yaml]\noverride: {symptoms: {t: off}}\n")) == [
        "6:50 RB021 the symptom 't' is switched off, but another symptom is made of it (override that one, too)"
    ]


@pytest.mark.usefixtures("base")
def test_overrides_go_on_through_a_chain_of_books(write: Write) -> None:
    write("extends: [base.yaml]\noverride: {causes: {a: {prior: {replace: 0.4}}}}\n", "middle.yaml")
    book = load_book(
        write("extends: [middle.yaml]\noverride: {causes: {a: {evidence: {append: [{symptom: u, seen: often}]}}}}\n")
    )
    assert causes(book)["a"] == (0.4, ("s", "t", "u"))


@pytest.mark.usefixtures("base")
def test_a_book_that_comes_along_two_ways_comes_once(write: Write) -> None:
    for name in ("left", "right"):
        write(f"extends: [base.yaml]\ncauses: {{{name}: {{title: L, prior: 0.1}}}}\n", f"{name}.yaml")
    book = load_book(write("extends: [left.yaml, right.yaml]\n"))
    assert sorted(causes(book)) == ["a", "b", "left", "right"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            "override: {causes: {xyz: {prior: {replace: 0.4}}}}\n",
            "2:21 RB032 override: 'xyz' does not exist in an extended book",
        ),
        ("override: {symptoms: {a: off}}\n", "2:23 RB032 override: 'a' does not exist in an extended book"),
        (
            "causes: {c: {title: C, prior: 0.1}}\noverride: {causes: {c: off}}\n",
            "3:21 RB032 override: 'c' is this book's own (change it where it is defined)",
        ),
        (
            "override: {causes: {a: {prior: {append: [1]}}}}\n",
            "2:25 RB032 'prior' is no list that could be appended to (use replace)",
        ),
        ("override: {causes: {a: {prior: {replace: 2}}}}\n", "2:42 RB012 'prior' is not a number below 1"),
        (
            "override: {causes: {a: {evidense: {append: [{symptom: u, seen: often}]}}}}\n",
            "2:25 RB011 unknown field 'evidense' (did you mean 'evidence'?)",
        ),
        (
            "override: {causes: {a: {evidence: {append: [{symptom: x, seen: often}]}}}}\n",
            "2:55 RB021 unknown symptom 'x'",
        ),
        (
            "override: {causes: {a: {evidence: {append: [{symptom: s, seen: often}]}}}}\n",
            "2:55 RB025 's' is evidence twice (keep one of them)",
        ),
    ],
)
def test_an_override_that_cannot_be_meant_is_refused(
    base: Path, write: Write, said: Said, body: str, expected: str
) -> None:
    assert said(write(f"extends: [{base.name}]\n{body}")) == [expected]


def test_a_near_miss_of_an_inherited_name_is_recognised(base: Path, write: Write, said: Said) -> None:
    write("causes: {reward_loophole: {title: R, prior: 0.1}}\n", "more.yaml")
    (found,) = said(write(f"extends: [{base.name}, more.yaml]\noverride: {{causes: {{reward_lophole: off}}}}\n"))
    assert found.endswith("(did you mean 'reward_loophole'?)")


@pytest.mark.parametrize(
    "body",
    [
        "causes: {a: {title: A, prior: 0.1}}\n",
        "symptoms: {s: {title: S, base_rate: rare, issue: restart, rising: {low: 0, high: 1}}}\n",
        "derive: {room: '1'}\n",
        "windows: {startup: {steps: {from: 1}}}\n",
    ],
)
def test_an_inherited_name_is_not_defined_again_by_accident(base: Path, write: Write, said: Said, body: str) -> None:
    (found,) = said(write(f"extends: [base.yaml]\n{body}"))
    assert "RB032" in found
    assert f"is defined by an extended book already ({base})" in found


@pytest.mark.usefixtures("base")
def test_two_extended_books_with_the_same_name_are_refused(write: Write, said: Said) -> None:
    write("causes: {a: {title: A, prior: 0.1}}\n", "other.yaml")
    (found,) = said(write("extends: [base.yaml, other.yaml]\n"))
    assert "RB032 'a' (causes) comes from two of the extended books" in found


def test_mistakes_of_an_extended_book_are_named_in_its_file(write: Write) -> None:
    path = write("causes: {a: {title: A, prior: 0.1, requires: [x]}}\n", "base.yaml")
    with pytest.raises(RulebookError) as caught:
        load_book(write("extends: [base.yaml]\ncauses: {c: {title: C, prior: 0.1, requires: [y]}}\n"))
    assert [(Path(p.file).name, p.line) for p in caught.value.problems] == [("base.yaml", 5), ("house.yaml", 6)]
    assert str(path) in str(caught.value)


# -- the place of what was changed -------------------------------------------------------------------------------------


@pytest.mark.usefixtures("base")
def test_each_part_of_a_changed_entry_knows_where_it_was_written(write: Write) -> None:
    house = write(
        "extends: [base.yaml]\n"
        "override:\n"
        "  causes:\n"
        "    a:\n"
        "      prior: {replace: 0.4}\n"
        "      evidence: {append: [{symptom: u, seen: rarely}]}\n"
        "      references: {append: [Me]}\n"
    )
    merged, problems = read_book(house)
    assert merged is not None
    assert problems == []
    item = merged.causes["a"]

    def place(*path: str | int) -> tuple[str, int]:
        problem = item.problem("RB012", "here", path)
        return Path(problem.file).name, problem.line - 4

    assert place("title") == ("base.yaml", 9)
    assert place("prior") == ("house.yaml", 5)
    assert place("evidence", 0, "seen") == ("base.yaml", 13)
    assert place("evidence", 2, "seen") == ("house.yaml", 6)
    assert place("references", 0) == ("house.yaml", 7)
    assert place() == ("house.yaml", 4)


def test_a_second_override_keeps_the_places_of_the_first(base: Path, write: Write) -> None:
    change = "override: {causes: {a: {evidence: {append: [{symptom: %s, seen: rarely}]}}}}\n"
    write(f"extends: [{base.name}]\n" + change % "u", "middle.yaml")
    merged, _ = read_book(
        write("extends: [middle.yaml]\nsymptoms: {v: {title: V, base_rate: rare, symptom: s}}\n" + change % "v")
    )
    assert merged is not None
    files = [Path(merged.causes["a"].place(("evidence", i))[0].file).name for i in range(4)]
    assert files == ["base.yaml", "base.yaml", "middle.yaml", "house.yaml"]


@pytest.mark.usefixtures("base")
def test_windows_and_derived_numbers_are_replaced_whole(write: Write) -> None:
    book = child(
        write,
        "override:\n"
        "  windows: {startup: {replace: {steps: {from: 0, to: 9}}}}\n"
        "  derive: {room: {replace: 'policy.entropy.startup.max'}}\n",
    )
    assert book.windows[0].end == 9
    assert book.derived == (("room", "policy.entropy.startup.max"),)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            "override: {windows: {startap: {replace: {steps: {to: 9}}}}}\n",
            "2:22 RB032 override: 'startap' does not exist",
        ),
        ("override: {derive: {roam: {replace: '1'}}}\n", "2:21 RB032 override: 'roam' does not exist"),
        ("override: {derive: {room: {replace: '1 +'}}}\n", "2:38 RB022"),
        ("override: {windows: {startup: off}}\n", "2:31 RB012"),
    ],
)
def test_a_window_or_derived_number_that_cannot_be_replaced_is_a_problem(
    base: Path, write: Write, said: Said, body: str, expected: str
) -> None:
    (problem,) = said(write(f"extends: [{base.name}]\n{body}"))
    assert problem.startswith(expected)


@pytest.mark.usefixtures("base")
def test_the_causes_that_an_experimental_book_writes_are_experimental(write: Write) -> None:
    book = child(
        write,
        "status: experimental\ncauses:\n  c: {title: C, prior: 0.1}\n  d: {title: D, prior: 0.1, status: stable}\n",
    )
    assert {c.id: c.status for c in book.causes} == {"a": "stable", "b": "stable", "c": "experimental", "d": "stable"}
