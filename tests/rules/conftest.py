"""Rulebooks on disk for the tests of loading."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rl_diagnose.errors import RulebookError
from rl_diagnose.rules.book import Book
from rl_diagnose.rules.library import load_book

from .made import Said, Write


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a book: `body` below a head with the given id, in a folder of its own for each test."""

    def make(body: str = "", name: str = "house.yaml", head: str = 'schema: rulebook/v1\nversion: "1.0.0"\n') -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{head}id: {path.stem}\ntitle: {path.stem}\n{body}", encoding="utf-8")
        return path

    return make


@pytest.fixture
def loaded(write: Write) -> Callable[[str], Book]:
    """The book with this body."""
    return lambda body: load_book(write(body))


@pytest.fixture
def said() -> Said:
    """What is wrong with a book, as `line:column code message (hint)`; lines count from that of the body."""

    def problems(path: Path) -> list[str]:
        with pytest.raises(RulebookError) as caught:
            load_book(path)
        return [
            f"{p.line - 4}:{p.column} {p.code} {p.message}" + (f" ({p.hint})" if p.hint else "")
            for p in caught.value.problems
        ]

    return problems
