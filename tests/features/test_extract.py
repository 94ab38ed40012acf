"""Extraction: windows, missing values, reliability, one run as in a batch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rl_diagnose.features.extract import Plan, extract, extract_many
from rl_diagnose.features.vocabulary import RELATIONS, STATISTICS, reference_markdown
from rl_diagnose.features.windows import Window

from .made import feature, run, series

ARGUMENTS = {"bound": 0.1, "width": 500.0, "alpha": 0.99}
EVERYTHING = [
    f"policy.kl.{s.name}" + (f"({ARGUMENTS[s.arguments[0]]})" if s.arguments else "") for s in STATISTICS.values()
] + [f"{r}(policy.kl, reward.train)" for r in RELATIONS]


def test_windows_are_fractions_of_the_run_and_not_of_the_signal() -> None:
    made = run(
        {
            "reward.train": np.arange(100.0),
            "policy.kl": series("policy.kl", np.arange(50.0), np.arange(51, 101) * 100.0),
        }
    )
    assert feature(made, "policy.kl.late.count", "policy.kl.early.count", "policy.kl.mid.count") == [25.0, 0.0, 25.0]


def test_named_windows_are_in_steps_or_iterations() -> None:
    windows = [
        Window("startup", "steps", 0, 500),
        Window("first", "iterations", 0, 2),
        Window("half", "fraction", 0.5, None),
    ]
    names = ["reward.train.startup.max", "reward.train.first.max", "reward.train.half.min"]
    row = extract(run({"reward.train": np.arange(100.0)}), Plan.build(names, windows))
    assert row.value.tolist() == [4.0, 2.0, 50.0]


def test_since_onset_begins_at_the_signals_own_change() -> None:
    value = np.concatenate([np.zeros(60), np.ones(40)]) + 0.001 * np.random.default_rng(0).normal(size=100)
    (mean,) = feature(run({"reward.train": value}), "reward.train.since_onset.mean")
    assert mean == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize(
    "value", [[], [1.0], [1.0, 2.0], [1.0, 2.0, 3.0], [5.0] * 40, [np.nan] * 40, [1e30, -1e30] * 20]
)
def test_poor_curves_give_numbers_or_null_and_never_a_warning(value: list[float]) -> None:
    made = run({"policy.kl": value, "reward.train": value})
    row = extract(made, Plan.build(EVERYTHING))
    assert np.all((row.reliability >= 0) & (row.reliability <= 1))
    assert np.all(row.reliability[np.isnan(row.value)] == 0)
    assert not np.isinf(row.value).any()


def test_a_missing_signal_is_missing_and_not_zero() -> None:
    row = extract(run({"reward.train": np.arange(50.0)}), Plan.build(EVERYTHING))
    assert row.get("policy.kl.median") == (None, 0.0)
    assert np.isnan(row.value).all()


def test_non_finite_values_are_left_out_of_levels_but_counted() -> None:
    made = run({"policy.kl": [1.0, np.nan, 3.0, np.inf]})
    assert feature(made, "policy.kl.mean", "policy.kl.non_finite", "policy.kl.non_finite_first_step") == [
        2.0,
        2.0,
        200.0,
    ]


def test_reliability_grows_with_the_number_of_points_and_falls_for_an_unclear_slope() -> None:
    def weight(value: np.ndarray[tuple[int], np.dtype[np.float64]], name: str) -> float:
        return float(extract(run({"policy.kl": value}), Plan.build([name])).reliability[0])

    assert weight(np.ones(3), "policy.kl.median") < weight(np.ones(30), "policy.kl.median") <= 1.0
    noise = np.random.default_rng(2).normal(size=40)
    assert weight(noise, "policy.kl.slope") < 0.9 < weight(noise + np.arange(40.0), "policy.kl.slope")


@given(seeds=st.lists(st.integers(0, 1000), min_size=2, max_size=5))
def test_a_batch_gives_each_run_what_it_gets_alone_in_any_order(seeds: list[int]) -> None:
    runs = [
        run(
            {
                "policy.kl": np.random.default_rng(s).normal(size=30 + s % 7),
                "reward.train": np.random.default_rng(s + 1).normal(size=40),
            }
        )
        for s in seeds
    ]
    plan = Plan.build(EVERYTHING)
    batch, backwards = extract_many(runs, plan), extract_many(runs[::-1], plan)
    for one, row, other in zip(runs, batch, backwards[::-1], strict=True):
        alone = extract(one, plan)
        for table in (row, other):
            assert table.value.tobytes() == alone.value.tobytes()
            assert table.reliability.tobytes() == alone.reliability.tobytes()


def test_the_reference_page_holds_the_vocabulary() -> None:
    page = Path(__file__).resolve().parents[2] / "docs" / "features.md"
    assert reference_markdown() in page.read_text("utf-8"), (
        "put rl_diagnose.features.vocabulary.reference_markdown() into docs/features.md"
    )
