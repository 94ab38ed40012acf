"""Score the product's verdicts on a labelled corpus of real training logs.

    python benchmarks/accuracy.py --corpus DIR [--rules BOOK ...] [--config known|unknown] [--json OUT]

DIR holds `labels.csv` (one row a run: what was injected and whether it did harm) and `runs/<run_id>/` (the logs). With
`--config unknown`, the default, nothing but the logs is read; with `known` the hyper-parameters of `meta/<run_id>.json`
are added to each run, as a user would know them. `acceptable.yaml` says which causes are a right answer to which fault.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from labelled.acceptable import read_acceptable
from labelled.corpus import read_labels
from labelled.known import known_config
from labelled.metrics import evaluate
from labelled.outcomes import diagnose_corpus
from labelled.report import as_document, as_text

from rl_diagnose.errors import RlDiagnoseError
from rl_diagnose.rules.library import load_book

ACCEPTABLE = Path(__file__).resolve().parent / "acceptable.yaml"


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark; 0, or 2 when the corpus or a rulebook cannot be used."""
    parser = argparse.ArgumentParser(description="Score the verdicts on a labelled corpus.")
    parser.add_argument("--corpus", type=Path, required=True, metavar="DIR", help="folder with labels.csv and runs/")
    parser.add_argument("--rules", nargs="+", metavar="BOOK", help="rulebooks (default: each run's own)")
    parser.add_argument(
        "--config", choices=("known", "unknown"), default="unknown", help="add meta/ to the logs or not"
    )
    parser.add_argument("--acceptable", type=Path, default=ACCEPTABLE, metavar="FILE", help="fault → acceptable causes")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write every number and every run's outcome here")
    options = parser.parse_args(arguments)
    try:
        labels = read_labels(options.corpus)
        acceptable = read_acceptable(options.acceptable)
        books = [load_book(name) for name in options.rules] if options.rules else None
        add = known_config(options.corpus) if options.config == "known" else None
        outcomes, seconds = diagnose_corpus(options.corpus, labels, acceptable, books, add)
    except RlDiagnoseError as error:
        sys.stderr.write(f"accuracy: {error}\n")
        return 2
    result = evaluate(outcomes)
    about = {"config": options.config, "rules": options.rules or "default", "seconds": round(seconds, 2)}
    print(as_text(result, about))
    if options.json is not None:
        options.json.write_text(json.dumps(as_document(result, about, outcomes), indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
