"""`rl-diagnose rules check BOOK…`: everything that is wrong with rulebooks, at once."""

from __future__ import annotations

import sys

from ..parser import Parser, add_common

TYPE_CHECKING = False  # importing `typing` costs as much as parsing the command line
if TYPE_CHECKING:
    import argparse

    from ...report.rule_problems import CheckedBook

__all__ = ["parser", "run"]

INVALID = 3

_DESCRIPTION = """\
Check rulebooks: errors, for which a book cannot be used, and warnings about what works but looks wrong. Every problem
is shown at once with file, line, column and the way out.
"""

_EXAMPLES = """\
examples:
  rl-diagnose rules check house.yaml
  rl-diagnose rules check rules/                  every .yaml file below the folder (not *.test.yaml)
  rl-diagnose rules check ppo@1.0.0
  rl-diagnose rules check house.yaml --strict     warnings fail, too
  rl-diagnose rules check rules/ --format sarif   for code scanners and pull requests

exit codes: 0 no error (with --strict: no warning), 2 usage, 3 a book is invalid
"""


def parser() -> Parser:
    """Options of `rl-diagnose rules check`."""
    options = Parser(prog="rl-diagnose rules check", description=_DESCRIPTION, epilog=_EXAMPLES)
    options.add_argument("books", nargs="+", metavar="BOOK", help="path, folder, id (ppo) or id with version (ppo@1)")
    options.add_argument("--format", choices=("rich", "json", "sarif"), default="rich", help="default: rich")
    options.add_argument("--strict", action="store_true", help="exit with 3 for warnings, too")
    add_common(options)
    return options


def run(options: argparse.Namespace) -> int:
    """Check all books, print the problems, return 3 where one counts."""
    from ...report import rule_problems
    from ...rules.check import books_below, check_book
    from ..output import print_bytes

    references = [reference for given in options.books for reference in books_below(given)]
    checked = [rule_problems.CheckedBook(str(one), check_book(one)) for one in references]
    if options.format == "json":
        print_bytes(rule_problems.to_json(checked))
    elif options.format == "sarif":
        from ...report.problems_sarif import to_sarif

        print_bytes(to_sarif(list(dict.fromkeys(problem for book in checked for problem in book.problems))))
    else:
        _print(checked, options.width)
    errors, warnings = rule_problems.totals(checked)
    return INVALID if errors or (options.strict and warnings) else 0


def _print(checked: list[CheckedBook], width: int | None) -> None:
    from rich.console import Console
    from rich.text import Text

    from ...report.rule_problems import problems_text, verdict_words
    from ...report.text import ascii_only, clean

    console = Console(file=sys.stdout, width=width, highlight=False)
    plain = console.options.ascii_only
    for book in checked:
        if book.problems:
            # Not folded: the caret stands below its column.
            console.print(problems_text(book.problems, ascii_only_output=plain), soft_wrap=True, end="")
        words = clean(verdict_words(book))
        console.print(Text(ascii_only(words) if plain else words, style="bold"), soft_wrap=True)
