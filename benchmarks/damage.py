"""Damages real logs in every way that disks, crashes and restarts do, and looks at what the product makes of them.

    python benchmarks/damage.py [--samples DIR] [--corpus DIR] [--runs N] [--every PER CENT] [--repeats N] [--only WORD]

Each log file of each sample, and of N runs of a labelled corpus, is copied into a temporary folder, damaged there, read
and diagnosed: on its own (the run's other logs left out), and where there are others once more beside them. Figures a
kind of damage:

copies        damaged copies; `unseen` of them have a damage that nothing in the file shows
diagnosed     a run was read and has a verdict
same verdict  the same verdict with the same first cause as the undamaged log
false         rows (signal, step, value) that the undamaged log does not have. Must be 0
moved         rows whose value was logged, but at another step
silent        rows that are missing although no new issue tells of a loss. Must be 0
no place      copies with lost rows whose issues do not name the file and a byte, line or step
unseen rows   false rows that no reader can tell from true ones, in text without checksums
crashes       exceptions beyond the project's own. Must be 0

What cannot be seen is decided by the file alone, not by the product (`damaged/forms.py`): text that was cut at a line
end, or within the last number of a line of cells; and a changed line that is as well formed as before: without control
characters, with as many cells, each a number where a number was, or one JSON object without a key twice. For such
changes the text that has them, and only them, is read as the undamaged log. So are swapped rows without steps.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from damaged.cases import corpus_folders, find_cases, sample_folders
from damaged.judge import run_case
from damaged.kinds import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from damaged.judge import Outcome

COLUMNS = (
    "copies", "unseen", "diagnosed", "same verdict", "false", "moved", "silent", "no place", "unseen rows", "crashes",
)  # fmt: skip


def table(outcomes: Sequence[Outcome]) -> str:
    """One line a kind of damage, and one for all."""
    lines = [f"{'damage':<18}" + "".join(f"{name:>13}" for name in COLUMNS)]
    for kind in (*KINDS, "all"):
        of_kind = [one for one in outcomes if kind in (one.kind, "all")]
        lines.append(f"{kind:<18}" + "".join(f"{figure:>13}" for figure in figures(of_kind)))
    return "\n".join(lines)


def figures(outcomes: Sequence[Outcome]) -> tuple[int, ...]:
    """The figures of some copies, in the order of `COLUMNS`."""
    return (
        len(outcomes), sum(one.invisible for one in outcomes), sum(one.diagnosed for one in outcomes),
        sum(one.same_verdict for one in outcomes), sum(one.false for one in outcomes),
        sum(one.moved for one in outcomes), sum(one.silent for one in outcomes),
        sum(not one.placed for one in outcomes), sum(one.unseen for one in outcomes),
        sum(one.crash is not None for one in outcomes),
    )  # fmt: skip


def complaints(outcomes: Iterable[Outcome], most: int) -> list[str]:
    """What must not be, a line a copy; of each kind and form of file no more than `most`."""
    lines: list[str] = []
    seen: Counter[str] = Counter()
    for one in outcomes:
        if one.crash is None and not one.false and not one.moved and not one.silent and one.placed:
            continue
        figure = {"CRASH": one.crash, "FALSE": one.false, "MOVED": one.moved, "SILENT": one.silent, "PLACE": 1}
        what = next(name for name, found in figure.items() if found)
        group = what + one.kind + one.case.rpartition("/")[0]
        seen[group] += 1
        if seen[group] <= most:
            lines.append(f"{what:<7}{one.kind}, {one.label}, {one.case}: {one.crash or one.example}")
    return lines


def main(arguments: list[str]) -> int:
    """Print the table; exit code 1 where a figure that must be 0 is not."""
    shared = Path(__file__).resolve().parents[2] / "shared"
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=Path, default=shared / "samples", metavar="DIR")
    parser.add_argument("--corpus", type=Path, default=shared / "corpus", metavar="DIR")
    parser.add_argument("--runs", type=int, default=50, help="runs of the corpus (default: 50)")
    parser.add_argument("--every", type=int, default=5, metavar="PER CENT", help="between two cuts (default: 5)")
    parser.add_argument("--repeats", type=int, default=3, help="copies with flipped bits, swapped records (default: 3)")
    parser.add_argument("--only", default="", metavar="WORD", help="cases whose name has this word")
    parser.add_argument("--show", type=int, default=2, metavar="N", help="complaints a folder and kind (default: 2)")
    options = parser.parse_args(arguments)
    warnings.simplefilter("error")  # a warning is a crash that was put off
    began = time.perf_counter()
    folders = [*sample_folders(options.samples), *corpus_folders(options.corpus, options.runs)]
    outcomes: list[Outcome] = []
    unreadable = []
    for case in (case for folder in folders for case in find_cases(folder) if options.only in case.name):
        with tempfile.TemporaryDirectory(prefix="rl-diagnose-damage-") as place:
            found = list(run_case(case, Path(place), every=options.every, repeats=options.repeats))
        outcomes += found
        if not found:
            unreadable.append(case.name)
    print("\n".join(complaints(outcomes, options.show)), end="\n\n")
    print(table(outcomes))
    print(f"\n{len(unreadable)} logs are not readable undamaged and count for nothing: {', '.join(unreadable)}")
    print(f"{time.perf_counter() - began:.0f} s")
    return 1 if any(one.crash or one.false or one.silent for one in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
