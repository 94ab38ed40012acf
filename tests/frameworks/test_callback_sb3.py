"""The callback for Stable-Baselines3 in real trainings: it says what the log says, stops, and is never in the way."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

sb3 = pytest.importorskip("stable_baselines3")

from rl_diagnose import diagnose  # noqa: E402 - after the skip
from rl_diagnose.callbacks.sb3 import DiagnosisCallback  # noqa: E402 - after the skip
from rl_diagnose.logs.load import load_run  # noqa: E402 - after the skip


def ppo(rate: float = 3e-4, **settings: Any) -> Any:
    from stable_baselines3.common.env_util import make_vec_env

    env = make_vec_env("CartPole-v1", n_envs=4, seed=2)
    return sb3.PPO("MlpPolicy", env, learning_rate=rate, n_steps=32, batch_size=64, n_epochs=4, seed=2, **settings)


def test_the_log_it_keeps_has_the_curves_of_sb3s_own(tmp_path: Path) -> None:
    from stable_baselines3.common.logger import configure

    model = ppo()
    model.set_logger(configure(str(tmp_path / "own"), ["csv"]))
    model.learn(4000, log_interval=1, callback=DiagnosisCallback(folder=tmp_path / "kept"))
    model.logger.close()
    model.save(tmp_path / "own" / "model.zip")
    own, kept = load_run(tmp_path / "own"), load_run(tmp_path / "kept" / "PPO")
    assert own.series.keys() == kept.series.keys()
    for name, series in own.series.items():
        other = kept.series[name]
        assert series.step.tolist() == other.step.tolist(), name
        assert series.value.tolist() == pytest.approx(other.value.tolist(), rel=1e-5, nan_ok=True), name
    assert {name: value.value for name, value in own.config.items()} == {
        name: value.value for name, value in kept.config.items()
    }
    assert own.action_space is not None
    assert kept.action_space is not None
    assert (own.algorithm, own.action_space.size) == (kept.algorithm, kept.action_space.size) == ("ppo", 2)


def test_a_training_that_breaks_is_stopped(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    callback = DiagnosisCallback(every=5, share=1.0, stop_at=0.8, folder=tmp_path)
    model = ppo(rate=0.3, tensorboard_log=str(tmp_path / "tb"))
    model.learn(100_000, log_interval=1, callback=callback)
    assert model.num_timesteps < 50_000
    assert callback.diagnosis is not None
    (run,) = callback.diagnosis.runs
    assert run.top is not None
    assert run.top.id == "learning_rate_too_high"
    assert run.top.title in caplog.text
    (event_file,) = (tmp_path / "tb").rglob("*tfevents*")
    assert b"rl_diagnose/verdict" in event_file.read_bytes()
    assert diagnose(event_file.parent).runs[0].unmapped == ()


def test_nothing_is_said_of_a_training_that_goes_well(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "rl_diagnose")
    callback = DiagnosisCallback(every=5, share=1.0, stop_at=0.5)
    model = ppo()
    model.learn(6000, log_interval=1, callback=callback)
    assert model.num_timesteps >= 6000
    assert callback.diagnosis is not None
    assert callback.diagnosis.runs[0].verdict != "finding"
    assert {record.levelname for record in caplog.records} <= {"INFO"}


def test_training_on_goes_on_in_the_same_log_and_a_new_training_begins_another(tmp_path: Path) -> None:
    callback = DiagnosisCallback(folder=tmp_path)
    model = ppo()
    model.learn(1280, log_interval=1, callback=callback)
    model.learn(1280, log_interval=1, callback=callback, reset_num_timesteps=False)
    assert load_run(tmp_path / "PPO").series["time.fps"].step.tolist() == [128.0 * k for k in range(1, 21)]
    model.learn(1280, log_interval=1, callback=callback)
    assert load_run(tmp_path / "PPO_2").series["time.fps"].step.tolist() == [128.0 * k for k in range(1, 11)]


def test_a_disk_that_fails_does_not_end_the_training(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    import shutil

    from stable_baselines3.common.callbacks import BaseCallback, CallbackList

    class Vandal(BaseCallback):  # takes the folder away in the midst of the training
        def _on_step(self) -> bool:
            if self.n_calls == 100:
                shutil.rmtree(tmp_path / "PPO")
            return True

    model = ppo()
    model.learn(2000, log_interval=1, callback=CallbackList([DiagnosisCallback(folder=tmp_path), Vandal()]))
    assert model.num_timesteps >= 2000
    assert "stops watching this training" in caplog.text


def test_pictures_and_texts_in_the_logger_are_left_alone(tmp_path: Path) -> None:
    from stable_baselines3.common.callbacks import BaseCallback, CallbackList
    from stable_baselines3.common.logger import Image

    class Painter(BaseCallback):
        def _on_step(self) -> bool:
            import numpy as np

            self.logger.record("picture", Image(np.zeros((3, 2, 2)), "CHW"), exclude=("stdout", "log", "json", "csv"))
            self.logger.record("text", "a text")
            return True

    model = ppo()
    model.learn(512, log_interval=1, callback=CallbackList([DiagnosisCallback(folder=tmp_path), Painter()]))
    run = load_run(tmp_path / "PPO")
    assert len(run.series["time.fps"]) == 4
    assert not [name for name in run.series if "picture" in name or "text" in name]


def test_off_policy_settings_are_known(tmp_path: Path) -> None:
    model = sb3.SAC("MlpPolicy", "Pendulum-v1", learning_rate=1e-3, learning_starts=100, buffer_size=1000, seed=1)
    model.learn(900, log_interval=1, callback=DiagnosisCallback(folder=tmp_path))
    run = load_run(tmp_path / "SAC")
    assert (run.algorithm, run.config["learning_rate"].value, run.config["buffer_size"].value) == ("sac", 1e-3, 1000)
    assert (tmp_path / "SAC" / "settings.zip").stat().st_size < 1_000_000
