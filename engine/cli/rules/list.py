"""`rl-diagnose rules list`: the rulebooks that can be asked for by id."""

from __future__ import annotations

import sys

from ..parser import Parser, add_common

TYPE_CHECKING = False  # importing `typing` costs as much as parsing the command line
if TYPE_CHECKING:
    import argparse

__all__ = ["parser", "run"]

_DESCRIPTION = """\
List the rulebooks that are built in or come with installed packages (entry point group rl_diagnose.rulebooks). A
package or a book that cannot be used is named with the reason.
"""

_EXAMPLES = """\
examples:
  rl-diagnose rules list
  rl-diagnose rules list --format json
"""


def parser() -> Parser:
    """Options of `rl-diagnose rules list`."""
    options = Parser(prog="rl-diagnose rules list", description=_DESCRIPTION, epilog=_EXAMPLES)
    options.add_argument("--format", choices=("rich", "json"), default="rich", help="default: rich")
    add_common(options)
    return options


def run(options: argparse.Namespace) -> int:
    """Print the list; a broken package is part of it and no failure."""
    from ...report.rule_listing import listing_json, listing_table
    from ...rules.library import library_problems
    from ...rules.listing import listing
    from ..output import print_bytes

    books, problems = listing(), library_problems()
    if options.format == "json":
        print_bytes(listing_json(books, problems))
        return 0
    from rich.console import Console

    console = Console(file=sys.stdout, width=options.width, highlight=False)
    console.print(listing_table(books, problems, plain=console.options.ascii_only))
    return 0
