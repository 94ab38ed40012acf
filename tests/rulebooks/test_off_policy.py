"""The off-policy books: each cause where it shows, a near miss, what healthy runs look like, and real runs."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

from rl_diagnose.diagnosis.pipeline import diagnose
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
OWN_FAULTS = {"off_policy", "dqn", "actor_critic"}


def noise(t: Floats, seed: int = 41) -> Floats:
    return np.random.default_rng(seed).normal(size=t.size)


def flat(t: Floats) -> Floats:
    return 20 + 2 * np.sin(9 * t + 1) + noise(t)


def falls(t: Floats) -> Floats:
    return 25 - 15 * t + 0.5 * noise(t)


def rises(t: Floats) -> Floats:
    return 20 + 180 * t + noise(t)


def rests(t: Floats) -> Floats:
    """Rises in the first third, then stays at its best level."""
    return np.minimum(200.0, 20 + 540 * t) + 0.5 * noise(t)


def around(value: float, spread: float = 0.1) -> Curve:
    return lambda t: value * np.exp(spread * noise(t, 42))


def grows(start: float, factor: float) -> Curve:
    return lambda t: start * factor**t


def vanishes(start: float, floor: float) -> Curve:
    return lambda t: np.maximum(start * (1 - 30 * t), floor)


def late(t: Floats) -> Floats:
    """Nothing before 70 per cent of the run."""
    return np.where(t < 0.7, np.nan, 0.3)


DQN: Curves = {
    "reward.train": rises,
    "episode.length": around(100.0),
    "critic.loss": lambda t: 0.2 + 0.3 * t,
    "optim.learning_rate": 5e-4,
    "exploration.epsilon": lambda t: np.maximum(0.05, 1 - 6 * t),
}
SAC: Curves = {
    "reward.train": rises,
    "episode.length": around(100.0),
    "critic.loss": lambda t: 0.3 + 2 * t,
    "actor.loss": lambda t: -5 - 20 * t,
    "alpha": lambda t: np.maximum(0.05, 0.9 - 3 * t),
    "optim.learning_rate": 3e-4,
}


class Case(NamedTuple):
    """A book, a cause, curves and configuration that show it, and a change that makes it a near miss."""

    book: str
    cause: str
    curves: Curves
    near: Curves
    config: Mapping[str, float] = {}
    algorithm: str = ""


CASES = [
    Case("dqn", "learning_rate_too_high", {"reward.train": flat, "optim.learning_rate": 0.1}, {"reward.train": rises}),
    Case(
        "dqn",
        "learning_rate_too_low",
        {"reward.train": flat, "optim.learning_rate": 1e-7, "critic.loss": around(0.3, 0.02)},
        {"optim.learning_rate": 5e-4},
    ),
    Case(
        "dqn",
        "q_divergence",
        {"reward.train": falls, "critic.loss": grows(0.2, 4000.0), "q.mean": grows(1.0, 1000.0)},
        {"reward.train": rises, "q.mean": grows(1.0, 100.0)},
    ),
    Case(
        "dqn",
        "reward_scale_too_large",
        {"reward.train": flat, "critic.loss": around(3e4)},
        {"critic.loss": lambda t: 0.2 + 0.3 * t},
    ),
    Case(
        "dqn",
        "reward_scale_too_small",
        {"reward.train": lambda t: 1e-5 * flat(t), "critic.loss": around(1e-12)},
        {"reward.train": rises, "critic.loss": lambda t: 0.2 + 0.3 * t},
    ),
    Case("dqn", "buffer_too_small", {"reward.train": flat}, {"reward.train": rises}, {"buffer_size": 200}),
    Case("dqn", "learning_starts_too_late", {"reward.train": flat, "critic.loss": late}, {"critic.loss": around(0.3)}),
    Case(
        "dqn",
        "target_update_unsuited",
        {"reward.train": falls, "critic.loss": vanishes(0.5, 1e-3)},
        {"reward.train": rests},
    ),
    Case(
        "dqn",
        "target_network_too_fast",
        {"reward.train": flat},
        {"reward.train": rises},
        {"target_update_interval": 1, "tau": 1.0},
    ),
    Case(
        "dqn",
        "exploration_never_ends",
        {"reward.train": flat, "exploration.epsilon": 0.9},
        # Ended before its schedule.
        {"exploration.epsilon": lambda t: 1 - 0.3 * t},
    ),
    Case(
        "dqn",
        "exploration_ended_too_early",
        {"reward.train": flat, "exploration.epsilon": 0.0},
        {"reward.train": rises},
    ),
    Case(
        "actor_critic",
        "learning_rate_too_high",
        {"reward.train": flat, "optim.learning_rate": 0.1},
        {"reward.train": rises},
    ),
    Case(
        "actor_critic",
        "learning_rate_too_low",
        {"reward.train": flat, "optim.learning_rate": 1e-7, "critic.loss": around(0.3, 0.02)},
        {"optim.learning_rate": 3e-4},
    ),
    Case(
        "actor_critic",
        "q_divergence",
        {"reward.train": falls, "critic.loss": grows(0.2, 1e5), "actor.loss": lambda t: -1.0 * 5000.0**t},
        {"reward.train": rises, "actor.loss": lambda t: -5 - 20 * t},
    ),
    Case(
        "actor_critic",
        "reward_scale_too_large",
        {"reward.train": flat, "critic.loss": around(1e7)},
        {"critic.loss": lambda t: 0.3 + 2 * t},
    ),
    Case(
        "actor_critic",
        "target_update_unsuited",
        {"reward.train": falls, "critic.loss": vanishes(0.8, 1e-3)},
        {"reward.train": rests},
    ),
    Case("actor_critic", "target_network_too_fast", {"reward.train": flat}, {"reward.train": rises}, {"tau": 1.0}),
    Case(
        "actor_critic",
        "temperature_runaway",
        {"alpha": grows(0.9, 2000.0), "critic.loss": grows(0.3, 1e4), "reward.train": falls},
        {"alpha": lambda t: 0.05 + 0.1 * t},
    ),
    Case(
        "actor_critic",
        "entropy_bonus_too_strong",
        {"reward.train": flat, "alpha": 5.0},
        {"reward.train": rises},
    ),
    Case("actor_critic", "entropy_bonus_too_weak", {"reward.train": flat, "alpha": 0.0}, {"reward.train": rises}),
    Case(
        "actor_critic",
        "action_saturation",
        {
            "reward.train": lambda t: np.where(t < 0.1, 60 + 20 * noise(t), 5.0),
            "critic.loss": vanishes(0.5, 1e-4),
        },
        {"reward.train": rises},
        algorithm="td3",
    ),
    Case(
        "actor_critic",
        "exploration_ended_too_early",
        {"reward.train": flat},
        {"reward.train": rises},
        {"action_noise": 0.0},
        algorithm="td3",
    ),
]
IDS = [f"{case.book}-{case.cause}" for case in CASES]


def _run(case: Case, curves: Curves, make_run: MakeRun) -> Run:
    base = DQN if case.book == "dqn" else SAC
    algorithm = case.algorithm or ("dqn" if case.book == "dqn" else "sac")
    if algorithm == "td3":
        base = {name: curve for name, curve in base.items() if name != "alpha"}
    return make_run(curves, base=base, algorithm=algorithm, config=case.config)


def _said(result: RunDiagnosis) -> list[str]:
    """What is said to be at fault: at least as likely as not."""
    return [finding.id for finding in result.findings if (finding.probability or 0.0) >= 0.5]


def _probability(result: RunDiagnosis, cause: str) -> float:
    return next((c.probability or 0.0 for c in result.causes if c.id == cause), 0.0)


@pytest.mark.parametrize("name", sorted(OWN_FAULTS))
def test_a_book_loads_and_its_check_has_nothing_to_say(name: str) -> None:
    assert load_book(name).id == name
    assert [problem.render() for problem in check_book(name)] == []


@pytest.mark.parametrize(
    ("algorithm", "book"),
    [("dqn", "dqn"), ("qrdqn", "dqn"), ("sac", "actor_critic"), ("ddpg", "actor_critic"), ("naf", "off_policy")],
)
def test_algorithms_get_the_book_that_knows_most_of_them(algorithm: str, book: str) -> None:
    assert default_books_for(algorithm, "sb3", None) == (book,)


def test_every_fault_of_the_books_has_a_case() -> None:
    inherited = {c.id for c in load_book("core").causes}
    faults = {c.id for name in OWN_FAULTS for c in load_book(name).causes if c.kind == "fault"} - inherited
    assert faults == {case.cause for case in CASES}


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_a_cause_is_found_first_where_it_shows(case: Case, make_run: MakeRun, diagnose: Diagnose) -> None:
    result = diagnose(_run(case, case.curves, make_run), case.book)
    assert _probability(result, case.cause) >= 0.5
    assert result.findings[0].id == case.cause


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_a_near_miss_is_not_accused(case: Case, make_run: MakeRun, diagnose: Diagnose) -> None:
    result = diagnose(_run(case, {**case.curves, **case.near}, make_run), case.book)
    assert _probability(result, case.cause) < 0.5


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_a_cause_is_not_made_up_from_the_return_alone(case: Case, make_run: MakeRun, diagnose: Diagnose) -> None:
    algorithm = case.algorithm or ("dqn" if case.book == "dqn" else "sac")
    run = make_run({"reward.train": flat}, base={}, algorithm=algorithm)
    assert _probability(diagnose(run, case.book), case.cause) < 0.5


HEALTHY: dict[str, tuple[str, Curves]] = {
    "DQN learns": ("dqn", {}),
    "DQN solved its task": ("dqn", {"reward.train": rests, "critic.loss": vanishes(0.5, 1e-4)}),
    "DQN, loss grows with the return": ("dqn", {"critic.loss": grows(0.1, 12.0)}),
    "DQN, burst of the loss after a copy of the target": (
        "dqn",
        {"critic.loss": lambda t: np.where(np.arange(t.size) == 10, 60.0, 0.2 + 0.3 * t)},
    ),
    "DQN needs no exploration": ("dqn", {"exploration.epsilon": 0.0}),
    "DQN explores for half of the run": ("dqn", {"exploration.epsilon": lambda t: np.maximum(0.05, 1 - 1.9 * t)}),
    "rewards normalised behind the log": (
        "dqn",
        {"reward.train": lambda t: 0.01 * rises(t), "critic.loss": around(0.8)},
    ),
    "SAC learns": ("actor_critic", {}),
    "SAC dips before it learns": ("actor_critic", {"reward.train": lambda t: rises(t) - 60 * np.exp(-8 * t)}),
    "SAC, temperature falls far": ("actor_critic", {"alpha": lambda t: np.maximum(0.002, 0.9 * np.exp(-20 * t))}),
    "SAC, temperature rises from a small start": ("actor_critic", {"alpha": lambda t: 0.01 + 0.1 * t}),
    "SAC rests at its best": ("actor_critic", {"reward.train": rests}),
    "SAC, loss grows with the return": ("actor_critic", {"critic.loss": grows(0.2, 40.0)}),
    "SAC, returns in the thousands": (
        "actor_critic",
        {
            "reward.train": lambda t: 40 * rises(t),
            "episode.length": around(1000.0),
            "critic.loss": lambda t: 5 + 300 * t,
            "actor.loss": lambda t: -40 - 500 * t,
        },
    ),
}


@pytest.mark.parametrize("name", HEALTHY)
def test_healthy_runs_are_left_alone(name: str, make_run: MakeRun, diagnose: Diagnose) -> None:
    book, curves = HEALTHY[name]
    base, algorithm = (DQN, "dqn") if book == "dqn" else (SAC, "sac")
    result = diagnose(make_run(curves, base=base, algorithm=algorithm), book)
    assert result.verdict == "nothing_found", _said(result)


def test_rewards_scaled_behind_the_log_are_told_from_a_divergence(make_run: MakeRun, diagnose: Diagnose) -> None:
    """Both end with an enormous loss; only one of them began with it."""
    scaled = make_run({"reward.train": flat, "critic.loss": grows(2e3, 50.0)}, base=DQN, algorithm="dqn")
    diverged = make_run({"reward.train": flat, "critic.loss": grows(0.2, 5e5)}, base=DQN, algorithm="dqn")
    assert diagnose(scaled, "dqn").findings[0].id == "reward_scale_too_large"
    assert diagnose(diverged, "dqn").findings[0].id == "q_divergence"


def test_a_divergence_shows_without_any_return(make_run: MakeRun, diagnose: Diagnose) -> None:
    curves: Curves = {"critic.loss": grows(5.0, 1e6)}
    result = diagnose(make_run(curves, base={}, algorithm="dqn", config={"tau": 0.2}), "dqn")
    assert result.findings[0].id == "target_network_too_fast"
    assert "q_divergence" in [finding.id for finding in result.findings[:3]]


def test_a_learner_that_cannot_learn_explains_a_constant_return(make_run: MakeRun, diagnose: Diagnose) -> None:
    curves: Curves = {"reward.train": -500.0, "optim.learning_rate": 1e-7, "critic.loss": around(0.4, 0.02)}
    result = diagnose(make_run(curves, base=DQN, algorithm="dqn"), "dqn")
    assert _said(result) == ["learning_rate_too_low"]


def test_huge_rewards_explain_a_temperature_that_runs_away(make_run: MakeRun, diagnose: Diagnose) -> None:
    curves: Curves = {"reward.train": falls, "critic.loss": around(1e7), "alpha": grows(0.9, 2000.0)}
    result = diagnose(make_run(curves, base=SAC, algorithm="sac"), "actor_critic")
    assert result.findings[0].id == "reward_scale_too_large"


def test_a_known_learning_rate_counts_where_the_log_has_none(make_run: MakeRun, diagnose: Diagnose) -> None:
    curves: Curves = {"reward.train": flat, "optim.learning_rate": None}
    unknown = diagnose(make_run(curves, base=DQN, algorithm="dqn"), "dqn")
    known = diagnose(make_run(curves, base=DQN, algorithm="dqn", config={"learning_rate": 0.1}), "dqn")
    assert _probability(unknown, "learning_rate_too_high") < 0.5 <= _probability(known, "learning_rate_too_high")


def test_remedies_stay_within_bounds(make_run: MakeRun, diagnose: Diagnose) -> None:
    config = {"learning_rate": 0.1}
    curves: Curves = {"reward.train": flat, "optim.learning_rate": 0.1}
    plan = diagnose(make_run(curves, base=SAC, algorithm="sac", config=config), "actor_critic").findings[0].remedies[0]
    assert plan.knob == "learning_rate"
    assert plan.proposed == pytest.approx(1e-3)


OFF_POLICY_SAMPLES = (
    "sb3/pidail_sac_ant",
    "sb3/pidail_td3_ant",
    "sb3/pidail_dqn_cartpole",
    "sb3/rl-trained-agents_sac_Pendulum",
    "sb3/rl-trained-agents_tqc_FetchReach",
    "rllib/ray0.8_sac_missing_learner_cols",
    "tianshou/v0.5_dqn_tictactoe",
    "torchrl/td3_2022",
)


@pytest.mark.corpus
@pytest.mark.parametrize("name", OFF_POLICY_SAMPLES)
def test_public_runs_without_a_known_fault_are_left_alone(name: str, shared: Path) -> None:
    assert all(run.verdict != "finding" for run in diagnose(shared / "samples" / name).runs)


ACCEPTED = {
    "buffer_too_small": {"buffer_too_small"},
    "entropy_collapse": {"entropy_bonus_too_weak", "exploration_ended_too_early"},
    "exploration_never_ends": {"exploration_never_ends"},
    "exploration_too_short": {"exploration_ended_too_early"},
    "learning_rate_too_high": {"learning_rate_too_high", "q_divergence"},
    "learning_rate_too_low": {"learning_rate_too_low"},
    "reward_scale_too_large": {"reward_scale_too_large"},
    "target_update_bad": {"target_update_unsuited", "target_network_too_fast", "q_divergence"},
}


@pytest.mark.corpus
def test_on_real_runs_the_injected_fault_comes_first_and_no_healthy_run_is_accused(shared: Path) -> None:
    with (shared / "corpus" / "labels.csv").open(encoding="utf-8", newline="") as file:
        labels = [row for row in csv.DictReader(file) if row["algorithm"] in {"DQN", "SAC", "TD3"}]
    first, said = [], []
    for label in labels:
        result = diagnose(shared / "corpus" / "runs" / label["run_id"]).runs[0]
        accepted = ACCEPTED.get(label["injected_fault"], set())
        if label["harmed"] == "no":
            assert result.verdict != "finding", label["run_id"]
        elif label["harmed"] == "yes":
            faults = sorted((c.probability or 0.0, c.id) for c in result.causes if c.kind == "fault")
            first.append(faults[-1][1] in accepted)
            said += [cause in accepted for cause in _said(result)]
    # Measured for 1.0.0: 11 of 12 first (a buffer that is too small leaves no trace), and all 7 that were said.
    assert sum(first) >= 10
    assert len(said) >= 6
    assert all(said)
