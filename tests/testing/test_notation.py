"""Curves in a line of text."""

from __future__ import annotations

import time

import numpy as np
import pytest

from rl_diagnose.testing.notation import NotationError, parse_curve


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("3.5", [3.5]),
        ("1x3 2", [1, 1, 1, 2]),
        ("2+0.5x3", [2.0, 2.5, 3.0]),
        ("2-1x4", [2, 1, 0, -1]),
        ("-3+1x2", [-3, -2]),
        ("8*0.5x3", [8, 4, 2]),
        ("3e-4x2", [3e-4, 3e-4]),
        ("1 inf -inf", [1, np.inf, -np.inf]),
        ("(1x2 5)x3 7", [1, 1, 5, 1, 1, 5, 1, 1, 5, 7]),
        ("( 1+1x2 )x2", [1, 2, 1, 2]),
        ("0 (1 2)", [0, 1, 2]),
    ],
)
def test_items_give_their_points(text: str, values: list[float]) -> None:
    assert parse_curve(text).value.tolist() == pytest.approx(values)


def test_a_missing_point_is_not_logged_and_a_nan_is() -> None:
    curve = parse_curve("1 _x2 nan 2")
    assert curve.logged.tolist() == [True, False, False, True, True]
    assert np.isnan(curve.value[3])


def test_a_missing_point_in_brackets_is_missing_each_time() -> None:
    assert parse_curve("(1 _)x2").logged.tolist() == [True, False, True, False]


def test_noise_is_the_same_each_time_and_differs_between_signals() -> None:
    one, again, other = (parse_curve("5x200 noise:0.5", seed).value for seed in ("a", "a", "b"))
    assert (one == again).all()
    assert not (one == other).all()
    assert 0.4 < one.std() < 0.6
    drawn_again = parse_curve("5x200 noise:0.5 seed:7", "a").value
    assert not (one == drawn_again).all()
    relative = parse_curve("100x200 noise:5%", "a").value
    assert 4 < relative.std() < 6


@pytest.mark.parametrize(
    ("text", "column"),
    [("1 2y 3", 3), ("x5", 1), ("1 _y", 3), ("", 1), ("noise:1", 1), ("1x99999", 1), ("1x9999 2x9999", 8), ("1*x3", 1),
     ("1 (2", 3), ("1)x2", 2), ("(1 (2)x2)x2", 4), ("()x3", 1), ("(1)y3", 3), ("(1x9 2)x9999", 1), ("seed:x 1", 1),
     ("1 1e400x2", 3), ("1*1e999x2", 1), ("1x9 noise:1e999", 5)],
)  # fmt: skip
def test_what_is_no_item_is_named_with_its_column(text: str, column: int) -> None:
    with pytest.raises(NotationError) as caught:
        parse_curve(text)
    assert caught.value.column == column


def test_a_curve_made_to_be_slow_is_refused_at_once() -> None:
    began = time.perf_counter()
    for text in ("1" * 3999 + "z", "1+" + "1" * 3990 + "z", "(" * 4000, "1x1" * 1300, "noise:" + "1" * 3990 + "z"):
        with pytest.raises(NotationError):
            parse_curve(text)
    assert time.perf_counter() - began < 0.5
