"""The shape that all targets have, and what they share."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = ["BINARY", "TEXT", "Target", "written"]

TEXT, BINARY = 1500, 3000
"""Bytes of a real file that are a seed: the first rows of a text, the first records of a binary file."""


@dataclass(frozen=True, slots=True)
class Target:
    """One reader: `seeds` gives inputs that it accepts, `run` gives it any bytes, `errors` are those it may raise."""

    name: str
    seeds: Callable[[], list[bytes]]
    run: Callable[[bytes], None]
    errors: tuple[type[Exception], ...] = ()

    def holds(self, data: bytes) -> bool:
        """Whether the bytes are accepted (True) or refused as they may be (False); raises everything else."""
        try:
            self.run(data)
        except self.errors as error:
            if not str(error).strip():
                raise AssertionError("whoever sees the error learns nothing") from error
            return False
        return True


@cache
def _folder() -> Path:
    """A folder of this process, in memory where there is such a place."""
    memory = Path("/dev/shm")  # noqa: S108 - only asked whether it is there
    folder = Path(tempfile.mkdtemp(prefix="rl-diagnose-fuzz-", dir=memory if memory.is_dir() else None))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def written(name: str, data: bytes) -> Path:
    """A file of that name with these bytes."""
    path = _folder() / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path
