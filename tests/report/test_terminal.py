"""The terminal summary: what it says, at which widths, with and without colour and Unicode; nothing from a log acts."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest
from rich.console import Console

from rl_diagnose.report.terminal import renderable, to_text

from .made import BROKEN, CAUSE, PLAN, QUIET, RUN, SHORT, diagnosis

EVIL = "\x1b[31mred\x1b]0;title\x07 [bold]b[/bold] \u202egnp.exe"


def test_one_run_shows_verdict_symptom_curves_causes_evidence_fix_and_gaps() -> None:
    text = to_text(diagnosis(), width=100)
    for words in (
        "FINDING: Entropy bonus too weak",
        "First symptom: Policy entropy collapsed from env step 12,450, 96 % sure",
        "Training return",
        "steps 12,450–50,000",
        "█████████░  92 % Entropy bonus",
        "+9.8 dB Policy entropy collapsed",
        "entropy_coef: 0.01 (from config.json ent_coef) → 0.03",
        "before model.ent_coef = 0.01",
        "decay = 0.999995",
        "limited to ×3",
        "Expect: policy.entropy_ratio.last rises to 0.03 within 2,000 steps",
        "Critic too small: value.explained_variance is not in the log; to check it, log it",
        "the steps start again (step 4,000, events.1)",
        "ppo 1.0.0 (3f2a91c4d5e6)",
    ):
        assert words in text


def test_three_evidence_lines_by_default_and_all_when_verbose() -> None:
    brief, full = to_text(diagnosis(), width=120), to_text(diagnosis(), width=120, verbose=True)
    assert brief.count(" dB ") == 3
    assert "-1.2 dB Explained variance low" in full
    assert "missing Gradient norm low" in full
    assert "Lower the learning rate" in full
    assert "Lower the learning rate" not in brief


@pytest.mark.parametrize("width", [40, 60, 80, 100, 160])
@pytest.mark.parametrize("runs", [(RUN,), (QUIET,), (SHORT,), (BROKEN,), (RUN, QUIET, SHORT, BROKEN)])
def test_no_line_is_wider_than_asked(width: int, runs: tuple[type(RUN), ...]) -> None:  # type: ignore[valid-type]
    if width == 40 and len(runs) > 1:
        pytest.skip("a table needs 60 columns")
    assert max(map(len, to_text(diagnosis(*runs), width=width).splitlines())) <= width


def test_a_wide_terminal_gets_longer_curves() -> None:
    def spark(width: int) -> int:
        line = next(x for x in to_text(diagnosis(), width=width).splitlines() if "Policy entropy  " in x)
        return len(re.findall("[▁-█]", line))

    assert spark(80) < spark(160)


def test_the_marker_line_stands_under_the_bad_interval() -> None:
    lines = to_text(diagnosis(), width=80).splitlines()
    entropy = next(x for x in lines if x.strip().startswith("Policy entropy  "))
    marker = next(x for x in lines if "▔" in x)
    assert entropy[marker.index("▔") + 1] == "▁"
    assert entropy[marker.index("▔") - 1] == "█"


def test_ascii_output_holds_nothing_but_ascii_and_still_marks_the_interval() -> None:
    text = to_text(diagnosis(), width=80, ascii_only=True)
    assert text.isascii()
    assert "~~~" in text
    assert "#########." in text
    assert "-> 0.03" in text


def test_a_terminal_that_cannot_show_blocks_gets_ascii() -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="cp1252")
    Console(file=stream, width=80).print(renderable(diagnosis()))
    stream.flush()
    assert stream.buffer.getvalue().isascii()


def test_colour_is_written_to_a_terminal_and_not_to_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    terminal, pipe = io.StringIO(), io.StringIO()
    Console(file=terminal, width=80, force_terminal=True, color_system="truecolor").print(renderable(diagnosis()))
    Console(file=pipe, width=80).print(renderable(diagnosis()))
    assert "\x1b[" in terminal.getvalue()
    assert "\x1b[" not in pipe.getvalue()


def test_no_color_is_obeyed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    stream = io.StringIO()
    Console(file=stream, width=80, force_terminal=True, color_system="truecolor").print(renderable(diagnosis()))
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]", stream.getvalue())


def test_names_from_a_log_cannot_colour_the_terminal_or_act_as_markup() -> None:
    evil = replace(
        RUN,
        path=EVIL,
        id=EVIL,
        env=EVIL,
        verdict_reason=EVIL,
        remarks=(EVIL,),
        causes=(replace(CAUSE, title=EVIL, remedies=(replace(PLAN, summary=EVIL, after=EVIL),)),),
    )
    for runs in ((evil,), (evil, QUIET)):
        text = to_text(diagnosis(*runs), width=160, verbose=True)
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert "[bold]b[/bold]" in text


def test_nothing_found_lists_what_was_checked_and_does_not_call_the_run_fine() -> None:
    text = to_text(diagnosis(QUIET), width=100)
    assert "NOTHING FOUND" in text
    assert "Checked, but below 50 %" in text
    assert "Something rare" in text
    assert not re.search(r"\b(fine|healthy|good)\b", text)


def test_an_unreadable_run_gives_its_reason() -> None:
    assert "UNREADABLE: the file is cut off before the first row" in to_text(diagnosis(BROKEN))


def test_uncalibrated_probabilities_say_so() -> None:
    run = replace(RUN, causes=(replace(CAUSE, calibrated=False),))
    assert "not calibrated" in to_text(diagnosis(run), width=120)


def test_many_runs_are_a_table_with_the_worst_first_and_totals() -> None:
    worse = replace(RUN, id="PPO_9", causes=(replace(CAUSE, probability=0.97),))
    lines = to_text(diagnosis(QUIET, RUN, BROKEN, worse, SHORT), width=140).splitlines()
    order = [
        next(i for i, x in enumerate(lines) if x.startswith(n)) for n in ("PPO_9", "PPO_3", "PPO_6", "PPO_5", "PPO_4")
    ]
    assert order == sorted(order)
    assert "5 runs: 2 with a finding, 1 unreadable, 1 cannot tell, 1 with nothing found" in lines
    assert "  2 runs: Entropy bonus too weak or decaying too fast" in lines


def test_long_run_names_keep_their_end_in_the_table() -> None:
    run = replace(RUN, id="sweep/" + "x" * 80 + "/seed_7")
    assert "/seed_7" in to_text(diagnosis(run, QUIET), width=80)
