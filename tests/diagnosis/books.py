"""A small hand-made rulebook and its scores, for tests that need the whole chain without a log."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rl_diagnose.diagnosis.values import BatchNumbers
from rl_diagnose.rules.book import (
    All,
    AppliesTo,
    Book,
    Cause,
    Leaf,
    Link,
    Mean,
    Not,
    OnsetSpec,
    Ramp,
    Remedy,
    Symptom,
    SymptomRef,
)
from rl_diagnose.signals.run import ConfigValue, Run, Semantics, Series

LOW = Ramp("falling", 0.02, 0.10)
HIGH = Ramp("rising", 0.02, 0.06, scale="log")

SYMPTOMS = (
    Symptom(
        "entropy_low",
        "Entropy low",
        All((Leaf("feature", "policy.entropy.late.median", LOW), Not(SymptomRef("solved")))),
        0.1,
        onset=OnsetSpec("policy.entropy", "below", 0.06),
    ),
    Symptom("kl_high", "KL high", Leaf("feature", "policy.kl.late.median", HIGH), 0.1),
    Symptom("solved", "Return at its best", Leaf("derived", "share_of_best", Ramp("rising", 0.8, 0.95)), 0.3),
    Symptom("coef_small", "Coefficient small", Leaf("config", "entropy_coef", Ramp("falling", 0.0, 0.005)), 0.3),
    Symptom("restarted", "Log restarts", Leaf("issue", "restart", Ramp("rising", 0.0, 1.0)), 0.03),
    Symptom(
        "grad_odd",
        "Gradients odd",
        Mean((Leaf("feature", "optim.grad_norm.median", Ramp("band", 0.1, 10.0, 0.5, 2.0)),)),
        0.1,
    ),
)
WEAK = Cause(
    "bonus_weak",
    "Entropy bonus too weak",
    0.1,
    (Link("entropy_low", 0.95), Link("coef_small", 0.8), Link("grad_odd", 0.5)),
    requires=("policy.entropy",),
    remedies=(
        Remedy(
            "entropy_coef",
            "Raise the entropy bonus",
            set="max(entropy_coef * 3, share_of_best / 100)",
            patch=(("sb3", "model.ent_coef = {value}"),),
        ),
    ),
    tell_apart="look at KL",
)
STEPS = Cause(
    "steps_large", "Steps too large", 0.1, (Link("kl_high", 0.95), Link("entropy_low", 0.35)), requires=("policy.kl",)
)
ONLY_DQN = Cause("dqn_only", "About DQN", 0.1, (Link("kl_high", 0.9),), applies_to=AppliesTo(algorithm=("dqn",)))
BOOK = Book(
    "house",
    "1.0.0",
    "a" * 64,
    "House",
    "house.yaml",
    AppliesTo(),
    (),
    (("share_of_best", "reward.train.late.median / reward.train.max"),),
    SYMPTOMS,
    (WEAK, STEPS, ONLY_DQN),
)


class MadeRow:
    """Features by name."""

    def __init__(self, values: Mapping[str, float | None], reliability: float = 1.0) -> None:
        self.values, self.reliability = values, reliability

    def get(self, name: str) -> tuple[float | None, float]:
        value = self.values.get(name)
        return value, 0.0 if value is None else self.reliability


def run(config: Mapping[str, float] | None = None, **signals: np.ndarray) -> Run:
    """A run with 100 points a curve, 0…9,900 steps; keyword names have ``__`` for the dot."""
    made = {}
    for key, value in signals.items():
        name = key.replace("__", ".")
        steps = np.arange(value.size, dtype=float) * 100
        made[name] = Series(name, steps, value, steps / 100, steps, Semantics(name))
    known = {name: ConfigValue(value, "config.yml") for name, value in (config or {}).items()}
    return Run("r", "runs/r", "sb3", made, algorithm="ppo", config=known)


def numbers(
    rows: list[MadeRow], runs: list[Run], configs: list[Mapping[str, ConfigValue]] | None = None
) -> BatchNumbers:
    return BatchNumbers(BOOK, runs, rows, configs or [run.config for run in runs])
