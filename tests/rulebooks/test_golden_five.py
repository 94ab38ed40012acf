"""`golden_five` reproduces the published method: worked case, rows of the table, other claims, and no more."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from rl_diagnose.cli import main
from rl_diagnose.diagnosis.model import CauseFinding, RunDiagnosis
from rl_diagnose.diagnosis.pipeline import diagnose_run
from rl_diagnose.rules.check import check_book
from rl_diagnose.rules.library import default_books_for, load_book
from rl_diagnose.signals.run import ActionSpace

from .golden_five_runs import (
    CASE,
    LAST,
    Curves,
    Floats,
    around,
    before_and_after,
    cliff,
    make_run,
    noise,
    plunge,
    write_progress,
    write_table,
)

ROOT = Path(__file__).resolve().parents[2]
BOOK = "golden_five"


def judged(*, config: dict[str, float] | None = None, **curves: object) -> RunDiagnosis:
    """The healthy run with some curves replaced; keyword names have ``__`` for the dot."""
    replaced = {name.replace("__", "."): curve for name, curve in curves.items()}
    return diagnose_run(make_run(replaced, config=config), [BOOK])  # type: ignore[arg-type]


def cause(diagnosis: RunDiagnosis, name: str) -> CauseFinding:
    return next(c for c in diagnosis.causes if c.id == name)


def probability(diagnosis: RunDiagnosis, name: str) -> float:
    return cause(diagnosis, name).probability or 0.0


def membership(diagnosis: RunDiagnosis, name: str) -> float:
    return next(s for s in diagnosis.symptoms if s.id == name).membership


# -- the book itself -------------------------------------------------------------------------------------------------


def test_the_book_has_no_problem_and_no_lint() -> None:
    assert check_book(BOOK) == ()


def test_it_is_not_chosen_by_default_and_says_that_it_is_not_calibrated() -> None:
    assert BOOK not in default_books_for("ppo", "sb3", "discrete")
    assert load_book(BOOK).calibration is None


def test_priors_follow_the_order_of_the_table() -> None:
    prior = {c.id: c.prior for c in load_book(BOOK).causes}
    table = [
        "entropy_coefficient_decays_too_fast",
        "kl_out_of_control",
        "critic_cannot_fit",
        "biased_advantages",
        "learning_rate_decay_ill_timed",
    ]

    assert [prior[name] for name in table] == sorted((prior[name] for name in table), reverse=True)
    assert len({prior[name] for name in table}) == len(table)
    assert all(prior[name] <= prior[table[-1]] for name in prior if name not in (*table, "policy_loss_zero_benign"))


def test_every_id_of_the_page_about_the_method_exists() -> None:
    book = load_book(BOOK)
    known = {
        *(s.id for s in book.symptoms),
        *(c.id for c in book.causes),
        *(name for name, _ in book.derived),
        *(window.name for window in book.windows),
    }
    text = (ROOT / "docs" / "method.md").read_text(encoding="utf-8")
    tables = [line for line in text.splitlines() if line.startswith("|") and "|---" not in line]
    named = {name for line in tables for name in re.findall(r"`([a-z][a-z0-9_]*)`", line.split("|")[2])}

    assert len(tables) > 50
    assert len(named) > 40
    assert named <= known
    assert {s.id for s in book.symptoms} | {c.id for c in book.causes} <= named


# -- the worked case -------------------------------------------------------------------------------------------------


def test_the_worked_case_is_an_entropy_collapse_by_a_coefficient_that_decays_too_fast() -> None:
    diagnosis = diagnose_run(make_run(base=CASE), [BOOK])
    primary, top = diagnosis.primary_symptom, diagnosis.top

    assert diagnosis.verdict == "finding"
    assert primary is not None
    assert primary.id == "entropy_collapsed"
    assert primary.onset_step == pytest.approx(12_450, abs=100)
    assert primary.value == pytest.approx(0.018, abs=0.001)
    assert primary.max_value == pytest.approx(1.386, abs=0.001)
    assert primary.ratio == pytest.approx(0.013, abs=0.0005)
    assert primary.membership >= 0.96
    assert top is not None
    assert top.id == "entropy_coefficient_decays_too_fast"
    assert top.probability == pytest.approx(0.92, abs=0.03)
    supporting = {e.symptom for e in top.evidence if e.decibans > 1}
    assert supporting >= {"entropy_collapsed", "kl_too_small", "policy_loss_stuck"}
    assert diagnosis.findings[1].probability is not None
    assert diagnosis.findings[1].probability < 0.5


@pytest.mark.parametrize("points", [160, 400, 1024, 3000])
def test_the_worked_case_does_not_depend_on_how_often_is_logged(points: int) -> None:
    diagnosis = diagnose_run(make_run(base=CASE, points=points), [BOOK])

    assert diagnosis.top is not None
    assert diagnosis.top.id == "entropy_coefficient_decays_too_fast"
    assert diagnosis.top.probability == pytest.approx(0.92, abs=0.03)
    assert any("fewer than the 1,000" in remark for remark in diagnosis.remarks) == (points < 1000)


def test_the_fix_of_the_worked_case_is_the_published_schedule_with_code_that_works() -> None:
    diagnosis = diagnose_run(make_run(base=CASE, config={"entropy_coef": 0.01}), [BOOK])
    assert diagnosis.top is not None
    (plan,) = diagnosis.top.remedies

    assert plan.knob == "entropy_coef"
    assert plan.before is not None
    assert "model.ent_coef = 0.01" in plan.before
    assert plan.after is not None
    assert "self.model.ent_coef = max(0.001, 0.01 * 0.999995 ** self.num_timesteps)" in plan.after
    assert plan.proposed == pytest.approx(0.01 * 0.999995**12_400, rel=0.01)
    assert plan.expect == (("policy.entropy_ratio.last", "rises_to", 0.03, 2000.0),)


@pytest.mark.parametrize(
    ("framework", "line"),
    [
        ("tianshou", "algorithm.ent_coef = max(0.001, 0.01 * 0.999995 ** env_step)"),
        ("rllib", "config.training(entropy_coeff=[[t, max(0.001, 0.01 * 0.999995 ** t)] for t in steps])"),
        ("cleanrl", "args.ent_coef = max(0.001, 0.01 * 0.999995 ** global_step)"),
    ],
)
def test_the_fix_is_written_for_the_framework_of_the_run(framework: str, line: str) -> None:
    diagnosis = diagnose_run(make_run(base=CASE, framework=framework), [BOOK])

    assert diagnosis.top is not None
    assert line in (diagnosis.top.remedies[0].after or "")


def test_with_the_two_actions_of_cartpole_the_case_stays_the_same_and_the_ratio_is_of_ln_2() -> None:
    diagnosis = diagnose_run(make_run({"policy.entropy": plunge(0.67)}, base=CASE, actions=2), [BOOK])
    primary = diagnosis.primary_symptom

    assert primary is not None
    assert primary.id == "entropy_collapsed"
    assert primary.max_value == pytest.approx(np.log(2))
    assert primary.ratio == pytest.approx(0.026, abs=0.001)
    assert diagnosis.top is not None
    assert diagnosis.top.id == "entropy_coefficient_decays_too_fast"


def test_an_unknown_action_space_leaves_the_entropy_out_instead_of_guessing() -> None:
    run = make_run(base=CASE)
    unknown = type(run)(**{**run.__dict__, "action_space": ActionSpace()})
    diagnosis = diagnose_run(unknown, [BOOK])

    assert membership(diagnosis, "entropy_collapsed") == pytest.approx(0.5)
    assert cause(diagnosis, "entropy_coefficient_decays_too_fast").status == "not_assessable"
    assert any("action-space" in gap.remedy for gap in diagnosis.not_checked)


# -- the worked case from a file, through the command line -----------------------------------------------------------


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Callable[..., dict[str, object]]:
    """The one run of the JSON answer."""

    def run(*arguments: object) -> dict[str, object]:
        code = main([*map(str, arguments), "--rules", BOOK, "--format", "json"])
        assert code == 0
        (only,) = json.loads(capsys.readouterr().out)["runs"]
        return dict(only)

    return run


def test_the_case_as_a_plain_csv(tmp_path: Path, command: Callable[..., dict[str, object]]) -> None:
    table = write_table(make_run(base=CASE), tmp_path / "case.csv")
    run = command(table, "--action-space", "discrete:4")

    primary, causes, space = run["primary_symptom"], run["causes"], run["action_space"]
    assert isinstance(primary, dict)
    assert isinstance(causes, list)
    assert isinstance(space, dict)
    assert primary["id"] == "entropy_collapsed"
    assert primary["ratio"] == pytest.approx(0.013, abs=0.0005)
    assert causes[0]["id"] == "entropy_coefficient_decays_too_fast"
    assert causes[0]["probability"] == pytest.approx(0.92, abs=0.03)
    assert "0.999995" in causes[0]["remedies"][0]["after"]
    assert space["origin"] == "user"


def test_the_case_as_a_log_of_stable_baselines3_takes_the_action_space_from_the_run(
    tmp_path: Path, command: Callable[..., dict[str, object]]
) -> None:
    run = make_run({"policy.entropy": plunge(0.67)}, base=CASE, actions=2, points=160)
    answer = command(write_progress(run, tmp_path / "PPO_1"))

    primary, causes, space = answer["primary_symptom"], answer["causes"], answer["action_space"]
    assert isinstance(primary, dict)
    assert isinstance(causes, list)
    assert isinstance(space, dict)
    assert answer["framework"] == "sb3"
    assert (space["kind"], space["size"], space["origin"]) == ("discrete", 2, "inferred")
    assert primary["id"] == "entropy_collapsed"
    assert primary["max_value"] == pytest.approx(np.log(2))
    assert "inferred" in primary["statement"]
    assert causes[0]["id"] == "entropy_coefficient_decays_too_fast"
    assert "0.999995" in causes[0]["remedies"][0]["after"]


def test_the_markdown_report_has_what_the_method_asks_for(tmp_path: Path) -> None:
    table = write_table(make_run(base=CASE), tmp_path / "case.csv")
    report = tmp_path / "report.md"
    asked = ["--logdir", table, "--output", report, "--rules", BOOK, "--action-space", "discrete:4"]
    assert main([str(word) for word in asked]) == 0

    text = report.read_text(encoding="utf-8")
    for said in ("Entropy collapse", "12,4", "1.386", "0.013", "Entropy coefficient decays too fast", "0.999995"):
        assert said in text


# -- the other rows of the table, and what is named beside it --------------------------------------------------------


def zero(step: Floats) -> Floats:
    return 1e-5 * noise(step, 5)


def flat(step: Floats) -> Floats:
    return 60 + 4 * noise(step, 1)


def creeping(step: Floats) -> Floats:
    return 10 + 30 * step / LAST + noise(step, 6)


def linear_rate(step: Floats) -> Floats:
    return 3e-4 * np.maximum(1 - step / LAST, 0)


def fading_kl(step: Floats) -> Floats:
    return 0.015 * np.maximum(1 - step / LAST, 0.01) * np.exp(0.1 * noise(step, 4))


def saw_tooth(step: Floats) -> Floats:
    return 0.01 + 0.03 * ((step % 200) / 200) ** 3


def burst(step: Floats) -> Floats:
    return np.where(np.arange(step.size) == 600, 1.5, 0.02 * np.exp(0.1 * noise(step, 4)))


def stairs(step: Floats) -> Floats:
    return 20 + 2.5 * np.floor(step / 500)


def pulses(step: Floats) -> Floats:
    dips = ((step % 3000) < 250) & (step > 20_000)
    return 12.5 * np.minimum(step / 20_000, 1.0) - 4 * dips + 0.1 * noise(step, 1)


def early_plunge(step: Floats) -> Floats:
    return np.where(step < 3000, 1.3 * (1 - step / 3100), 0.04)


def late_reward(step: Floats) -> Floats:
    return 20 + 175 * np.clip((step - 10_000) / 8000, 0, 1) + noise(step, 1)


def swinging(step: Floats) -> Floats:
    return 1.15 + 0.2 * np.sin(step / 700) + 0.02 * noise(step, 3)


LARGE_KL = before_and_after(around(0.02, 0.1, 4), around(0.09, 0.3, 4))


class Row(NamedTuple):
    """A run that shows a claim: the expected primary symptom and cause, the first knob and the text of its setting."""

    curves: Curves
    symptom: str
    cause: str
    knob: str | None = None
    setting: str = ""
    config: dict[str, float] = {}  # noqa: RUF012 - never changed
    points: int = 1024
    last: float = LAST


ROWS = {
    "reward cliff": Row(
        {"reward.train": cliff, "policy.kl": LARGE_KL},
        "reward_cliff",
        "kl_out_of_control",
        "target_kl",
        "model.target_kl = 0.015",
    ),
    "value loss creeping": Row(
        {"value.loss": creeping}, "value_loss_high", "critic_cannot_fit", "network_width", '"vf": [128, 128]'
    ),
    "policy loss stuck at 0": Row(
        {"policy.loss": zero, "reward.train": flat},
        "policy_loss_stuck",
        "biased_advantages",
        "gae_lambda",
        "model.gae_lambda = model.rollout_buffer.gae_lambda = 0.97",
        {"gae_lambda": 0.99},
    ),
    "late freeze": Row(
        {"optim.learning_rate": linear_rate, "policy.kl": fading_kl},
        "late_freeze",
        "learning_rate_decay_ill_timed",
        "learning_rate",
        "model.lr_schedule = schedule",
    ),
    "saw-tooth with a decay": Row(
        {"optim.learning_rate": linear_rate, "policy.kl": saw_tooth},
        "decay_before_plateau",
        "learning_rate_decay_ill_timed",
        "learning_rate",
        "0.5 * (1 + math.cos(math.pi * t))",
        points=2048,
    ),
    "saw-tooth without a decay": Row(
        {"policy.kl": saw_tooth},
        "kl_saw_tooth",
        "clip_and_target_kl_fight",
        "target_kl",
        "model.target_kl = 0.015; model.clip_range = lambda progress_remaining: 0.2",
        points=2048,
    ),
    "plunge by the learning rate": Row(
        {"policy.entropy": plunge(0.8), "policy.kl": LARGE_KL, "reward.train": flat},
        "kl_too_large",
        "policy_learning_rate_too_large",
        "learning_rate",
        "model.lr_schedule = lambda progress_remaining: 0.0003",
        {"learning_rate": 1e-2},
    ),
    "timid by the clip range": Row(
        {"policy.kl": around(0.001, 0.1, 4), "reward.train": flat},
        "kl_timid",
        "update_too_timid",
        "clip_range",
        "model.clip_range = lambda progress_remaining: 0.2",
        {"clip_range": 0.05},
    ),
    "single burst": Row({"policy.kl": burst}, "kl_single_burst", "code_bug"),
    "staircase": Row({"reward.train": stairs}, "reward_staircase", "reward_shaping_loophole"),
    "no movement, tiny rewards": Row(
        {"reward.train": 0.0, "value.loss": 1e-8}, "reward_motionless", "reward_scale_too_small", "reward_scale"
    ),
    "no movement, no exploration": Row(
        {"reward.train": 0.0, "policy.entropy": 0.05}, "reward_motionless", "no_initial_exploration", "action_noise"
    ),
    "over-exploration": Row({"policy.entropy": swinging}, "entropy_swings_high", "over_exploration"),
    "memorised": Row(
        {"policy.entropy": early_plunge, "reward.train": late_reward},
        "entropy_collapsed_before_reward",
        "memorised",
        "entropy_coef",
    ),
    "pulses in the long tail": Row(
        {"reward.train": pulses}, "reward_pulses", "periodic_disturbance", last=100_000, points=2000
    ),
    "evaluation collapses": Row(
        {"reward.eval": lambda step: 30 + noise(step, 7)},
        "evaluation_collapses",
        "evaluation_mismatch",
        "normalize_observations",
    ),
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_a_claim_of_the_method_is_reproduced(row: Row) -> None:
    run = make_run(row.curves, config=row.config, points=row.points, last=row.last)
    diagnosis = diagnose_run(run, [BOOK])

    assert diagnosis.top is not None
    assert diagnosis.top.id == row.cause
    assert diagnosis.primary_symptom is not None
    assert diagnosis.primary_symptom.id == row.symptom
    plans = diagnosis.top.remedies
    assert (plans[0].knob if plans else None) == row.knob
    if row.setting:
        assert row.setting in (plans[0].after or "")


def test_every_fault_of_the_book_is_shown_by_a_row_or_by_the_worked_case() -> None:
    faults = {c.id for c in load_book(BOOK).causes if c.kind == "fault"}

    assert faults == {row.cause for row in ROWS.values()} | {"entropy_coefficient_decays_too_fast"}


# -- near misses -----------------------------------------------------------------------------------------------------


def test_a_run_inside_the_bands_of_the_method_has_no_finding() -> None:
    diagnosis = diagnose_run(make_run(), [BOOK])

    assert diagnosis.verdict == "nothing_found"
    assert membership(diagnosis, "kl_in_band") > 0.9
    assert membership(diagnosis, "entropy_in_band") > 0.9
    assert all(c.probability is None or c.probability < 0.05 for c in diagnosis.causes)


def test_a_policy_loss_of_0_with_a_rising_reward_is_benign_and_said_so() -> None:
    diagnosis = judged(policy__loss=zero, policy__kl=around(0.002, 0.1, 4), config={"gae_lambda": 0.99})

    assert diagnosis.verdict == "nothing_found"
    assert probability(diagnosis, "policy_loss_zero_benign") > 0.5
    assert probability(diagnosis, "biased_advantages") < 0.05
    assert any("Policy loss of 0 while the reward rises" in remark for remark in diagnosis.remarks)


NEAR_MISSES = {
    # low entropy alone, without a plunge, is one indicator
    "entropy falls slowly to nothing": (
        {"policy.entropy": lambda s: np.maximum(1.2 * (1 - s / (0.8 * LAST)), 0.02)},
        "entropy_coefficient_decays_too_fast",
        {},
    ),
    # a plunge that ends in the healthy band
    "entropy falls fast to the healthy band": (
        {"policy.entropy": plunge(1.3, after=0.6)},
        "entropy_coefficient_decays_too_fast",
        {},
    ),
    "a cliff with a usual KL": ({"reward.train": cliff}, "kl_out_of_control", {}),
    "a large KL without a cliff": ({"policy.kl": around(0.045, 0.1, 4)}, "kl_out_of_control", {}),
    "value loss high and falling fast": (
        {"value.loss": lambda s: 4000 * np.exp(-4 * s / LAST)},
        "critic_cannot_fit",
        {},
    ),
    "policy loss 0 with a usual λ": (
        {"policy.loss": zero, "reward.train": flat},
        "biased_advantages",
        {"gae_lambda": 0.95, "gamma": 0.99},
    ),
    "a decay to a fifth after the plateau": (
        {"optim.learning_rate": lambda s: 3e-4 * np.clip(1.7 - s / LAST * 1.5, 0.2, 1.0)},
        "learning_rate_decay_ill_timed",
        {},
    ),
    "several bursts": (
        {"policy.kl": lambda s: np.where(np.arange(s.size) % 10 == 0, 0.5, 0.01)},
        "code_bug",
        {},
    ),
    "a steady rise": ({"reward.train": lambda s: 20 + s / 100}, "reward_shaping_loophole", {}),
    "a reward that moves a little": (
        {"reward.train": lambda s: -200 + 8 * noise(s, 1), "value.loss": 1e-8},
        "reward_scale_too_small",
        {},
    ),
    "a small KL with a rising reward": (
        {"policy.kl": around(0.001, 0.1, 4)},
        "update_too_timid",
        {"clip_range": 0.05},
    ),
    "evaluation a little below training": (
        {"reward.eval": lambda s: 10 + 165 * np.minimum(s / 18_000, 1.0)},
        "evaluation_mismatch",
        {},
    ),
    "irregular dips in the long tail": (
        {"reward.train": lambda s: 100 - 20 * (np.random.default_rng(3).random(s.size) < 0.05)},
        "periodic_disturbance",
        {},
    ),
    "high entropy that does not swing": (
        {"policy.entropy": lambda s: 1.2 + 0.001 * noise(s, 3)},
        "over_exploration",
        {},
    ),
    "entropy falls with the reward": (
        {"policy.entropy": lambda s: 0.04 + 1.2 * np.exp(-s / 5000)},
        "memorised",
        {},
    ),
    "a plunge with a usual learning rate and KL": (
        {"policy.entropy": plunge(0.8)},
        "policy_learning_rate_too_large",
        {"learning_rate": 3e-4},
    ),
    "KL that wanders": (
        {"policy.kl": lambda s: 0.015 * np.exp(0.5 * np.cumsum(noise(s, 4)) / np.sqrt(s.size))},
        "clip_and_target_kl_fight",
        {},
    ),
    "no movement with entropy at its usual level": (
        {"reward.train": 0.0},
        "no_initial_exploration",
        {},
    ),
}


@pytest.mark.parametrize(("curves", "name", "config"), NEAR_MISSES.values(), ids=NEAR_MISSES)
def test_a_near_miss_is_no_finding(curves: Curves, name: str, config: dict[str, float]) -> None:
    diagnosis = diagnose_run(make_run(curves, config=config), [BOOK])

    assert probability(diagnosis, name) < 0.5


def test_every_fault_has_a_near_miss() -> None:
    faults = {c.id for c in load_book(BOOK).causes if c.kind == "fault"}

    assert faults == {name for _, name, _ in NEAR_MISSES.values()}


# -- missing signals -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("signal", "causes"),
    [
        (
            "policy.entropy",
            {"entropy_coefficient_decays_too_fast", "policy_learning_rate_too_large", "over_exploration"},
        ),
        ("policy.kl", {"kl_out_of_control", "update_too_timid", "clip_and_target_kl_fight", "code_bug"}),
        ("value.loss", {"critic_cannot_fit"}),
        ("policy.loss", {"biased_advantages"}),
        ("optim.learning_rate", {"learning_rate_decay_ill_timed"}),
        ("reward.eval", {"evaluation_mismatch"}),
        ("reward.train", {"memorised", "periodic_disturbance", "reward_shaping_loophole", "no_initial_exploration"}),
        ("reward.train", {"reward_scale_too_small"}),
    ],
)
def test_without_its_signal_a_cause_is_not_assessable_and_never_0(signal: str, causes: set[str]) -> None:
    diagnosis = diagnose_run(make_run({signal: None}, base=CASE | {"optim.learning_rate": 3e-4}), [BOOK])  # type: ignore[operator]

    for name in causes:
        assert cause(diagnosis, name).status == "not_assessable"
        assert cause(diagnosis, name).probability is None
    assert any(signal in gap.reason for gap in diagnosis.not_checked)


def test_a_log_of_rewards_only_says_what_it_could_not_look_at() -> None:
    run = make_run({"reward.train": cliff}, base={})
    diagnosis = diagnose_run(run, [BOOK])

    assert diagnosis.verdict != "finding"
    assert len(diagnosis.not_checked) >= 5


def test_continuous_actions_have_no_maximum_and_no_entropy_collapse() -> None:
    run = make_run(base=CASE)
    continuous = type(run)(**{**run.__dict__, "action_space": ActionSpace("continuous", 2, origin="config")})
    diagnosis = diagnose_run(continuous, [BOOK])

    assert membership(diagnosis, "entropy_collapsed") == pytest.approx(0.5)
    assert cause(diagnosis, "entropy_coefficient_decays_too_fast").status == "not_assessable"
    assert diagnosis.verdict != "finding"
