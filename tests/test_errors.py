"""Errors say what, where and the way out, and carry the documented exit code."""

from __future__ import annotations

from rl_diagnose.errors import LogError, NoReadableRunError, RlDiagnoseError, RulebookError, UsageError


def test_the_message_has_the_place_the_fact_and_the_way_out() -> None:
    error = LogError("the file is empty", place="runs/a.csv", hint="point at a folder with logs")
    assert str(error) == "runs/a.csv: the file is empty\n  → point at a folder with logs"


def test_place_and_hint_are_optional() -> None:
    assert str(UsageError("no")) == "no"


def test_every_error_is_one_exception_with_its_exit_code() -> None:
    codes = {UsageError: 2, RulebookError: 3, LogError: 4, NoReadableRunError: 4}
    assert all(issubclass(kind, RlDiagnoseError) and kind.exit_code == code for kind, code in codes.items())
