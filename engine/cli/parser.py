"""The command line's words: the commands, and what their parsers share.

Nothing but argparse is imported here, so that `--help` stays quick. Each command is a module with `parser()` and
`run()`, which is imported when it is asked for.
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module

from . import rules

TYPE_CHECKING = False  # importing `typing` costs as much as parsing the command line
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, NoReturn

__all__ = [
    "COMMANDS",
    "Parser",
    "add_common",
    "add_paths",
    "add_reading",
    "number_of_jobs",
    "parse",
    "parsers",
    "probability",
]

COMMANDS = {
    "diagnose": "say what went wrong, why, and which knob to turn (the default)",
    "explain": "show how the probability of one cause comes about",
    "watch": "diagnose runs while they are being written",
    "verify": "say whether a fix worked: the run before it against the run after it",
    "inspect": "show what was read and how each key of the log was understood",
    "rules": "write, check, test and calibrate rulebooks",
    "completion": "print a completion script for bash, zsh or fish",
}

_RULES_EPILOG = """\
commands (rl-diagnose rules COMMAND --help):
{commands}
"""


class Parser(argparse.ArgumentParser):
    """argparse with the error messages of this program: the fact, then the way out."""

    def __init__(self, prog: str, description: str, epilog: str) -> None:
        super().__init__(
            prog=prog,
            description=description,
            epilog=epilog,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )

    def error(self, message: str) -> NoReturn:
        sys.stderr.write(f"rl-diagnose: {message}\n  -> {self.prog} --help shows what can be asked\n")
        sys.exit(2)


class _Version(argparse.Action):
    def __init__(self, option_strings: Sequence[str], dest: str, **_: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, help="show the version and exit")

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        from .. import __version__

        sys.stdout.write(f"rl-diagnose {__version__}\n")
        parser.exit()


def parse(words: list[str]) -> tuple[Callable[[argparse.Namespace], int], argparse.Namespace]:
    """What runs the command that the first words name (`diagnose` where they name none), and its options.

    Exits on `--help`, and with a message on a mistyped option or an unknown command of a group.
    """
    module, rest = _module(words)
    command = import_module(module, __package__)
    options = command.parser().parse_args(rest)
    run: Callable[[argparse.Namespace], int] = command.run
    return run, options


def parsers() -> dict[str, Parser]:
    """The parser of every command; those of a group are named like ``rules check``."""
    found = {name: _group_parser() if name == "rules" else _parser(f".{name}") for name in COMMANDS}
    return found | {f"rules {name}": _parser(f".rules.{module}") for name, (module, _) in rules.COMMANDS.items()}


def add_paths(parser: Parser) -> None:
    """Where the logs are."""
    parser.add_argument("path", nargs="*", metavar="PATH", help="log file, run folder, or folder of many runs")
    parser.add_argument("--logdir", metavar="DIR", help="the same as PATH")


def add_reading(parser: Parser) -> None:
    """How the logs are read."""
    parser.add_argument(
        "--map", action="append", default=[], type=_pair, metavar="KEY=SIGNAL",
        help="read the log's KEY as SIGNAL, for example score=reward.train; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--tag-map", action="append", default=[], metavar="FILE",
        help="read logs that fit it by this tag map (inspect --write-map writes one); may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--action-space", metavar="KIND:SIZE", help="discrete:4, continuous:6, multi_discrete:3,3 or multi_binary:5"
    )


def add_common(parser: Parser) -> None:
    """What every command that prints for people has."""
    parser.add_argument("--width", type=_width, metavar="N", help="columns to use (default: those of the terminal)")
    parser.add_argument("--version", action=_Version)


def probability(text: str) -> float:
    """The type of an option that is a probability above 0 and up to 1."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 < value <= 1.0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a probability above 0 and up to 1")
    return value


def number_of_jobs(text: str) -> int:
    """The type of `--jobs`; 0 is one a core."""
    if text == "auto":
        return 0
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of processes, or auto for one a core")
    return int(text)


def _module(words: list[str]) -> tuple[str, list[str]]:
    """The module of the command, relative to this package, and the words that remain for it."""
    name = words[0] if words and words[0] in COMMANDS else "diagnose"
    rest = words[1:] if words and words[0] in COMMANDS else words
    if name != "rules":
        return f".{name}", rest
    if rest and rest[0] in rules.COMMANDS:
        return f".rules.{rules.COMMANDS[rest[0]][0]}", rest[1:]
    group = _group_parser()
    group.parse_args([word for word in rest if word in {"-h", "--help"}])
    return group.error(f"'{rest[0]}' is no command of rules" if rest else "rules needs a command")


def _parser(module: str) -> Parser:
    parser: Parser = import_module(module, __package__).parser()
    return parser


def _group_parser() -> Parser:
    lines = [f"  {name:<11} {text}" for name, (_, text) in rules.COMMANDS.items()]
    return Parser(
        prog="rl-diagnose rules",
        description=COMMANDS["rules"].capitalize() + ".",
        epilog=_RULES_EPILOG.format(commands="\n".join(lines)),
    )


def _width(text: str) -> int:
    if not text.isdecimal() or not 20 <= int(text) <= 1000:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 20 to 1000")
    return int(text)


def _pair(text: str) -> tuple[str, str]:
    # Keys may hold an equals sign, signal ids never do.
    key, sign, signal = text.rpartition("=")
    if not (sign and key.strip() and signal.strip()):
        raise argparse.ArgumentTypeError(f"{text!r} is not KEY=SIGNAL")
    return key.strip(), signal.strip()
