"""`rl-diagnose explain RUN CAUSE`: how the probability of one cause comes about."""

from __future__ import annotations

import sys

from .parser import Parser, add_common, add_reading

TYPE_CHECKING = False  # importing `typing` costs as much as parsing the command line
if TYPE_CHECKING:
    import argparse

__all__ = ["parser", "run"]

_DESCRIPTION = """\
Show the ledger of one cause: the prior, each piece of evidence with its measured value and weight, what other causes
explain away, calibration, and what is missing. Every number that it takes to work the result out by hand is there.
"""

_EXAMPLES = """\
examples:
  rl-diagnose explain runs/PPO_3 learning_rate_too_high
  rl-diagnose explain runs/PPO_3 house_reward_clipped --rules house/ppo.yaml
  rl-diagnose explain runs/PPO_3 entropy_collapse --format json
"""


def parser() -> Parser:
    """Options of `rl-diagnose explain`."""
    options = Parser(prog="rl-diagnose explain", description=_DESCRIPTION, epilog=_EXAMPLES)
    options.add_argument("path", metavar="RUN", help="log file or run folder, or - for standard input")
    options.add_argument("cause", metavar="CAUSE", help="id of a cause; rules show lists those of a book")
    options.add_argument("-r", "--rules", action="append", default=[], metavar="BOOK", help="as in rl-diagnose")
    add_reading(options)
    options.add_argument("--format", choices=("rich", "json"), default="rich", help="default: rich")
    add_common(options)
    return options


def run(options: argparse.Namespace) -> int:
    """Print the ledger. Raises `UsageError` for an unknown cause, or where the path holds several runs."""
    from pathlib import Path

    from ..diagnosis.explain import explain, find
    from ..diagnosis.pipeline import default_books, diagnose_runs
    from ..diagnosis.reading import read_one, read_options
    from ..errors import UsageError
    from ..project import load_project
    from ..rules.choice import chosen_books
    from ..rules.library import load_book
    from ..rules.validate import did_you_mean

    project = load_project()
    asked = read_options(dict(options.map), options.action_space or project.action_space, dict(project.mapping))
    read = read_one(options.path, asked, [*map(Path, options.tag_map), *project.tag_maps])
    names = chosen_books(options.rules, project)
    books = [load_book(name) for name in names] if names else list(default_books(read))
    (diagnosis,) = diagnose_runs([read], books, project.suppressions)
    pair = find(books, diagnosis, options.cause)
    if pair is None:
        known = {cause.id for book in books for cause in book.causes}
        hint = did_you_mean(options.cause, known) or f"known are {', '.join(sorted(known))}"
        spoke = ", ".join(f"{book.id} {book.version}" for book in books)
        raise UsageError(f"no cause '{options.cause}' in {spoke}", place=options.path, hint=hint)
    book, cause = pair
    found = explain(diagnosis, cause, book)
    if options.format == "json":
        from ..report.ledger import to_json
        from .output import print_bytes

        print_bytes(to_json(found))
    else:
        from rich.console import Console

        from ..report.ledger import renderable

        Console(file=sys.stdout, width=options.width).print(renderable(found))
    return 0
