"""`rl-diagnose rules new NAME`: a rulebook to start from."""

from __future__ import annotations

import sys

from ..parser import Parser, add_common

TYPE_CHECKING = False  # importing `typing` costs as much as parsing the command line
if TYPE_CHECKING:
    import argparse

__all__ = ["parser", "run"]

_DESCRIPTION = """\
Write a small, commented rulebook that works as it stands, its tests, and the schema that editors complete it by.
Nothing is overwritten.
"""

_EXAMPLES = """\
examples:
  rl-diagnose rules new house                     house.yaml here
  rl-diagnose rules new house_ppo --extends ppo   everything the book ppo says, and what you add
  rl-diagnose rules new house --dir rules
"""


def parser() -> Parser:
    """Options of `rl-diagnose rules new`."""
    options = Parser(prog="rl-diagnose rules new", description=_DESCRIPTION, epilog=_EXAMPLES)
    options.add_argument("name", metavar="NAME", help="id of the book: lower-case letters, digits, _ and .")
    options.add_argument("--dir", default=".", metavar="DIR", help="where to write it (default: here)")
    options.add_argument("--extends", metavar="BOOK", help="the book to build on: id, id with version, or path")
    add_common(options)
    return options


def run(options: argparse.Namespace) -> int:
    """Write the files and say what to do next."""
    from pathlib import Path

    from ...report.text import clean
    from ...rules.create import create_book

    files = create_book(options.name, Path(options.dir), options.extends)
    shown = [clean(str(file)) for file in files]
    book = f'"{shown[0]}"' if " " in shown[0] else shown[0]
    lines = ["written:", *(f"  {name}" for name in shown), "next:"]
    lines += [f"  rl-diagnose rules {command} {book}" for command in ("check", "test")]
    lines += [f"  rl-diagnose RUN --rules {book}"]
    sys.stdout.write("\n".join(lines) + "\n")
    return 0
