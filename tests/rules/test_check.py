"""The check names what works but looks wrong, at its place, and only in the book that is checked."""

from __future__ import annotations

from pathlib import Path

import pytest

from rl_diagnose.errors import UsageError
from rl_diagnose.rules.check import books_below, check_book
from rl_diagnose.rules.library import BookInfo, list_books

from .made import Write

CLEAN = """\
windows: {startup: {steps: {from: 0, to: 5000}}}
derive: {room: "policy.entropy.startup.median - entropy_coef"}
symptoms:
  low: {title: Low, base_rate: rare, derived: room, falling: {low: 0, high: 1}}
  kl: {title: KL, base_rate: uncommon, feature: policy.kl.late.median, rising: {low: 0, high: 1}}
  kl_small: {title: KL, base_rate: uncommon, feature: policy.kl.late.median, falling: {low: 0, high: 1}}
  part: {title: Part, base_rate: rare, config: gamma, rising: {low: 0, high: 1}}
  both: {title: Both, base_rate: rare, all: [{symptom: part}, {not: {symptom: kl}}]}
causes:
  weak:
    title: Weak
    prior: 0.1
    excludes: [strong]
    evidence: [{symptom: low, seen: often}, {symptom: kl, seen: rarely}, {symptom: kl_small, seen: often}]
    remedies: [{knob: entropy_coef, summary: S, values: {floor: "0.001"}, patch: {sb3: "x = {value}, {floor}"}}]
    references: [Somebody]
  strong: {title: Strong, prior: 0.2, evidence: [{symptom: both, seen: often}], tell_apart: Look., references: [Me]}
  usual: {title: Usual, kind: benign, prior: 0.2, evidence: [{symptom: kl, seen: often}]}
  gone: {title: Gone, status: deprecated, replaced_by: weak, prior: 0.1}
"""


def checked(path: Path) -> list[str]:
    """line:column code message (hint); lines count from that of the body."""
    problems = check_book(path)
    assert all(p.severity == ("warning" if p.code >= "RB100" else "error") for p in problems)
    return [f"{p.line - 4}:{p.column} {p.code} {p.message}" + (f" ({p.hint})" if p.hint else "") for p in problems]


def test_a_book_in_order_has_no_problems(write: Write) -> None:
    assert checked(write(CLEAN)) == []


@pytest.mark.parametrize("book", [b.id for b in list_books() if b.origin == "built-in"])
def test_the_built_in_books_are_in_order(book: str) -> None:
    assert [p.render() for p in check_book(book)] == []


IDLE = "  ▸idle: {title: I, base_rate: rare, symptom: kl}\n"
SMALL = "kl_small: {title: KL, base_rate: uncommon, feature: policy.kl.late.median, "
DIRECT = "▸{config: gamma, rising: {low: 0, high: 1}, base_rate: rare, seen: often}"
USUAL = "  usual: {title: Usual, kind: benign, prior: 0.2, evidence: [{symptom: kl, seen: often}]}\n"
AGAIN = "  ▸again: {title: Again, kind: benign, prior: 0.1, evidence: [{symptom: kl, seen: 0.61}]}\n"
STRONG = "  strong: {title: Strong, prior: 0.2"
LINTS = [
    ("RB100 the symptom 'idle' is never used", "symptoms:\n", f"symptoms:\n{IDLE}"),
    ("RB101 the window 'later' is never used", "startup: {steps", "▸later: {steps: {from: 9}}, startup: {steps"),
    ("RB101 the derived number 'air' is never used", "room: ", "▸air: '1', room: "),
    (
        "RB102 'kl' and 'kl_small' look at the same number in the same direction",
        f"{SMALL}falling: {{low: 0",
        f"{SMALL}rising: {{low: -1",
    ),
    (
        "RB102 'part' and 'weak__3' are the same condition",
        "{symptom: kl, seen: rarely}, {symptom: kl_small, seen: often}",
        f"{{symptom: part, seen: often}}, {DIRECT}, {{symptom: kl_small, seen: often}}",
    ),
    ("RB103 no evidence speaks for 'usual'", USUAL, USUAL.replace("usual:", "▸usual:").replace("often", "rarely")),
    ("RB104 the fault 'strong' has neither a remedy nor tell_apart", "tell_apart: Look., ", ""),
    ("RB105 nothing tells 'again' and 'usual' apart: their evidence is the same", USUAL, USUAL + AGAIN),
    ("RB106 'gone' is deprecated and names no replacement", "replaced_by: weak, ", ""),
    (
        "RB107 strong, weak exclude one another, but their priors add up to 1.05",
        STRONG,
        STRONG.replace("0.2", "▸0.95"),
    ),
    ("RB108 the fault 'strong' has no reference", ", references: [Me]", ""),
    (
        "RB109 'kl' is seen with the cause (0.105) about as often as without (0.1)",
        "{symptom: kl, seen: rarely}",
        "▸{symptom: kl, seen: 0.105}",
    ),
    ("RB110 'gone' is deprecated (it is replaced by 'weak')", "[strong]", "[strong, ▸gone]"),
    (
        "RB111 nothing fills the placeholder {flor} (known are {current}, {floor}, {value})",
        "{value}, {floor}",
        "{value}, {flor}",
    ),
]


@pytest.mark.parametrize(("message", "old", "new"), LINTS, ids=[lint[0].split()[0] for lint in LINTS])
def test_what_looks_wrong_is_named(write: Write, message: str, old: str, new: str) -> None:
    """▸ stands before the place that is to be named, where it is not plain."""
    assert old in CLEAN
    marked = CLEAN.replace(old, new)
    found = checked(write(marked.replace("▸", "")))
    assert [one.split(" ", 1)[1].startswith(message) for one in found] == [True]
    if "▸" in marked:
        before = marked[: marked.index("▸")].split("\n")
        assert found[0].startswith(f"{len(before)}:{len(before[-1]) + 1} ")


def test_errors_come_instead_of_warnings(write: Write) -> None:
    body = CLEAN.replace("symptom: low", "symptom: lwo").replace("references: [Somebody]", "references: []")
    assert [found.split()[1] for found in checked(write(body))] == ["RB021"]
    assert checked(write("symptoms: 3\n")) == ["1:11 RB012 'symptoms' is not a mapping of names"]


def test_what_a_book_inherits_is_checked_where_it_is_written(write: Write) -> None:
    write(CLEAN.replace("symptoms:\n", "symptoms:\n  idle: {title: I, base_rate: rare, symptom: kl}\n"), "base.yaml")
    assert checked(write("extends: [base.yaml]\n")) == []
    again = "causes: {again: {title: A, kind: benign, prior: 0.1, evidence: [{symptom: kl, seen: often}]}}\n"
    (found,) = checked(write(f"extends: [base.yaml]\n{again}"))
    assert found.startswith("2:10 RB105 nothing tells 'again' and 'usual' apart")


def test_causes_about_different_runs_may_be_alike(write: Write) -> None:
    for algorithm, problems in (("dqn", 0), ("ppo", 1)):
        again = AGAIN.replace("▸", "").replace("kind:", f"applies_to: {{algorithm: [{algorithm}]}}, kind:")
        other = CLEAN.replace("kind: benign,", "kind: benign, applies_to: {algorithm: [ppo]},")
        assert len(checked(write(other + again))) == problems


def test_three_causes_that_all_exclude_one_another_are_one_group(write: Write) -> None:
    body = "".join(
        f"  {name}: {{title: T, prior: 0.4, kind: benign, excludes: [{others}], evidence: [{{issue: i{name}, "
        "rising: {low: 0, high: 1}, base_rate: rare, seen: often}]}\n"
        for name, others in (("a", "b, c"), ("b", "c"), ("c", "d"), ("d", ""))
    )
    (found,) = checked(write(f"causes:\n{body}"))
    assert "RB107 a, b, c exclude one another, but their priors add up to 1.2" in found


def test_an_unknown_id_is_a_usage_error() -> None:
    with pytest.raises(UsageError):
        check_book("nope")


HEAD = 'schema: rulebook/v1\nid: {}\nversion: "{}"\ntitle: T\n'


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("house/1.0.0.yaml", []),
        ("house.yaml", []),
        ("house/next.yaml", []),
        ("house/1.0.1.yaml", ["3 RB112 the version is '1.0.0', but the file is house/1.0.1.yaml"]),
        ("hut/1.0.0.yaml", ["2 RB112 the id is 'house', but the file is hut/1.0.0.yaml"]),
    ],
)
def test_a_file_in_the_place_of_a_release_must_be_that_release(tmp_path: Path, place: str, said: list[str]) -> None:
    path = tmp_path / place
    path.parent.mkdir(exist_ok=True)
    path.write_text(HEAD.format("house", "1.0.0"), "utf-8")
    assert [f"{p.line} {p.code} {p.message}" for p in check_book(path)] == said


def test_a_deprecated_book_names_its_successor_and_is_not_extended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "old.yaml"
    path.write_text(HEAD.format("old", "1.0.0") + "status: deprecated\n", "utf-8")
    assert [(p.line, p.code) for p in check_book(path)] == [(5, "RB106")]
    path.write_text(HEAD.format("old", "1.0.0") + "status: deprecated\nreplaced_by: ppo\n", "utf-8")
    assert check_book(path) == ()

    folder = tmp_path / "former"
    folder.mkdir()
    (folder / "1.0.0.yaml").write_text(
        HEAD.format("former", "1.0.0") + "status: deprecated\nreplaced_by: ppo\n", "utf-8"
    )
    books = (*list_books(), BookInfo("former", ("1.0.0",), "package house", folder))
    monkeypatch.setattr("rl_diagnose.rules.library.list_books", lambda: books)
    path.write_text(HEAD.format("old", "1.0.0") + "extends: [former]\n", "utf-8")
    (problem,) = check_book(path)
    assert (problem.line, problem.code, problem.hint) == (5, "RB110", "it is replaced by 'ppo'")


def test_a_folder_is_searched_for_books_but_not_for_their_tests(tmp_path: Path) -> None:
    for name in ("b.yaml", "a/1.0.0.yaml", "a/1.0.0.test.yaml", "notes.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert books_below(tmp_path) == [tmp_path / "a" / "1.0.0.yaml", tmp_path / "b.yaml"]
    assert books_below("ppo") == ["ppo"]
    (tmp_path / "empty").mkdir()
    for nothing in (tmp_path / "empty", "nope", "a\0b"):
        with pytest.raises(UsageError):
            books_below(nothing)
