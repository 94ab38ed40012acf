"""Sparklines, numbers and cleaned text."""

from __future__ import annotations

import numpy as np
import pytest

from rl_diagnose.diagnosis.model import Curve
from rl_diagnose.diagnosis.numbers import count, exact, number, percent, steps
from rl_diagnose.report.spark import marked_cells, spark
from rl_diagnose.report.text import ascii_only, clean, shorten_path


def curve(step: list[float], value: list[float]) -> Curve:
    return Curve("s", "S", "", np.array(step), np.array(value))


def test_a_rising_curve_rises() -> None:
    assert spark(curve([*range(8)], [*range(8)]), 0, 7, 8).cells == "▁▂▃▄▅▆▇█"


def test_a_constant_curve_is_flat_even_with_rounding_noise() -> None:
    assert spark(curve([*range(8)], [0.003 + 1e-18 * i for i in range(8)]), 0, 7, 8).cells == "▁" * 8


def test_curves_share_the_axis_and_are_blank_outside_their_points() -> None:
    assert spark(curve([2, 3, 4, 5], [0, 0, 1, 1]), 0, 7, 8).cells == "  ▁▁██  "


def test_between_two_points_the_earlier_one_is_held() -> None:
    assert spark(curve([0, 7], [0, 1]), 0, 7, 8).cells == "▁▁▁▁▁▁▁█"


def test_cells_without_a_finite_value_are_crosses() -> None:
    points = curve([*range(4)], [0, float("nan"), float("inf"), 1])
    assert spark(points, 0, 3, 4).cells == "▁××█"
    assert spark(points, 0, 3, 4, ascii_only=True).cells == "_xx#"


def test_an_all_nan_and_an_empty_curve_are_drawn() -> None:
    assert spark(curve([0, 1], [float("nan")] * 2), 0, 1, 2).cells == "××"
    assert spark(curve([], []), 0, 1, 3).cells == "   "


def test_a_single_point_is_drawn() -> None:
    assert spark(curve([5], [1]), 5, 5, 4).cells == "▁   "


def test_a_curve_with_a_huge_range_is_logarithmic_and_says_so() -> None:
    line = spark(curve([*range(6)], [1, 1, 1, 10, 100, 1000]), 0, 5, 6)
    assert line.log
    assert line.cells == "▁▁▁▃▆█"


def test_marked_cells_cover_at_least_one_cell() -> None:
    assert marked_cells((50, 100), 0, 100, 10) == (5, 10)
    assert marked_cells((50, 50), 0, 100, 10) == (5, 6)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0126, "0.0126"),
        (0.999995, "0.999995"),
        (0.99, "0.99"),
        (0.9995, "0.9995"),
        (1.00002, "1.00002"),
        (12450.0, "12,450"),
        (1234.5678, "1,235"),
        (3.0e-7, "3e-07"),
        (-0.02, "-0.02"),
        (float("nan"), "NaN"),
        (float("-inf"), "-inf"),
        (2.0, "2"),
    ],
)
def test_numbers_keep_what_matters(value: float, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("value", "integer", "text"),
    [
        (0.999995, False, "0.999995"),
        (0.0003, False, "0.0003"),
        (64.0, True, "64"),
        (0.1 + 0.2, False, "0.3"),
        (0.99999949, False, "0.99999949"),
    ],
)
def test_numbers_for_code_can_be_pasted(value: float, *, integer: bool, text: str) -> None:
    assert exact(value, integer=integer) == text


def test_a_probability_is_never_nothing_or_certain() -> None:
    assert [percent(p) for p in (0.0, 0.004, 0.5, 0.996, 1.0)] == ["<1 %", "<1 %", "50 %", ">99 %", ">99 %"]


def test_counts_and_steps() -> None:
    assert (count(1, "run"), count(2000, "run"), count(2, "entry", "entries")) == ("1 run", "2,000 runs", "2 entries")
    assert steps(12450.4) == "12,450"


@pytest.mark.parametrize(
    ("dirty", "text"),
    [
        ("a\x1b[1;31mb\x1b[0m", "ab"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("a\tb\nc", "a b c"),
        ("a\u202eb\u200bc\ufeff\x07\x9bd", "abcd"),
        ("bad\udcffbyte", "badbyte"),
        ("ε ‖ é", "ε ‖ é"),
    ],
)
def test_text_is_cleaned_of_what_acts(dirty: str, text: str) -> None:
    assert clean(dirty) == text


def test_ascii_spells_symbols_out() -> None:
    assert ascii_only("KL ≥ ε → ½ é") == "KL >= eps -> 1/2 ?"


def test_a_long_path_keeps_its_end() -> None:
    assert shorten_path("/very/long/path/run", 10) == "…/path/run"
    assert shorten_path("run", 10) == "run"
