"""`rl-diagnose rules diff OLD NEW`: what changed, which version that asks for, and which verdicts flip."""

from __future__ import annotations

import sys

from ..parser import Parser, add_common

TYPE_CHECKING = False  # importing `typing` costs as much as parsing the command line
if TYPE_CHECKING:
    import argparse

__all__ = ["parser", "run"]

TOO_LOW = 1

_DESCRIPTION = """\
Compare two rulebooks, each with all that it extends: what changed in causes, evidence, ramps, priors and remedies, and
which version the new one should have. With --corpus the same runs are scored by both, and the verdicts that differ are
listed.
"""

_EXAMPLES = """\
examples:
  rl-diagnose rules diff ppo@1.0.0 ppo
  rl-diagnose rules diff house/1.2.0.yaml house/1.3.0.yaml --strict
  rl-diagnose rules diff ppo house.yaml --corpus labelled/      labelled/labels.csv, labelled/runs/<run_id>/

exit codes: 0 done, 1 with --strict: the new version is too low, 2 usage, 3 a book is invalid, 4 no readable run
"""


def parser() -> Parser:
    """Options of `rl-diagnose rules diff`."""
    options = Parser(prog="rl-diagnose rules diff", description=_DESCRIPTION, epilog=_EXAMPLES)
    options.add_argument("old", metavar="OLD", help="path, id (ppo) or id with version (ppo@1.0.0)")
    options.add_argument("new", metavar="NEW", help="the same")
    options.add_argument("--corpus", metavar="DIR", help="folder with labels.csv (column run_id) and runs/<run_id>/")
    options.add_argument("--strict", action="store_true", help="exit with 1 where the version of NEW is too low")
    options.add_argument("--format", choices=("rich", "json"), default="rich", help="default: rich")
    add_common(options)
    return options


def run(options: argparse.Namespace) -> int:
    """Print the difference. Raises `RulebookError` for an invalid book, `UsageError` for no book and no corpus."""
    from ...report.rule_diff import diff_text, to_json
    from ...rules.diff import diff
    from ..options import progress_bar
    from ..output import print_bytes

    found = diff(options.old, options.new)
    rescored = None
    if options.corpus is not None:
        from ...testing.corpus import read_corpus
        from ...testing.flips import rescore

        labelled = read_corpus(options.corpus)
        with progress_bar("Reading runs") as progress:
            rescored = rescore(found.old, found.new, labelled, progress)
    if options.format == "json":
        print_bytes(to_json(found, rescored))
    else:
        from rich.console import Console

        console = Console(file=sys.stdout, width=options.width, highlight=False)
        console.print(diff_text(found, rescored, plain=console.options.ascii_only), soft_wrap=True, end="")
    return TOO_LOW if options.strict and not found.advice.enough else 0
