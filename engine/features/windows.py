"""Windows: the part of a run that a statistic looks at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["BUILT_IN_WINDOWS", "Window"]


@dataclass(frozen=True, slots=True)
class Window:
    """A named part of a run: fractions of the run's length in steps, absolute steps, or iterations.

    `start` and `end` are inclusive bounds; None = open end. `onset` windows start at the change of the signal itself.
    """

    name: str
    unit: Literal["fraction", "steps", "iterations", "onset"]
    start: float | None
    end: float | None


BUILT_IN_WINDOWS: dict[str, Window] = {
    w.name: w
    for w in (
        Window("all", "fraction", None, None),
        Window("start", "fraction", None, 0.05),
        Window("early", "fraction", None, 0.25),
        Window("mid", "fraction", 0.25, 0.75),
        Window("late", "fraction", 0.75, None),
        Window("end", "fraction", 0.95, None),
        Window("since_onset", "onset", None, None),
    )
}
