"""Folders below a path that may hold logs, in a fixed order."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from .adapter import Folder
from .copies import without_copies

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

__all__ = ["ATTACHED", "HIDDEN_LOG_FOLDERS", "OWN_EVENTS", "SKIPPED_FOLDERS", "find_folders"]

SKIPPED_FOLDERS = frozenset({"node_modules", "venv", "site-packages", "__pycache__"})
"""Folders which are never looked into, beside hidden ones (a name that starts with a dot)."""

HIDDEN_LOG_FOLDERS = frozenset({".summary"})
"""Hidden folders that hold logs all the same (Sample Factory's)."""

OWN_EVENTS = ".rl-diagnose"
"""How the names of event files end that hold our own texts: they are no logs."""


ATTACHED = "rl-diagnose.html"
"""The name of our report among the files of a tracker's run. W&B keeps it as a further folder of the run, which holds
no log."""


def find_folders(path: Path, report: Callable[[Path, str], None] | None = None) -> Iterator[Folder]:
    """The folder `path` and those below it that hold regular files, parents first, by name; for a file, that file.

    Hidden folders (but for `HIDDEN_LOG_FOLDERS`) and `SKIPPED_FOLDERS` are left out, except as `path` itself, and so
    are pipes, sockets, devices, `OWN_EVENTS` and copies of a file beside it. A linked folder is entered once, after all
    folders that are really there, and never a second time. `report` is told of folders that cannot be opened, of links
    that lead nowhere, and of copies.
    """
    if path.is_file():
        yield Folder(path, (path,))
        return
    tell = report if report is not None else _ignore
    if path.exists() and not path.is_dir():
        tell(path, "neither a folder nor a regular file")
        return
    seen: set[str] = set()
    waiting = [path]
    while waiting:
        linked: list[Path] = []
        for root in waiting:
            yield from _walk(root, seen, linked, tell)
        waiting = sorted(linked)


def _walk(root: Path, seen: set[str], linked: list[Path], tell: Callable[[Path, str], None]) -> Iterator[Folder]:
    """Folders below `root` which are really there and not in `seen`; links to folders are added to `linked`."""
    pending = [root]
    while pending:
        folder = pending.pop()
        try:
            identity = os.path.realpath(folder, strict=True)
            if identity in seen:
                continue
            seen.add(identity)
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            tell(folder, f"cannot be opened: {error.strerror or error}")
            continue
        files: list[Path] = []
        folders: list[Path] = []
        for entry in entries:
            place = folder / entry.name
            if _is(entry.is_file):
                if not entry.name.endswith(OWN_EVENTS):
                    files.append(place)
            elif _is(entry.is_dir):
                hidden = entry.name.startswith(".") and entry.name not in HIDDEN_LOG_FOLDERS
                if not hidden and entry.name not in SKIPPED_FOLDERS:
                    (linked if entry.is_symlink() else folders).append(place)
            elif entry.is_symlink():
                tell(place, "a link that leads nowhere or to itself")
        if files and not (folder / "files" / ATTACHED).is_file():
            yield Folder(folder, tuple(without_copies(files, tell)))
        pending += reversed(folders)


def _is(question: Callable[[], bool]) -> bool:
    """The answer, or False where the entry cannot be looked at (a link to itself, a folder that was just removed)."""
    try:
        return question()
    except OSError:
        return False


def _ignore(_place: Path, _fact: str) -> None:
    """Nobody asked for reports."""
