"""Reads `*.house` logs: one line a step, ``step;return;kl``."""

from __future__ import annotations

import numpy as np

from rl_diagnose.logs.adapter import Folder, ReadOptions, RunSource, Sniff
from rl_diagnose.signals.run import Run, Semantics, Series

__all__ = ["ADAPTER"]

_COLUMNS = ("reward.train", "policy.kl")


class House:
    """The adapter."""

    name = "house"
    title = "the house's own logs"

    def sniff(self, folder: Folder) -> Sniff:
        """Every `*.house` file is a run."""
        files = [path for path in folder.files if path.suffix == ".house"]
        return Sniff(0.99 if files else 0.0, "*.house files", tuple(RunSource(path, (path,)) for path in files))

    def read(self, source: RunSource, options: ReadOptions) -> Run:  # noqa: ARG002 - the protocol's name
        """Read one file."""
        rows = np.loadtxt(source.path, delimiter=";", ndmin=2)
        unknown = np.full(len(rows), np.nan)
        series = {
            signal: Series(
                signal=signal,
                step=rows[:, 0],
                value=rows[:, column],
                iteration=unknown,
                wall_time=unknown,
                semantics=Semantics(source_key=signal, file=source.path.name),
                x_axis="env_steps",
            )
            for column, signal in enumerate(_COLUMNS, start=1)
        }
        return Run(id=source.path.name, path=str(source.path), framework="house", series=series, algorithm="ppo")


ADAPTER = House()
