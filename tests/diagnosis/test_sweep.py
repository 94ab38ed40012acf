"""Which settings go with which cause: exact tests that find what is there, and seldom what is not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from scipy import stats

from rl_diagnose.diagnosis.model import CauseFinding, RunDiagnosis, Setting
from rl_diagnose.diagnosis.sweep import associations, cross_table

Value = float | int | bool | str


def run(number: int, settings: Mapping[str, Value], causes: Sequence[str] = (), env: str | None = None) -> RunDiagnosis:
    found = tuple(
        CauseFinding(name, "b", name.title(), "fault", 0.9, True, 1.0, "assessed", 0.05, ()) for name in causes
    )
    return RunDiagnosis(
        f"r{number}",
        f"r{number}",
        "finding" if found else "nothing_found",
        "",
        env=env,
        causes=found,
        settings=tuple(Setting(name, value, "log") for name, value in settings.items()),
    )


def test_a_setting_that_brings_a_cause_is_named_with_the_value_where_it_begins() -> None:
    rates = [1e-4, 3e-4, 1e-3, 3e-3, 1e-2]
    runs = [run(i, {"learning_rate": rates[i % 5]}, ["broken"] if i % 5 >= 3 else []) for i in range(50)]
    (found,) = associations(runs)
    assert (found.setting, found.relation, found.value, found.cause) == ("learning_rate", "at_least", 3e-3, "broken")
    assert (found.with_cause, found.runs, found.others_with_cause, found.others) == (20, 20, 0, 30)
    tests = 4 * 2  # four places to split, both ways round, one cause
    assert found.p_value == pytest.approx(tests * stats.hypergeom.sf(19, 50, 20, 20), rel=1e-9)


@pytest.mark.parametrize(("n", "marked", "drawn", "both"), [(20, 5, 8, 4), (200, 30, 100, 25), (3000, 40, 1500, 39)])
def test_the_probability_is_that_of_the_hypergeometric_distribution(n: int, marked: int, drawn: int, both: int) -> None:
    low = [run(i, {"x": 1}, ["c"] if i < both else []) for i in range(drawn)]
    high = [run(i, {"x": 2}, ["c"] if i < marked - both else []) for i in range(n - drawn)]
    exact = min(1.0, 2 * stats.hypergeom.sf(both - 1, n, marked, drawn))
    found = associations([*low, *high])
    if exact <= 0.05:
        assert found[0].p_value == pytest.approx(exact, rel=1e-9)
    else:
        assert not found


def test_settings_that_have_nothing_to_do_with_a_cause_are_seldom_named() -> None:
    rng = np.random.default_rng(0)
    alarms = 0
    for _ in range(200):
        runs = [
            run(
                i,
                {
                    "learning_rate": float(10 ** rng.uniform(-5, -1)),
                    "gamma": float(rng.choice([0.9, 0.99, 0.999])),
                    "normalize_advantage": bool(rng.integers(2)),
                    "optimizer": str(rng.choice(["adam", "sgd", "rmsprop"])),
                },
                [name for name, rate in (("a", 0.3), ("b", 0.1)) if rng.random() < rate],
            )
            for i in range(60)
        ]
        alarms += bool(associations(runs))
    assert alarms <= 10, "one sweep in twenty at most"


def test_words_and_switches_are_held_to_each_value() -> None:
    runs = [
        run(i, {"optimizer": ["adam", "sgd"][i % 2], "normalize_reward": i % 4 < 2}, ["c"] if i % 2 else [])
        for i in range(40)
    ]
    (found,) = associations(runs)
    assert (found.setting, found.relation, found.value) == ("optimizer", "is", "sgd")


def test_the_environment_counts_as_a_setting_and_the_seed_does_not() -> None:
    runs = [run(i, {"seed": i % 2}, ["c"] if i % 2 else [], env=["A-v1", "B-v1"][i % 2]) for i in range(30)]
    assert [found.setting for found in associations(runs)] == ["env"]


def test_runs_that_do_not_tell_a_setting_or_cannot_be_read_do_not_count_for_it() -> None:
    told = [run(i, {"gamma": 0.9 if i % 2 else 0.99}, ["c"] if i % 2 else []) for i in range(30)]
    silent = [run(i, {}, ["c"]) for i in range(30, 40)]
    broken = [RunDiagnosis(f"u{i}", "u", "unreadable", "") for i in range(5)]
    (found,) = associations([*told, *silent, *broken])
    assert found.runs + found.others == 30


@pytest.mark.parametrize(
    "runs", [[], [run(0, {"gamma": 0.9}, ["c"])], [run(i, {"gamma": 0.9}, ["c"]) for i in range(9)]]
)
def test_without_anything_to_compare_nothing_is_said(runs: list[RunDiagnosis]) -> None:
    assert associations(runs) == ()


def test_the_cross_table_has_a_row_for_each_value_or_ranges_of_many() -> None:
    few = [run(i, {"gamma": [0.9, 0.99][i % 2]}, ["c"] if i % 4 == 1 else []) for i in range(40)]
    assert cross_table(few, "gamma", ["c"]).rows == (("0.9", 20, (0,)), ("0.99", 20, (10,)))
    many = [run(i, {"learning_rate": 1e-5 * (i + 1)}, ["c"] if i >= 90 else []) for i in range(100)]
    rows = cross_table(many, "learning_rate", ["c"], most_rows=5).rows
    assert [n for _, n, _ in rows] == [20] * 5
    assert [counts for _, _, counts in rows] == [(0,), (0,), (0,), (0,), (10,)]
    assert rows[0][0] == "1e-05 to 0.0002"


def test_ten_thousand_runs_take_memory_and_tests_in_proportion() -> None:
    rng = np.random.default_rng(1)
    runs = [
        run(i, {"learning_rate": float(rng.uniform()), "gamma": float(rng.uniform())}, ["c"] if i % 7 == 0 else [])
        for i in range(10_000)
    ]
    assert associations(runs) == ()


def test_a_value_logged_in_single_precision_is_the_value_that_was_set() -> None:
    runs = [run(i, {"learning_rate": 3e-4 if i % 2 else float(np.float32(3e-4))}) for i in range(10)]
    assert cross_table(runs, "learning_rate", []).rows == (("0.0003", 10, ()),)
