"""The book `core` on synthetic curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

    from collections.abc import Callable

    from rl_diagnose.diagnosis.model import RunDiagnosis
    from rl_diagnose.signals.run import Run

    from .conftest import MakeRun

    Diagnose = Callable[[Run, str], RunDiagnosis]


def noise(t: Floats, seed: int = 21) -> Floats:
    return np.random.default_rng(seed).normal(size=t.size)


def rises(t: Floats) -> Floats:
    return 20 + 180 * t + 2 * noise(t)


def flat(t: Floats) -> Floats:
    return 20 + 2 * noise(t)


def collapse(t: Floats) -> Floats:
    return np.where(t < 0.5, 20 + 360 * t, np.maximum(20.0, 200 - 1800 * (t - 0.5))) + noise(t)


def probability(result: RunDiagnosis, cause: str) -> float | None:
    return next(c.probability for c in result.causes if c.id == cause)


def periodic(curve: Callable[[np.ndarray], np.ndarray], depth: float) -> Callable[[np.ndarray], np.ndarray]:
    """`curve` with a dip of `depth` every ten points."""
    return lambda t: curve(t) - depth * (np.arange(t.size) % 10 < 2)


def after(at: float, value: float) -> Callable[[np.ndarray], np.ndarray]:
    """The learning curve, but `value` from a part of the run on."""
    return lambda t: np.where(t < at, rises(t), value)


TABLE: list[tuple[str, dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    ("non_finite_values", {"reward.train": after(0.95, np.inf)}, {}, {"reward.train": None}),
    (
        "reward_never_seen",
        {"reward.train": 0.0},
        {"reward.train": lambda t: np.where(t < 0.4, 0.0, t)},
        {"reward.train": None},
    ),
    (
        "environment_disturbed_periodically",
        {
            "reward.train": periodic(rises, 60.0),
            "policy.entropy": periodic(lambda t: 0.68 - 0.3 * t, 0.2),
            "value.loss": periodic(lambda t: 100.0 + noise(t), -300.0),
        },
        {"reward.train": periodic(rises, 0.0)},
        {"reward.train": None, "policy.entropy": None, "value.loss": None, "policy.kl": None},
    ),
    (
        "reward_loophole",
        {"reward.train": rises, "reward.eval": lambda t: 20 - np.minimum(200.0, 500 * t)},
        {"reward.train": rises, "reward.eval": lambda t: 20 + 150 * t},
        {"reward.eval": None},
    ),
    (
        "evaluation_gap",
        {"reward.train": rises, "reward.eval": lambda t: -2000.0 + 5 * noise(t)},
        {"reward.train": rises, "reward.eval": lambda t: 10 + 100 * t},
        {"reward.eval": None},
    ),
]


@pytest.mark.parametrize(("cause", "positive", "near_miss", "hidden"), TABLE, ids=[row[0] for row in TABLE])
def test_a_fault_is_found_its_near_miss_is_not_and_without_its_signals_nothing_is_asserted(
    cause: str,
    positive: dict[str, Any],
    near_miss: dict[str, Any],
    hidden: dict[str, Any],
    make_run: MakeRun,
    diagnose: Diagnose,
) -> None:
    found = diagnose(make_run(positive), "core")
    assert (probability(found, cause) or 0.0) >= 0.5
    assert found.verdict == "finding"
    assert (probability(diagnose(make_run(near_miss), "core"), cause) or 0.0) < 0.5
    assert (probability(diagnose(make_run({**positive, **hidden}), "core"), cause) or 0.0) < 0.5


def test_a_collapse_alone_is_not_blamed_on_the_environment(make_run: MakeRun, diagnose: Diagnose) -> None:
    result = diagnose(make_run({"reward.train": collapse}), "core")
    assert (probability(result, "environment_changed") or 0.0) < 0.5
    assert (probability(result, "environment_changed") or 0.0) > 0.1


def test_a_rise_is_called_a_rise_and_a_plateau_a_plateau(make_run: MakeRun, diagnose: Diagnose) -> None:
    rising = diagnose(make_run({"reward.train": rises}), "core")
    assert (probability(rising, "still_improving") or 0.0) >= 0.5
    resting = diagnose(make_run({"reward.train": lambda t: np.minimum(200.0, 20 + 600 * t)}), "core")
    assert (probability(resting, "solved") or 0.0) >= 0.5
    assert {rising.verdict, resting.verdict} == {"nothing_found"}


def test_six_points_are_too_few(make_run: MakeRun, diagnose: Diagnose) -> None:
    result = diagnose(make_run({"reward.train": flat}, points=6), "core")
    assert (probability(result, "too_short_to_tell") or 0.0) >= 0.5
    assert result.verdict == "cannot_tell"


def test_one_absurd_reward_makes_the_return_unreadable_and_not_a_collapse(
    make_run: MakeRun, diagnose: Diagnose
) -> None:
    curve = {"reward.train": lambda t: np.where((t > 0.4) & (t < 0.6), 1e30, rises(t))}
    result = diagnose(make_run(curve), "core")
    assert (probability(result, "return_unreadable") or 0.0) >= 0.5
    assert result.verdict != "finding"


def test_a_poor_return_without_a_trace_is_said_to_be_unexplained(make_run: MakeRun, diagnose: Diagnose) -> None:
    result = diagnose(make_run({"reward.train": flat}), "core")
    assert result.verdict in {"cannot_tell", "nothing_found"}
    assert (probability(result, "no_explanation_in_the_log") or 0.0) > 0.3
