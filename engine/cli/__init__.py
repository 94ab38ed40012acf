"""The command line. This module is on the path of `--help`: it imports nothing that costs time.

Exit codes: 0 nothing at or above `--fail-at`; 1 a finding at or above it; 2 usage or internal error; 3 a rulebook is
invalid; 4 no readable run; 130 interrupted; 141 the reader of the output went away.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # importing `typing` costs as much as parsing the command line
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]

INTERRUPTED = 130
BROKEN_PIPE = 141
INTERNAL = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line (default: that of the process) and return its exit code."""
    # Two BLAS threads on small arrays cost more than they give and can stall; must be set before numpy is imported.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = _run(words)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The interpreter flushes stdout once more at exit; give it somewhere to flush to.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except Exception as error:  # noqa: BLE001 - the border to the user: every error becomes one message and an exit code
        return _report(error)
    return code


def _run(words: list[str]) -> int:
    """Parse first, do the work after: `--help` and a mistyped option cost next to nothing."""
    from .parser import parse

    run, options = parse(words)
    return run(options)


def _report(error: Exception) -> int:
    if os.environ.get("RL_DIAGNOSE_DEBUG") == "1":
        raise error
    from ..errors import RlDiagnoseError, RulebookError

    if isinstance(error, RulebookError):
        _say(f"rl-diagnose: {error.args[0]}\n\n{error}")
        return error.exit_code
    if isinstance(error, RlDiagnoseError):
        _say(f"rl-diagnose: {error}")
        return error.exit_code
    kind = type(error).__name__
    _say(
        f"rl-diagnose: internal error ({kind}: {error})\n"
        "  → this is a bug; please report it with what the same command prints under RL_DIAGNOSE_DEBUG=1"
    )
    return INTERNAL


def _say(message: str) -> None:
    from ..report.text import ascii_only, clean

    lines = [clean(line) if line.strip() else "" for line in message.splitlines()]
    indents = [line[: len(line) - len(line.lstrip(" "))] for line in message.splitlines()]
    text = "\n".join(indent + line.strip() for indent, line in zip(indents, lines, strict=True))
    utf8 = (sys.stderr.encoding or "ascii").lower().startswith("utf")
    print(text if utf8 else ascii_only(text), file=sys.stderr)  # noqa: T201 - errors go to stderr
