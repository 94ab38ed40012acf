"""`rl-diagnose inspect PATH`: what was read, and how each key was understood."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ..diagnosis.reading import Unreadable, locate, read_options, read_runs
from ..errors import NoReadableRunError
from .options import paths, progress_bar
from .output import print_bytes

if TYPE_CHECKING:
    import argparse

__all__ = ["run"]


def run(options: argparse.Namespace) -> int:
    """Show every run below the paths; raises `NoReadableRunError` when none of them could be read."""
    where = paths(options)
    located = locate(where)
    with progress_bar("Reading runs") as progress:
        read = list(read_runs(located.sources, read_options(dict(options.map), options.action_space), progress))
    runs = [one for one in read if not isinstance(one, Unreadable)]
    failed = [one for one in read if isinstance(one, Unreadable)]
    unreadable = [(one.path, one.reason) for one in failed]
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
