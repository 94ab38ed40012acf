"""Writing a new rulebook and the schema that its editor reads; nothing is ever overwritten."""

from __future__ import annotations

import re
from pathlib import Path

from ..errors import UsageError
from .library import list_books, load_book
from .schema import schema_text
from .template import BOOK_SCHEMA_FILE, book_template, tests_template

__all__ = ["create_book"]

_NAME = re.compile(r"[a-z][a-z0-9_.]{0,79}")


def create_book(name: str, folder: Path, extends: str | None = None) -> list[Path]:
    """Write ``NAME.yaml`` below `folder`, its tests and what goes with it; the files, the book first.

    `folder` is made where it does not exist; a schema file that is there already is left as it is. Raises `UsageError`
    for a name that cannot be an id or is taken, for files that exist, and where nothing can be written there; what
    `extends` names must be a valid book (`RulebookError`).
    """
    _check_name(name)
    texts = {
        folder / f"{name}.yaml": _book(name, folder, extends),
        folder / f"{name}.test.yaml": tests_template(name),
    }
    for path in texts:
        if path.exists() or path.is_symlink():
            raise UsageError("the file exists already", place=path, hint="choose another name or --dir")
    schema = folder / BOOK_SCHEMA_FILE
    if not schema.exists():
        texts[schema] = schema_text()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, text in texts.items():
            with path.open("x", encoding="utf-8", newline="\n") as file:
                file.write(text)
    except OSError as error:
        fact = f"cannot be written: {error.strerror or error}"
        raise UsageError(fact, place=error.filename or folder, hint="choose another --dir") from error
    return list(texts)


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        better = re.sub(r"[^a-z0-9_.]+", "_", name.lower()).strip("_.")
        hint = f"'{better}' would do" if _NAME.fullmatch(better) else "begin with a letter, at most 80 characters"
        raise UsageError(f"'{name}' cannot be the id of a rulebook: lower-case letters, digits, _ and .", hint=hint)
    taken = next((book for book in list_books() if book.id == name), None)
    if taken is not None:
        hint = f"choose another name; to build on it: rl-diagnose rules new my_{name} --extends {name}"
        raise UsageError(f"there is a rulebook '{name}' already ({taken.origin})", hint=hint)


def _book(name: str, folder: Path, extends: str | None) -> str:
    if extends is None:
        return book_template(name)
    parent = load_book(extends)
    reference = extends
    if extends.endswith((".yaml", ".yml")) or "/" in extends or "\\" in extends:
        path = Path(extends).resolve()
        if not path.is_relative_to(folder.resolve()):
            raise UsageError(
                "a book can only extend files below its own folder", place=extends, hint=f"put it below {folder}"
            )
        reference = path.relative_to(folder.resolve()).as_posix()
    return book_template(name, reference, parent.applies_to)
