"""Which rulebooks speak: those of the command line, else of the environment, else of the project file.

Where none of these names any, each run gets the book for it: of an installed package, else a built-in one
(`library.default_books_for`).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ..errors import UsageError
from .library import check_reference

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..project import Project

__all__ = ["VARIABLE", "chosen_books"]

VARIABLE = "RL_DIAGNOSE_RULES"


def chosen_books(
    asked: Sequence[str], project: Project, environment: Mapping[str, str] = os.environ
) -> list[str] | None:
    """References of the books to apply to every run; None: to each run the default ones.

    Each source replaces the later ones entirely: `asked` (the command line), the variable `RL_DIAGNOSE_RULES` (joined
    like a search path), the project file. Raises `UsageError` that names the source of a reference to no book.
    """
    if asked:
        return list(asked)
    named = [part.strip() for part in environment.get(VARIABLE, "").split(os.pathsep)]
    sources = ((VARIABLE, [part for part in named if part]), (str(project.file), list(project.rules)))
    for place, references in sources:
        for reference in references:
            try:
                check_reference(reference)
            except UsageError as error:
                raise UsageError(error.fact, place=place, hint=error.hint) from error
        if references:
            return references
    return None
