"""The built-in rulebooks: they load, pass their own check, patch what frameworks read, and do well on real runs."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from rl_diagnose.diagnosis.pipeline import diagnose
from rl_diagnose.rules.check import check_book
from rl_diagnose.rules.library import load_book

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from rl_diagnose.diagnosis.model import RunDiagnosis
    from rl_diagnose.signals.run import Run

    from .conftest import MakeRun

    Floats = NDArray[np.float64]

    Diagnose = Callable[[Run, str], RunDiagnosis]

BOOKS = ("core", "ppo", "off_policy", "dqn", "actor_critic", "llm_rl")
ROOT = Path(__file__).resolve().parents[2] / "rulebooks"


@pytest.mark.parametrize("name", BOOKS)
def test_a_book_loads_and_its_check_has_nothing_to_say(name: str) -> None:
    assert load_book(name).id == name
    assert [problem.render() for problem in check_book(name)] == []


@pytest.mark.parametrize("name", BOOKS)
def test_the_newest_version_is_in_the_changelog(name: str) -> None:
    assert f"## {load_book(name).version}" in (ROOT / name / "CHANGELOG.md").read_text("utf-8")


@pytest.mark.parametrize("name", BOOKS)
def test_every_cause_explains_itself(name: str) -> None:
    for cause in load_book(name).causes:
        assert cause.description, cause.id
        assert cause.tell_apart, cause.id
        assert cause.references, cause.id
        if cause.kind == "fault":
            assert cause.remedies, cause.id
            assert all(remedy.relative for remedy in cause.remedies), cause.id


@pytest.mark.parametrize("name", BOOKS)
def test_patches_for_sb3_set_nothing_that_sb3_does_not_read(name: str) -> None:
    inert = re.compile(
        r"policy\.entropy_coef =|model\.learning_rate =|model\.clip_range = [\d{]|model\.gae_lambda = \{"
    )
    for cause in load_book(name).causes:
        for remedy in cause.remedies:
            code = dict(remedy.patch).get("sb3", "")
            for text in [code] if isinstance(code, str) else dict(code).values():
                assert not inert.search(text), f"{cause.id}: {text}"


def noise(t: Floats) -> Floats:
    return np.random.default_rng(31).normal(size=t.size)


def flat(t: Floats) -> Floats:
    return 20 + 2 * np.sin(9 * t + 1) + noise(t)


def falls(t: Floats) -> Floats:
    return 20 - 15 * t + noise(t)


def rises(t: Floats) -> Floats:
    return 20 + 180 * t + noise(t)


OFF_POLICY: dict[str, Any] = {
    "reward.train": rises,
    "critic.loss": lambda t: 0.3 + 0.2 * t,
    "optim.learning_rate": 1e-3,
}
# book, cause, curves that show it, configuration, what makes it a near miss
OFF_POLICY_CASES: list[tuple[str, str, dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    ("dqn", "learning_rate_too_high", {"reward.train": flat, "optim.learning_rate": 0.1}, {}, {"reward.train": rises}),
    (
        "dqn",
        "learning_rate_too_low",
        {"reward.train": flat, "optim.learning_rate": 1e-6},
        {},
        {"optim.learning_rate": 1e-3},
    ),
    (
        "dqn",
        "target_update_unsuited",
        {"reward.train": falls, "critic.loss": lambda t: np.maximum(0.5 - 20 * t, 1e-3)},
        {},
        {"reward.train": rises},
    ),
    (
        "dqn",
        "exploration_never_ends",
        {"reward.train": flat, "exploration.epsilon": 0.9},
        {},
        {"exploration.epsilon": 0.05},
    ),
    (
        "dqn",
        "exploration_ended_too_early",
        {"reward.train": flat, "exploration.epsilon": 0.0},
        {},
        {"reward.train": rises},
    ),
    ("dqn", "reward_scale_too_large", {"reward.train": flat, "critic.loss": 1e6}, {}, {"reward.train": rises}),
    (
        "dqn",
        "q_divergence",
        {"reward.train": falls, "critic.loss": lambda t: 0.1 * np.exp(6 * t), "q.mean": 3e3},
        {},
        {"reward.train": rises},
    ),
    ("dqn", "buffer_too_small", {"reward.train": flat}, {"buffer_size": 200}, {"reward.train": rises}),
    (
        "actor_critic",
        "learning_rate_too_high",
        {"reward.train": flat, "optim.learning_rate": 0.1},
        {},
        {"reward.train": rises},
    ),
    (
        "actor_critic",
        "learning_rate_too_low",
        {"reward.train": flat, "optim.learning_rate": 1e-6},
        {},
        {"optim.learning_rate": 1e-3},
    ),
    ("actor_critic", "target_network_too_fast", {"reward.train": flat}, {"tau": 1.0}, {"reward.train": rises}),
    ("actor_critic", "entropy_bonus_too_weak", {"reward.train": flat, "alpha": 0.0}, {}, {"alpha": 0.2}),
    (
        "actor_critic",
        "q_divergence",
        {"reward.train": falls, "critic.loss": lambda t: 0.1 * np.exp(6 * t), "q.mean": 3e3},
        {},
        {"reward.train": rises},
    ),
    ("actor_critic", "reward_scale_too_large", {"reward.train": flat, "critic.loss": 1e7}, {}, {"reward.train": rises}),
    ("actor_critic", "buffer_too_small", {"reward.train": flat}, {"buffer_size": 200}, {"reward.train": rises}),
]


def _probability(result: RunDiagnosis, cause: str) -> float:
    return next(c.probability or 0.0 for c in result.causes if c.id == cause)


@pytest.mark.parametrize(
    ("book", "cause", "curves", "config", "near"), OFF_POLICY_CASES, ids=[f"{c[0]}-{c[1]}" for c in OFF_POLICY_CASES]
)
def test_off_policy_causes_are_found_and_near_misses_are_not(
    book: str,
    cause: str,
    curves: dict[str, Any],
    config: dict[str, Any],
    near: dict[str, Any],
    make_run: MakeRun,
    diagnose: Diagnose,
) -> None:
    algorithm = "dqn" if book == "dqn" else "sac"

    def result(changes: dict[str, Any], settings: dict[str, Any]) -> RunDiagnosis:
        return diagnose(make_run(changes, base=OFF_POLICY, algorithm=algorithm, config=settings), book)

    assert _probability(result(curves, config), cause) >= 0.5
    assert _probability(result({**curves, **near}, config), cause) < 0.5
    blind = {name: curve for name, curve in curves.items() if name == "reward.train"}
    assert _probability(result({**blind, "optim.learning_rate": None, "critic.loss": None}, {}), cause) < 0.5


@pytest.fixture(scope="session")
def on_real_runs(shared: Path) -> dict[str, tuple[dict[str, str], RunDiagnosis]]:
    """Label and diagnosis of every run of the labelled corpus that was read."""
    with (shared / "corpus" / "labels.csv").open(encoding="utf-8", newline="") as file:
        labels = {row["run_id"]: row for row in csv.DictReader(file)}
    found = {}
    for result in diagnose(shared / "corpus" / "runs").runs:
        name = next((part for part in reversed(Path(result.path).parts) if part in labels), None)
        if name is not None and result.verdict != "unreadable":
            found[name] = (labels[name], result)
    return found


@pytest.mark.corpus
def test_healthy_and_unharmed_runs_are_almost_never_accused(
    on_real_runs: dict[str, tuple[dict[str, str], RunDiagnosis]],
) -> None:
    unharmed = [(label, result) for label, result in on_real_runs.values() if label["harmed"] == "no"]
    healthy = [result for label, result in unharmed if label["injected_fault"] == "healthy"]
    assert len(unharmed) >= 60
    # Measured for 1.0.0: none of the healthy runs, one of all unharmed ones (it did fall far from its best).
    assert sum(result.verdict == "finding" for result in healthy) <= 1
    assert sum(result.verdict == "finding" for _, result in unharmed) <= 4


@pytest.mark.corpus
def test_a_finding_on_a_harmed_run_names_the_injected_fault_most_of_the_time(
    on_real_runs: dict[str, tuple[dict[str, str], RunDiagnosis]],
) -> None:
    accepted = {
        "critic_dominates": {"critic_dominates", "reward_scale_too_large"},
        "entropy_collapse": {"entropy_bonus_too_weak"},
        "entropy_too_high": {"entropy_bonus_too_strong"},
        "eval_train_gap": {"evaluation_gap"},
        "exploration_never_ends": {"exploration_never_ends"},
        "gamma_too_low": {"discount_unsuited"},
        "learning_rate_too_high": {"learning_rate_too_high"},
        "learning_rate_too_low": {"learning_rate_too_low"},
        "lr_decay_too_fast": {"learning_rate_decayed_too_early"},
        "midrun_lr_jump": {"learning_rate_jumped"},
        "nan_divergence": {"non_finite_values", "learning_rate_too_high"},
        "nonstationary_env": {"environment_changed"},
        "periodic_disturbance": {"environment_disturbed_periodically", "environment_changed", "learning_rate_jumped"},
        "reward_hacking": {"reward_loophole"},
        "reward_scale_too_large": {"reward_scale_too_large"},
        "target_update_bad": {"target_update_unsuited"},
        "update_too_large": {"update_too_large"},
        "update_too_timid": {"update_too_timid"},
        "wrong_old_logprob": {"code_bug_stale_log_probs"},
    }
    found = [
        (label["injected_fault"], result.findings[0].id)
        for label, result in on_real_runs.values()
        if label["harmed"] == "yes" and result.verdict == "finding"
    ]
    right = sum(cause in accepted.get(fault, set()) for fault, cause in found)
    # Measured for 1.0.0: 43 findings on 64 harmed runs, all named like the injection or an accepted neighbour.
    assert len(found) >= 36
    assert right >= 0.9 * len(found)
