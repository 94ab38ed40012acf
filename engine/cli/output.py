"""Where a report goes: the terminal, a pipe, or a file that is replaced whole or not at all."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["check_folder", "check_target", "format_for", "make_folder", "print_bytes", "write_bytes", "write_file"]

_SUFFIXES = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".html": "html",
    ".htm": "html",
    ".json": "json",
    ".txt": "rich",
    ".xml": "junit",
    ".sarif": "sarif",
}
# How each of our own reports begins: only these are ever replaced.
_HEADS = (
    b"# rl-diagnose report",
    b"rl-diagnose report",
    b"# rl-diagnose patch\n",
    b"<!doctype html>\n<!-- rl-diagnose report",
    b'{\n  "schema": "rl-diagnose/',
    b'<?xml version="1.0" encoding="UTF-8"?>\n<!-- rl-diagnose report',
    b'{\n  "properties": {\n    "writer": "rl-diagnose"',
)


def format_for(output: str, asked: str | None) -> str:
    """The format of the file `output`: what was asked for, or what its name says. Raises `UsageError` if neither."""
    if asked == "github":
        raise UsageError(
            "annotations are read from the output of a step, not from a file",
            place="--format github",
            hint="leave --output away; for a file, write .sarif or .xml",
        )
    known = asked or _SUFFIXES.get(Path(output).suffix.lower())
    if known is None:
        raise UsageError(
            "the name does not say which format is meant",
            place=output,
            hint="end it in .html, .md, .json, .txt, .sarif or .xml (JUnit), or add --format",
        )
    return known


def check_target(output: str, logs: Iterable[str] = ()) -> Path:
    """The real path of `output`; raises `UsageError` where writing there would lose something.

    A file that exists is replaced only if it is empty or begins like a report of this program; folders and the log
    files in `logs` are never touched. Devices and pipes are written through.
    """
    target = Path(output).resolve()
    if target.is_dir():
        raise UsageError("this is a folder", place=output, hint=f"name a file in it: {Path(output) / 'report.md'}")
    if not target.parent.is_dir():
        raise UsageError("the folder does not exist", place=target.parent, hint="create it first, or write elsewhere")
    if target in {Path(log).resolve() for log in logs}:
        raise UsageError("this is a log file that was read", place=output, hint="choose another name for the report")
    if target.is_file() and target.stat().st_size and not _ours(target):
        raise UsageError(
            "the file exists and is not a report of rl-diagnose",
            place=output,
            hint="choose another name, or remove it first",
        )
    return target


def check_folder(name: str, logs: Iterable[str] = ()) -> Path:
    """The real path of the folder `name`, which need not exist yet; raises `UsageError` where it cannot be written to.

    It must not hold any of the files in `logs`: what is written there stays apart from what was read.
    """
    folder = Path(name).resolve()
    if folder.exists() and not folder.is_dir():
        raise UsageError("this is a file, not a folder", place=name, hint="name a folder of its own")
    if not folder.exists() and not folder.parent.is_dir():
        raise UsageError("the folder above it does not exist", place=name, hint="create it first, or write elsewhere")
    if folder in {Path(log).resolve().parent for log in logs}:
        raise UsageError("this folder holds logs that were read", place=name, hint="name a folder of its own")
    return folder


def make_folder(folder: Path) -> None:
    """Create `folder` if it does not exist; raises `UsageError` where that fails."""
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"cannot be created: {error.strerror or error}", place=folder, hint="write elsewhere"
        ) from error


def write_file(target: Path, text: str) -> None:
    """Write `text` as UTF-8: a regular file is replaced in one step, so that no reader sees half a report."""
    write_bytes(target, text.encode("utf-8"))


def write_bytes(target: Path, data: bytes) -> None:
    """Write `data`: a regular file is replaced in one step, so that no reader sees half of it."""
    try:
        if target.exists() and not stat.S_ISREG(target.stat().st_mode):
            target.write_bytes(data)
            return
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            Path(name).chmod(target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask())
            Path(name).replace(target)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise UsageError(
            f"cannot be written: {error.strerror or error}", place=target, hint="write elsewhere"
        ) from error


def print_bytes(text: str) -> None:
    """Write `text` to stdout as UTF-8 with bare newlines, whatever the terminal's encoding."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8"))
    sys.stdout.buffer.flush()


def _ours(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(64).startswith(_HEADS)


def _umask() -> int:
    # There is no way to read it but to set it.
    mask = os.umask(0)
    os.umask(mask)
    return mask
