"""`rl-diagnose rules show BOOK`: a rulebook as it was written, or with everything that it extends."""

from __future__ import annotations

import sys

from ..parser import Parser, add_common

TYPE_CHECKING = False  # importing `typing` costs as much as parsing the command line
if TYPE_CHECKING:
    import argparse

__all__ = ["parser", "run"]

_DESCRIPTION = """\
Show a rulebook: the file as it was written, or, with --resolved, everything that it comes to: what it extends merged in
and overrides applied, each line with the file and line it comes from, and each piece of evidence with its weight in
decibans. What --resolved prints is a rulebook of its own.
"""

_EXAMPLES = """\
examples:
  rl-diagnose rules show ppo
  rl-diagnose rules show house.yaml --resolved
  rl-diagnose rules show ppo@1.0.0 --cause learning_rate_too_high
"""


def parser() -> Parser:
    """Options of `rl-diagnose rules show`."""
    options = Parser(prog="rl-diagnose rules show", description=_DESCRIPTION, epilog=_EXAMPLES)
    options.add_argument("book", metavar="BOOK", help="path, id (ppo) or id with version (ppo@1.0.0)")
    options.add_argument("--resolved", action="store_true", help="with everything that it extends, and origins")
    options.add_argument("--cause", metavar="ID", help="only this cause and its symptoms, resolved")
    add_common(options)
    return options


def run(options: argparse.Namespace) -> int:
    """Print the book; raises `RulebookError` for one that is invalid."""
    from rich.console import Console

    from ...report.resolved_book import resolved_text, source_text
    from ...rules.library import load_book, read_book
    from ...rules.resolved import resolved

    book = load_book(options.book)
    console = Console(file=sys.stdout, width=options.width, highlight=False)
    plain = console.options.ascii_only
    if options.resolved or options.cause is not None:
        header = [f"{book.id} {book.version}, sha256 {book.sha256}", "resolved: what it extends is merged in"]
        shown = resolved(options.book, book, options.cause)
        console.print(resolved_text(header, shown, plain=plain), soft_wrap=True, end="")
        return 0
    merged, _ = read_book(options.book)
    lines = merged.document.lines if merged is not None else ()
    console.print(source_text(lines, plain=plain), soft_wrap=True, end="")
    return 0
