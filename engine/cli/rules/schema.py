"""`rl-diagnose rules schema`: the JSON Schema of a rulebook, of its tests, or of a diagnosis."""

from __future__ import annotations

from ..parser import Parser, add_common

TYPE_CHECKING = False  # importing `typing` costs as much as parsing the command line
if TYPE_CHECKING:
    import argparse

__all__ = ["KINDS", "parser", "run"]

KINDS = ("book", "test", "diagnosis")

_DESCRIPTION = """\
Print a JSON Schema: of a rulebook (for editors, draft-07), or of the JSON that a diagnosis is written as.
"""

_EXAMPLES = """\
examples:
  rl-diagnose rules schema > rulebook-v1.schema.json

An editor with a YAML language server completes and checks a rulebook whose first line is
  # yaml-language-server: $schema=rulebook-v1.schema.json
"""


def parser() -> Parser:
    """Options of `rl-diagnose rules schema`."""
    options = Parser(prog="rl-diagnose rules schema", description=_DESCRIPTION, epilog=_EXAMPLES)
    options.add_argument("kind", nargs="?", choices=KINDS, default="book", help="default: book")
    add_common(options)
    return options


def run(options: argparse.Namespace) -> int:
    """Print the schema."""
    from ..output import print_bytes

    if options.kind == "diagnosis":
        from ...report.schema import diagnosis_schema_text

        print_bytes(diagnosis_schema_text())
    elif options.kind == "test":
        from ...testing.model import schema_of_tests

        print_bytes(schema_of_tests())
    else:
        from ...rules.schema import schema_text

        print_bytes(schema_text())
    return 0
