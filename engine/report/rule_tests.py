"""What `rules test` says: for people, as JSON (``rl-diagnose/rule-tests/v1``) and as JUnit XML."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape, quoteattr

from ..diagnosis.numbers import count
from .ledger import plain, renderable
from .text import clean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from ..testing.results import BookResults, CaseResult

__all__ = ["SCHEMA", "shown", "summary", "to_json", "to_junit"]

SCHEMA = "rl-diagnose/rule-tests/v1"
_MARKS = {
    "passed": ("ok", "green"),
    "failed": ("FAIL", "bold red"),
    "error": ("ERROR", "bold red"),
    "todo": ("todo", "yellow"),
    "todo_passes": ("todo passes", "bold yellow"),
}
_KINDS = {"expect": "one that finds it", "reject": "a near miss", "not_assessable": "one without its signals"}


def summary(books: Sequence[BookResults]) -> str:
    """One line: how many tests came out how."""
    outcomes: list[str] = [result.outcome for book in books for result in book.results]
    counts = [(outcomes.count(kind), _MARKS[kind][0]) for kind in _MARKS]
    return f"{count(len(outcomes), 'test')}: " + ", ".join(f"{n} {word.lower()}" for n, word in counts if n)


def shown(books: Sequence[BookResults], *, verbose: bool = False) -> RenderableType:
    """Every test that did not pass, with the ledger of the cause; all of them with `verbose`."""
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    parts: list[RenderableType] = []
    for book in books:
        parts.append(Text(f"{clean(book.book)}  {clean(book.file)}", style="bold"))
        for result in book.results:
            if result.outcome == "passed" and not verbose:
                continue
            word, style = _MARKS[result.outcome]
            parts.append(Text.assemble("  ", (word, style), f"  {clean(result.name)}  {clean(result.place)}"))
            if result.todo:
                parts.append(Text(f"      {clean(result.todo)}", style="dim"))
            for failure in result.failures if result.outcome in {"failed", "error"} or verbose else ():
                parts.append(Text(f"      {clean(failure.message)}"))
                if failure.ledger is not None:
                    parts.append(Padding(renderable(failure.ledger), (0, 0, 0, 6)))
        if book.uncovered and verbose:
            parts.append(Text("  causes without a test:", style="dim"))
            parts += [Text(f"    {cause}: {_lacking(kinds)}", style="dim") for cause, kinds in book.uncovered]
        elif book.uncovered:
            lacking = count(len(book.uncovered), "cause lacks", "causes lack")
            text = f"  {lacking} a kind of test (--verbose lists them)"
            parts.append(Text(text, style="dim"))
    parts.append(Text(summary(books), style="bold"))
    return Group(*parts)


def _lacking(kinds: Sequence[str]) -> str:
    return ", ".join(_KINDS[kind] for kind in kinds)


def to_json(books: Sequence[BookResults]) -> str:
    """Strict JSON with a final newline."""
    document: dict[str, Any] = {"schema": SCHEMA, "books": [plain(asdict(book)) for book in books]}
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def to_junit(books: Sequence[BookResults]) -> str:
    """JUnit XML: one suite a book; a known gap is a skipped test, one that is none any more a failure."""
    suites = "".join(_suite(book) for book in books)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n{suites}</testsuites>\n'


def _suite(book: BookResults) -> str:
    cases = "".join(_case(result, book.book) for result in book.results)
    bad = sum(result.outcome in {"failed", "todo_passes"} for result in book.results)
    errors = sum(result.outcome == "error" for result in book.results)
    skipped = sum(result.outcome == "todo" for result in book.results)
    counts = f'tests="{len(book.results)}" failures="{bad}" errors="{errors}" skipped="{skipped}"'
    return f"<testsuite name={quoteattr(clean(book.book))} {counts}>\n{cases}</testsuite>\n"


def _case(result: CaseResult, book: str) -> str:
    head = f"<testcase classname={quoteattr(clean(book))} name={quoteattr(clean(result.name))}"
    text = "\n".join(clean(failure.message) for failure in result.failures) or result.outcome
    tag = {"failed": "failure", "todo_passes": "failure", "error": "error"}.get(result.outcome)
    if tag is not None:
        return f"{head}><{tag} message={quoteattr(text.splitlines()[0])}>{escape(text)}</{tag}></testcase>\n"
    if result.outcome == "todo":
        return f"{head}><skipped message={quoteattr(clean(result.todo))}/></testcase>\n"
    return f"{head}/>\n"
