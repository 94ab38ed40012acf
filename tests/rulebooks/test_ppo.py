"""The book `ppo` on synthetic curves: for every cause a run that has it, a near miss, and a run that cannot show it."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

    from collections.abc import Callable, Mapping

    from rl_diagnose.diagnosis.model import RunDiagnosis
    from rl_diagnose.signals.run import Run

    from .conftest import MakeRun

    Diagnose = Callable[[Run, str], RunDiagnosis]

Curves = dict[str, Any]


def noise(t: Floats, seed: int = 9) -> Floats:
    return np.random.default_rng(seed).normal(size=t.size)


def flat(level: float, spread: float = 2.0) -> Callable[[np.ndarray], np.ndarray]:
    """No trend, only slow noise."""
    return lambda t: level + spread * (np.sin(9 * t + 1) * 0.5 + 0.7 * noise(t))


def collapse(t: Floats) -> Floats:
    """Rises until the middle, then falls to where it began and stays there."""
    return np.where(t < 0.5, 20 + 360 * t, np.maximum(20.0, 200 - 1800 * (t - 0.5))) + noise(t)


def falls(t: Floats) -> Floats:
    return 20 - 150 * t + 2 * noise(t)


def solved(t: Floats) -> Floats:
    return np.minimum(500.0, 20 + 2000 * t)


def around(level: float, spread: float = 0.3) -> Callable[[np.ndarray], np.ndarray]:
    return lambda t: level * np.exp(spread * noise(t, 11))


def spikes(usual: float, height: float, every: int) -> Callable[[np.ndarray], np.ndarray]:
    """Usual values with a spike every so many points."""
    return lambda t: np.where(np.arange(t.size) % every == every // 2, height, usual * np.exp(0.3 * noise(t, 12)))


def one_spike(usual: float, height: float) -> Callable[[np.ndarray], np.ndarray]:
    return lambda t: np.where(np.arange(t.size) == t.size // 2, height, usual * np.exp(0.3 * noise(t, 13)))


def dies(start: float, at: float, level: float) -> Callable[[np.ndarray], np.ndarray]:
    """Falls from `start` to `level` until the part `at` of the run."""
    return lambda t: np.maximum(level, start * (1 - t / at))


def step_up(before: float, after: float, at: float = 0.5) -> Callable[[np.ndarray], np.ndarray]:
    return lambda t: np.where(t < at, before, after)


def rises_then_rests(t: Floats) -> Floats:
    return np.minimum(1.0, t / 0.1) * 3e-4


NO_EV: Curves = {"value.explained_variance": lambda t: 0.01 * noise(t, 14)}
STANDS_STILL: Curves = {
    "reward.train": flat(22.0),
    "policy.kl": around(5e-8),
    "policy.clip_fraction": 0.0,
    "policy.entropy": lambda t: 0.693 - 1e-4 * t,
    **NO_EV,
}


class Case(NamedTuple):
    """A run that has the cause, how probable it must come out, a near miss, and signals whose absence hides it."""

    cause: str
    positive: Curves
    near_miss: Curves
    hidden: tuple[str, ...]
    at_least: float = 0.5
    config: Mapping[str, float | bool] = MappingProxyType({})
    near_config: Mapping[str, float | bool] = MappingProxyType({})
    issues: tuple[str, ...] = ()


CASES = [
    Case(
        "learning_rate_too_high",
        {"optim.learning_rate": 0.05, "policy.kl": spikes(0.05, 3.0, 7), "reward.train": collapse},
        {"optim.learning_rate": 0.05, "policy.kl": spikes(0.05, 3.0, 7)},
        ("optim.learning_rate", "policy.kl"),
    ),
    Case(
        "learning_rate_too_low",
        {**STANDS_STILL, "optim.learning_rate": 1e-6},
        {**STANDS_STILL, "optim.learning_rate": 3e-4},
        ("optim.learning_rate",),
    ),
    Case(
        "learning_rate_decayed_too_early",
        {
            "reward.train": flat(25.0),
            "optim.learning_rate": dies(3e-4, 0.12, 0.0),
            "policy.kl": dies(5e-3, 0.12, 0.0),
            "policy.clip_fraction": dies(0.05, 0.12, 0.0),
            "policy.entropy": lambda t: np.maximum(0.65, 0.69 - t),
        },
        {"optim.learning_rate": dies(3e-4, 1.0, 0.0)},
        ("optim.learning_rate",),
    ),
    Case(
        "learning_rate_jumped",
        {
            "reward.train": collapse,
            "optim.learning_rate": step_up(3e-4, 3e-2),
            "policy.kl": step_up(5e-3, 0.8),
            "policy.clip_fraction": step_up(0.05, 0.4),
        },
        {"optim.learning_rate": rises_then_rests},
        ("optim.learning_rate",),
    ),
    Case(
        "update_too_large",
        {"reward.train": flat(22.0), "policy.kl": around(0.5), "policy.clip_fraction": around(0.5, 0.1)},
        {"policy.kl": around(0.5), "policy.clip_fraction": around(0.5, 0.1)},
        ("policy.kl",),
    ),
    Case(
        "update_too_timid",
        {**STANDS_STILL, "policy.kl": around(5e-6), "optim.clip_range": 0.003},
        {**STANDS_STILL, "policy.kl": around(2e-4)},
        ("policy.kl",),
    ),
    Case(
        "entropy_bonus_too_weak",
        {
            "reward.train": collapse,
            "policy.entropy": dies(0.69, 0.4, 1e-4),
            "policy.kl": lambda t: np.where(t < 0.4, 5e-3, 1e-9),
        },
        {"reward.train": solved, "policy.entropy": dies(0.69, 0.4, 1e-4)},
        ("policy.entropy",),
    ),
    Case(
        "entropy_bonus_too_strong",
        {
            "reward.train": flat(22.0),
            "policy.entropy": lambda t: 0.69 + 0.001 * noise(t, 15),
            "policy.kl": around(2e-3),
        },
        {**STANDS_STILL, "policy.entropy": lambda t: 0.69 + 0.001 * noise(t, 15)},
        ("policy.entropy",),
    ),
    Case(
        "critic_underfit",
        {"reward.train": flat(22.0), **NO_EV},
        NO_EV,
        ("value.explained_variance",),
        config={"value_coef": 0.0},
    ),
    Case(
        "critic_dominates",
        {"reward.train": falls, "policy.kl": spikes(6e-4, 0.1, 13), **NO_EV},
        {"reward.train": falls, "policy.kl": around(6e-3)},
        ("policy.kl",),
    ),
    Case(
        "reward_scale_too_large",
        {**STANDS_STILL, "value.loss": around(1e8, 0.1)},
        {"value.loss": around(1e5, 0.1)},
        ("value.loss",),
    ),
    Case(
        "reward_scale_too_small",
        {
            "reward.train": flat(22.0),
            "value.loss": around(1e-6),
            "policy.entropy": lambda t: 0.69 + 0.001 * noise(t, 15),
            "policy.kl": around(3e-3),
        },
        {"value.loss": around(1e-5)},
        ("value.loss",),
        at_least=0.4,
    ),
    Case(
        "discount_unsuited",
        {"reward.train": falls, "value.explained_variance": around(-500.0)},
        {"reward.train": solved, "value.explained_variance": around(-500.0)},
        ("value.explained_variance",),
        config={"gamma": 0.3},
    ),
    Case(
        "gae_lambda_unsuited",
        {"reward.train": flat(22.0)},
        {"reward.train": flat(22.0)},
        ("reward.train",),
        at_least=0.3,
        config={"gae_lambda": 0.0},
        near_config={"gae_lambda": 0.95},
    ),
    Case(
        "advantage_normalisation_off",
        {"reward.train": flat(22.0), "policy.loss": around(30.0)},
        {"policy.loss": around(30.0)},
        ("policy.loss",),
        config={"normalize_advantage": False},
    ),
    Case(
        "batch_too_small",
        {"reward.train": flat(22.0)},
        {"reward.train": flat(22.0)},
        ("reward.train",),
        at_least=0.3,
        config={"n_steps": 16, "n_envs": 1},
        near_config={"n_steps": 2048, "n_envs": 1},
    ),
    Case(
        "observations_unnormalised",
        {"reward.train": flat(22.0), **NO_EV},
        NO_EV,
        ("reward.train", "policy.kl"),
        at_least=0.08,
        config={"normalize_observations": False},
    ),
    Case(
        "environment_changed",
        {"reward.train": collapse},
        {
            "reward.train": collapse,
            "optim.learning_rate": step_up(3e-4, 3e-2),
            "policy.kl": step_up(5e-3, 0.8),
        },
        ("policy.kl",),
    ),
    Case(
        "code_bug_stale_log_probs",
        {
            "reward.train": flat(22.0),
            "policy.kl": around(0.02),
            "policy.clip_fraction": around(0.3, 0.1),
            "policy.entropy": lambda t: 0.688 + 0.001 * noise(t, 15),
        },
        {"policy.kl": around(0.02), "policy.clip_fraction": around(0.3, 0.1)},
        ("policy.kl",),
    ),
    Case(
        "code_bug_weights_changed",
        {"reward.train": collapse, "policy.kl": one_spike(5e-3, 1.2), "policy.clip_fraction": one_spike(0.05, 0.7)},
        {"policy.kl": one_spike(5e-3, 1.2), "policy.clip_fraction": one_spike(0.05, 0.7)},
        ("policy.kl",),
    ),
    Case(
        "optimiser_reset_at_resume",
        {"reward.train": collapse, "policy.kl": step_up(5e-3, 2e-2)},
        {},
        ("reward.train",),
        at_least=0.4,
        issues=("resumed",),
    ),
]


def probability(result: RunDiagnosis, cause: str) -> float | None:
    return next(c.probability for c in result.causes if c.id == cause)


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.cause)
def test_a_run_with_the_cause_shows_it_and_it_leads(case: Case, make_run: MakeRun, diagnose: Diagnose) -> None:
    result = diagnose(make_run(case.positive, config=case.config, issues=case.issues), "ppo")
    found = probability(result, case.cause)
    assert found is not None
    assert found >= case.at_least
    assert case.cause in [c.id for c in result.findings][:3]
    if case.at_least >= 0.5:
        assert result.findings[0].id == case.cause


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.cause)
def test_a_near_miss_is_no_finding(case: Case, make_run: MakeRun, diagnose: Diagnose) -> None:
    config = case.near_config or case.config
    result = diagnose(make_run(case.near_miss, config=config, issues=case.issues), "ppo")
    assert (probability(result, case.cause) or 0.0) < min(0.5, case.at_least)


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.cause)
def test_without_the_signals_that_show_it_the_cause_is_not_asserted(
    case: Case, make_run: MakeRun, diagnose: Diagnose
) -> None:
    blind = {**case.positive, **dict.fromkeys(case.hidden)}
    result = diagnose(make_run(blind, issues=case.issues), "ppo")
    cause = next(c for c in result.causes if c.id == case.cause)
    assert cause.status != "assessed" or (cause.probability or 0.0) < 0.5


def test_every_cause_of_the_book_itself_has_a_case(make_run: MakeRun, diagnose: Diagnose) -> None:
    own = {c.id for c in diagnose(make_run(), "ppo").causes} - {c.id for c in diagnose(make_run(), "core").causes}
    assert own | {"environment_changed"} == {case.cause for case in CASES}


def test_a_run_that_learns_is_silent_and_said_to_improve(make_run: MakeRun, diagnose: Diagnose) -> None:
    result = diagnose(make_run(), "ppo")
    assert result.verdict == "nothing_found"
    assert (probability(result, "still_improving") or 0.0) + (probability(result, "solved") or 0.0) > 0.5


def test_a_solved_run_is_silent_whatever_its_other_curves_look_like(make_run: MakeRun, diagnose: Diagnose) -> None:
    odd: Curves = {
        "reward.train": solved,
        "policy.entropy": dies(0.69, 0.4, 1e-4),
        "policy.kl": dies(8e-3, 1.0, 1e-7),
        "policy.loss": 0.0,
        "value.explained_variance": lambda t: -2.0 + 0.1 * noise(t),
        "optim.learning_rate": dies(3e-4, 1.0, 0.0),
    }
    result = diagnose(make_run(odd), "ppo")
    assert result.verdict == "nothing_found"
    assert (probability(result, "solved") or 0.0) >= 0.5


def test_a_kl_outside_the_folklore_band_is_no_finding(make_run: MakeRun, diagnose: Diagnose) -> None:
    for level in (5e-4, 4e-2):
        assert diagnose(make_run({"policy.kl": around(level)}), "ppo").verdict == "nothing_found"
