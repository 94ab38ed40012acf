"""Did you mean: the known name that a misspelt one is closest to."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["closest"]

_LONGEST = 200  # characters; comparing takes time that grows with the square, and nobody misspells more


def closest(name: str, known: Iterable[str], likeness: float = 0.6) -> str | None:
    """The one of `known` that is most like `name`; None when none is as alike as `likeness` (0…1)."""
    if len(name) > _LONGEST:
        return None
    return next(
        iter(difflib.get_close_matches(name, [one for one in known if len(one) <= _LONGEST], 1, likeness)), None
    )
