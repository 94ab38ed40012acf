"""The Tianshou adapter's signals equal what Tianshou's own statistics report while a real agent trains."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("tianshou")

from rl_diagnose.logs.load import load_run

from .tianshou_ppo import train_ppo


def train(folder: Path) -> tuple[list[Any], list[Any]]:
    """Train with the framework's TensorBoard logger; return its collect and update statistics."""
    from tianshou.utils import TensorboardLogger
    from torch.utils.tensorboard import SummaryWriter

    logger = TensorboardLogger(SummaryWriter(str(folder)), training_interval=1, update_interval=1)
    collects: list[Any] = []
    updates: list[Any] = []
    log_training, log_update = logger.log_training_data, logger.log_update_data

    def record_training(data: Any, step: int) -> None:
        collects.append((step, data))
        log_training(data, step)

    def record_update(data: Any, step: int) -> None:
        updates.append((step, data))
        log_update(data, step)

    logger.log_training_data = record_training
    logger.log_update_data = record_update
    train_ppo(logger)
    logger.writer.close()
    return collects, updates


def flat(data: dict[str, Any], prefix: str = "") -> dict[str, float]:
    out: dict[str, float] = {}
    for key, value in data.items():
        name = f"{prefix}/{key}" if prefix else str(key)
        if isinstance(value, dict):
            out.update(flat(value, name))
        elif isinstance(value, int | float | np.number):
            out[name] = float(value)
    return out


def test_ppo_signals_equal_what_the_logger_was_given(tmp_path: Path) -> None:
    folder = tmp_path / "ppo"
    collects, updates = train(folder)
    run = load_run(folder)
    assert (run.framework, run.algorithm) == ("tianshou", "ppo")
    returns = {float(s): flat(d)["returns_stat/mean"] for s, d in collects if "returns_stat/mean" in flat(d)}
    series = run.series["reward.train"]
    assert dict(zip(series.step.tolist(), series.value.tolist(), strict=True)) == pytest.approx(returns, rel=1e-5)
    for signal, key in (
        ("policy.entropy", "ent_loss/mean"),
        ("value.loss", "vf_loss/mean"),
        ("policy.loss", "actor_loss/mean"),
    ):
        wanted = [flat(d)[key] for _, d in updates if key in flat(d)]
        assert len(wanted) >= 3, sorted(flat(updates[0][1]))
        assert run.series[signal].value.tolist() == pytest.approx(wanted, rel=1e-5), signal
    assert run.series["policy.entropy"].value[0] > 0


def test_updates_are_placed_on_the_axis_of_environment_steps(tmp_path: Path) -> None:
    folder = tmp_path / "ppo"
    collects, updates = train(folder)
    run = load_run(folder)
    assert run.x_axis == "env_steps"
    last = collects[-1][0]
    entropy = run.series["policy.entropy"]
    assert len(entropy) == len(updates)
    assert 0.9 * last <= entropy.step[-1] <= last
    assert 0 < entropy.step[0] <= 0.5 * last
