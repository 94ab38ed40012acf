"""A book may add hyper-parameters of its own; they are known wherever the canonical ones are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rl_diagnose.diagnosis.pipeline import diagnose
from rl_diagnose.rules.book import Book
from rl_diagnose.rules.check import check_book
from rl_diagnose.signals.taxonomy import Hyperparameter

from .made import Said, Write

KNOBS = """\
knobs:
  pace: {meaning: speed of levels, signal: raw.our/pace, bounds: {low: 1, high: 64}, step_limit: 4, kind: integer}
"""
BOOK = f"""\
{KNOBS}\
derive: {{doubled: "pace * 2"}}
symptoms:
  fast: {{title: Fast, base_rate: uncommon, config: pace, rising: {{low: 4, high: 8}}}}
  twice: {{title: Twice, base_rate: uncommon, derived: doubled, rising: {{low: 8, high: 16}}}}
causes:
  too_fast:
    title: Levels get harder too fast
    prior: 0.3
    evidence:
      - {{symptom: fast, seen: always}}
      - {{symptom: twice, seen: usually}}
    remedies:
      - knob: pace
        summary: Slow down
        set: "pace / 10"
        patch: {{sb3: "wrapper.pace = {{value}}"}}
    references: [Our runbook]
"""


def test_a_knob_is_known_to_conditions_expressions_and_remedies(loaded: Callable[[str], Book]) -> None:
    book = loaded(BOOK)
    assert book.knobs == (Hyperparameter("pace", "speed of levels", "integer", "raw.our/pace", 1.0, 64.0, 4.0),)
    assert book.causes[0].remedies[0].knob == "pace"


def test_extending_books_inherit_it(write: Write) -> None:
    write(BOOK, "base.yaml")
    assert check_book(write("extends: [base.yaml]\n")) == ()


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("knobs: {gamma: {meaning: M}}\n", "1:9 RB026 'gamma' is the name of a configuration value"),
        ("knobs: {exp: {meaning: M}}\n", "1:9 RB026 'exp' is the name of a function"),
        ("knobs: {k: {meaning: M, signal: policy.kll}}\n", "1:33 RB021 unknown signal 'policy.kll'"),
        ("knobs: {k: {meaning: M, bounds: {low: 2, high: 1}}}\n", "1:33 RB024 low must be below high"),
        ("knobs: {k: {}}\n", "1:9 RB010 the field 'meaning' is missing"),
        ("knobs: {k: {meaning: M, step_limit: 1}}\n", "1:37 RB012 'step_limit' is not a number above 1"),
        (KNOBS + 'derive: {pace: "1"}\n', "3:10 RB026 'pace' is the name of a configuration value"),
        (
            KNOBS + "symptoms: {s: {title: S, base_rate: rare, config: pacce, rising: {low: 0, high: 1}}}\n",
            "3:51 RB021 unknown configuration value 'pacce' (did you mean 'pace'?)",
        ),
    ],
)
def test_a_knob_that_cannot_be_meant_is_a_problem(write: Write, said: Said, body: str, expected: str) -> None:
    assert said(write(body))[0].startswith(expected)


def test_a_knob_that_nothing_uses_is_a_warning(write: Write) -> None:
    (problem,) = check_book(write(KNOBS))
    assert (problem.code, problem.message) == ("RB101", "the knob 'pace' is never used")


def test_its_value_comes_from_the_log_and_a_remedy_turns_it(tmp_path: Path, write: Write) -> None:
    rows = "".join(f"{i * 100},{i % 7},32\n" for i in range(200))
    log = tmp_path / "log.csv"
    log.write_text(f"step,reward,our/pace\n{rows}", "utf-8")
    run = diagnose(log, [write(BOOK)], mapping={"reward": "reward.train"}).runs[0]
    (cause,) = run.causes
    assert cause.probability is not None
    assert cause.probability > 0.5
    (plan,) = cause.remedies
    # 32 / 10, held back by the step limit of 4
    assert (plan.current, plan.proposed, plan.current_origin) == (32.0, 8.0, "log")
    assert plan.after == "wrapper.pace = 8"
    assert "at most a factor of 4" in str(plan.clamped)


def test_without_it_in_the_log_nothing_is_known(tmp_path: Path, write: Write) -> None:
    rows = "".join(f"{i * 100},{i % 7}\n" for i in range(200))
    log = tmp_path / "log.csv"
    log.write_text(f"step,reward\n{rows}", "utf-8")
    (cause,) = diagnose(log, [write(BOOK)], mapping={"reward": "reward.train"}).runs[0].causes
    assert cause.status == "insufficient_data"
    assert all(line.missing for line in cause.evidence)
