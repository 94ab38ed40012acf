"""Iteration numbers from steps."""

from __future__ import annotations

import numpy as np
import pytest

from rl_diagnose.adapters.iterations import IterationClock, iteration_clock


def clock(rows: list[float], **known: object) -> IterationClock:
    counted = known.get("counted")
    pair = None if counted is None else (np.array(rows), np.array(counted, float))
    size = known.get("size")
    found = iteration_clock(np.array(rows, float), pair, size if isinstance(size, float) else None)
    assert found is not None
    return found


def at(found: IterationClock, *steps: float) -> list[float]:
    return [float(iteration) for iteration in found(np.array(steps, np.float64))]


def test_one_row_an_iteration() -> None:
    found = clock([1024, 2048, 3072])
    assert at(found, 1024, 2048, 3072) == [0, 1, 2]
    assert found.assumed


def test_steps_between_rows_belong_to_the_iteration_under_way() -> None:
    assert at(clock([1024, 2048, 3072]), 1, 1024, 1025, 2047, 3073) == [0, 0, 1, 1, 3]


def test_rows_that_count_iterations_are_believed() -> None:
    found = clock([2000, 4000, 6000], counted=[50, 100, 150])
    assert at(found, 2000, 4000, 6000) == [49, 99, 149]
    assert not found.assumed


def test_counts_that_start_again_do_not_matter() -> None:
    assert at(clock([1000, 2000, 3000, 4000], counted=[1, 2, 1, 2]), 3000, 4000) == [2, 3]


def test_a_known_size_is_used_where_rows_do_not_count() -> None:
    found = clock([800, 1600], size=80.0)
    assert at(found, 800, 1600) == [9, 19]
    assert not found.assumed


def test_a_log_that_starts_late_keeps_absolute_numbers() -> None:
    assert at(clock([41984, 43008, 44032]), 41984, 43008) == [40, 41]


@pytest.mark.parametrize("counted", [None, [1, 2, 3, 4]])
def test_irregular_rows_are_counted(counted: list[float] | None) -> None:
    found = clock([100, 250, 390, 610], counted=counted)
    assert at(found, 100, 250, 390, 610, 611) == [0, 1, 2, 3, 4]
    assert found.assumed


def test_a_single_row_is_the_first_iteration_unless_it_counts() -> None:
    assert at(clock([512]), 512) == [0]
    assert at(clock([512], counted=[4]), 512) == [3]


def test_no_rows_no_clock() -> None:
    assert iteration_clock(np.empty(0)) is None
    assert iteration_clock(np.zeros(1)) is None


def test_large_steps_do_not_lose_their_iteration() -> None:
    rows = np.arange(1, 20001, dtype=np.float64) * 24576
    found = iteration_clock(rows)
    assert found is not None
    np.testing.assert_array_equal(found(rows), np.arange(20000))
