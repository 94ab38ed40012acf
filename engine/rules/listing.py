"""What can be asked for by id: every book with its versions, where it comes from, and what is in its newest version."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import RulebookError
from .library import list_books, load_book

if TYPE_CHECKING:
    from .problems import Problem

__all__ = ["Listed", "listing"]


@dataclass(frozen=True, slots=True)
class Listed:
    """A book: `versions` oldest first, `origin` ``built-in`` or ``package <distribution>``, `path` of the newest file.

    Status, title, hash and the number of causes (deprecated ones not counted) are those of the newest version; where
    that one is invalid, `status` is ``invalid``, and `problems` hold what is wrong.
    """

    id: str
    versions: tuple[str, ...]
    origin: str
    path: str
    status: str
    title: str = ""
    causes: int = 0
    sha256: str | None = None
    replaced_by: str | None = None
    problems: tuple[Problem, ...] = ()


def listing() -> tuple[Listed, ...]:
    """All books by id; an invalid one is an entry like the others."""
    return tuple(_listed(info.id, info.versions, info.origin, str(info.latest)) for info in list_books())


def _listed(name: str, versions: tuple[str, ...], origin: str, path: str) -> Listed:
    try:
        book = load_book(name)
    except RulebookError as error:
        return Listed(name, versions, origin, path, "invalid", problems=error.problems)
    causes = sum(cause.status != "deprecated" for cause in book.causes)
    return Listed(name, versions, origin, path, book.status, book.title, causes, book.sha256, book.replaced_by)
