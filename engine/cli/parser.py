"""The command line's words. Nothing but argparse is imported here, so that `--help` stays quick."""

from __future__ import annotations

import argparse
import sys

TYPE_CHECKING = False  # importing `typing` costs as much as parsing the command line
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, NoReturn

__all__ = ["COMMANDS", "FORMATS", "SHELLS", "Parser", "parse", "parsers"]

COMMANDS = {
    "diagnose": "say what went wrong, why, and which knob to turn (the default)",
    "inspect": "show what was read and how each key of the log was understood",
    "completion": "print a completion script for bash, zsh or fish",
}
SHELLS = ("bash", "zsh", "fish")
FORMATS = ("rich", "markdown", "json")

_DESCRIPTION = """\
Read the logs of reinforcement-learning runs and say what went wrong first, which cause is most probable, and which
knob to turn. PATH is a log file, the folder of a run, or a folder of many runs.
"""

_EXAMPLES = """\
examples:
  rl-diagnose runs/PPO_3                          one run: a summary
  rl-diagnose runs/                               many runs: a table, worst first
  rl-diagnose --logdir runs/PPO_3 --output report.md
  rl-diagnose results.csv --map score=reward.train
  rl-diagnose runs/ --format json --fail-at 0.8   for scripts: exit code 1 when a cause reaches 0.8
  rl-diagnose inspect runs/PPO_3                  what was read, and how each key was understood

other commands (rl-diagnose COMMAND --help):
{commands}

exit codes:
  0  nothing at or above --fail-at      3  a rulebook is invalid
  1  a finding at or above --fail-at    4  no readable run
  2  usage or internal error
"""

_INSPECT_EXAMPLES = """\
examples:
  rl-diagnose inspect runs/PPO_3
  rl-diagnose inspect results.csv --map score=reward.train
  rl-diagnose inspect runs/PPO_3 --format json
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


def parse(words: list[str]) -> tuple[str, argparse.Namespace]:
    """The command that the first word names (`diagnose` where it names none) and its options; exits on `--help`."""
    command = words[0] if words and words[0] in COMMANDS else "diagnose"
    rest = words[1:] if words and words[0] in COMMANDS else words
    return command, _PARSERS[command]().parse_args(rest)


def parsers() -> dict[str, Parser]:
    """The parser of every command."""
    return {name: build() for name, build in _PARSERS.items()}


def _diagnose_parser() -> Parser:
    """Options of `rl-diagnose` and `rl-diagnose diagnose`."""
    others = "\n".join(f"  {name:<11} {text}" for name, text in COMMANDS.items() if name != "diagnose")
    parser = Parser(prog="rl-diagnose", description=_DESCRIPTION, epilog=_EXAMPLES.format(commands=others))
    _paths(parser)
    _reading(parser)
    parser.add_argument(
        "-r", "--rules", action="append", default=[], metavar="BOOK",
        help="a rulebook: id (ppo), id with version (ppo@1.0.0) or path; may be repeated; default: by algorithm",
    )  # fmt: skip
    parser.add_argument("--format", choices=FORMATS, help="default: rich, or what the name of --output says")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="write to FILE (.md, .json or .txt) instead of the terminal"
    )
    parser.add_argument(
        "--fail-at",
        type=_probability,
        metavar="P",
        help="exit with 1 when a cause has at least this probability, above 0 and up to 1",
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="all evidence, causes, remedies and remarks")
    _common(parser)
    return parser


def _inspect_parser() -> Parser:
    """Options of `rl-diagnose inspect`."""
    parser = Parser(
        prog="rl-diagnose inspect", description=COMMANDS["inspect"].capitalize() + ".", epilog=_INSPECT_EXAMPLES
    )
    _paths(parser)
    _reading(parser)
    parser.add_argument("--format", choices=("rich", "json"), default="rich", help="default: rich")
    _common(parser)
    return parser


def _completion_parser() -> Parser:
    """Options of `rl-diagnose completion`."""
    parser = Parser(
        prog="rl-diagnose completion",
        description="Print a completion script.",
        epilog='examples:\n  eval "$(rl-diagnose completion bash)"\n  rl-diagnose completion fish | source\n',
    )
    parser.add_argument("shell", choices=SHELLS)
    return parser


def _paths(parser: Parser) -> None:
    parser.add_argument("path", nargs="*", metavar="PATH", help="log file, run folder, or folder of many runs")
    parser.add_argument("--logdir", metavar="DIR", help="the same as PATH")


def _reading(parser: Parser) -> None:
    parser.add_argument(
        "--map", action="append", default=[], type=_pair, metavar="KEY=SIGNAL",
        help="read the log's KEY as SIGNAL, for example score=reward.train; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--action-space", metavar="KIND:SIZE", help="discrete:4, continuous:6, multi_discrete:3,3 or multi_binary:5"
    )


def _common(parser: Parser) -> None:
    parser.add_argument("--width", type=_width, metavar="N", help="columns to use (default: those of the terminal)")
    parser.add_argument("--version", action=_Version)


def _probability(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 < value <= 1.0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a probability above 0 and up to 1")
    return value


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


_PARSERS = {"diagnose": _diagnose_parser, "inspect": _inspect_parser, "completion": _completion_parser}
