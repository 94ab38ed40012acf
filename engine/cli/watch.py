"""`rl-diagnose watch PATH`: diagnose runs while they are being written."""

from __future__ import annotations

import sys

from .parser import Parser, add_common, add_reading, probability

TYPE_CHECKING = False  # importing `typing` costs as much as parsing the command line
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from ..diagnosis.model import Diagnosis
    from ..diagnosis.watching import Look

__all__ = ["parser", "run"]

FINDING = 1

_DESCRIPTION = """\
Diagnose what is below PATH, and again whenever its files change. On a terminal the summary is redrawn; elsewhere a line
is written for each change of a verdict. Ctrl-C ends it.
"""

_EXAMPLES = """\
examples:
  rl-diagnose watch runs/PPO_3
  rl-diagnose watch runs/ --every 60 --bell
  rl-diagnose watch runs/PPO_3 --fail-at 0.9      stops with exit code 1 when a cause reaches 0.9
  rl-diagnose watch runs/PPO_3 --command ./tell_me.sh   runs it for each change, with the news as its last argument
  rl-diagnose watch runs/ --webhook https://hooks.example.com/T0/B0   posts {"text": the news, ...} for each change
"""


def parser() -> Parser:
    """Options of `rl-diagnose watch`."""
    options = Parser(prog="rl-diagnose watch", description=_DESCRIPTION, epilog=_EXAMPLES)
    options.add_argument("path", metavar="PATH", help="log file, run folder, or folder of many runs")
    options.add_argument("--every", type=_seconds, default=5.0, metavar="S", help="look every S seconds (default: 5)")
    options.add_argument("--fail-at", type=probability, metavar="P", help="stop with 1 when a cause reaches P")
    options.add_argument("--bell", action="store_true", help="ring the terminal's bell when a verdict changes")
    options.add_argument("--command", metavar="CMD", help="a program to run when a verdict changes")
    options.add_argument("--webhook", metavar="URL", help="an address to post the news to when a verdict changes")
    options.add_argument("-r", "--rules", action="append", default=[], metavar="BOOK", help="as in rl-diagnose")
    add_reading(options)
    add_common(options)
    return options


def run(options: argparse.Namespace) -> int:
    """Watch until a cause reaches `--fail-at`, or for ever. Raises `UsageError` for a path that does not exist."""
    from pathlib import Path

    from ..diagnosis.watching import watch
    from ..errors import UsageError
    from ..project import load_project

    if options.webhook is not None:
        from ..diagnosis.webhook import check_address

        check_address(options.webhook)
    place = Path(options.path)
    if not place.exists():
        raise UsageError("there is no such file or folder", place=place, hint="start it when the run has its folder")
    limit = options.fail_at if options.fail_at is not None else load_project().fail_at
    show = _shower(options)
    for look in watch(place, _looker(options), options.every):
        show(look)
        if look.news:
            _tell(look.news, options)
        if limit is not None and look.diagnosis is not None and _reached(look.diagnosis, limit):
            sys.stderr.write(f"rl-diagnose: a cause reached --fail-at {limit:g}\n")
            return FINDING
    return 0


def _looker(options: argparse.Namespace) -> Callable[[], Diagnosis]:
    from ..diagnosis.pipeline import diagnose
    from ..project import load_project
    from ..rules.choice import chosen_books

    project = load_project()
    books = chosen_books(options.rules, project)

    def look() -> Diagnosis:
        return diagnose(
            options.path,
            books,
            mapping=dict(options.map),
            action_space=options.action_space or project.action_space,
            house=dict(project.mapping),
            tag_maps=[*options.tag_map, *project.tag_maps],
            suppressions=project.suppressions,
        )

    return look


def _shower(options: argparse.Namespace) -> Callable[[Look], None]:
    from rich.console import Console

    from ..report.terminal import renderable
    from ..report.text import clean

    console = Console(file=sys.stdout, width=options.width)

    def show(look: Look) -> None:
        if console.is_terminal:
            console.clear()
            console.print(clean(look.reason) if look.diagnosis is None else renderable(look.diagnosis))
        for line in look.news:
            console.print(clean(line), markup=False, highlight=False, soft_wrap=True)
        sys.stdout.flush()

    return show


def _tell(news: tuple[str, ...], options: argparse.Namespace) -> None:
    if options.bell:
        sys.stderr.write("\a")
    if options.webhook is not None:
        from ..diagnosis.webhook import post

        failed = post(options.webhook, options.path, news)
        if failed is not None:
            sys.stderr.write(f"rl-diagnose: the news could not be posted to --webhook: {failed}\n")
    if options.command:
        import shlex
        import subprocess

        from ..errors import UsageError

        try:
            subprocess.run([*shlex.split(options.command), "; ".join(news)], check=False)  # noqa: S603 - the user's own command
        except (OSError, ValueError) as error:
            raise UsageError(f"the command cannot be run: {error}", place=f"--command {options.command}") from None


def _reached(diagnosis: Diagnosis, limit: float) -> bool:
    return any(run.findings and (run.findings[0].probability or 0.0) >= limit for run in diagnosis.runs)


def _seconds(text: str) -> float:
    import argparse

    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.1 <= value <= 86_400:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds from 0.1 to 86400")
    return value
