"""Ramps, reliability and composition; missing numbers are intervals until the very end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from rl_diagnose.rules.book import All, Any_, Condition, First, Leaf, Mean, Not, Ramp, Symptom, SymptomRef
from rl_diagnose.rules.membership import memberships, ramp_membership

from .made import RISING, book

Floats = NDArray[np.float64]


class Given:
    """Numbers by kind and name; reliability 1 unless it says otherwise."""

    def __init__(self, values: Mapping[str, Sequence[float]], reliability: Mapping[str, Sequence[float]]) -> None:
        self.values = {name: np.array(v, dtype=np.float64) for name, v in values.items()}
        self.reliability = {name: np.array(v, dtype=np.float64) for name, v in reliability.items()}

    def _get(self, name: str) -> tuple[Floats, Floats]:
        value = self.values[name]
        return value, self.reliability.get(name, np.ones(value.size))

    def feature(self, name: str) -> tuple[Floats, Floats]:
        return self._get(f"feature {name}")

    def derived(self, name: str) -> tuple[Floats, Floats]:
        return self._get(f"derived {name}")

    def config(self, name: str) -> tuple[Floats, Floats]:
        return self._get(f"config {name}")

    def issue(self, code: str) -> tuple[Floats, Floats]:
        return self._get(f"issue {code}")


def leaf(name: str) -> Leaf:
    return Leaf("feature", name, RISING)


NAN = float("nan")


def found(
    condition: Condition,
    reliability: Mapping[str, Sequence[float]] | None = None,
    others: Sequence[Symptom] = (),
    **values: Sequence[float],
) -> tuple[list[float], list[float], list[float]]:
    """low, mu and high of one symptom over the runs, with features given by name."""
    made = replace(book({}, []), symptoms=(Symptom("it", "It", condition, 0.1), *others))
    numbers = Given(
        {f"feature {k}": v for k, v in values.items()}, {f"feature {k}": v for k, v in (reliability or {}).items()}
    )
    result = memberships(made, numbers, len(next(iter(values.values()))))
    return result.low[:, 0].tolist(), result.mu[:, 0].tolist(), result.high[:, 0].tolist()


# -- ramps ----------------------------------------------------------------------------------------------------------


def of(ramp: Ramp, *values: float) -> list[float]:
    return [float(mu) for mu in ramp_membership(ramp, np.array(values))]


def test_a_rising_ramp_goes_from_clearly_absent_to_clearly_present() -> None:
    assert of(Ramp("rising", 2.0, 6.0), -1.0, 2.0, 3.0, 4.0, 6.0, 9.0) == [0.0, 0.0, 0.25, 0.5, 1.0, 1.0]


def test_a_falling_ramp_is_the_mirror_image() -> None:
    assert of(Ramp("falling", 2.0, 6.0), -1.0, 2.0, 3.0, 4.0, 6.0, 9.0) == [1.0, 1.0, 0.75, 0.5, 0.0, 0.0]


def test_a_band_is_a_trapezoid() -> None:
    ramp = Ramp("band", 0.0, 10.0, 2.0, 6.0)
    assert of(ramp, -1.0, 0.0, 1.0, 2.0, 4.0, 6.0, 8.0, 10.0, 11.0) == [0, 0, 0.5, 1, 1, 1, 0.5, 0, 0]


def test_a_band_without_inner_bounds_has_sharp_edges() -> None:
    assert of(Ramp("band", 1.0, 2.0), 0.99, 1.0, 1.5, 2.0, 2.01) == [0.0, 1.0, 1.0, 0.0, 0.0]


def test_on_a_log_scale_the_middle_is_the_geometric_mean_and_nothing_below_zero_is_present() -> None:
    ramp = Ramp("rising", 0.01, 1.0, scale="log")
    assert of(ramp, 0.1, 0.01, 1.0, 0.0, -5.0) == pytest.approx([0.5, 0.0, 1.0, 0.0, 0.0])
    assert of(replace(ramp, shape="falling"), 0.0, -5.0) == [1.0, 1.0]


@pytest.mark.parametrize("shape", ["rising", "falling", "band"])
@pytest.mark.parametrize("scale", ["linear", "log"])
def test_a_missing_number_has_no_membership_and_an_infinite_one_is_beyond_every_bound(shape: str, scale: str) -> None:
    ramp = Ramp(shape, 1.0, 2.0, 1.2, 1.8, scale)  # type: ignore[arg-type]
    missing, above, below = of(ramp, NAN, float("inf"), float("-inf"))
    assert np.isnan(missing)
    expected = {"rising": [1.0, 0.0], "falling": [0.0, 1.0], "band": [0.0, 0.0]}[shape]
    assert [above, below] == expected


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
def test_a_rising_ramp_is_monotone_and_stays_in_bounds(a: float, b: float) -> None:
    low, high = of(Ramp("rising", -3.0, 11.0), *sorted((a, b)))
    assert 0.0 <= low <= high <= 1.0


# -- reliability ----------------------------------------------------------------------------------------------------


def test_reliability_pulls_a_membership_towards_cannot_tell() -> None:
    _, mu, _ = found(leaf("x"), {"x": [1.0, 0.5, 0.2]}, x=[1.0, 1.0, 0.0])
    assert mu == pytest.approx([1.0, 0.75, 0.4])


def test_a_number_without_any_reliability_is_missing() -> None:
    assert found(leaf("x"), {"x": [0.0]}, x=[1.0]) == ([0.0], [0.5], [1.0])


# -- composition ----------------------------------------------------------------------------------------------------

X, Y = leaf("x"), leaf("y")


def test_all_is_the_lowest_any_the_highest_and_not_the_rest() -> None:
    assert found(All((X, Y)), x=[0.2], y=[0.9])[1] == [0.2]
    assert found(Any_((X, Y)), x=[0.2], y=[0.9])[1] == [0.9]
    assert found(Not(X), x=[0.2])[1] == [0.8]
    assert found(Mean((X, Y)), x=[0.2], y=[0.9])[1] == pytest.approx([0.55])


def test_a_missing_part_is_an_interval_that_a_clear_part_can_close() -> None:
    assert found(All((X, Y)), x=[0.0, 1.0, 0.4], y=[NAN] * 3) == ([0, 0, 0], [0, 0.5, 0.2], [0, 1, 0.4])
    assert found(Any_((X, Y)), x=[0.0, 1.0, 0.4], y=[NAN] * 3) == ([0, 1, 0.4], [0.5, 1, 0.7], [1, 1, 1])
    assert found(Not(X), x=[NAN]) == ([0], [0.5], [1])


def test_of_a_first_the_first_part_that_is_known_decides_alone() -> None:
    first = First((leaf("a"), leaf("b")))
    assert found(first, a=[0.0, NAN, 1.0, NAN], b=[1.0, 1.0, NAN, NAN]) == (
        [0.0, 1.0, 1.0, 0.0],
        [0.0, 1.0, 1.0, 0.5],
        [0.0, 1.0, 1.0, 1.0],
    )


def test_a_mean_makes_do_with_the_parts_that_are_there() -> None:
    low, mu, high = found(Mean((X, Y)), x=[0.8, NAN], y=[NAN, NAN])
    assert (low, mu, high) == ([0.8, 0.0], [0.8, 0.5], [0.8, 1.0])


def test_negation_goes_through_nested_intervals() -> None:
    """not (x or missing) with x clearly seen is clearly not seen."""
    assert found(Not(Any_((X, Y))), x=[1.0], y=[NAN])[1] == [0.0]


def test_a_symptom_may_be_made_of_another_one_defined_after_it() -> None:
    other = Symptom("other", "Other", Any_((X, Y)), 0.1)
    assert found(All((SymptomRef("other"), Y)), others=[other], x=[0.9], y=[0.6])[1] == [0.6]


def test_leaves_are_kept_in_the_order_of_the_condition_with_those_of_referenced_symptoms() -> None:
    other = Symptom("other", "Other", Mean((Y, X)), 0.1)
    made = replace(book({}, []), symptoms=(Symptom("it", "It", All((X, Not(SymptomRef("other")))), 0.1), other))
    numbers = Given({"feature x": [0.4, 0.5], "feature y": [NAN, 1.0]}, {"feature y": [0.0, 0.5]})
    result = memberships(made, numbers, 2)
    assert [value.leaf.name for value in result.leaves["it"]] == ["x", "y", "x"]
    y = result.leaves["other"][0]
    assert (y.low.tolist(), y.high.tolist(), y.reliability.tolist()) == ([0.0, 0.75], [1.0, 0.75], [0.0, 0.5])
    assert np.isnan(y.value[0])


def test_what_is_known_says_where_the_interval_is_not_everything() -> None:
    symptoms = (Symptom("a", "A", X, 0.1), Symptom("b", "B", All((X, Y)), 0.1))
    made = replace(book({}, []), symptoms=symptoms)
    numbers = Given({"feature x": [NAN, 0.5], "feature y": [NAN, NAN]}, {})
    assert memberships(made, numbers, 2).known.tolist() == [[False, False], [True, True]]


def test_configuration_derived_numbers_and_log_issues_are_leaves_too() -> None:
    parts = tuple(Leaf(kind, "n", RISING) for kind in ("feature", "derived", "config", "issue"))
    made = replace(book({}, []), symptoms=tuple(Symptom(p.kind, p.kind, p, 0.1) for p in parts))
    numbers = Given({"feature n": [0.1], "derived n": [0.2], "config n": [0.3], "issue n": [0.4]}, {})
    assert memberships(made, numbers, 1).mu[0].tolist() == [0.1, 0.2, 0.3, 0.4]


@given(st.lists(st.tuples(st.floats(-1, 2), st.floats(-1, 2), st.booleans()), min_size=2, max_size=9))
def test_a_membership_does_not_depend_on_the_other_runs(rows: list[tuple[float, float, bool]]) -> None:
    x, y = [r[0] for r in rows], [NAN if r[2] else r[1] for r in rows]
    condition = Mean((All((X, Y)), Not(X), Any_((Y, Not(Y)))))
    together = found(condition, x=x, y=y)
    alone = [found(condition, x=[a], y=[b]) for a, b in zip(x, y, strict=True)]
    assert together == tuple([one[k][0] for one in alone] for k in range(3))


@given(st.floats(0, 1), st.floats(0, 1))
def test_the_interval_holds_every_value_that_the_missing_part_could_have(x: float, y: float) -> None:
    for condition in (All((X, Y)), Any_((X, Y)), Not(All((X, Not(Y))))):
        low, _, high = found(condition, x=[x], y=[NAN])
        assert low[0] <= found(condition, x=[x], y=[y])[1][0] <= high[0]


def test_a_book_without_symptoms_has_memberships_without_columns() -> None:
    assert memberships(book({}, []), Given({}, {}), 3).mu.shape == (3, 0)
