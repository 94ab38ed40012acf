"""How often `verify` is right on pairs of labelled runs.

    python benchmarks/verification.py --corpus ../shared/corpus

Three kinds of pairs, each within one environment, algorithm and framework:
  unchanged   two seeds with the same injected fault: the re-run has no fix, so "fixed" is false
  healthy     two seeds without a fault: there is nothing to fix, so "fixed" is false
  fixed       a run that its fault harmed, and a healthy one: the fault was taken away
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections import Counter, defaultdict
from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING

from rl_diagnose.errors import RlDiagnoseError
from rl_diagnose.logs.load import load_run
from rl_diagnose.verify.check import verify_runs

if TYPE_CHECKING:
    from rl_diagnose.signals.run import Run

OUTCOMES = ("fixed", "partly", "unchanged", "worse", "cannot_tell")
SAME = ("framework", "algorithm", "env")


def pairs(labels: list[dict[str, str]], most: int) -> dict[str, list[tuple[dict[str, str], dict[str, str]]]]:
    """The pairs of each kind, at most `most` a kind, evenly over the labels."""
    groups: dict[tuple[str, ...], list[dict[str, str]]] = defaultdict(list)
    for row in labels:
        groups[tuple(row[name] for name in SAME)].append(row)
    found: dict[str, list[tuple[dict[str, str], dict[str, str]]]] = {"unchanged": [], "healthy": [], "fixed": []}
    for rows in groups.values():
        for one, two in permutations(rows, 2):
            same = one["injected_fault"] == two["injected_fault"] and one["severity"] == two["severity"]
            if one["injected_fault"] == "healthy" and two["injected_fault"] == "healthy":
                found["healthy"].append((one, two))
            elif same and one["harmed"] == "yes" and one["seed"] != two["seed"]:
                found["unchanged"].append((one, two))
            elif one["harmed"] == "yes" and two["injected_fault"] == "healthy":
                found["fixed"].append((one, two))
    return {kind: these[:: max(1, len(these) // most)][:most] for kind, these in found.items()}


def main(arguments: list[str]) -> int:
    """Print the table of outcomes; exit code 1 when more than 5 % of what cannot be fixed is called fixed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, required=True, help="folder with labels.csv and runs/")
    parser.add_argument("--most", type=int, default=60, help="pairs a kind (default: 60)")
    parser.add_argument("--show", action="store_true", help="print each pair called fixed falsely")
    options = parser.parse_args(arguments)
    with (options.corpus / "labels.csv").open(encoding="utf-8", newline="") as file:
        labels = list(csv.DictReader(file))
    runs: dict[str, Run] = {}
    outcomes: dict[str, Counter[str]] = defaultdict(Counter)
    for kind, these in pairs(labels, options.most).items():
        for one, two in these:
            try:
                for row in (one, two):
                    if row["run_id"] not in runs:
                        runs[row["run_id"]] = load_run(options.corpus / "runs" / row["run_id"])
            except RlDiagnoseError:
                outcomes[kind]["unreadable"] += 1
                continue
            result = verify_runs(runs[one["run_id"]], runs[two["run_id"]])
            outcomes[kind][result.outcome] += 1
            if options.show and (result.outcome == "fixed") != (kind == "fixed") and result.cause:
                print(
                    kind,
                    one["run_id"],
                    two["run_id"],
                    one["injected_fault"],
                    one["env"],
                    result.cause,
                    result.outcome,
                    result.reason,
                )
    print(f"{'pairs':<12}{'n':>5}" + "".join(f"{name:>13}" for name in OUTCOMES))
    for kind, counts in outcomes.items():
        print(f"{kind:<12}{sum(counts.values()):>5}" + "".join(f"{counts[name]:>13}" for name in OUTCOMES))
    false = outcomes["unchanged"]["fixed"] + outcomes["healthy"]["fixed"]
    total = sum(outcomes["unchanged"].values()) + sum(outcomes["healthy"].values())
    print(f"falsely fixed: {false} of {total} ({false / max(total, 1):.1%})")
    return 1 if false > 0.05 * total else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
