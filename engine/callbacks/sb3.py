"""Diagnosis inside the training of Stable-Baselines3 and sb3-contrib.

from rl_diagnose.callbacks.sb3 import DiagnosisCallback

model.learn(1_000_000, callback=DiagnosisCallback(stop_at=0.9))
"""

from __future__ import annotations

import inspect
import json
from typing import TYPE_CHECKING, Any

from gymnasium import Space
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import KVWriter, TensorBoardOutputFormat
from stable_baselines3.common.save_util import save_to_zip_file
from torch.nn import Module

from .watcher import Watcher

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Unpack

    from ..diagnosis.model import Diagnosis
    from .watcher import Options

__all__ = ["DiagnosisCallback"]

_TEXT_TAG = "rl_diagnose/verdict"


class DiagnosisCallback(BaseCallback):
    """Diagnoses the run while it trains. Options are those of `rl_diagnose.callbacks.watcher.Options`.

    A changed verdict is told through the Python logger ``rl_diagnose`` and written as a text beside the model's own
    curves, where TensorBoard shows it under ``rl_diagnose/verdict``. Raises `UsageError` or `RulebookError` for options
    that cannot be meant, when it is made; during the training it raises nothing.
    """

    def __init__(self, *, verbose: int = 0, **options: Unpack[Options]) -> None:
        super().__init__(verbose)
        self.watcher = Watcher(options)
        self._writer: _RowWriter | None = None
        self._rows_seen = 0

    @property
    def diagnosis(self) -> Diagnosis | None:
        """What was found at the last look; None before there was one."""
        return self.watcher.diagnosis

    def _on_training_start(self) -> None:
        outputs = self.logger.output_formats
        if self._writer is None or self.num_timesteps == 0:
            folder = self.watcher.begin(type(self.model).__name__)
            if folder is None:
                return
            with self.watcher.guarded():
                _save_settings(self.model, folder)
            self._writer = _RowWriter(folder, self.watcher)
            self._rows_seen = 0
        # A second call of learn() has a new logger, or the same one.
        if self._writer not in outputs:
            outputs.append(self._writer)

    def _on_step(self) -> bool:
        if self.watcher.rows != self._rows_seen:
            self._rows_seen = self.watcher.rows
            self._look()
        return not self.watcher.stop

    def _on_training_end(self) -> None:
        self._look(last=True)
        if self._writer in self.logger.output_formats:
            self.logger.output_formats.remove(self._writer)

    def _look(self, *, last: bool = False) -> None:
        if self.watcher.look(last=last):
            with self.watcher.guarded():
                for output in self.logger.output_formats:
                    if isinstance(output, TensorBoardOutputFormat):
                        output.writer.add_text(_TEXT_TAG, self.watcher.markdown, self.num_timesteps)
                        output.writer.flush()


class _RowWriter(KVWriter):
    """Appends the numbers of each row to a ``progress.json``, as Stable-Baselines3 writes it."""

    def __init__(self, folder: Path, watcher: Watcher) -> None:
        self._file = folder / "progress.json"
        self._watcher = watcher

    def write(self, key_values: dict[str, Any], key_excluded: dict[str, Any], step: int = 0) -> None:  # noqa: ARG002
        if not self._watcher.alive:
            return
        with self._watcher.guarded():
            row = {key: number for key, value in key_values.items() if (number := _number(value)) is not None}
            with self._file.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            self._watcher.rows += 1

    def close(self) -> None:
        """Nothing stays open between two rows."""


def _number(value: object) -> float | None:
    """A number that a row may hold, also one that is not finite; None for texts, pictures, videos and the like."""
    if isinstance(value, bool | str) or not hasattr(value, "__float__"):
        return None
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _save_settings(model: Any, folder: Path) -> None:
    """The model's settings as a saved model has them, without weights, buffers and environments."""
    data = {name: value for name, value in vars(model).items() if _is_setting(value)}
    save_to_zip_file(folder / "settings.zip", data=data, params={"policy": {}})


def _is_setting(value: object) -> bool:
    if isinstance(value, bool | int | float | str | dict | type | Space):
        return True
    return callable(value) and not isinstance(value, Module) and not inspect.ismethod(value)  # schedules
