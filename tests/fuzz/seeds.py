"""Real files to start from: those of this repository, and the public samples where they are beside the checkout."""

from __future__ import annotations

import io
import os
import zipfile
from functools import cache
from pathlib import Path

__all__ = ["ROOT", "heads", "members", "whole"]

ROOT = Path(__file__).resolve().parents[2]
_FOLDERS = ("examples", "tests/data", "rulebooks", "adapters/maps")


@cache
def _files() -> tuple[Path, ...]:
    """All files that seeds are taken from, smallest first, so that what is chosen does not depend on a file system."""
    samples = Path(os.environ.get("RL_DIAGNOSE_SHARED", ROOT.parent / "shared")) / "samples"
    folders = [*(ROOT / name for name in _FOLDERS), samples]
    found = [path for folder in folders if folder.is_dir() for path in folder.rglob("*") if path.is_file()]
    return tuple(sorted(found, key=lambda path: (path.stat().st_size, path.name, str(path))))


def heads(pattern: str, size: int, count: int) -> list[bytes]:
    """The first `size` bytes of up to `count` different files whose names fit a glob pattern, smallest files first."""
    found: dict[bytes, None] = {}
    for path in _files():
        if len(found) < count and path.match(pattern):
            with path.open("rb") as file:
                found.setdefault(file.read(size))
    return list(found)


def whole(pattern: str, size: int, count: int) -> list[bytes]:
    """The same for files of at most `size` bytes only: a cut archive cannot be opened at all."""
    return [data for data in heads(pattern, size + 1, count) if len(data) <= size]


def members(archive: bytes, suffix: str) -> list[bytes]:
    """The files in a zip archive whose names have this ending."""
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        return [opened.read(name) for name in opened.namelist() if name.endswith(suffix)]
