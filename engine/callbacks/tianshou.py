"""Diagnosis inside the training of Tianshou (2.0 or newer).

from rl_diagnose.callbacks.tianshou import DiagnosisLogger

logger = DiagnosisLogger(TensorboardLogger(SummaryWriter("log/ppo")), name="ppo", stop_at=0.9)
algorithm.run_training(OnPolicyTrainerParams(..., logger=logger, stop_fn=logger.stop_fn))
logger.finalize()
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tianshou.utils import BaseLogger, LazyLogger, TensorboardLogger
from torch.utils.tensorboard import SummaryWriter

from .watcher import Watcher

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Unpack

    from ..diagnosis.model import Diagnosis
    from .watcher import Options

__all__ = ["DiagnosisLogger"]


class DiagnosisLogger(BaseLogger):
    """A logger that hands everything to another one (default: to none) and diagnoses the run while it trains.

    `name` is what the run is called; a name that holds the algorithm's, such as ``ppo``, says which rulebook to use,
    since Tianshou's log does not. The options are those of `rl_diagnose.callbacks.watcher.Options`; a row is what is
    logged after a collection. A changed verdict is told through the Python logger ``rl_diagnose`` and, where the other
    logger writes to TensorBoard, as a text under ``rl_diagnose/verdict``. Raises `UsageError` or `RulebookError` for
    options that cannot be meant, when it is made; later it raises nothing of its own.
    """

    def __init__(self, logger: BaseLogger | None = None, *, name: str = "tianshou", **options: Unpack[Options]) -> None:
        self._inner = LazyLogger() if logger is None else logger
        intervals = (self._inner.training_interval, self._inner.test_interval, self._inner.update_interval)
        super().__init__(*intervals, self._inner.info_interval, self._inner.save_interval)
        self.watcher = Watcher(options)
        self._name = name
        self._tape: _Tape | None = None
        self._step = 0

    @property
    def diagnosis(self) -> Diagnosis | None:
        """What was found at the last look; None before there was one."""
        return self.watcher.diagnosis

    def stop_fn(self, score: float) -> bool:  # noqa: ARG002 - the trainer asks with the score of a test
        """For the trainer's `stop_fn`: true when a cause has reached `stop_at`."""
        return self.watcher.stop

    def log_training_data(self, log_data: dict[str, Any], step: int) -> None:
        self._inner.log_training_data(log_data, step)
        self._keep("log_training_data", log_data, step)
        self._step = step
        self._look()

    def log_test_data(self, log_data: dict[str, Any], step: int) -> None:
        self._inner.log_test_data(log_data, step)
        self._keep("log_test_data", log_data, step)

    def log_update_data(self, log_data: dict[str, Any], step: int) -> None:
        self._inner.log_update_data(log_data, step)
        self._keep("log_update_data", log_data, step)

    def log_info_data(self, log_data: dict[str, Any], step: int) -> None:
        self._inner.log_info_data(log_data, step)

    def write(self, step_type: str, step: int, data: dict[str, Any]) -> None:
        self._inner.write(step_type, step, data)

    def prepare_dict_for_logging(self, log_data: dict[str, Any]) -> dict[str, Any]:
        prepared: dict[str, Any] = self._inner.prepare_dict_for_logging(log_data)
        return prepared

    def save_data(
        self,
        epoch: int,
        env_step: int,
        update_step: int,
        save_checkpoint_fn: Callable[[int, int, int], str] | None = None,
    ) -> None:
        self._inner.save_data(epoch, env_step, update_step, save_checkpoint_fn)

    def restore_data(self) -> tuple[int, int, int]:
        epoch, env_step, update_step = self._inner.restore_data()
        return epoch, env_step, update_step

    @staticmethod
    def restore_logged_data(log_path: str) -> dict[str, Any]:
        """What an event file at `log_path` holds, as Tianshou's logger for TensorBoard restores it."""
        restored: dict[str, Any] = TensorboardLogger.restore_logged_data(log_path)
        return restored

    def finalize(self) -> None:
        """Look once more, then finalize the other logger. Tianshou's trainer does not call this."""
        self._look(last=True)
        if self._tape is not None:
            with self.watcher.guarded():
                self._tape.finalize()
        self._inner.finalize()

    def _keep(self, method: str, log_data: dict[str, Any], step: int) -> None:
        if self._tape is None:
            folder = self.watcher.begin(self._name)
            if folder is None:
                return
            with self.watcher.guarded():
                self._tape = _Tape(folder, self.watcher, self._inner)
        if self._tape is not None and self.watcher.alive:
            with self.watcher.guarded():
                getattr(self._tape, method)(log_data, step)

    def _look(self, *, last: bool = False) -> None:
        writer = getattr(self._inner, "writer", None)
        if self.watcher.look(last=last) and isinstance(writer, SummaryWriter):
            with self.watcher.guarded():
                writer.add_text("rl_diagnose/verdict", self.watcher.markdown, self._step)


class _Tape(TensorboardLogger):
    """The run's log in Tianshou's own format, as often as the other logger writes."""

    def __init__(self, folder: Path, watcher: Watcher, like: BaseLogger) -> None:
        intervals = (like.training_interval, like.test_interval, like.update_interval)
        super().__init__(SummaryWriter(str(folder)), *intervals)
        self._watcher = watcher

    def write(self, step_type: str, step: int, data: dict[str, Any]) -> None:
        super().write(step_type, step, data)
        self._watcher.rows += step_type.startswith("training/")
