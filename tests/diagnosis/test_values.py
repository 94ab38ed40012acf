"""Numbers for rules: features, derived numbers, configuration with its fallback to the log, issues."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from rl_diagnose.diagnosis.values import configuration
from rl_diagnose.signals.run import ConfigValue, LogIssue

from .books import MadeRow, numbers, run

ROWS = [
    MadeRow({"reward.train.late.median": 50.0, "reward.train.max": 100.0}),
    MadeRow({"reward.train.late.median": 50.0}, reliability=0.4),
]
RUNS = [run({"entropy_coef": 0.01}), replace(run(), issues=(LogIssue("restart", "a"), LogIssue("restart", "b")))]


def test_derived_numbers_are_as_reliable_as_their_least_reliable_part_and_missing_when_one_is() -> None:
    value, reliability = numbers(ROWS, RUNS).derived("share_of_best")
    assert value[0] == 0.5
    assert math.isnan(value[1])
    assert reliability.tolist() == [1.0, 0.0]


def test_expressions_mix_configuration_features_and_derived_numbers() -> None:
    value, _ = numbers(ROWS, RUNS).expression("max(entropy_coef * 3, share_of_best / 100)")
    assert value[0] == pytest.approx(0.03)
    assert math.isnan(value[1])


def test_a_constant_expression_holds_for_every_run() -> None:
    value, reliability = numbers(ROWS, RUNS).expression("0.015")
    assert value.tolist() == [0.015, 0.015]
    assert reliability.tolist() == [1.0, 1.0]


def test_issues_are_counted_by_code() -> None:
    assert numbers(ROWS, RUNS).issue("restart")[0].tolist() == [0.0, 2.0]


def test_words_in_a_configuration_are_no_numbers_and_switches_are() -> None:
    config = {"optimizer": ConfigValue("adam", "x"), "normalize_advantage": ConfigValue(True, "x")}
    configs: list[Mapping[str, ConfigValue]] = [config] * 2
    made = numbers(ROWS, RUNS, configs)
    assert math.isnan(made.config("optimizer")[0][0])
    assert made.config("normalize_advantage")[0][0] == 1.0
    assert math.isnan(made.config("gamma")[0][0])


@pytest.mark.parametrize(
    ("logged", "value", "origin"),
    [
        ([3e-4, 3e-4], 3e-4, "log"),
        ([3e-4, 1e-4, 0.0], 3e-4, "log, at the start of its schedule"),
        ([3e-4, 3e-2], 3e-2, "log"),
        ([float("nan"), 3e-4, float("nan")], 3e-4, "log"),
    ],
)
def test_a_setting_that_is_not_configured_is_taken_from_the_log(logged: list[float], value: float, origin: str) -> None:
    known = configuration(run(optim__learning_rate=np.array(logged)))
    assert (known["learning_rate"].value, known["learning_rate"].origin) == (value, origin)


def test_a_configured_setting_wins_over_the_log() -> None:
    known = configuration(run({"learning_rate": 1e-3}, optim__learning_rate=np.array([3e-4])))
    assert known["learning_rate"].value == 1e-3


def test_a_signal_without_a_finite_value_gives_no_setting() -> None:
    assert "learning_rate" not in configuration(run(optim__learning_rate=np.array([float("nan")])))
