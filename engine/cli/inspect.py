"""`rl-diagnose inspect PATH`: what was read, and how each key was understood."""

from __future__ import annotations

import sys

from .parser import COMMANDS, Parser, add_common, add_paths, add_reading

TYPE_CHECKING = False  # importing `typing` costs as much as parsing the command line
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from ..signals.run import Run

__all__ = ["parser", "run"]

_EXAMPLES = """\
examples:
  rl-diagnose inspect runs/PPO_3
  rl-diagnose inspect results.csv --map score=reward.train
  rl-diagnose inspect runs/PPO_3 --format json
  rl-diagnose inspect results.csv --write-map our.yaml   then: rl-diagnose runs/ --tag-map our.yaml
"""


def parser() -> Parser:
    """Options of `rl-diagnose inspect`."""
    options = Parser(prog="rl-diagnose inspect", description=COMMANDS["inspect"].capitalize() + ".", epilog=_EXAMPLES)
    add_paths(options)
    add_reading(options)
    options.add_argument("--format", choices=("rich", "json"), default="rich", help="default: rich")
    options.add_argument(
        "--write-map", metavar="FILE", help="write how the run's keys were understood as a tag map to keep and mend"
    )
    add_common(options)
    return options


def _write_map(target: str, runs: Sequence[Run]) -> None:
    """Write the tag map of the one run. Raises `UsageError` where there are none or several."""
    from ..errors import UsageError
    from ..report.tag_map import to_tag_map
    from .output import check_target, write_file

    if target == "-":
        raise UsageError("a tag map is written to a file", place="--write-map -", hint="give a name such as our.yaml")
    if len(runs) != 1:
        fact = f"a tag map is written for one run, here are {len(runs)}"
        raise UsageError(fact, place=f"--write-map {target}", hint="give the path of one of them")
    write_file(check_target(target, runs[0].files), to_tag_map(runs[0]))
    sys.stderr.write(f"{target}: a tag map of {len(runs[0].series)} keys; use it with --tag-map {target}\n")


def run(options: argparse.Namespace) -> int:
    """Show every run below the paths; raises `NoReadableRunError` when none of them could be read."""
    from pathlib import Path

    from ..diagnosis.reading import Unreadable, locate, read_options, read_runs
    from ..errors import NoReadableRunError
    from ..project import load_project
    from .options import paths, progress_bar
    from .output import print_bytes

    where = paths(options)
    project = load_project()
    asked = read_options(dict(options.map), options.action_space or project.action_space, dict(project.mapping))
    located = locate(where, [*map(Path, options.tag_map), *project.tag_maps])
    with progress_bar("Reading runs") as progress:
        read = list(read_runs(located.sources, asked, progress))
    runs = [one for one in read if not isinstance(one, Unreadable)]
    failed = [one for one in read if isinstance(one, Unreadable)]
    unreadable = [(one.path, one.reason) for one in failed]
    if options.write_map is not None:
        _write_map(options.write_map, runs)
    if options.format == "json":
        from ..report.inspection import to_json

        print_bytes(to_json(", ".join(where), runs, unreadable, located.notes))
    elif runs:
        from rich.console import Console

        from ..report.inspection_terminal import InspectReport

        Console(file=sys.stdout, width=options.width).print(InspectReport(runs, unreadable, located.notes))
    if not runs:
        first = failed[0]
        raise NoReadableRunError(first.reason, place=first.path, hint=first.hint)
    return 0
