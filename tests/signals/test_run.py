"""`Run` in the common schema."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from rl_diagnose.signals.run import ActionSpace, ConfigValue, NonFinite, Run, Semantics, Series


def series(name: str, values: list[float]) -> Series:
    n = len(values)
    step = np.arange(1, n + 1, dtype=np.float64) * 100
    return Series(name, step, np.array(values), np.arange(n, dtype=np.float64), np.full(n, np.nan), Semantics(name))


def test_the_long_frame_has_the_documented_columns_and_turns_nan_into_null() -> None:
    run = Run("r", "r", "csv", {"policy.kl": series("policy.kl", [0.1, math.nan]), "alpha": series("alpha", [1.0])})
    frame = run.signals
    assert frame.columns == ["signal", "step", "iteration", "wall_time", "value"]
    assert frame["signal"].to_list() == ["alpha", "policy.kl", "policy.kl"]
    assert frame["value"].to_list() == [1.0, 0.1, None]
    assert frame["wall_time"].null_count() == 3


def test_a_run_without_series_has_an_empty_typed_frame_and_no_last_step() -> None:
    run = Run("r", "r", "csv", {})
    assert run.signals.schema == pl.Schema(
        {"signal": pl.String, "step": pl.Float64, "iteration": pl.Float64, "wall_time": pl.Float64, "value": pl.Float64}
    )
    assert run.last_step is None
    assert run.points == 0


def test_last_step_and_points_are_those_of_the_longest_signal() -> None:
    run = Run("r", "r", "csv", {"a": series("a", [1.0]), "b": series("b", [1.0, 2.0, 3.0])})
    assert (run.last_step, run.points) == (300.0, 3)


@pytest.mark.parametrize(
    ("space", "entropy"),
    [
        (ActionSpace("discrete", 4), math.log(4)),
        (ActionSpace("multi_discrete", 5, (2, 3)), math.log(6)),
        (ActionSpace("multi_binary", 3), 3 * math.log(2)),
        (ActionSpace("continuous", 3), None),
        (ActionSpace("discrete", 1), None),
        (ActionSpace(), None),
    ],
)
def test_the_largest_entropy_follows_from_the_action_space(space: ActionSpace, entropy: float | None) -> None:
    assert space.max_entropy == (None if entropy is None else pytest.approx(entropy))


def test_benign_non_finite_values_are_not_counted_as_harmful() -> None:
    seen = NonFinite(nan=5, positive_inf=1, first_step=100.0, benign=5)
    assert (seen.count, seen.harmful) == (6, 1)


def test_a_setting_beyond_all_floats_is_infinite() -> None:
    assert [ConfigValue(value, "x").value for value in (10**400, -(10**400), 2**63)] == [math.inf, -math.inf, 2**63]
