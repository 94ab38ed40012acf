"""The book `llm_rl` on synthetic curves: each cause where it shows, a near miss, and a run that cannot show it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

from rl_diagnose.rules.check import check_book
from rl_diagnose.rules.library import default_books_for, load_book

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from rl_diagnose.diagnosis.model import RunDiagnosis
    from rl_diagnose.signals.run import Run

    from .conftest import MakeRun

    Floats = NDArray[np.float64]
    Curve = Callable[[Floats], Floats]
    Diagnose = Callable[[Run, str], RunDiagnosis]

Curves = dict[str, Any]


def noise(t: Floats, seed: int = 21) -> Floats:
    return np.random.default_rng(seed).normal(size=t.size)


def level(value: float, spread: float = 0.1, seed: int = 22) -> Curve:
    """No trend; multiplicative noise."""
    return lambda t: value * np.exp(spread * noise(t, seed))


def ramp(start: float, end: float, spread: float = 0.0, seed: int = 23) -> Curve:
    return lambda t: start + (end - start) * t + spread * noise(t, seed)


def flat_reward(t: Floats) -> Floats:
    return 0.3 + 0.1 * noise(t, 24)


def rising_reward(t: Floats) -> Floats:
    return 0.2 + 0.6 * t + 0.1 * noise(t, 24)


def crash(t: Floats) -> Floats:
    """Rises until two thirds of the run, then falls to nothing."""
    return np.where(t < 0.66, 0.2 + 0.6 * t, 0.02) + 0.05 * noise(t, 25)


def stalls(t: Floats) -> Floats:
    """A small gain in the first tenth, then nothing."""
    return 0.3 + 0.05 * np.minimum(1.0, 10 * t) + 0.1 * noise(t, 26)


def jumps(start: float, end: float, at: float = 0.66) -> Curve:
    return lambda t: np.where(t < at, start * (0.2 + t), end)


def dies(start: float, floor: float, at: float = 0.3) -> Curve:
    return lambda t: np.maximum(floor, start * (1 - t / at))


# A usual GRPO run: reward up, entropy down by half, reference KL up with the steps, a quarter of the groups without
# variance, loss = 0.04 KL.
LEARNING: Curves = {
    "reward.train": rising_reward,
    "policy.entropy": ramp(0.6, 0.3, 0.02),
    "policy.kl_ref": lambda t: 0.002 + 0.05 * t,
    "policy.clip_fraction": level(0.002),
    "loss.total": lambda t: 0.04 * (0.002 + 0.05 * t),
    "optim.learning_rate": 1e-6,
    "optim.grad_norm": level(0.3),
    "llm.response_length": level(300.0),
    "llm.truncated_fraction": level(0.02),
    "llm.zero_std_fraction": lambda t: np.clip(0.25 + 0.05 * noise(t, 27), 0, 1),
    "llm.reward_std": level(0.4),
}


class Case(NamedTuple):
    """A cause, curves and configuration that show it, and a change that makes it a near miss."""

    cause: str
    curves: Curves
    near: Curves
    config: Mapping[str, float] = {}
    algorithm: str = "grpo"


CASES = [
    Case(
        "entropy_collapse",
        {"reward.train": stalls, "policy.entropy": dies(0.6, 0.004), "llm.zero_std_fraction": ramp(0.3, 0.7, 0.02)},
        {"reward.train": rising_reward},
    ),
    Case(
        "entropy_explosion",
        {"reward.train": crash, "policy.entropy": ramp(0.4, 5.0, 0.05)},
        {"reward.train": rising_reward, "policy.entropy": ramp(0.4, 0.7, 0.02)},
    ),
    Case(
        "kl_coef_too_low",
        {"reward.train": crash, "policy.kl_ref": jumps(0.05, 4.0), "loss.total": level(0.5)},
        {"policy.kl_ref": lambda t: 0.002 + 0.05 * t},
    ),
    Case(
        "kl_coef_too_high",
        {
            "reward.train": flat_reward,
            "policy.kl_ref": level(1e-5),
            "loss.total": level(1e-5),
        },
        {"reward.train": rising_reward, "policy.kl_ref": lambda t: 0.002 + 0.05 * t},
        {"kl_coef": 1.0},
    ),
    Case(
        "learning_rate_too_high",
        {"reward.train": crash, "optim.learning_rate": 3e-4, "optim.grad_norm": jumps(0.3, 30.0)},
        {"optim.learning_rate": 1e-6, "optim.grad_norm": level(0.3)},
    ),
    Case(
        "learning_rate_too_low",
        {"reward.train": flat_reward, "optim.learning_rate": 1e-9, "policy.kl_ref": level(1e-6)},
        {"reward.train": rising_reward, "policy.kl_ref": lambda t: 0.002 + 0.05 * t},
    ),
    Case(
        "off_policy_ratio",
        {"reward.train": crash, "policy.clip_fraction": level(0.4), "policy.kl": level(0.3)},
        {"policy.clip_fraction": level(0.002), "policy.kl": level(0.001)},
    ),
    Case(
        "no_learning_signal",
        {
            "reward.train": 3.0,
            "optim.grad_norm": 0.0,
            "llm.zero_std_fraction": 1.0,
            "llm.reward_std": 0.0,
            "policy.kl_ref": 0.0,
            "loss.total": 0.0,
        },
        {"optim.grad_norm": level(0.3), "llm.zero_std_fraction": level(0.2), "llm.reward_std": level(0.4)},
    ),
    Case(
        "prompts_too_hard",
        {
            "reward.train": lambda t: np.maximum(0, 0.02 + 0.02 * noise(t, 28)),
            "llm.zero_std_fraction": lambda t: 0.98 - 4 * np.maximum(0, 0.02 + 0.02 * noise(t, 28)),
        },
        {"llm.zero_std_fraction": level(0.3)},
    ),
    Case(
        "prompts_too_easy",
        {
            "reward.train": lambda t: 0.96 + 0.01 * noise(t, 29),
            "llm.zero_std_fraction": lambda t: np.minimum(0.99, 0.88 + 0.02 * noise(t, 29)),
        },
        {"llm.zero_std_fraction": level(0.3)},
    ),
    Case(
        "truncation",
        {"reward.train": flat_reward, "llm.truncated_fraction": level(0.8, 0.05)},
        {"reward.train": rising_reward},
    ),
    Case(
        "length_gaming",
        {"reward.train": flat_reward, "llm.response_length": ramp(300.0, 1200.0, 10.0)},
        {"reward.train": rising_reward},
    ),
    Case(
        "responses_collapsed",
        {"reward.train": flat_reward, "llm.response_length": dies(300.0, 6.0)},
        {"reward.train": rising_reward},
    ),
    Case(
        "reward_hacking",
        {"llm.reward_task": ramp(0.5, 0.1, 0.03), "policy.kl_ref": lambda t: 0.01 + 3 * t},
        {"llm.reward_task": ramp(0.1, 0.5, 0.03)},
    ),
    Case(
        "only_format_learned",
        {
            "reward.train": lambda t: 0.2 + 0.5 * np.minimum(1, 5 * t) + 0.03 * noise(t, 30),
            "llm.reward_format": lambda t: np.minimum(0.5, 2.5 * t),
            "llm.reward_task": lambda t: 0.1 + 0.02 * noise(t, 31),
        },
        {"llm.reward_task": ramp(0.1, 0.5, 0.02)},
    ),
    Case(
        "critic_underfit",
        {"reward.train": flat_reward, "value.explained_variance": lambda t: 0.03 * noise(t, 32)},
        {"value.explained_variance": level(0.6)},
        algorithm="rlhf_ppo",
    ),
]


def _probability(result: RunDiagnosis, cause: str) -> float:
    return next((c.probability or 0.0 for c in result.causes if c.id == cause), 0.0)


def test_the_book_loads_and_its_check_has_nothing_to_say() -> None:
    assert load_book("llm_rl").id == "llm_rl"
    assert [problem.render() for problem in check_book("llm_rl")] == []


@pytest.mark.parametrize("algorithm", ["grpo", "rloo", "rlhf_ppo", "dapo"])
def test_language_model_algorithms_get_this_book(algorithm: str) -> None:
    assert default_books_for(algorithm, "trl", "discrete") == ("llm_rl",)


def test_ppo_in_a_simulator_does_not() -> None:
    assert default_books_for("ppo", "sb3", "discrete") == ("ppo",)


def test_every_fault_of_the_book_has_a_case() -> None:
    own = {c.id for c in load_book("llm_rl").causes if c.kind == "fault"} - {c.id for c in load_book("core").causes}
    assert own == {case.cause for case in CASES}


@pytest.mark.parametrize("case", CASES, ids=[case.cause for case in CASES])
def test_a_cause_is_found_first_where_it_shows(case: Case, make_run: MakeRun, diagnose: Diagnose) -> None:
    run = make_run(case.curves, base=LEARNING, algorithm=case.algorithm, config=case.config)
    result = diagnose(run, "llm_rl")
    assert _probability(result, case.cause) >= 0.5
    assert result.findings[0].id == case.cause


@pytest.mark.parametrize("case", CASES, ids=[case.cause for case in CASES])
def test_a_near_miss_is_not_accused(case: Case, make_run: MakeRun, diagnose: Diagnose) -> None:
    run = make_run({**case.curves, **case.near}, base=LEARNING, algorithm=case.algorithm, config=case.config)
    assert _probability(diagnose(run, "llm_rl"), case.cause) < 0.5


# A reward that never changes is by itself what no_learning_signal says.
FROM_MORE_THAN_REWARD = [case for case in CASES if case.cause != "no_learning_signal"]


@pytest.mark.parametrize("case", FROM_MORE_THAN_REWARD, ids=[case.cause for case in FROM_MORE_THAN_REWARD])
def test_a_cause_is_not_made_up_from_the_reward_alone(case: Case, make_run: MakeRun, diagnose: Diagnose) -> None:
    reward = case.curves.get("reward.train", rising_reward)
    run = make_run({"reward.train": reward}, base={}, algorithm=case.algorithm)
    assert _probability(diagnose(run, "llm_rl"), case.cause) < 0.5


HEALTHY: dict[str, Curves] = {
    "learning": {},
    "a loss of 0 with a gradient": {"loss.total": 0.0},
    "entropy spent on a rising reward": {"policy.entropy": dies(0.6, 0.01, 0.5)},
    "longer answers that score better": {"llm.response_length": ramp(300.0, 1500.0, 20.0)},
    "shorter answers that score better": {"llm.response_length": ramp(500.0, 150.0, 10.0)},
    "reference KL summed over the response": {"policy.kl_ref": lambda t: 0.5 + 12 * t},
    "groups lose variance as prompts get solved": {"llm.zero_std_fraction": ramp(0.1, 0.9, 0.02)},
    "cut answers at first": {"llm.truncated_fraction": dies(0.6, 0.01)},
    "a noisy reward of one prompt a step": {"reward.train": lambda t: 0.2 + 0.6 * t + 0.35 * noise(t, 33)},
    "a task solved early": {
        "reward.train": lambda t: np.minimum(1.0, 0.2 + 3 * t) + 0.01 * noise(t, 34),
        "policy.entropy": dies(0.6, 0.05),
        "optim.grad_norm": ramp(0.3, 0.05),
    },
    "no penalty, so no reference KL": {"policy.kl_ref": None, "loss.total": 0.0},
    "learning rate of an adapter": {"optim.learning_rate": 1e-5},
    "warm-up and decay to 0": {"optim.learning_rate": lambda t: 1e-6 * np.minimum(1, 10 * t) * (1 - t)},
    "k1 estimates around 0": {"policy.kl": lambda t: 0.001 * noise(t, 35)},
    "one skipped step of a loss scaler": {
        "optim.grad_norm": lambda t: np.where(np.arange(t.size) == 5, np.inf, 0.3 + 0.01 * noise(t, 36))
    },
}


@pytest.mark.parametrize("name", HEALTHY)
def test_healthy_runs_are_left_alone(name: str, make_run: MakeRun, diagnose: Diagnose) -> None:
    result = diagnose(make_run(HEALTHY[name], base=LEARNING, algorithm="grpo"), "llm_rl")
    assert result.verdict == "nothing_found", [(c.id, c.probability) for c in result.findings]


def test_a_loss_of_zero_with_a_gradient_is_explained(make_run: MakeRun, diagnose: Diagnose) -> None:
    result = diagnose(make_run({"loss.total": 0.0}, base=LEARNING, algorithm="grpo"), "llm_rl")
    assert _probability(result, "loss_zero_by_construction") >= 0.5
    dead = diagnose(make_run(CASES[7].curves, base=LEARNING, algorithm="grpo"), "llm_rl")
    assert _probability(dead, "loss_zero_by_construction") < 0.25


def test_the_kl_between_old_and_new_policy_says_nothing_about_the_reference(
    make_run: MakeRun, diagnose: Diagnose
) -> None:
    curves = {"reward.train": crash, "policy.kl_ref": None, "policy.kl": jumps(0.05, 4.0), "loss.total": None}
    result = diagnose(make_run(curves, base=LEARNING, algorithm="grpo"), "llm_rl")
    assert _probability(result, "kl_coef_too_low") == 0.0


def test_a_kl_of_exactly_zero_was_not_computed(make_run: MakeRun, diagnose: Diagnose) -> None:
    curves: Curves = {"reward.train": flat_reward, "policy.kl_ref": 0.0, "loss.total": 0.0}
    result = diagnose(make_run(curves, base=LEARNING, algorithm="grpo"), "llm_rl")
    assert _probability(result, "kl_coef_too_high") < 0.1
    assert _probability(result, "learning_rate_too_low") < 0.1


def test_a_heavy_penalty_shows_in_the_loss(make_run: MakeRun, diagnose: Diagnose) -> None:
    curves: Curves = {"reward.train": flat_reward, "policy.kl_ref": level(1e-5), "loss.total": level(1e-5)}
    light: Curves = {**curves, "loss.total": level(4e-7)}

    def p(changes: Curves) -> float:
        return _probability(diagnose(make_run(changes, base=LEARNING, algorithm="grpo"), "llm_rl"), "kl_coef_too_high")

    assert p(curves) > 2 * p(light)


def test_the_first_finding_after_a_far_too_large_step_is_the_step(make_run: MakeRun, diagnose: Diagnose) -> None:
    curves: Curves = {
        "reward.train": crash,
        "optim.learning_rate": 5e-3,
        "policy.entropy": dies(0.9, 0.0005),
        "policy.kl_ref": jumps(0.5, 300.0),
        "optim.grad_norm": dies(10.0, 1e-8),
        "llm.zero_std_fraction": ramp(0.1, 1.0),
    }
    result = diagnose(make_run(curves, base=LEARNING, algorithm="grpo"), "llm_rl")
    assert result.findings[0].id == "learning_rate_too_high"


def test_an_infinite_reference_kl_is_named(make_run: MakeRun, diagnose: Diagnose) -> None:
    curves: Curves = {"policy.kl_ref": lambda t: np.where(t > 0.8, np.inf, 0.05 * t)}
    result = diagnose(make_run(curves, base=LEARNING, algorithm="grpo"), "llm_rl")
    assert _probability(result, "non_finite_values") >= 0.5


def test_remedies_stay_within_bounds(make_run: MakeRun, diagnose: Diagnose) -> None:
    case = next(case for case in CASES if case.cause == "learning_rate_too_high")
    run = make_run(case.curves, base=LEARNING, algorithm="grpo", config={"learning_rate": 3e-4})
    plan = diagnose(run, "llm_rl").findings[0].remedies[0]
    assert plan.knob == "learning_rate"
    assert plan.proposed == pytest.approx(1e-5)


def test_cut_responses_that_earn_nothing_are_a_matter_of_the_limit(make_run: MakeRun, diagnose: Diagnose) -> None:
    curves: Curves = {
        "reward.train": 0.0,
        "llm.truncated_fraction": 1.0,
        "llm.zero_std_fraction": 1.0,
        "llm.reward_std": 0.0,
        "optim.grad_norm": 0.0,
        "policy.kl_ref": None,
        "loss.total": 0.0,
    }
    result = diagnose(make_run(curves, base=LEARNING, algorithm="grpo"), "llm_rl")
    assert result.findings[0].id == "truncation"


def _stopped_in_collapse(start: float, end: float) -> Curve:
    """Steady until nine tenths of the run, then up within a few points; the run is stopped there."""
    return lambda t: np.where(t < 0.9, start * (1 + t), end * np.maximum(0.05, (t - 0.9) / 0.1))


def test_a_run_that_is_stopped_while_it_collapses_is_read_by_its_end(make_run: MakeRun, diagnose: Diagnose) -> None:
    falling: Curves = {"reward.train": lambda t: np.where(t < 0.93, 0.2 + 0.6 * t, 0.1) + 0.03 * noise(t, 37)}
    dissolved = {
        **falling,
        "policy.entropy": _stopped_in_collapse(0.3, 6.8),
        "llm.truncated_fraction": jumps(0.02, 0.9, 0.93),
    }
    ran_away = {**falling, "policy.kl_ref": _stopped_in_collapse(0.02, 1.05)}
    assert (
        diagnose(make_run(dissolved, base=LEARNING, algorithm="grpo"), "llm_rl").findings[0].id == "entropy_explosion"
    )
    assert diagnose(make_run(ran_away, base=LEARNING, algorithm="grpo"), "llm_rl").findings[0].id == "kl_coef_too_low"
