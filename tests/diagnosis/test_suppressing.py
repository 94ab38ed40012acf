"""A suppressed finding stays, marked and counted, but nothing rests on it; a suppression that does nothing says so."""

from __future__ import annotations

import datetime as dt
import time
from dataclasses import replace
from pathlib import Path

import pytest

from rl_diagnose.diagnosis.model import CauseFinding, Suppressed
from rl_diagnose.diagnosis.pipeline import diagnose
from rl_diagnose.diagnosis.suppressing import suppress, suppression_notes
from rl_diagnose.project import Suppression
from rl_diagnose.report.json_report import to_document
from rl_diagnose.report.markdown import to_markdown
from rl_diagnose.report.notebook import to_html
from rl_diagnose.report.terminal import to_text
from rl_diagnose.rules.book import Book, Cause
from rl_diagnose.rules.library import load_book
from rl_diagnose.signals.run import Run

from .books import BOOK

TODAY = dt.date(2027, 3, 1)
EXAMPLE = Path(__file__).parents[2] / "examples" / "collapsed-ppo"
FAULT = CauseFinding("bonus_weak", "book", "A fault", "fault", 0.7, True, 1.0, "assessed", 0.1, ())
ACCEPTED = Suppression("bonus_weak", "known")


def run(name: str = "sweep-3/seed1", path: str = "runs/sweep-3/seed1") -> Run:
    return Run(name, path, "sb3", {})


def marked(suppression: Suppression, one: Run | None = None, books: tuple[Book, ...] = (BOOK,)) -> Suppressed | None:
    return suppress([FAULT], one or run(), books, [suppression], TODAY)[0].suppressed


def with_causes(*causes: Cause) -> Book:
    return replace(BOOK, causes=(*BOOK.causes, *causes))


def test_a_finding_is_marked_with_the_reason_the_runs_and_the_last_day() -> None:
    one = Suppression("bonus_weak", "frozen on purpose", "sweep-3/*", TODAY)
    assert marked(one) == Suppressed("frozen on purpose", "sweep-3/*", "2027-03-01")


def test_it_counts_up_to_its_last_day() -> None:
    assert marked(replace(ACCEPTED, expires=TODAY))
    assert marked(replace(ACCEPTED, expires=TODAY - dt.timedelta(days=1))) is None


def test_an_expired_one_leaves_room_for_another() -> None:
    expired = replace(ACCEPTED, reason="old", expires=dt.date(2026, 1, 1))
    found = suppress([FAULT], run(), [BOOK], [expired, ACCEPTED], TODAY)[0].suppressed
    assert found is not None
    assert found.reason == "known"


def test_other_causes_and_what_is_no_fault_stay_as_they_are() -> None:
    assert marked(Suppression("reward_loophole", "known")) is None
    benign = replace(FAULT, kind="benign")
    assert suppress([benign], run(), [BOOK], [ACCEPTED], TODAY) == [benign]


@pytest.mark.parametrize(
    ("glob", "fits"),
    [
        ("*", True),
        ("sweep-3/*", True),
        ("sweep-*", True),
        ("*/seed[12]", True),
        ("seed1", True),  # the last part of the path, which is the id when this run alone is asked for
        ("runs/sweep-3/seed?", True),
        ("sweep-4/*", False),
        ("seed", False),
        ("Sweep-3/*", False),
        ("*/sweep-3", False),
        ("[", False),
        ("/sweep-3/*", False),
    ],
)
def test_the_glob_is_over_the_id_and_the_end_of_the_path(glob: str, fits: bool) -> None:
    assert bool(marked(replace(ACCEPTED, runs=glob))) == fits


def test_a_run_fits_from_wherever_it_is_looked_at() -> None:
    one = replace(ACCEPTED, runs="sweep-3/*")
    assert marked(one, run("seed1", "runs/sweep-3/seed1"))
    assert marked(one, run("runs/sweep-3/seed1", "runs/sweep-3/seed1")) is not None
    assert marked(one, run("seed1", "runs/sweep-30/seed1")) is None


@pytest.mark.parametrize(
    "glob", ["*a" * 450 + "b", "?*" * 450 + "b", "[a-" * 300, "[!a]*" * 200, "/".join(["*a" * 9 + "b"] * 50)]
)
def test_a_glob_that_would_make_a_pattern_backtrack_is_quick(glob: str) -> None:
    one = run("a" * 5000, "/".join(["a" * 100] * 50))
    start = time.perf_counter()
    assert marked(replace(ACCEPTED, runs=glob), one) is None
    assert time.perf_counter() - start < 1.0


def test_a_glob_of_megabytes_is_not_even_tried_and_that_is_said() -> None:
    one = replace(ACCEPTED, runs="*" * 2_000_000)
    start = time.perf_counter()
    assert marked(one) is None
    (note,) = suppression_notes([BOOK], [one], TODAY)
    assert "longer than 1000 characters" in note
    assert len(note) < 300
    assert time.perf_counter() - start < 0.5


def test_the_name_of_a_deprecated_cause_stands_for_the_one_that_replaced_it() -> None:
    old = Cause("weak_bonus", "Old name", 0.1, (), status="deprecated", replaced_by="older_bonus")
    older = Cause("older_bonus", "Older name", 0.1, (), status="deprecated", replaced_by="bonus_weak")
    book = with_causes(old, older)
    assert marked(Suppression("weak_bonus", "known"), books=(book,))
    (note,) = suppression_notes([book], [Suppression("weak_bonus", "known")], TODAY)
    assert "now stands for 'bonus_weak'" in note


def test_deprecated_causes_that_name_one_another_do_not_hang() -> None:
    first = Cause("a", "A", 0.1, (), status="deprecated", replaced_by="b")
    second = Cause("b", "B", 0.1, (), status="deprecated", replaced_by="a")
    assert marked(Suppression("a", "known"), books=(with_causes(first, second),)) is None


@pytest.mark.parametrize(
    ("suppression", "words"),
    [
        (Suppression("bonus_weka", "r"), "no rulebook has such a cause (did you mean 'bonus_weak'?)"),
        (Suppression("zzzzzzzzz", "r", "a/*"), "in runs 'a/*' has no effect: no rulebook has such a cause"),
        (replace(ACCEPTED, expires=dt.date(2027, 2, 28)), "expired on 2027-02-28: its findings count again"),
        (Suppression("rests", "r"), "has no effect: this cause is no fault"),
    ],
)
def test_a_suppression_that_does_nothing_says_so(suppression: Suppression, words: str) -> None:
    book = with_causes(Cause("rests", "Rests", 0.1, (), kind="benign"))
    (note,) = suppression_notes([book], [suppression], TODAY)
    assert words in note


def test_a_cause_that_only_another_book_has_is_no_mistake() -> None:
    (cause, *_) = load_book("dqn").causes
    assert suppression_notes([BOOK], [Suppression(cause.id, "r")], TODAY) == []


# -- through the whole program -----------------------------------------------------------------------------------------


def test_no_verdict_rests_on_a_suppressed_finding_and_every_output_counts_it() -> None:
    plain = diagnose(EXAMPLE)
    top = plain.runs[0].top
    assert top is not None
    assert plain.suppressed == 0

    found = diagnose(EXAMPLE, suppressions=[Suppression(top.id, "we know", "collapsed-*")])
    run = found.runs[0]
    assert found.suppressed == 1
    assert [c.id for c in run.suppressed_findings if (c.probability or 0) >= 0.5] == [top.id]
    assert top.id not in [c.id for c in run.findings]
    assert run.top is None or run.top.id != top.id
    assert any(remark.startswith(f"Suppressed: {top.title}") and "we know" in remark for remark in run.remarks)

    (cause,) = [c for c in to_document(found)["runs"][0]["causes"] if c["suppressed"]]
    assert cause["suppressed"] == {"reason": "we know", "runs": "collapsed-*", "expires": None}
    assert cause["probability"] == pytest.approx(top.probability)
    for output in (to_text(found), to_markdown(found), to_html(found)):
        assert "1 finding suppressed" in output
        assert "we know" in output
        assert "suppressed)" in output or "fault, suppressed" in output


def test_a_table_of_runs_counts_them_too(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "progress.csv").write_bytes((EXAMPLE / "progress.csv").read_bytes())
    top = diagnose(tmp_path).runs[0].top
    assert top is not None
    found = diagnose(tmp_path, suppressions=[Suppression(top.id, "we know", "b")])
    assert found.suppressed == 1
    for output in (to_text(found), to_markdown(found), to_html(found)):
        assert "1 finding suppressed" in output


def test_what_is_odd_about_a_suppression_is_among_the_notes() -> None:
    found = diagnose(EXAMPLE, suppressions=[Suppression("no_such_cause", "r")])
    assert any("no_such_cause" in note for note in found.notes)
