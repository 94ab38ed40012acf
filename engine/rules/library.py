"""Finding and loading rulebooks: built-in, installed packages, and paths.

A reference is a path (it has a separator or ends in ``.yaml``/``.yml``), or an id with an optional version: ``ppo``, ``ppo@1``,
``ppo@1.2``, ``ppo@1.2.0``; without a full version the newest that matches is taken. Packages register a folder of books
under the entry point group ``rl_diagnose.rulebooks`` (the entry point names a package with ``<id>/<version>.yaml`` in it).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import RulebookError, UsageError
from ..signals.taxonomy import taxonomy_version
from .model import AuthoredBook
from .problems import Problem
from .resolve import Merged, compile_book, merge
from .validate import validate
from .yaml_loader import Document, load_yaml

if TYPE_CHECKING:
    from .book import Book

__all__ = ["BookInfo", "default_books_for", "list_books", "load_book"]

GROUP = "rl_diagnose.rulebooks"
MAX_EXTENDS = 16
_REFERENCE = re.compile(r"(?P<id>[a-z][a-z0-9_.]*)(?:@(?P<version>\d+(?:\.\d+){0,2}))?")
_VERSION_FILE = re.compile(r"(\d+)\.(\d+)\.(\d+)\.ya?ml")
_DEFAULTS = ("ppo", "dqn", "actor_critic", "core")


@dataclass(frozen=True, slots=True)
class BookInfo:
    """A book that can be asked for by id: where it comes from and which versions there are, oldest first."""

    id: str
    versions: tuple[str, ...]
    origin: str
    folder: Path


@cache
def list_books() -> tuple[BookInfo, ...]:
    """All books that have an id: built-in ones, then those of installed packages; of two with one id the first counts."""
    books: dict[str, BookInfo] = {}
    for origin, root in _roots():
        for folder in sorted(p for p in root.iterdir() if p.is_dir()):
            versions = sorted(_versions(folder), key=_version_key)
            if versions and folder.name not in books:
                books[folder.name] = BookInfo(folder.name, tuple(versions), origin, folder)
    return tuple(books.values())


def _roots() -> list[tuple[str, Path]]:
    with as_file(files("rl_diagnose.rulebooks")) as root:  # noqa: TID251 - a package of data, named not imported
        roots = [("built-in", Path(root))]
    for entry in sorted(metadata.entry_points(group=GROUP), key=lambda e: e.name):
        with as_file(files(entry.value.partition(":")[0])) as root:
            roots.append((f"package {entry.dist.name if entry.dist else entry.name}", Path(root)))
    return roots


def _versions(folder: Path) -> list[str]:
    return [path.name.rpartition(".")[0] for path in folder.iterdir() if _VERSION_FILE.fullmatch(path.name)]


def _version_key(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def load_book(reference: str | Path) -> Book:
    """The resolved book. Raises `RulebookError` with every problem, or `UsageError` for an unknown id or version."""
    return _load(_locate(reference))


@cache
def _load(path: Path) -> Book:
    merged, problems = _merge(path, (), path.parent)
    if merged is None:
        raise RulebookError(problems)
    book, problems = compile_book(merged)
    if book is None:
        raise RulebookError([p for p in problems if p.severity == "error"])
    return book


def _locate(reference: str | Path) -> Path:
    text = str(reference)
    if isinstance(reference, Path) or text.endswith((".yaml", ".yml")) or "/" in text or "\\" in text:
        return Path(reference).resolve()
    match = _REFERENCE.fullmatch(text)
    known = {book.id: book for book in list_books()}
    if match is None or match["id"] not in known:
        raise UsageError(
            f"no rulebook '{text}'", hint=f"known are {', '.join(known)}; or give the path of a .yaml file"
        )
    book, wanted = known[match["id"]], match["version"]
    fitting = [v for v in book.versions if wanted is None or f"{v}.".startswith(f"{wanted}.")]
    if not fitting:
        raise UsageError(
            f"no version {wanted} of the rulebook '{book.id}'", hint=f"there are {', '.join(book.versions)}"
        )
    return next(p for p in book.folder.iterdir() if p.name in (f"{fitting[-1]}.yaml", f"{fitting[-1]}.yml"))


def _merge(path: Path, chain: tuple[Path, ...], root: Path) -> tuple[Merged | None, list[Problem]]:
    """Load a file with everything it extends."""
    document, problems = load_yaml(path)
    if document is None:
        return None, problems
    authored, more = validate(AuthoredBook, document)
    problems += more
    if authored is None or problems:
        return None, problems
    problems += _requirements(authored, document)
    parents: list[Merged] = []
    for i, name in enumerate(authored.extends):
        parent_path = _parent(name, path, root)
        if parent_path is None:
            text = f"cannot find the book '{name}' to extend, or it is outside the folder {root.name}/"
            hint = (
                f"known are {', '.join(b.id for b in list_books())}; or a path relative to this file, below its folder"
            )
            problems.append(document.problem("RB030", text, ("extends", i), hint=hint))
            continue
        if parent_path in (*chain, path) or len(chain) >= MAX_EXTENDS:
            problems.append(document.problem("RB031", f"'{name}' extends this book in turn", ("extends", i)))
            continue
        inside = root if parent_path.is_relative_to(root) else parent_path.parent
        parent, more = _merge(parent_path, (*chain, path), inside)
        problems += more
        if parent is not None:
            parents.append(parent)
    if problems:
        return None, problems
    return merge(authored, document, parents), []


def _parent(name: str, path: Path, root: Path) -> Path | None:
    if name.endswith((".yaml", ".yml")):
        target = (path.parent / name).resolve()
        return target if target.is_file() and target.is_relative_to(root.resolve()) and "://" not in name else None
    try:
        return _locate(name)
    except UsageError:
        return None


def _requirements(authored: AuthoredBook, document: Document) -> list[Problem]:
    have = {"engine": metadata.version("rl-diagnose"), "signals": taxonomy_version()}
    problems = []
    for name in ("engine", "signals"):
        wanted = getattr(authored.requires, name)
        if wanted is None:
            continue
        match = re.fullmatch(r">=\s*(\d+(?:\.\d+){0,2})", wanted)
        if match is None:
            problems.append(document.problem("RB033", f"'{wanted}' is not of the form \">=1.2\"", ("requires", name)))
        elif _numbers(have[name]) < _numbers(match[1]):
            text = f"the book needs {name} {wanted}, this is {have[name]}"
            problems.append(document.problem("RB033", text, ("requires", name), hint="upgrade rl-diagnose"))
    return problems


def _numbers(version: str) -> tuple[int, ...]:
    parts = [int(part) for part in re.findall(r"\d+", version)[:3]]
    return tuple(parts + [0] * (3 - len(parts)))


def default_books_for(algorithm: str | None, framework: str | None, action_space: str | None) -> tuple[str, ...]:
    """Ids of the built-in books that speak about such a run when none is asked for: the first whose `applies_to` admits it."""
    available = {book.id for book in list_books()}
    for name in _DEFAULTS:
        if name not in available:
            continue
        applies = load_book(name).applies_to
        wanted = ((applies.algorithm, algorithm), (applies.framework, framework), (applies.action_space, action_space))
        if all(not allowed or have in allowed for allowed, have in wanted):
            return (name,)
    return ()
