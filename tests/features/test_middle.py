"""The median of windows is numpy's, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

from rl_diagnose.features.middle import median


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 8, 31, 32, 500, 501])
def test_it_is_numpys_median(size: int) -> None:
    rng = np.random.default_rng(size)
    for values in (rng.standard_normal(size), rng.integers(0, 3, size).astype(float), rng.lognormal(0, 9, size)):
        before = values.copy()
        assert median(values) == float(np.median(values))
        np.testing.assert_array_equal(values, before)


@pytest.mark.parametrize("values", [[], [np.nan], [1.0, np.nan], [np.nan, 1.0, 2.0], [1.0, 2.0, np.nan, 4.0]])
def test_a_nan_is_not_passed_over(values: list[float]) -> None:
    assert np.isnan(median(np.array(values)))


@pytest.mark.parametrize(("values", "middle"), [([1.0, np.inf, np.inf], np.inf), ([-np.inf, 1.0, 2.0], 1.0)])
def test_infinite_values_have_their_place(values: list[float], middle: float) -> None:
    assert median(np.array(values)) == middle
