"""A hand-made diagnosis: one run with everything in it, and small relatives of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rl_diagnose.diagnosis.model import (
    BookRef,
    CauseFinding,
    Curve,
    Diagnosis,
    Evidence,
    Measurement,
    NotChecked,
    RemedyPlan,
    RunDiagnosis,
    SymptomFinding,
)
from rl_diagnose.signals.run import ActionSpace, LogIssue, UnmappedKey

BOOK = BookRef("ppo", "1.0.0", "3f2a91c4d5e6" + "0" * 52)
STEP = np.linspace(0.0, 50_000.0, 51)
BAD = (12_450.0, 50_000.0)

RATIO = Measurement(
    "policy.entropy_ratio.late.median",
    0.013,
    "fraction",
    1.0,
    1.0,
    "fires below 0.02, silent above 0.1",
    "policy.entropy_ratio",
    (37_500.0, 50_000.0),
)
SYMPTOM = SymptomFinding(
    id="entropy_collapsed",
    title="Policy entropy collapsed",
    membership=0.96,
    onset_step=BAD[0],
    end_step=BAD[1],
    signal="policy.entropy",
    value=0.018,
    statement="policy.entropy is 0.018 nats of at most 1.386 (ratio 0.013) over steps 37,500–50,000.",
    measurements=(RATIO,),
    max_value=1.386,
    ratio=0.013,
)
EVIDENCE = (
    Evidence(
        "entropy_collapsed",
        "Policy entropy collapsed",
        0.96,
        9.8,
        0.45,
        "policy.entropy_ratio.late.median is 0.013, steps 37,500–50,000",
        measurement=RATIO,
    ),
    Evidence("kl_low", "KL low", 0.9, 6.1, 0.8, "policy.kl.late.median is 0.003, steps 37,500–50,000"),
    Evidence("reward_fell", "Return fell", 1.0, 3.0, 0.93, "reward.train.drawdown is 0.59, steps 0–50,000"),
    Evidence("ev_low", "Explained variance low", 0.2, -1.2, 0.92, "value.explained_variance.late.median is 0.8"),
    Evidence("grad", "Gradient norm low", None, 0.0, 0.92, "optim.grad_norm is not in the log", missing=True),
)
PLAN = RemedyPlan(
    knob="entropy_coef",
    summary="Slow the decay of the entropy coefficient",
    current=0.01,
    current_origin="config.json ent_coef",
    proposed=0.03,
    values=(("decay", 0.999995),),
    relative="raise it by about a factor of 3",
    before="model.ent_coef = 0.01",
    after="model.ent_coef = 0.03\nif True:\n    decay = 0.999995",
    framework="sb3",
    clamped="limited to ×3 of the present value",
    expected=("policy.entropy_ratio.last rises to 0.03 within 2,000 steps",),
    expect=(("policy.entropy_ratio.last", "rises_to", 0.03, 2000.0),),
)
CAUSE = CauseFinding(
    id="entropy_bonus_too_weak",
    book="ppo",
    title="Entropy bonus too weak or decaying too fast",
    kind="fault",
    probability=0.92,
    calibrated=True,
    coverage=0.9,
    status="assessed",
    prior=0.08,
    evidence=EVIDENCE,
    remedies=(PLAN, replace(PLAN, knob="learning_rate", summary="Lower the learning rate")),
    tell_apart="A learning rate that is too large shows high KL first.",
    references=("https://example.org/entropy",),
)
OTHERS = (
    replace(CAUSE, id="lr", title="Learning rate too high", probability=0.21, evidence=EVIDENCE[1:3], remedies=()),
    replace(CAUSE, id="solved", title="Task is solved", kind="benign", probability=0.07, evidence=(), remedies=()),
    replace(CAUSE, id="rare", title="Something rare", probability=0.004, evidence=(), remedies=()),
    replace(
        CAUSE,
        id="critic",
        title="Critic too small",
        probability=None,
        status="not_assessable",
        coverage=0.0,
        evidence=(),
        remedies=(),
        missing=("value.explained_variance",),
    ),
)


def curve(signal: str, title: str, unit: str, value: np.ndarray) -> Curve:
    return Curve(signal, title, unit, STEP, value, BAD)


CURVES = (
    curve("reward.train", "Training return", "return", np.where(STEP < 12_000, 195.0 * STEP / 12_000, 75.0)),
    curve("value.loss", "Value loss", "return²", 10.0 ** (STEP / 12_000)),
    curve("policy.entropy", "Policy entropy", "nats", np.where(STEP < 12_000, 0.69, 0.018)),
    curve("policy.kl", "KL(old ‖ new)", "nats", np.full(51, 0.003)),
    curve("optim.learning_rate", "Learning rate", "1", np.where(STEP < 25_000, 3e-4, np.nan)),
)
RUN = RunDiagnosis(
    id="PPO_3",
    path="runs/PPO_3",
    verdict="finding",
    verdict_reason="Entropy bonus too weak or decaying too fast (92 %)",
    framework="sb3",
    framework_version="2.9.2",
    algorithm="ppo",
    env="CartPole-v1",
    last_step=50_000.0,
    points=51,
    action_space=ActionSpace("discrete", 4, origin="config"),
    primary_symptom=SYMPTOM,
    symptoms=(SYMPTOM,),
    causes=(CAUSE, *OTHERS),
    remarks=("51 points are few",),
    not_checked=(NotChecked("Critic too small", "value.explained_variance is not in the log", "log it"),),
    log_issues=(
        LogIssue("restart", "the steps start again", "events.1", 4000.0),
        LogIssue("note", "a detail", severity="info"),
    ),
    unmapped=(UnmappedKey("train/entrpy", "progress.csv", 51, "policy.entropy"),),
    curves=CURVES,
    rulebooks=(BOOK,),
    adapter="sb3",
    files=("runs/PPO_3/progress.csv",),
)
QUIET = replace(
    RUN,
    id="PPO_4",
    path="runs/PPO_4",
    verdict="nothing_found",
    verdict_reason="2 causes were checked, none reached 50 %",
    primary_symptom=None,
    causes=OTHERS,
    remarks=(),
    log_issues=(),
)
SHORT = replace(QUIET, id="PPO_5", verdict="cannot_tell", verdict_reason="3 points are too few", curves=())
BROKEN = RunDiagnosis("PPO_6", "runs/PPO_6", "unreadable", "the file is cut off before the first row")


def diagnosis(*runs: RunDiagnosis) -> Diagnosis:
    return Diagnosis("runs", (BOOK,), runs or (RUN,), created="2026-12-01T10:00:00+00:00")
