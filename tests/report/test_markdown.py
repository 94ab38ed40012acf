"""The Markdown report has the method's sections, real code blocks, and nothing in it that a log could inject."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from rl_diagnose.report.markdown import code, escape, to_markdown

from .made import BROKEN, CAUSE, PLAN, QUIET, RUN, SHORT, diagnosis


def test_the_sections_of_the_method_are_there_in_order() -> None:
    text = to_markdown(diagnosis())
    heads = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    wanted = [
        "rl-diagnose report",
        "Detected primary symptom",
        "Root-cause analysis",
        "Recommended action",
        "Expected impact",
        "Remarks",
        "What was not checked",
        "The log itself",
    ]
    assert [h for h in heads if h in wanted] == wanted


def test_the_numbers_of_the_method_are_there() -> None:
    text = to_markdown(diagnosis())
    for words in (
        "- Created: 2026-12-01T10:00:00+00:00",
        "- Onset: env step 12,450 (until 50,000)",
        "- Value: 0.018 (`policy.entropy`)",
        "- Theoretical maximum: 1.386",
        "- Ratio: 0.013",
        "- Confidence: 96 %",
        "| 92 % | Entropy bonus too weak or decaying too fast |",
        "| +9.8 dB | Policy entropy collapsed |",
        "Before:\n\n```python\nmodel.ent_coef = 0.01\n```",
        "After:\n\n```python\nmodel.ent_coef = 0.03\nif True:\n    decay = 0.999995\n```",
        "- decay = 0.999995",
        "ppo 1.0.0 (3f2a91c4d5e6)",
    ):
        assert words in text


def test_a_run_without_finding_has_no_action_and_lists_what_was_checked() -> None:
    text = to_markdown(diagnosis(QUIET))
    assert "Recommended action" not in text
    assert "### Checked, but below 50 %" in text


def test_several_runs_get_an_overview_and_a_section_each() -> None:
    text = to_markdown(diagnosis(QUIET, RUN, SHORT, BROKEN))
    assert "## All runs" in text
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == [
        "All runs",
        "Finding: PPO_3",
        "Unreadable: PPO_6",
        "Cannot tell: PPO_5",
        "Nothing found: PPO_4",
    ]


def test_very_many_runs_get_sections_for_findings_only() -> None:
    text = to_markdown(diagnosis(RUN, *(replace(QUIET, id=f"q{i}") for i in range(40))))
    assert "## Finding: PPO_3" in text
    assert "## Nothing found" not in text
    assert "| q39 |" in text


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("a_b policy.kl_ref", "a_b policy.kl_ref"),
        ("_x_ *y*", r"\_x\_ \*y\*"),
        ("<script>", r"\<script\>"),
        ("![i](u)", r"\!\[i\](u)"),
        ("a|b", r"a\|b"),
        ("# head", r"\# head"),
        ("1. one", r"1\. one"),
        ("- item", r"\- item"),
        ("two\nlines", "two lines"),
        ("back`tick", r"back\`tick"),
        ("\x1b[31mred", "red"),
    ],
)
def test_text_from_a_log_is_inert(text: str, safe: str) -> None:
    assert escape(text) == safe


@pytest.mark.parametrize(("text", "span"), [("a", "`a`"), ("a`b", "``a`b``"), ("`a", "`` `a ``"), ("", "` `")])
def test_a_code_span_survives_backticks(text: str, span: str) -> None:
    assert code(text) == span


def test_code_cannot_leave_its_block() -> None:
    plan = replace(PLAN, after="```\n# head\n````")
    text = to_markdown(diagnosis(replace(RUN, causes=(replace(CAUSE, remedies=(plan,)),))))
    assert "`````python\n```\n# head\n````\n`````" in text
