"""What the first entropy says about the action space."""

from __future__ import annotations

import numpy as np
import pytest

from rl_diagnose.adapters.action_space import discrete_size, gaussian_dimensions, infer_action_space

NONE = np.empty(0)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 9, 18])
def test_a_fresh_discrete_policy_gives_its_number_of_actions_away(n: int) -> None:
    assert discrete_size(np.log(n) - np.array([0.001, 0.02, 0.3])) == n
    assert discrete_size(np.array([np.float32(np.log(n))], float)) == n


@pytest.mark.parametrize(
    "entropy",
    [
        [],
        [np.nan],
        [-0.2],
        [0.0],
        [0.42],  # far below ln 2
        [0.62],
        [1.197],  # between ln 3 and ln 4, near to neither
        [1.098, 1.25],  # not 3 actions: a later entropy exceeds ln 3
        [9.0],  # more actions than anyone has
        [1000.0],  # a number whose exponential is none
    ],
)
def test_no_size_is_made_up(entropy: list[float]) -> None:
    assert discrete_size(np.array(entropy)) is None


@pytest.mark.parametrize("dimensions", [1, 2, 6, 12])
@pytest.mark.parametrize("std", [0.13, 0.5, 1.0, 2.0])
def test_a_gaussian_policy_gives_its_dimensions_away(dimensions: int, std: float) -> None:
    entropy = dimensions * (0.5 * np.log(2 * np.pi * np.e) + np.log(std))
    assert gaussian_dimensions(entropy, std) == dimensions
    assert gaussian_dimensions(entropy + 0.02 * dimensions, std) == dimensions


@pytest.mark.parametrize(
    ("entropy", "std"),
    [(2.7248, 0.994), (-1.0319, 0.0364), (0.01, 0.242), (np.nan, 1.0), (1.4, np.nan), (1.4, 0.0), (0.2, 1.0)],
)
def test_no_dimensions_are_made_up(entropy: float, std: float) -> None:
    assert gaussian_dimensions(entropy, std) is None


def test_a_logged_deviation_means_continuous_actions() -> None:
    space = infer_action_space(np.array([2.84]), np.array([1.0]), fresh=True, gaussian_logs_std=True)
    assert (space.kind, space.size, space.origin) == ("continuous", 2, "inferred")
    late = infer_action_space(np.array([2.84]), np.array([1.0]), fresh=False, gaussian_logs_std=True)
    assert (late.kind, late.size, late.origin) == ("continuous", None, "log")


def test_an_entropy_near_ln_n_means_discrete_actions_only_of_a_fresh_policy() -> None:
    entropy = np.array([1.09])
    fresh = infer_action_space(entropy, NONE, fresh=True, gaussian_logs_std=False)
    assert (fresh.kind, fresh.size, fresh.origin) == ("discrete", 3, "inferred")
    assert "1.090" in fresh.detail
    assert infer_action_space(entropy, NONE, fresh=False, gaussian_logs_std=False).kind == "unknown"


def test_no_deviation_where_every_gaussian_logs_one_means_discrete_actions() -> None:
    space = infer_action_space(np.array([0.42]), NONE, fresh=True, gaussian_logs_std=True)
    assert (space.kind, space.size) == ("discrete", None)


def test_a_negative_entropy_is_that_of_a_density() -> None:
    assert infer_action_space(np.array([0.3, -0.1]), NONE, fresh=True, gaussian_logs_std=True).kind == "continuous"


def test_nothing_logged_is_unknown() -> None:
    space = infer_action_space(NONE, NONE, fresh=True, gaussian_logs_std=False)
    assert (space.kind, space.origin) == ("unknown", "unknown")


def test_an_entropy_that_was_printed_with_three_digits_may_be_rounded_above_its_bound() -> None:
    assert discrete_size(np.array([1.39, 1.38, 1.36])) == 4
    assert discrete_size(np.array([1.3912, 1.38, 1.36])) is None
