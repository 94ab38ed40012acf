"""What the commands' shared options mean, and the progress bar."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..errors import UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

__all__ = ["paths", "progress_bar"]


def paths(options: argparse.Namespace) -> list[str]:
    """The paths asked for, by position or by `--logdir`. Raises `UsageError` when there is none."""
    asked = [*options.path, *([options.logdir] if options.logdir is not None else [])]
    if not asked:
        raise UsageError("no path is given", hint="rl-diagnose PATH; rl-diagnose --help shows examples")
    return asked


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """A bar on stderr, told (done, in all) after each run; None where stderr is not a terminal. One run gets none."""
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = None

        def tell(done: int, total: int) -> None:
            nonlocal task
            if total > 1:
                task = bar.add_task(what, total=total) if task is None else task
                bar.update(task, completed=done)

        yield tell
