"""Measure how fast the product is, as ratios that do not depend on the machine.

    python benchmarks/speed.py [--quick] [--check]

Prints a table. Every ratio is one of medians of processor time taken in turns within this run (of time on the clock for
`--jobs`); goals are in brackets.
`--quick` has smaller files and fewer rounds. `--check` ends with 1 when a ratio stays below 60 % of its goal, the share
that a busy machine is granted; goals that are marked as not met yet fail nothing.
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: threads only wait for each other here

from timed import event_files, start_up, sweeps

if TYPE_CHECKING:
    from timed.measure import Row

GROUPS = {
    "event-files": event_files.rows,
    "features": sweeps.feature_rows,
    "sweep": sweeps.sweep_rows,
    "jobs": sweeps.jobs_rows,
    "cold-start": start_up.rows,
}
TOLERANCE = 0.6


def as_text(row: Row) -> str:
    """One line: name, own figure, ratios and goals."""
    cells = [f"{row.name:<34}", f"{row.figure:>11}"]
    for name, ratio in row.ratios.items():
        goal = f" ({row.goals[name]})" if name in row.goals else ""
        mark = ""
        if name in row.missed(1.0):
            mark = "  MISSED" if row.goals[name].met_yet else "  not met yet"
        cells.append(f"{ratio:8.3g} {name}{goal}{mark}")
    return "  ".join(cells)


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark; 1 when `--check` finds a ratio far below its goal, else 0."""
    parser = argparse.ArgumentParser(description="Measure the speed of the product.")
    parser.add_argument("--quick", action="store_true", help="smaller files and fewer rounds")
    parser.add_argument("--check", action="store_true", help="fail when a ratio stays below 60 %% of its goal")
    parser.add_argument("--only", choices=GROUPS, action="append", metavar="GROUP", help=f"of {', '.join(GROUPS)}")
    options = parser.parse_args(arguments)
    failed = False
    for group in options.only or GROUPS:
        for row in GROUPS[group](quick=options.quick):
            print(as_text(row), flush=True)
            failed |= any(row.goals[name].met_yet for name in row.missed(TOLERANCE))
    return int(failed and options.check)


if __name__ == "__main__":
    sys.exit(main())
