"""Did you mean: close names are found, names of any length take no time."""

from __future__ import annotations

import pytest

from rl_diagnose.signals.spelling import closest


@pytest.mark.parametrize(
    ("name", "meant"), [("policy.lk", "policy.kl"), ("valu.loss", "value.loss"), ("xyz", None), ("", None)]
)
def test_the_closest_name_is_meant(name: str, meant: str | None) -> None:
    assert closest(name, ["policy.kl", "value.loss"]) == meant


def test_a_likeness_that_is_asked_for_is_kept_to() -> None:
    assert closest("abcdxxxx", ["abcdefgh"], likeness=0.5) == "abcdefgh"
    assert closest("abcdxxxx", ["abcdefgh"], likeness=0.6) is None


def test_a_name_of_a_megabyte_is_compared_with_nothing() -> None:
    assert closest("z" * 1_000_000, ["policy.kl"]) is None
    assert closest("policy.kl", ["z" * 1_000_000, "policy.kl_ref"]) == "policy.kl_ref"
