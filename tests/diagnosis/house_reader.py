"""An adapter of a third party, for tests of processes: its logs (`*.house`) say what reading them leads to.

The first word of a log is what happens, the second the folder in which the reading process leaves its number.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import numpy as np

from rl_diagnose.errors import UsageError
from rl_diagnose.logs.adapter import Folder, ReadOptions, RunSource, Sniff
from rl_diagnose.signals.run import Run, Semantics, Series


class StrangeError(UsageError):
    """An error that cannot be made again from what it says of itself."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(f"{one} and {two}")


class HouseReader:
    """Reads `*.house`."""

    name = "house"
    title = "the house's logs"

    def sniff(self, folder: Folder) -> Sniff:
        """Each file is a run."""
        found = tuple(RunSource(file, (file,)) for file in folder.files if file.suffix == ".house")
        return Sniff(0.95 if found else 0.0, "the name ends in .house", found)

    def read(self, source: RunSource, options: ReadOptions) -> Run:
        """A short run, or what the log asks for."""
        del options
        what, trace = source.path.read_text("utf-8").split(maxsplit=1)
        before = len(list(Path(trace).iterdir()))
        (Path(trace) / f"{os.getpid()}-{before}").touch()
        if what == "kill" or (what == "kill-once" and before == 0):
            os.kill(os.getpid(), signal.SIGKILL)
        elif what == "exit":
            os._exit(3)
        elif what == "print":
            sys.stdout.write("printed by the house's adapter\n")
            sys.stdout.flush()
            os.write(1, b"written by the house's adapter\n")
        elif what == "sleep":
            time.sleep(600)
        elif what == "usage":
            raise UsageError("the house does not want it", place=source.path, hint="ask the house")
        elif what == "strange":
            raise StrangeError("this", "that")
        step = np.arange(40.0)
        series = Series("reward.train", step, step, step, step, Semantics("r"))
        threads = os.environ.get("POLARS_MAX_THREADS", "")
        return Run(source.path.name, str(source.path), "house", {"reward.train": series}, env=threads)


ADAPTER = HouseReader()
