"""The rulebooks that can be asked for by id, as a table for people and as JSON for programs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from rich.console import Group
from rich.table import Table
from rich.text import Text

from .rule_problems import problem_document
from .text import ascii_only, clean, encodable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from ..rules.listing import Listed
    from ..rules.problems import Problem

__all__ = ["SCHEMA", "listing_json", "listing_table"]

SCHEMA = "rl-diagnose/rules-list/v1"
_STYLES = {"invalid": "bold red", "deprecated": "dim", "experimental": "yellow", "stable": "green"}


def listing_table(books: Sequence[Listed], problems: Sequence[Problem], *, plain: bool = False) -> Group:
    """One line a book, then what could not be used and why. `plain`: ASCII only."""

    def safe(text: str, style: str = "") -> Text:
        return Text(ascii_only(clean(text)) if plain else clean(text), style=style)

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("Id", no_wrap=True)
    for name in ("Versions", "Origin", "Status"):
        table.add_column(name, overflow="fold")
    table.add_column("Causes", justify="right", no_wrap=True)
    table.add_column("Title", overflow="fold")
    for book in books:
        status = f"{book.status}, use {book.replaced_by}" if book.replaced_by else book.status
        table.add_row(
            safe(book.id, "bold cyan"),
            safe(", ".join(reversed(book.versions))),
            safe(book.origin),
            safe(status, _STYLES[book.status]),
            str(book.causes) if book.status != "invalid" else "",
            safe(book.title),
        )
    blocks: list[RenderableType] = [table]
    for book in books:
        if book.problems:
            first = book.problems[0]
            place = f"{first.file}:{first.line}:{first.column}" if first.line else first.file
            more = f" (and {len(book.problems) - 1} more)" if len(book.problems) > 1 else ""
            words = f"{book.id} is invalid: {place}: {first.message}{more}; rl-diagnose rules check {book.id} shows all"
            blocks += [Text(""), safe(words, "red")]
    for problem in problems:
        if not any(book.problems and book.path == problem.file for book in books):
            blocks += [Text(""), safe(f"{problem.file}: {problem.message}", "yellow")]
    return Group(*blocks)


def listing_json(books: Sequence[Listed], problems: Sequence[Problem]) -> str:
    """The same as indented JSON with a final newline; what an invalid book does not tell is null."""
    document = {
        "schema": SCHEMA,
        "books": [
            {
                "id": book.id,
                "versions": list(book.versions),
                "origin": book.origin,
                "status": book.status,
                "title": book.title or None,
                "causes": None if book.status == "invalid" else book.causes,
                "sha256": book.sha256,
                "replaced_by": book.replaced_by,
                "path": book.path,
                "problems": [problem_document(problem) for problem in book.problems],
            }
            for book in books
        ],
        "problems": [problem_document(problem) for problem in problems],
    }
    text = json.dumps(document, indent=2, ensure_ascii=False)
    return encodable(text) + "\n"
