"""Score verdicts on a labelled corpus of real training logs: the product's own, or another tool's.

    python benchmarks/accuracy.py --corpus DIR [--rules BOOK ...] [--config known|unknown] [--json OUT]
    python benchmarks/accuracy.py --corpus DIR --calibration left-out
    python benchmarks/accuracy.py --corpus DIR --baseline
    python benchmarks/accuracy.py --corpus DIR --predictions other.csv

DIR holds `labels.csv` (one row a run: what was injected and whether it did harm) and `runs/<run_id>/` (the logs). With
`--config unknown`, the default, nothing but the logs is read; with `known` the hyper-parameters of `meta/<run_id>.json`
are added to each run, as a user would know them. `acceptable.yaml` says which causes are a right answer to which fault.

`--calibration` says with which calibration the books speak: `book` as they are, `none`, or `left-out`: for each
environment one that is fitted to the runs of all other environments.

`--baseline` compares each run with the healthy ones of its environment and algorithm, as `rl-diagnose --baseline` does.

`--predictions` scores what any tool said about the runs: a CSV file with the columns run, cause and probability, one
row a run and cause; an empty cause says that nothing was found. Names of causes are those of `acceptable.yaml`, which
`--acceptable` replaces where a tool has names of its own.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labelled.acceptable import read_acceptable
from labelled.baselines import against_healthy
from labelled.calibrations import as_shipped, left_out, uncalibrated
from labelled.corpus import read_labels
from labelled.known import known_config
from labelled.metrics import evaluate
from labelled.outcomes import diagnose_corpus, read_labelled
from labelled.predictions import judge_predictions, read_predictions
from labelled.report import as_document, as_text

from rl_diagnose.errors import RlDiagnoseError, UsageError
from rl_diagnose.rules.library import load_book

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from labelled.corpus import Label
    from labelled.outcomes import Outcome

    from rl_diagnose.signals.run import Run

ACCEPTABLE = Path(__file__).resolve().parent / "acceptable.yaml"


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark; 0, or 2 when the corpus, a rulebook or a file of predictions cannot be used."""
    parser = argparse.ArgumentParser(description="Score verdicts on a labelled corpus.")
    parser.add_argument(
        "--corpus", type=Path, required=True, nargs="+", metavar="DIR", help="folders with labels.csv and runs/"
    )
    parser.add_argument("--rules", nargs="+", metavar="BOOK", help="rulebooks (default: each run's own)")
    parser.add_argument(
        "--config", choices=("known", "unknown"), default="unknown", help="add meta/ to the logs or not"
    )
    parser.add_argument(
        "--calibration", choices=("book", "none", "left-out"), default="book", help="which calibration (default: book)"
    )
    parser.add_argument("--baseline", action="store_true", help="compare each run with the healthy ones of its env")
    parser.add_argument("--predictions", type=Path, metavar="FILE", help="score these instead: run, cause, probability")
    parser.add_argument("--acceptable", type=Path, default=ACCEPTABLE, metavar="FILE", help="fault → acceptable causes")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write every number and every run's outcome here")
    options = parser.parse_args(arguments)
    try:
        outcomes, about = _predicted(options) if options.predictions is not None else _diagnosed(options)
    except RlDiagnoseError as error:
        sys.stderr.write(f"accuracy: {error}\n")
        return 2
    result = evaluate(outcomes)
    print(as_text(result, about))
    if options.json is not None:
        options.json.write_text(json.dumps(as_document(result, about, outcomes), indent=1) + "\n", encoding="utf-8")
    return 0


def _diagnosed(options: argparse.Namespace) -> tuple[list[Outcome], dict[str, Any]]:
    """What the product says about every labelled run."""
    began = time.perf_counter()
    acceptable = read_acceptable(options.acceptable)
    books = [load_book(name) for name in options.rules] if options.rules else None
    corpora = [(folder, read_labels(folder)) for folder in options.corpus]
    ids = [label.run_id for _, labels in corpora for label in labels]
    if len(set(ids)) < len(ids):
        twice = sorted({name for name in ids if ids.count(name) > 1})
        raise UsageError(f"runs are in two of the corpora: {', '.join(twice[:5])}")
    add = {folder: _added(folder, labels, options) for folder, labels in corpora}
    if options.calibration == "left-out":
        every = (pair for folder, labels in corpora for pair in read_labelled(folder, labels, add[folder]))
        choice = left_out(books, every, acceptable)
    else:
        choice = as_shipped(books) if options.calibration == "book" else uncalibrated(books)
    outcomes: list[Outcome] = []
    for folder, labels in corpora:
        outcomes += diagnose_corpus(folder, labels, acceptable, choice.books, add[folder])
    return outcomes, {
        "config": options.config,
        "rules": options.rules or "default",
        "calibration": options.calibration,
        "baseline": options.baseline,
        "remarks": list(choice.remarks),
        "seconds": round(time.perf_counter() - began, 2),
    }


def _added(folder: Path, labels: Sequence[Label], options: argparse.Namespace) -> Callable[[str, Run], Run] | None:
    """What the options add to each run: settings, or a comparison with healthy runs."""
    config = known_config(folder) if options.config == "known" else None
    compare = against_healthy(folder, labels) if options.baseline else None
    if config is None or compare is None:
        return config or compare
    return lambda run_id, run: compare(run_id, config(run_id, run))


def _predicted(options: argparse.Namespace) -> tuple[list[Outcome], dict[str, Any]]:
    """What a file says about every labelled run. No log is read."""
    began = time.perf_counter()
    acceptable = read_acceptable(options.acceptable)
    labels = [label for folder in options.corpus for label in read_labels(folder)]
    said = read_predictions(options.predictions)
    outcomes = judge_predictions(said, labels, acceptable, options.predictions)
    return outcomes, {"predictions": str(options.predictions), "seconds": round(time.perf_counter() - began, 2)}


if __name__ == "__main__":
    sys.exit(main())
