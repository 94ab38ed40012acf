"""Processes that diagnose for this one: started, asked, and ended all together, whatever happens.

Each is a fresh interpreter that imports this package and nothing of the program that asks. So it can be started from a
script, a notebook or a thread, on every system alike, and no lock that a library holds is copied into it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from threading import Lock
from typing import IO, Any

from .messages import receive, send

__all__ = ["Death", "Process", "Processes", "Unavailable"]

_BOOT = (
    "import json, sys; sys.path[:] = json.loads(sys.stdin.buffer.raw.readline()); "
    f"from {__package__}.worker import serve; serve()"
)
# There are as many processes as there is work for, so each computes with one thread.
_ONE_THREAD = dict.fromkeys(
    (
        "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS",
        "VECLIB_MAXIMUM_THREADS",
    ),
    "1",
)  # fmt: skip
_PATIENCE = 5.0  # seconds for a process that has closed its pipe to be gone
_KILLED = 9


class Unavailable(Exception):  # noqa: N818 - no error: the work is done otherwise
    """No process can be started, and why."""


class Death(Exception):  # noqa: N818 - no error of this program
    """A process ended while it was asked something; `status` is its exit code, or minus the number of a signal."""

    def __init__(self, status: int) -> None:
        self.status = status
        memory = "; out of memory?" if status == -_KILLED else ""
        super().__init__(f"signal {-status}{memory}" if status < 0 else f"exit code {status}")


class Process:
    """A process that was started, and its pipes."""

    def __init__(self) -> None:
        self._popen = subprocess.Popen(  # noqa: S603 - our own interpreter
            # -P: what lies in the working folder must not stand in for a module of Python's.
            [sys.executable, *(["-I"] if sys.flags.isolated else []), "-P", "-c", _BOOT],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if sys.__stderr__ is None else None,
            env={**os.environ, **_ONE_THREAD},
            **_apart(),
        )

    @property
    def _pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        to, back = self._popen.stdin, self._popen.stdout
        assert to is not None  # noqa: S101 - asked for above
        assert back is not None  # noqa: S101 - same
        return to, back

    def boot(self, briefing: bytes) -> None:
        """Tell it where modules are and what it has to know, and wait until it is ready. Raises `Death`."""
        to, _ = self._pipes
        with suppress(OSError):
            to.write(json.dumps([str(place) for place in sys.path]).encode() + b"\n")
        self.ask(briefing)

    def ask(self, request: bytes) -> bytes:
        """Its answer. Raises `Death` where it ends instead."""
        to, back = self._pipes
        with suppress(OSError):  # it is gone: so is the answer
            send(to, request)
        answer = receive(back)
        if answer is None:
            try:
                status = self._popen.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                self._popen.kill()
                status = self._popen.wait()
            raise Death(status)
        return answer

    def kill(self) -> None:
        """End it, now."""
        self._popen.kill()

    def close(self) -> None:
        """Close what belonged to a process that was killed."""
        self._popen.wait()
        for pipe in self._pipes:
            with suppress(OSError):  # what it was not told any more
                pipe.close()


class Processes:
    """Processes with the same briefing. They can be started and asked from any thread."""

    def __init__(self, briefing: bytes) -> None:
        self._briefing = briefing
        self._lock = Lock()
        self._started: list[Process] = []
        self._over = False

    def start(self) -> Process:
        """A new process that is ready for questions. Raises `Unavailable`."""
        if not sys.executable or getattr(sys, "frozen", False):
            raise Unavailable("this program is no interpreter that could be started again")
        try:
            with self._lock:
                if self._over:
                    raise Unavailable("the work is over")
                process = Process()
                self._started.append(process)
            process.boot(self._briefing)
        except OSError as error:
            raise Unavailable(f"it cannot be started: {error.strerror or error}") from None
        except Death as death:
            raise Unavailable(f"it ended as soon as it was started ({death})") from None
        return process

    def stop(self) -> None:
        """End all of them, and start no more; whoever waits for an answer gets `Death`."""
        with self._lock:
            self._over = True
            for process in self._started:
                process.kill()

    def close(self) -> None:
        """Close what is left of them, after `stop`, when nobody waits for an answer any more."""
        for process in self._started:
            process.close()


def _apart() -> dict[str, Any]:
    """How to start a process that Ctrl-C does not reach: this one ends it."""
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW}
    return {"start_new_session": True}
