"""The exception tree. Call sites pass facts; each class builds the message and the way out.

RlDiagnoseError              exit 2   anything the user can act on; never a traceback
├── UsageError               exit 2   a flag, a mapping or a project file that cannot be meant
├── RulebookError            exit 3   a rulebook that is invalid; carries every problem found
├── LogError                 exit 4   this log cannot be read, and why
└── NoReadableRunError       exit 4   nothing below the path could be read
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from .rules.problems import Problem

__all__ = ["LogError", "NoReadableRunError", "RlDiagnoseError", "RulebookError", "UsageError"]


class RlDiagnoseError(Exception):
    """Base of all errors a user may see: what is wrong (`fact`), where (`place`), the way out (`hint`)."""

    exit_code: ClassVar[int] = 2

    def __init__(self, fact: str, *, place: str | Path | None = None, hint: str | None = None) -> None:
        self.fact = fact
        self.place = None if place is None else str(place)
        self.hint = hint
        super().__init__(fact)

    def __str__(self) -> str:
        text = f"{self.place}: {self.fact}" if self.place else self.fact
        return f"{text}\n  → {self.hint}" if self.hint else text


class UsageError(RlDiagnoseError):
    """The command line, the API call or the project file asks for something that cannot be meant."""


class LogError(RlDiagnoseError):
    """A log (file or folder) exists but cannot be read as a training log."""

    exit_code: ClassVar[int] = 4


class NoReadableRunError(RlDiagnoseError):
    """No run below the given path could be read."""

    exit_code: ClassVar[int] = 4


class RulebookError(RlDiagnoseError):
    """A rulebook is invalid. `problems` holds every problem found, in file order."""

    exit_code: ClassVar[int] = 3

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        count = len(self.problems)
        super().__init__(f"{count} problem{'s' if count != 1 else ''} in the rulebook")

    def __str__(self) -> str:
        return "\n\n".join(problem.render() for problem in self.problems)

    def __reduce__(self) -> tuple[type[RulebookError], tuple[tuple[Problem, ...]]]:
        # By itself it would be made again of its text (a run may be diagnosed by another process).
        return type(self), (self.problems,)
