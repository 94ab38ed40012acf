"""Everything that reads bytes of strangers, in one shape: seeds to start from, a run over any bytes, accepted errors.

A target holds when `run` returns or raises one of `errors`. Everything else is a bug: another exception, a warning, an
invariant that is broken, an input of less than 64 KiB that takes longer than two seconds.
"""

from __future__ import annotations

from .beside import BESIDE
from .books import BOOKS
from .logs import LOGS
from .target import Target

__all__ = ["TARGETS", "Target"]

TARGETS = {target.name: target for target in (*LOGS, *BESIDE, *BOOKS)}
"""All targets by name."""
