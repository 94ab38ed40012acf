"""Findings that the project file declares known and accepted: marked and counted, but no verdict rests on them."""

from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import RulebookError
from ..rules.library import list_books, load_book
from ..signals.spelling import closest
from .model import Suppressed

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable, Iterator, Sequence

    from ..project import Suppression
    from ..rules.book import Book
    from ..signals.run import Run
    from .model import CauseFinding

__all__ = ["suppress", "suppression_notes"]

# A glob is turned into a pattern that never backtracks, but one of megabytes would still take its time.
_LONGEST_GLOB = 1000


def suppress(
    findings: Sequence[CauseFinding],
    run: Run,
    books: Iterable[Book],
    suppressions: Sequence[Suppression],
    today: dt.date,
) -> list[CauseFinding]:
    """`findings` of one run, the suppressed faults marked with the first suppression that fits and has not expired.

    A suppression also covers the cause that replaced the deprecated one which it names.
    """
    active = [s for s in suppressions if not _expired(s, today) and _fits(s.runs, run)]
    if not active:
        return list(findings)
    renamed = _renamed(books)
    marks: dict[str, Suppressed] = {}
    for one in active:
        expires = None if one.expires is None else one.expires.isoformat()
        marks.setdefault(renamed.get(one.cause, one.cause), Suppressed(one.reason, one.runs, expires))
    return [replace(f, suppressed=marks[f.id]) if f.kind == "fault" and f.id in marks else f for f in findings]


def suppression_notes(books: Sequence[Book], suppressions: Sequence[Suppression], today: dt.date) -> list[str]:
    """What is wrong with the suppressions themselves: expired, of a cause that no rulebook has, or without effect.

    `books` are the ones in use; a cause that only another installed book has is no mistake.
    """
    return [note for one in suppressions for note in _notes(one, books, today)]


def _notes(one: Suppression, books: Sequence[Book], today: dt.date) -> Iterator[str]:
    what = f"the suppression of '{one.cause}'" + (f" in runs '{one.runs}'" if one.runs != "*" else "")
    if _expired(one, today):
        yield f"{what} expired on {one.expires}: its findings count again"
    if len(one.runs) > _LONGEST_GLOB:
        yield f"{what[:80]}… has no effect: its glob is longer than {_LONGEST_GLOB} characters"
    causes = {cause.id: cause for book in books for cause in book.causes}
    cause = causes.get(one.cause)
    if cause is None:
        everywhere = {c.id for book in _installed() for c in book.causes} | set(causes)
        if one.cause not in everywhere:
            close = closest(one.cause, sorted(everywhere))
            hint = f" (did you mean '{close}'?)" if close else ""
            yield f"{what} has no effect: no rulebook has such a cause{hint}"
    elif one.cause in (renamed := _renamed(books)):
        yield f"{what} now stands for '{renamed[one.cause]}', which replaced it: name that one"
    elif cause.kind != "fault":
        yield f"{what} has no effect: this cause is no fault"


def _installed() -> Iterator[Book]:
    """The newest version of every book with an id; broken ones are reported elsewhere."""
    for info in list_books():
        try:
            yield load_book(info.id)
        except RulebookError:
            continue


def _expired(one: Suppression, today: dt.date) -> bool:
    return one.expires is not None and today > one.expires


def _fits(glob: str, run: Run) -> bool:
    """Whether the glob fits the id of the run, or the last parts of its path, as many as it has itself.

    The id depends on the folder that was asked for: it is ``sweep-3/seed1`` from above and ``seed1`` from close by.
    """
    if len(glob) > _LONGEST_GLOB:
        return False
    if fnmatchcase(run.id, glob):
        return True
    wanted, have = glob.split("/"), Path(run.path).absolute().parts
    tail = have[-len(wanted) :]
    return len(tail) == len(wanted) and all(map(fnmatchcase, tail, wanted))


def _renamed(books: Iterable[Book]) -> dict[str, str]:
    """Deprecated causes with the one that took their place in the end."""
    successor = {
        cause.id: cause.replaced_by
        for book in books
        for cause in book.causes
        if cause.status == "deprecated" and cause.replaced_by is not None
    }
    final = {}
    for name in successor:
        seen, last = {name}, successor[name]
        while last in successor and last not in seen:
            seen.add(last)
            last = successor[last]
        final[name] = last
    return final
