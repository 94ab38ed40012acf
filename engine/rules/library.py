"""Finding and loading rulebooks: built-in ones, those of installed packages, and files.

A reference is a path (a `Path`, or text with a separator or ending in ``.yaml`` or ``.yml``), or an id with an optional
version: ``ppo``, ``ppo@1``, ``ppo@1.2``, ``ppo@1.2.0``; without a full version the newest that fits is taken.

Packages register under the entry point group ``rl_diagnose.rulebooks``: the entry point names a package that holds
``<id>/<version>.yaml``. Nothing of it is run but its import.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import RulebookError, UsageError
from ..signals.taxonomy import taxonomy_version
from .problems import Problem
from .yaml_loader import load_yaml

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .book import Book
    from .model import AuthoredBook
    from .resolve import Merged
    from .yaml_loader import Document

__all__ = [
    "BUILT_IN",
    "GROUP",
    "BookInfo",
    "book_file",
    "check_reference",
    "default_books_for",
    "library_problems",
    "list_books",
    "load_book",
    "read_book",
]

GROUP = "rl_diagnose.rulebooks"
BUILT_IN = "built-in"
FALLBACK = "core"
MAX_FILES = 32
# Of all books that extend one another together; the largest built-in one with what it extends has a twentieth of it.
MAX_TOTAL_BYTES = 2_000_000
_DIMENSIONS = {"algorithm", "framework", "action_space"}
_REFERENCE = re.compile(r"(?P<id>[a-z][a-z0-9_.]*)(?:@(?P<version>[0-9]+(?:\.[0-9]+){0,2}))?")
_VERSION_FILE = re.compile(r"(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.yaml")
_REQUIREMENT = re.compile(r"(>=|<=|==|>|<)\s*([0-9]+(?:\.[0-9]+){0,2})")


@dataclass(frozen=True, slots=True)
class BookInfo:
    """A book that can be asked for by id: which versions there are (oldest first) and where it comes from.

    `origin` is ``built-in`` or ``package <distribution>``; `folder` holds one file a version.
    """

    id: str
    versions: tuple[str, ...]
    origin: str
    folder: Path

    @property
    def latest(self) -> Path:
        """The file of the newest version."""
        return self.folder / f"{self.versions[-1]}.yaml"


@dataclass(frozen=True, slots=True)
class _Source:
    """A file, its name in messages, and the folder that relative `extends` must stay in."""

    path: Path
    display: str
    root: Path
    by_id: bool = False


def list_books() -> tuple[BookInfo, ...]:
    """All books that have an id, sorted by it. Of two with one id the built-in one counts, then the first package's."""
    return _library()[0]


def library_problems() -> tuple[Problem, ...]:
    """Installed packages of rulebooks that cannot be used, their default books that are invalid, and books whose id is
    taken; the others work."""
    troubles = (_trouble(name) for origin, _, name in _defaults() if origin != BUILT_IN)
    return (*_library()[1], *(problem for problem in troubles if problem is not None))


def load_book(reference: str | Path) -> Book:
    """The resolved book. Raises `RulebookError` with every problem, or `UsageError` for an unknown id or version."""
    source = _locate(reference)
    # A file of the user's may change between two calls, an installed one does not.
    return _load_installed(source) if source.by_id else _load(source)


def book_file(reference: str | Path) -> Path:
    """The file of a book. Raises `UsageError` for an unknown id or version."""
    return _locate(reference).path


def check_reference(reference: str | Path) -> None:
    """Raises `UsageError` where `reference` is no path and no id and version of a book."""
    _locate(reference)


def read_book(reference: str | Path) -> tuple[Merged | None, list[Problem]]:
    """The book as authored with what it extends, and its problems so far; None where it cannot be read at all.

    `compile.compile_book` turns it into a `Book`. Raises `UsageError` for an unknown id or version.
    """
    return _read(_locate(reference))


def default_books_for(algorithm: str | None, framework: str | None, action_space: str | None) -> tuple[str, ...]:
    """Ids of the books for such a run when none is asked for: the most specific that admits it, else `core`.

    Books of installed packages go before built-in ones. More specific is a book that restricts more of algorithm,
    framework and action space; then one that admits fewer values. A book that restricts nothing, is deprecated or says
    ``default: false`` is only used when it is asked for. An invalid one of a package is passed over
    (`library_problems` names it).
    """
    run = {"algorithm": algorithm, "framework": framework, "action_space": action_space}
    fitting = [
        (origin == BUILT_IN, -len(allowed), sum(map(len, allowed.values())), name)
        for origin, allowed, name in _defaults()
        if all(run[dimension] in values for dimension, values in allowed.items())
    ]
    for built_in, _, _, name in sorted(fitting):
        if built_in or _trouble(name) is None:
            return (name,)
    return (FALLBACK,) if any(book.id == FALLBACK for book in list_books()) else ()


@cache
def _defaults() -> tuple[tuple[str, dict[str, list[str]], str], ...]:
    """Books that may be chosen by default: origin, the values that each restricted dimension admits, and id."""
    found = []
    for book in list_books():
        document, _ = load_yaml(book.latest)
        head = document.data if document is not None and isinstance(document.data, dict) else {}
        about = head.get("applies_to")
        allowed = {name: values for name, values in about.items() if values} if isinstance(about, dict) else {}
        wanted = head.get("default", True) and head.get("status") != "deprecated"
        if wanted and allowed.keys() <= _DIMENSIONS and all(isinstance(v, list) for v in allowed.values()) and allowed:
            found.append((book.origin, allowed, book.id))
    return tuple(found)


@cache
def _trouble(name: str) -> Problem | None:
    """Why the newest version of a package's book cannot be used; None where it can."""
    try:
        load_book(name)
    except RulebookError as error:
        first, info = error.problems[0], next(book for book in list_books() if book.id == name)
        place = f"{first.file}:{first.line}:{first.column}" if first.line else first.file
        message = f"the book '{name}' of {info.origin} cannot be used: {place}: {first.message}"
        hint = f"rl-diagnose rules check {name} shows everything that is wrong with it"
        return Problem("RB035", message, str(info.latest), hint=hint, severity="warning")
    return None


@cache
def _library() -> tuple[tuple[BookInfo, ...], tuple[Problem, ...]]:
    books: dict[str, BookInfo] = {}
    problems: list[Problem] = []
    for origin, name, folders in _roots(problems):
        for folder, versions in folders:
            if not versions:
                continue
            if folder.name in books:
                message = (
                    f"the book '{folder.name}' of {origin} is left out: there is one from {books[folder.name].origin}"
                )
                problems.append(Problem("RB035", message, name, severity="warning"))
                continue
            books[folder.name] = BookInfo(folder.name, tuple(sorted(versions, key=_numbers)), origin, folder)
    return tuple(books[name] for name in sorted(books)), tuple(problems)


def _roots(problems: list[Problem]) -> Iterator[tuple[str, str, list[tuple[Path, list[str]]]]]:
    """Origin, name for messages, and the folders of books with their versions, of each package."""
    yield BUILT_IN, GROUP, _folders("rl_diagnose.rulebooks")
    for entry in sorted(metadata.entry_points(group=GROUP), key=lambda e: (e.name, e.value)):
        origin = f"package {entry.dist.name if entry.dist else entry.name}"
        try:
            folders = _folders(entry.module)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - importing foreign code may fail in any way; it must not stop the others
            message = f"{origin} cannot be used: {type(error).__name__}: {error}"
            problems.append(Problem("RB035", message, entry.value, severity="warning"))
            continue
        yield origin, entry.value, folders


def _folders(package: str) -> list[tuple[Path, list[str]]]:
    children = [child for child in files(package).iterdir() if isinstance(child, Path) and child.is_dir()]
    return [
        (folder, [path.stem for path in folder.iterdir() if _VERSION_FILE.fullmatch(path.name)])
        for folder in sorted(children, key=lambda child: child.name)
    ]


@cache
def _load_installed(source: _Source) -> Book:
    return _load(source)


def _load(source: _Source) -> Book:
    from .compile import compile_book

    merged, problems = _read(source)
    if merged is None:
        raise RulebookError(problems)
    book, problems = compile_book(merged)
    if book is None:
        raise RulebookError(problems)
    return book


def _read(source: _Source) -> tuple[Merged | None, list[Problem]]:
    reader = _Reader()
    merged = reader.read(source)
    if merged is not None:
        merged.problems[:0] = reader.problems
        return merged, merged.problems
    return None, reader.problems


def _locate(reference: str | Path) -> _Source:
    text = str(reference)
    if isinstance(reference, Path) or text.endswith((".yaml", ".yml")) or "/" in text or "\\" in text:
        path = Path(reference)
        try:
            resolved = path.resolve()
        except (OSError, ValueError) as error:
            raise UsageError(f"'{text}' is no path: {error}", hint="give the path of a .yaml file") from None
        return _Source(resolved, text, resolved.parent)
    match = _REFERENCE.fullmatch(text)
    known = {book.id: book for book in list_books()}
    if match is None or match["id"] not in known:
        hint = f"known are {', '.join(known)}; or give the path of a .yaml file"
        raise UsageError(f"no rulebook '{text}'", hint=hint)
    book, wanted = known[match["id"]], match["version"]
    fitting = [v for v in book.versions if wanted is None or f"{v}.".startswith(f"{wanted}.")]
    if not fitting:
        message = f"no version {wanted} of the rulebook '{book.id}'"
        raise UsageError(message, hint=f"there are {', '.join(book.versions)}")
    path = book.folder / f"{fitting[-1]}.yaml"
    return _Source(path, str(path), book.folder.parent, by_id=True)


class _Reader:
    """Reads a book with everything it extends, each file once."""

    def __init__(self) -> None:
        self.done: dict[Path, Merged | None] = {}
        self.problems: list[Problem] = []
        self.size = 0

    def read(self, source: _Source, chain: tuple[_Source, ...] = ()) -> Merged | None:
        """The merged book; None where it, or a book it extends, cannot be used (`problems` say why).

        `chain` are the books that lead to it.
        """
        from .model import AuthoredBook
        from .resolve import merge
        from .salvage import salvage
        from .validate import validate

        if source.path in self.done:
            return self.done[source.path]
        self.done[source.path] = None
        document, problems = load_yaml(source.path, source.display)
        self.problems += problems
        if document is None:
            return None
        self.size += len(document.source)
        if self.size > MAX_TOTAL_BYTES:
            message = f"the books that extend one another have more than {MAX_TOTAL_BYTES // 1_000_000} MB together"
            self.problems.append(document.problem("RB002", message, ()))
            return None
        authored, more = validate(AuthoredBook, document, document.data)
        # Where the YAML itself is wrong, the value that stands in for it is no second mistake.
        places = {(p.line, p.column) for p in problems}
        self.problems += [p for p in more if (p.line, p.column) not in places]
        if authored is None or problems:
            # It cannot be used any more, but what else is wrong with it should come to light at once.
            authored = salvage(document.data)
        if authored is None:
            return None
        self.problems += [*_identity(authored, document, source), *_requirements(authored, document)]
        parents = [self.parent(document, i, name, (*chain, source)) for i, name in enumerate(authored.extends)]
        complete = [parent for parent in parents if parent is not None]
        if len(complete) < len(parents):
            return None
        self.done[source.path] = merge(authored, document, complete)
        return self.done[source.path]

    def parent(self, document: Document, i: int, name: str, chain: tuple[_Source, ...]) -> Merged | None:
        source, at = _parent(name, chain[-1]), ("extends", i)
        if source is None:
            root = chain[-1].root.name
            hint = f"known are {', '.join(b.id for b in list_books())}; or a relative path below {root}/"
            self.problems.append(document.problem("RB030", f"cannot find the book '{name}'", at, hint=hint))
            return None
        if source.path in [s.path for s in chain]:
            way = " → ".join(s.display for s in (*chain, source))
            self.problems.append(document.problem("RB031", f"books extend one another: {way}", at))
            return None
        if source.path not in self.done and len(self.done) >= MAX_FILES:
            message = f"more than {MAX_FILES} books extend one another"
            self.problems.append(document.problem("RB002", message, at))
            return None
        return self.read(source, chain)


def _parent(name: str, child: _Source) -> _Source | None:
    """What `extends: [name]` means in `child`: a file below its root, or a book by its id."""
    if not name.endswith((".yaml", ".yml")):
        try:
            return None if "/" in name or "\\" in name else _locate(name)
        except UsageError:
            return None
    try:
        path = (child.path.parent / name).resolve()
        inside = path.is_relative_to(child.root.resolve()) and path.is_file()
    except (OSError, ValueError):  # a name that the file system cannot have
        return None
    display = str(Path(child.display).parent / name)
    return _Source(path, display, child.root) if inside else None


def _identity(authored: AuthoredBook, document: Document, source: _Source) -> list[Problem]:
    """A book that is found as <id>/<version>.yaml must be that book."""
    if not source.by_id:
        return []
    expected: dict[str, Any] = {"id": source.path.parent.name, "version": source.path.stem}
    return [
        document.problem("RB034", f"{name} is '{getattr(authored, name)}', its place says '{value}'", (name,))
        for name, value in expected.items()
        if getattr(authored, name) != value and getattr(authored, name) == document.data.get(name)
    ]


def _requirements(authored: AuthoredBook, document: Document) -> list[Problem]:
    """Whether this program and its signals are new enough for the book."""
    have = {"engine": metadata.version("rl-diagnose"), "signals": taxonomy_version()}
    problems = []
    for name, version in have.items():
        wanted = getattr(authored.requires, name)
        if wanted is None:
            continue
        parts = [_REQUIREMENT.fullmatch(part.strip()) for part in wanted.split(",")]
        at = ("requires", name)
        if not all(parts):
            problems.append(document.problem("RB012", f"'{wanted}' is not of the form \">=1.2\"", at))
        elif not all(_holds(_numbers(version), match[1], _numbers(match[2])) for match in parts if match):
            what = "rl-diagnose" if name == "engine" else "the signal taxonomy"
            message = f"the book needs {what} {wanted}, this is {version}"
            problems.append(document.problem("RB033", message, at, hint="upgrade rl-diagnose, or use an older book"))
    return problems


def _holds(have: tuple[int, ...], relation: str, wanted: tuple[int, ...]) -> bool:
    return {
        ">=": have >= wanted,
        "<=": have <= wanted,
        ">": have > wanted,
        "<": have < wanted,
        "==": have == wanted,
    }[relation]


def _numbers(version: str) -> tuple[int, ...]:
    """The three numbers of a version; what follows them (``.dev0``) does not count."""
    parts = [int(part) for part in re.findall(r"[0-9]+", version)[:3]]
    return tuple(parts + [0] * (3 - len(parts)))
