"""Diagnosis inside the training of RLlib, under Tune or in a loop of one's own.

from functools import partial
from rl_diagnose.callbacks.rllib import DiagnosisCallback

config = PPOConfig().callbacks(partial(DiagnosisCallback, stop_at=0.9))
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ray.rllib.callbacks.callbacks import RLlibCallback

from .watcher import Watcher

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Unpack

    from ..diagnosis.model import Diagnosis
    from .watcher import Options

__all__ = ["DiagnosisCallback"]


class DiagnosisCallback(RLlibCallback):
    """Diagnoses the run while it trains. Options are those of `rl_diagnose.callbacks.watcher.Options`; a row is an
    iteration.

    A changed verdict is told through the Python logger ``rl_diagnose`` and stands in that iteration's result under
    ``rl_diagnose``. At `stop_at` the result's ``done`` becomes true, which ends the trial under Tune; a loop of one's
    own has to look at it. RLlib does not tell callbacks that a training ends, so there is no look at the end. Raises
    `UsageError` or `RulebookError` for options that cannot be meant, when the algorithm is built; later it raises
    nothing.
    """

    def __init__(self, **options: Unpack[Options]) -> None:
        super().__init__()
        self.watcher = Watcher(options)
        self._begun = False

    @property
    def diagnosis(self) -> Diagnosis | None:
        """What was found at the last look; None before there was one."""
        return self.watcher.diagnosis

    def on_train_result(self, *, algorithm: Any, result: dict[str, Any], **_: Any) -> None:
        watcher = self.watcher
        if not self._begun:
            self._begun = True
            folder = watcher.begin(type(algorithm).__name__)
            if folder is not None:
                with watcher.guarded():
                    _append(folder / "params.json", algorithm.config.to_dict())
        if watcher.folder is None or not watcher.alive:
            return
        with watcher.guarded():
            _append(watcher.folder / "result.json", {key: part for key, part in result.items() if key != "config"})
            watcher.rows += 1
        if watcher.look():
            result["rl_diagnose"] = watcher.text
        if watcher.stop:
            result["done"] = True


def _append(file: Path, content: dict[str, Any]) -> None:
    with file.open("a", encoding="utf-8") as out:
        out.write(json.dumps(content, default=_plain) + "\n")


def _plain(value: Any) -> object:
    """A value that JSON has no form for, as Tune writes it: a numpy number or array as plain ones, others as text."""
    to_plain = getattr(value, "tolist", None)
    return to_plain() if callable(to_plain) else str(value)
