"""`Run`: one training run in the common schema, whatever framework wrote it.

Arrays are numpy so that a diagnosis never has to import polars; `Run.signals` builds the long polars
frame for people who ask for it.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl
    from numpy.typing import NDArray

__all__ = [
    "ActionSpace",
    "ConfigValue",
    "LogIssue",
    "NonFinite",
    "Run",
    "Semantics",
    "Series",
    "TrackedRun",
    "UnmappedKey",
    "XAxis",
]

XAxis = Literal["env_steps", "iterations", "updates", "episodes"]
ActionKind = Literal["discrete", "multi_discrete", "multi_binary", "continuous", "tokens", "unknown"]
Origin = Literal["config", "log", "inferred", "user", "unknown"]


@dataclass(frozen=True, slots=True)
class Semantics:
    """What the number in a log means: where it came from and what was done to it.

    `source_key` is the framework's own name, `transform` what was applied (for example ``-x``),
    `estimator` how the framework computes it (``k3``, ``exact``), `window` over what it is averaged
    (``last 100 episodes``, ``last epoch``), `window_episodes` that window as a number of episodes,
    `file` the log file it was read from.
    """

    source_key: str
    file: str = ""
    transform: str = "x"
    estimator: str | None = None
    window: str | None = None
    window_episodes: int | None = None


@dataclass(frozen=True, slots=True)
class NonFinite:
    """Non-finite values seen in a log: they become null in the series, the evidence stays here.

    `first_step` is the step of the first NaN or infinity; `benign` counts those which the framework
    writes in a healthy run too (SB3 writes NaN explained variance when all returns are equal).
    """

    nan: int = 0
    positive_inf: int = 0
    negative_inf: int = 0
    first_step: float | None = None
    benign: int = 0

    @property
    def count(self) -> int:
        """All non-finite values, benign ones included."""
        return self.nan + self.positive_inf + self.negative_inf

    @property
    def harmful(self) -> int:
        """Non-finite values which no healthy run writes."""
        return self.count - self.benign


@dataclass(frozen=True, slots=True)
class Series:
    """One signal over time.

    `step`, `iteration`, `wall_time` and `value` are float64 arrays of shape (n,), sorted by step, one
    entry a step. `step` is in the unit of `x_axis`; `iteration` is the 0-based index of the training
    iteration (NaN where unknown), `wall_time` is in seconds since the epoch (NaN where unknown), a NaN in
    `value` means that the log had a non-finite value there.
    """

    signal: str
    step: NDArray[np.float64]
    value: NDArray[np.float64]
    iteration: NDArray[np.float64]
    wall_time: NDArray[np.float64]
    semantics: Semantics
    x_axis: XAxis = "env_steps"
    non_finite: NonFinite = field(default_factory=NonFinite)

    def __len__(self) -> int:
        return int(self.value.size)


@dataclass(frozen=True, slots=True)
class ConfigValue:
    """A hyper-parameter under its canonical name, with the file and key it was read from.

    An integer beyond the range of float64 is infinite.
    """

    value: float | int | bool | str
    origin: str

    def __post_init__(self) -> None:
        if isinstance(self.value, int) and abs(self.value) > sys.float_info.max:
            object.__setattr__(self, "value", math.inf if self.value > 0 else -math.inf)


@dataclass(frozen=True, slots=True)
class ActionSpace:
    """Kind and size of the action space, and how that is known.

    `size` is the number of actions (discrete), of action dimensions (continuous, multi_binary) or the sum
    over components (multi_discrete, whose sizes are in `cardinalities`); None when unknown.
    `low`/`high` bound continuous actions where known.
    """

    kind: ActionKind = "unknown"
    size: int | None = None
    cardinalities: tuple[int, ...] = ()
    low: float | None = None
    high: float | None = None
    origin: Origin = "unknown"
    detail: str = ""

    @property
    def max_entropy(self) -> float | None:
        """Largest possible policy entropy in nats; None for continuous or unknown spaces."""
        if self.kind == "discrete" and self.size and self.size > 1:
            return float(np.log(self.size))
        if self.kind == "multi_discrete" and self.cardinalities:
            return float(np.sum(np.log(self.cardinalities)))
        if self.kind == "multi_binary" and self.size:
            return float(self.size * np.log(2.0))
        return None


@dataclass(frozen=True, slots=True)
class LogIssue:
    """Something wrong or odd with the log itself: stable `code`, message, file and step if known."""

    code: str
    message: str
    source: str = ""
    step: float | None = None
    severity: Literal["info", "warning"] = "warning"


@dataclass(frozen=True, slots=True)
class UnmappedKey:
    """A numeric key of the log that no tag map knows; kept as signal ``raw.<key>``."""

    key: str
    file: str
    points: int
    suggestion: str | None = None


@dataclass(frozen=True, slots=True)
class TrackedRun:
    """The run of an experiment tracker whose own files a log was read from.

    `place` is the folder of the W&B run, or that of the run in MLflow's file store; `project` and `entity` are W&B's.
    """

    tracker: Literal["wandb", "mlflow"]
    id: str
    place: str
    project: str | None = None
    entity: str | None = None


@dataclass(frozen=True)
class Run:
    """One training run in the common schema.

    `series` maps signal id to `Series` (unknown numeric keys are there as ``raw.<key>``); `config` holds
    hyper-parameters under canonical names; `x_axis` is the unit of the steps and `step_key` the key of
    the log that holds them (None where the container does, or rows are counted); `files` are the log files
    that were read; `tracked` is the run of an experiment tracker that they are the record of.
    """

    id: str
    path: str
    framework: str
    series: Mapping[str, Series]
    files: tuple[str, ...] = ()
    framework_version: str | None = None
    algorithm: str | None = None
    env: str | None = None
    config: Mapping[str, ConfigValue] = field(default_factory=dict)
    action_space: ActionSpace = field(default_factory=ActionSpace)
    x_axis: XAxis = "env_steps"
    step_key: str | None = None
    unmapped: tuple[UnmappedKey, ...] = ()
    issues: tuple[LogIssue, ...] = ()
    adapter: str = ""
    adapter_reason: str = ""
    tracked: TrackedRun | None = None

    @property
    def last_step(self) -> float | None:
        """Largest step of any signal, in units of `x_axis`; None for a run without points."""
        ends = [float(s.step[-1]) for s in self.series.values() if len(s)]
        return max(ends) if ends else None

    @property
    def points(self) -> int:
        """Number of points of the longest signal."""
        return max((len(s) for s in self.series.values()), default=0)

    @property
    def signals(self) -> pl.DataFrame:
        """Long polars frame: signal (str), step, iteration, wall_time, value (f64; null = non-finite or unknown)."""
        import polars as pl

        schema = {"signal": pl.String, **dict.fromkeys(("step", "iteration", "wall_time", "value"), pl.Float64)}
        frames = [
            pl.DataFrame(
                {
                    "signal": [s.signal] * len(s),
                    "step": s.step,
                    "iteration": s.iteration,
                    "wall_time": s.wall_time,
                    "value": s.value,
                },
                schema=schema,
            )
            for _, s in sorted(self.series.items())
        ]
        frame = pl.concat(frames) if frames else pl.DataFrame(schema=schema)
        return frame.with_columns(pl.col("iteration", "wall_time", "value").fill_nan(None))
