"""`rl-diagnose rules test BOOK…`: run the tests that stand beside rulebooks."""

from __future__ import annotations

import sys

from ..parser import Parser, add_common

TYPE_CHECKING = False  # importing `typing` costs as much as parsing the command line
if TYPE_CHECKING:
    import argparse

__all__ = ["parser", "run"]

FAILED = 1

_DESCRIPTION = """\
Run the tests beside rulebooks: house.yaml is tested by house.test.yaml. A test is a run, as curves in a line of text or
as a recorded log, and the causes that must or must not come out. The ledger of a failing test is shown.
"""

_EXAMPLES = """\
examples:
  rl-diagnose rules test house.yaml
  rl-diagnose rules test rules/ --run '*jump*'     tests whose name fits the glob
  rl-diagnose rules test ppo                       a built-in book, where it has tests
  rl-diagnose rules test rules/ --format junit     for CI

exit codes: 0 all pass (known gaps do not count), 1 a test fails, 2 usage, 3 a book or a test file is invalid
"""


def parser() -> Parser:
    """Options of `rl-diagnose rules test`."""
    options = Parser(prog="rl-diagnose rules test", description=_DESCRIPTION, epilog=_EXAMPLES)
    options.add_argument("books", nargs="+", metavar="BOOK", help="path, folder, id (ppo) or id with version (ppo@1)")
    options.add_argument("--run", default="*", metavar="GLOB", help="only tests whose name fits")
    options.add_argument("--strict", action="store_true", help="exit with 1 for a cause that lacks a kind of test, too")
    options.add_argument("--format", choices=("rich", "json", "junit"), default="rich", help="default: rich")
    options.add_argument(
        "-v", "--verbose", action="store_true", help="passing tests, known gaps and missing kinds, too"
    )
    add_common(options)
    return options


def run(options: argparse.Namespace) -> int:
    """Run the tests, print the results, return 1 where one fails. Raises `UsageError` where there is no test."""
    from pathlib import Path

    from ...errors import UsageError
    from ...report import rule_tests
    from ...rules.check import books_below
    from ...rules.library import book_file, load_book
    from ...testing.read import file_beside
    from ...testing.results import run_tests
    from ..output import print_bytes

    tested = []
    asked = [reference for given in options.books for reference in books_below(given)]
    for reference in asked:
        file = file_beside(book_file(reference))
        if file.is_relative_to(Path.cwd()):
            file = file.relative_to(Path.cwd())
        if file.is_file():
            tested.append(run_tests(load_book(reference), file, options.run))
    if not any(book.results for book in tested):
        expected = ", ".join(str(file_beside(book_file(reference))) for reference in asked[:3])
        fact = f"there is no test called like '{options.run}'" if tested else "there are no tests"
        raise UsageError(fact, place=", ".join(options.books), hint=f"tests are looked for in {expected}")
    if options.format == "json":
        print_bytes(rule_tests.to_json(tested))
    elif options.format == "junit":
        print_bytes(rule_tests.to_junit(tested))
    else:
        from rich.console import Console

        Console(file=sys.stdout, width=options.width, highlight=False).print(
            rule_tests.shown(tested, verbose=options.verbose), soft_wrap=True
        )
    bad = {"failed", "error", "todo_passes"}
    if options.strict and any(book.uncovered for book in tested):
        return FAILED
    return FAILED if any(result.outcome in bad for book in tested for result in book.results) else 0
