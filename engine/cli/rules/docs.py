"""`rl-diagnose rules docs`: a page about each cause of a rulebook."""

from __future__ import annotations

import sys

from ..parser import Parser, add_common

TYPE_CHECKING = False  # importing `typing` costs as much as parsing the command line
if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from ...rules.book import Book

__all__ = ["parser", "run"]

STALE = 1

_DESCRIPTION = """\
Write a page in Markdown about each cause of rulebooks: what it is, how it shows (with the weight of each sign in
decibans), what it is taken for, what to do, and its history; and an index. A cause that a book has unchanged from
another one that is named, too, is described with that one; of several versions of a book the newest counts. Pages of
causes that are gone are removed; files that were not made by this command are never touched.
"""

_EXAMPLES = """\
examples:
  rl-diagnose rules docs --output docs/causes              the built-in rulebooks
  rl-diagnose rules docs house.yaml --output docs/causes
  rl-diagnose rules docs house.yaml --output docs/causes --check    for CI: exit code 1 when a page is stale
"""


def parser() -> Parser:
    """Options of `rl-diagnose rules docs`."""
    options = Parser(prog="rl-diagnose rules docs", description=_DESCRIPTION, epilog=_EXAMPLES)
    options.add_argument("books", nargs="*", metavar="BOOK", help="path, folder or id; default: the built-in rulebooks")
    options.add_argument("-o", "--output", required=True, metavar="DIR", help="folder of the pages")
    options.add_argument("--check", action="store_true", help="write nothing; name the pages that are stale")
    add_common(options)
    return options


def run(options: argparse.Namespace) -> int:
    """Write or check the pages. Raises `RulebookError` for an invalid book, `UsageError` where writing would lose
    something."""
    from pathlib import Path

    from ...report.cause_pages import pages
    from ...rules.check import books_below
    from ...rules.library import BUILT_IN, list_books, load_book

    asked: list[str | Path] = [book.id for book in list_books() if book.origin == BUILT_IN]
    if options.books:
        asked = [reference for given in options.books for reference in books_below(given)]
    newest: dict[str, Book] = {}
    for book in sorted(map(load_book, asked), key=lambda book: [int(part) for part in book.version.split(".")]):
        newest[book.id] = book
    books = sorted(newest.values(), key=lambda book: book.id)
    folder, made = Path(options.output), pages(books)
    gone = _gone(folder, made, {book.id for book in books})
    changed = [name for name, text in made.items() if _read(folder / name) != text]
    if options.check:
        for name in sorted([*changed, *gone]):
            sys.stdout.write(f"stale: {folder / name}\n")
        return STALE if changed or gone else 0
    for name in changed:
        _write(folder / name, made[name])
    for name in gone:
        (folder / name).unlink()
    removed = f", {len(gone)} removed" if gone else ""
    sys.stdout.write(f"{folder}: {len(made)} pages, {len(changed)} written{removed}\n")
    return 0


def _read(path: Path) -> str | None:
    """The text of a page; None where there is none. Line ends do not matter."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None


def _gone(folder: Path, made: dict[str, str], ids: set[str]) -> list[str]:
    """Pages in the folders of these books that this command made and would not make any more."""
    from ...report.cause_pages import MARK

    found = [path for name in sorted(ids) for path in sorted((folder / name).glob("*.md"))]
    names = [path.relative_to(folder).as_posix() for path in found]
    return [name for name in names if name not in made and (_read(folder / name) or "").startswith(MARK)]


def _write(path: Path, text: str) -> None:
    from ...errors import UsageError
    from ...report.cause_pages import MARK
    from ..output import write_file

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        fact = f"cannot be written: {error.strerror or error}"
        raise UsageError(fact, place=path.parent, hint="choose another --output") from error
    present = _read(path)
    if path.exists() and present != "" and not (present or "").startswith(MARK):
        raise UsageError("the file exists and is not a page of rules docs", place=path, hint="choose another --output")
    write_file(path, text)
