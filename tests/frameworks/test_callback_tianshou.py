"""The logger for Tianshou in real trainings: it says what Tianshou's own log says, and stops through `stop_fn`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("tianshou")

from rl_diagnose.callbacks.tianshou import DiagnosisLogger
from rl_diagnose.logs.load import load_run

from .tianshou_ppo import train_ppo


def own_logger(folder: Path) -> Any:
    from tianshou.utils import TensorboardLogger
    from torch.utils.tensorboard import SummaryWriter

    return TensorboardLogger(SummaryWriter(str(folder)), training_interval=1, update_interval=1)


def test_the_log_it_keeps_has_the_curves_of_tianshous_own(tmp_path: Path) -> None:
    logger = DiagnosisLogger(own_logger(tmp_path / "own" / "ppo"), name="ppo", folder=tmp_path / "kept")
    train_ppo(logger)
    logger.finalize()
    own, kept = load_run(tmp_path / "own" / "ppo"), load_run(tmp_path / "kept" / "ppo")
    named = {name for name in own.series if not name.startswith("raw.")}
    assert {"reward.train", "policy.entropy", "value.loss"} <= named
    assert named <= kept.series.keys()
    for name in named:
        assert kept.series[name].value.tolist() == pytest.approx(own.series[name].value.tolist(), nan_ok=True), name
    assert logger.diagnosis is not None
    assert logger.diagnosis.runs[0].algorithm == "ppo"
    (event_file,) = (tmp_path / "own").rglob("*tfevents*")
    assert b"rl_diagnose/verdict" in event_file.read_bytes()


def test_without_another_logger_it_works_alone_and_stops_the_training(tmp_path: Path) -> None:
    always = str(Path(__file__).with_name("always.yaml"))
    logger = DiagnosisLogger(name="ppo", every=1, share=1.0, stop_at=0.3, rulebooks=always, folder=tmp_path)
    logger.training_interval = 1
    train_ppo(logger, stop_fn=logger.stop_fn, epochs=20)
    logger.finalize()
    assert logger.diagnosis is not None
    steps = load_run(tmp_path / "ppo").series["reward.train"].step
    assert steps[-1] < 20 * 1024
