"""Timing that other work on the machine disturbs little: processor time, methods taken in turns, medians, ratios."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["Goal", "Row", "child_cpu_seconds", "cpu_seconds", "peak_megabytes", "wall_seconds"]

# what getrusage tells of a new process is at least what its parent had; Linux has the figure of the process alone
_PEAK = """
import pathlib, resource, sys
{code}
status = pathlib.Path("/proc/self/status")
if status.exists():
    print(next(int(line.split()[1]) * 1024 for line in status.read_text().splitlines() if line.startswith("VmHWM")))
else:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024))
"""


@dataclass(frozen=True, slots=True)
class Goal:
    """What a ratio has to be: at least `bound` or, where `at_most`, at most.

    A goal that the product has not reached yet (`met_yet`) is shown like the others, but nothing fails for it.
    """

    bound: float
    at_most: bool = False
    met_yet: bool = True

    def met(self, ratio: float, tolerance: float = 1.0) -> bool:
        """Whether `ratio` reaches this share of the goal."""
        return ratio <= self.bound / tolerance if self.at_most else ratio >= self.bound * tolerance

    def __str__(self) -> str:
        return f"{'≤' if self.at_most else '≥'} {self.bound:g}"


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: what was measured, the product's own figure as text, and ratios by name, with the goals
    that some of them have.
    """

    name: str
    figure: str
    ratios: Mapping[str, float]
    goals: Mapping[str, Goal]

    def missed(self, tolerance: float) -> list[str]:
        """Names of the ratios that do not reach this share of their goal."""
        return [
            name
            for name, goal in self.goals.items()
            if name in self.ratios and not goal.met(self.ratios[name], tolerance)
        ]


def cpu_seconds(methods: Mapping[str, Callable[[], object]], *, rounds: int, budget: float) -> dict[str, float]:
    """Median processor time of one call of each method, in seconds.

    Each round calls every method once; one that has used up its `budget` in seconds is left out of further rounds.
    """
    taken: dict[str, list[float]] = {name: [] for name in methods}
    for _ in range(rounds):
        for name, method in methods.items():
            if sum(taken[name]) > budget:
                continue
            begin = time.process_time()
            method()
            taken[name].append(time.process_time() - begin)
    return {name: statistics.median(times) for name, times in taken.items()}


def child_cpu_seconds(methods: Mapping[str, Callable[[], object]], *, rounds: int) -> dict[str, float]:
    """Median processor time of the processes that one call of each method starts and waits for, in seconds.

    Raises `NotImplementedError` where the system does not tell (Windows).
    """
    if sys.platform == "win32":
        raise NotImplementedError
    from resource import RUSAGE_CHILDREN, getrusage

    taken: dict[str, list[float]] = {name: [] for name in methods}
    for _ in range(rounds):
        for name, method in methods.items():
            begin = getrusage(RUSAGE_CHILDREN)
            method()
            end = getrusage(RUSAGE_CHILDREN)
            taken[name].append(end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime)
    return {name: statistics.median(times) for name, times in taken.items()}


def wall_seconds(methods: Mapping[str, Callable[[], object]], *, rounds: int) -> dict[str, float]:
    """Median time on the clock of one call of each method, in seconds: for what other processes do, and waiting. Other
    work on the machine counts too, so only ratios say something."""
    taken: dict[str, list[float]] = {name: [] for name in methods}
    for _ in range(rounds):
        for name, method in methods.items():
            begin = time.perf_counter()
            method()
            taken[name].append(time.perf_counter() - begin)
    return {name: statistics.median(times) for name, times in taken.items()}


def peak_megabytes(code: str, arguments: Sequence[str]) -> float | None:
    """Peak memory of a fresh interpreter that runs `code`; None where the system does not tell."""
    if sys.platform == "win32":
        return None
    command = [sys.executable, "-W", "ignore", "-c", _PEAK.format(code=code), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - our own interpreter
    return int(done.stdout.split()[-1]) / 1e6
