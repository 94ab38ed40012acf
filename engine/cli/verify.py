"""`rl-diagnose verify BEFORE AFTER`: did the fix work?"""

from __future__ import annotations

import sys

from .parser import Parser, add_common, add_reading

TYPE_CHECKING = False  # importing `typing` costs as much as parsing the command line
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from ..signals.run import Run
    from ..verify.earlier import Earlier

__all__ = ["parser", "run"]

_DESCRIPTION = """\
Compare a run before a fix with one after it: did the symptoms of the cause go, is what the remedy promised there, and
is the return no worse, beyond noise? With --at, one log in which the fix was made at a step.
"""

_EXAMPLES = """\
examples:
  rl-diagnose verify runs/PPO_3 runs/PPO_4
  rl-diagnose verify runs/PPO_3 --at 120000
  rl-diagnose verify runs/PPO_3 runs/PPO_4 --control runs/PPO_3_seed2 --control runs/PPO_3_seed3
  rl-diagnose verify runs/PPO_4 --from report.json     the cause and the promise of an earlier diagnosis

exit codes:
  0  fixed                              4  a run cannot be read
  1  partly fixed, unchanged or worse   5  cannot tell
  2  usage or internal error
"""

_CODES = {"fixed": 0, "partly": 1, "unchanged": 1, "worse": 1, "cannot_tell": 5}


def parser() -> Parser:
    """Options of `rl-diagnose verify`."""
    options = Parser(prog="rl-diagnose verify", description=_DESCRIPTION, epilog=_EXAMPLES)
    options.add_argument("path", nargs="+", metavar="RUN", help="the run before the fix, and the run after it")
    options.add_argument("--at", type=float, metavar="STEP", help="the fix was made in one log, after this step")
    options.add_argument("--from", dest="report", metavar="FILE", help="JSON report of the diagnosis before the fix")
    options.add_argument("--run", metavar="ID", help="which run of the report, where it holds several")
    options.add_argument("--cause", metavar="ID", help="what the fix is for (default: what the diagnosis says)")
    options.add_argument(
        "--control", action="append", default=[], metavar="RUN",
        help="a re-run without the fix, which shows what luck alone does; may be repeated",
    )  # fmt: skip
    options.add_argument("-r", "--rules", action="append", default=[], metavar="BOOK", help="as in rl-diagnose")
    add_reading(options)
    options.add_argument("--format", choices=("rich", "json"), default="rich", help="default: rich")
    add_common(options)
    return options


def run(options: argparse.Namespace) -> int:
    """Verify, print, return the exit code. Raises `UsageError` where the words do not name two runs."""
    from ..rules.library import load_book
    from ..verify.check import verify_runs

    earlier = _earlier(options)
    before, after = _runs(options, earlier)
    asked = options.rules or (list(earlier.books) if earlier else [])
    result = verify_runs(
        before,
        after,
        books=[load_book(name) for name in asked] or None,
        cause=options.cause or (earlier.cause if earlier else None),
        promised=earlier.promised if earlier else None,
        controls=[_reader(options)(path) for path in options.control],
    )
    if options.format == "json":
        from ..report.verification import to_json
        from .output import print_bytes

        print_bytes(to_json(result))
    else:
        from rich.console import Console

        from ..report.verification import renderable

        Console(file=sys.stdout, width=options.width).print(renderable(result))
    return _CODES[result.outcome]


def _earlier(options: argparse.Namespace) -> Earlier | None:
    if options.report is None:
        return None
    from pathlib import Path

    from ..verify.earlier import read_earlier

    return read_earlier(Path(options.report), options.run)


def _runs(options: argparse.Namespace, earlier: Earlier | None) -> tuple[Run, Run]:
    """The run before the fix and the one after it."""
    from ..errors import UsageError
    from ..verify.split import split_at

    read = _reader(options)
    paths = list(options.path)
    if options.at is not None:
        if len(paths) != 1:
            raise UsageError("--at splits one log, but several are given", hint="rl-diagnose verify RUN --at STEP")
        return split_at(read(paths[0]), options.at)
    if earlier is not None and len(paths) == 1:
        paths.insert(0, earlier.path)
    if len(paths) != 2:
        hint = "rl-diagnose verify BEFORE AFTER, or verify RUN --at STEP"
        raise UsageError(f"two runs are compared, here {len(paths)} are given", hint=hint)
    return read(paths[0]), read(paths[1])


def _reader(options: argparse.Namespace) -> Callable[[str], Run]:
    """Reads the one run of a path as the options and the project file say."""
    from pathlib import Path

    from ..diagnosis.reading import read_one, read_options
    from ..project import load_project

    project = load_project()
    asked = read_options(dict(options.map), options.action_space or project.action_space, dict(project.mapping))
    tag_maps = [*map(Path, options.tag_map), *project.tag_maps]
    return lambda path: read_one(path, asked, tag_maps)
