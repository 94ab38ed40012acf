"""The closed vocabulary: every statistic and relation with its arguments, its least number of points and what it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from . import events, levels, relations, trends

if TYPE_CHECKING:
    from collections.abc import Callable

    from .relations import Pair

__all__ = ["RELATIONS", "STATISTICS", "Relation", "Statistic", "reference_markdown"]

Unit = Literal["signal", "per step", "per 10k steps", "steps", "iterations", "count", "1"]


@dataclass(frozen=True, slots=True)
class Statistic:
    """One number of one signal in one window. `points` is the least number of finite points; `trend` says that its
    reliability also depends on how clear the slope is; `empty` that it also speaks without any finite point.
    """

    name: str
    function: Callable[..., float]
    points: int = 1
    unit: Unit = "signal"
    arguments: tuple[str, ...] = ()
    trend: bool = False
    empty: bool = False

    @property
    def meaning(self) -> str:
        """First paragraph of the function's docstring."""
        return " ".join((self.function.__doc__ or "").split("\n\n")[0].split())


@dataclass(frozen=True, slots=True)
class Relation:
    """One number of two signals in one window. `weighs` says that the significance of a lag is its reliability."""

    name: str
    function: Callable[[Pair], float]
    points: int = 8
    unit: Unit = "1"
    weighs: bool = False

    @property
    def meaning(self) -> str:
        """First paragraph of the function's docstring."""
        return " ".join((self.function.__doc__ or "").split("\n\n")[0].split())


def _by_name(*items: Statistic) -> dict[str, Statistic]:
    return {item.name: item for item in items}


STATISTICS: dict[str, Statistic] = _by_name(
    Statistic("mean", levels.mean),
    Statistic("median", levels.median),
    Statistic("abs_median", levels.abs_median),
    Statistic("min", levels.minimum),
    Statistic("max", levels.maximum),
    Statistic("first", levels.first),
    Statistic("last", levels.last),
    Statistic("std", levels.std, 3),
    Statistic("iqr", levels.iqr, 4),
    Statistic("count", levels.count, 0, "count", empty=True),
    Statistic("fraction_above", levels.fraction_above, 3, "1", ("bound",)),
    Statistic("fraction_below", levels.fraction_below, 3, "1", ("bound",)),
    Statistic("longest_above", levels.longest_above, 3, "1", ("bound",)),
    Statistic("longest_below", levels.longest_below, 3, "1", ("bound",)),
    Statistic("negative_fraction", levels.negative_fraction, 3, "1"),
    Statistic("non_finite", levels.non_finite, 0, "count", empty=True),
    Statistic("non_finite_first_step", levels.non_finite_first_step, 0, "steps", empty=True),
    Statistic("slope", trends.slope, 4, "per step", trend=True),
    Statistic("slope_per_10k", trends.slope_per_10k, 4, "per 10k steps", trend=True),
    Statistic("slope_per_run", trends.slope_per_run, 4, "signal", trend=True),
    Statistic("slope_robust", trends.slope_robust, 4, "per step", trend=True),
    Statistic("steepest_slope", trends.steepest_slope, 4, "per step", ("width",)),
    Statistic("steepest_rise", trends.steepest_rise, 4, "per step", ("width",)),
    Statistic("relative_change", trends.relative_change, 4, "1"),
    Statistic("growth_decades", trends.growth_decades, 4, "1"),
    Statistic("ema", trends.ema, 1, "signal", ("alpha",)),
    Statistic("drawdown", events.drawdown, 5, "1"),
    Statistic("drawdown_final", events.drawdown_final, 5, "1"),
    Statistic("at_best_fraction", events.at_best_fraction, 3, "1"),
    Statistic("spike_ratio", events.spike_ratio, 8, "1"),
    Statistic("constant_fraction", events.constant_fraction, 3, "1"),
    Statistic("noise", events.noise, 6, "1"),
    Statistic("noise_abs", events.noise_abs, 6),
    Statistic("change_size", events.change_size, 8, "1"),
    Statistic("change_step", events.change_step, 8, "steps"),
    Statistic("change_fraction", events.change_fraction, 8, "1"),
    Statistic("change_delta", events.change_delta, 8),
    Statistic("periodicity", events.periodicity, 16, "1"),
    Statistic("period", events.period, 16, "steps"),
    Statistic("staircase", events.staircase, 6, "1"),
)

RELATIONS: dict[str, Relation] = {
    item.name: item
    for item in (
        Relation("ratio", relations.ratio, 1),
        Relation("correlation", relations.correlation),
        Relation("correlation_changes", relations.correlation_changes, 16),
        Relation("lag_steps", relations.lag_steps, 16, "steps", weighs=True),
        Relation("lag_iterations", relations.lag_iterations, 16, "iterations", weighs=True),
        Relation("lag_peak", relations.lag_peak, 16, "1", weighs=True),
        Relation("lag_significance", relations.lag_significance, 16),
        Relation("onset_before", relations.onset_before, 10),
        Relation("non_finite_before", relations.non_finite_before, 0),
    )
}


def reference_markdown() -> str:
    """The table of the vocabulary for `docs/features.md`."""
    lines = ["| statistic | arguments | unit | least points | meaning |", "|---|---|---|---|---|"]
    lines += [
        f"| `{s.name}` | {', '.join(s.arguments) or '–'} | {s.unit} | {s.points} | {s.meaning} |"
        for s in STATISTICS.values()
    ]
    lines += ["", "| relation | unit | least points | meaning |", "|---|---|---|---|"]
    lines += [f"| `{r.name}(a, b)` | {r.unit} | {r.points} | {r.meaning} |" for r in RELATIONS.values()]
    return "\n".join(lines) + "\n"
