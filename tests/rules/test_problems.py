"""Problems show the place, the line and the way out; every code is documented."""

from __future__ import annotations

import re
from pathlib import Path

from rl_diagnose.rules.problems import CODES, Problem
from rl_diagnose.rules.reference import errors_markdown

ROOT = Path(__file__).parents[2]


def test_a_problem_shows_its_line_with_a_caret_and_its_hint() -> None:
    problem = Problem(
        "RB011", "unknown field 'sean'", "ppo.yaml", 12, 9, "      - {sean: often}", "did you mean 'seen'?"
    )
    assert problem.render() == (
        "ppo.yaml:12:9: error[RB011]: unknown field 'sean'\n"
        "          - {sean: often}\n"
        "            ^\n"
        "  help: did you mean 'seen'?"
    )


def test_a_problem_of_the_whole_file_has_no_line() -> None:
    assert Problem("RB001", "missing", "a.yaml").render() == "a.yaml: error[RB001]: missing"


def test_a_warning_says_that_it_is_one() -> None:
    assert Problem("RB100", "unused", "a.yaml", severity="warning").render() == "a.yaml: warning[RB100]: unused"


def test_a_long_line_is_shown_around_its_column() -> None:
    line = "x" * 500 + "HERE" + "y" * 500
    shown, caret = Problem("RB012", "m", "a.yaml", 1, 501, line).render().splitlines()[1:]
    assert len(shown) < 140
    assert shown[caret.index("^") :].startswith("HERE")
    assert shown.strip().startswith("…x")
    assert shown.endswith("y…")


def test_the_caret_stays_below_its_character_after_wide_ones_and_tabs() -> None:
    shown, caret = Problem("RB012", "m", "a.yaml", 1, 5, "\t漢字 x").render().splitlines()[1:]
    assert shown == "     漢字 x"
    assert caret == "    " + " " * 6 + "^"


def test_a_column_beyond_the_line_is_no_error() -> None:
    assert Problem("RB012", "m", "a.yaml", 1, 99, "abc").render().endswith("\n    abc\n       ^")


def test_control_characters_of_a_file_do_not_reach_the_terminal() -> None:
    text = Problem("RB012", "a\x1b[31mb\nc", "a\x1b.yaml", 1, 1, "x\x1b[2J", "h\x07").render()
    assert not re.search(r"[^\n\x20-\x7e]", text)
    assert text.count("\n") == 3


def test_codes_are_documented_and_the_page_is_current() -> None:
    assert (ROOT / "docs/rulebook-errors.md").read_text("utf-8") == errors_markdown()
    for code, explanation in CODES.items():
        assert re.fullmatch(r"RB\d{3}", code)
        assert explanation.meaning.endswith(".")
        assert explanation.remedy.endswith(".")


def test_every_code_that_is_used_is_documented_and_every_documented_one_is_used() -> None:
    folder = ROOT / "engine/rules"
    used = {
        code
        for path in folder.glob("*.py")
        if path.name != "problems.py"
        for code in re.findall(r'"(RB\d{3})"', path.read_text("utf-8"))
    }
    assert used == set(CODES)
