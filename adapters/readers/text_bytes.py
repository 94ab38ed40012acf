"""A text file as clean UTF-8 bytes: decompressed, decoded, line ends made equal, within a limit of size."""

from __future__ import annotations

import codecs
import re
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rl_diagnose.errors import LogError
from rl_diagnose.signals.run import LogIssue

if TYPE_CHECKING:
    from pathlib import Path
    from typing import BinaryIO

__all__ = ["MAX_BYTES", "TextBytes", "read_text_bytes"]

MAX_BYTES = 512 * 1024 * 1024
"""Largest text file that is read, in bytes after decompression."""

_BLOCK = 4096
_CHUNK = 1 << 20
_GZIP = 16 + zlib.MAX_WBITS
_LOOK = 1 << 13
_ZEROS = re.compile(rb"\0+")
_MAX_HOLES = 3
_MAX_CONTROLS = 8
_MAX_CONTROL_SHARE = 0.02
_TEXT_CONTROLS = b"\t\n\x0b\x0c\r\x1b"
_UTF = (  # the longer mark first: UTF-32's begins with UTF-16's
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_FOREIGN = (
    (b"PK\x03\x04", "a zip archive (a workbook, a model or an npz file)"),
    (b"PAR1", "a Parquet file"),
    (b"ARROW1", "an Arrow file"),
    (b"SQLite format 3", "an SQLite database"),
    (b"\x89HDF", "an HDF5 file"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"%PDF", "a PDF document"),
    (b"\x89PNG", "a picture"),
    (b"\x80", "a pickle, which is never loaded"),
)


@dataclass(frozen=True, slots=True)
class TextBytes:
    """The text of a file as UTF-8 `data` with ``\\n`` line ends, without byte order mark and NUL bytes.

    `foreign` says that the file was not UTF-8 and was taken as Latin-1. `unfinished` says that something other than the
    text shows an interrupted writer: zeros at the end, a cut compressed stream or character, or a file that ends in
    mid-line on a block of 4096 bytes. `whole` is False where only the head was read.
    """

    data: bytes
    unfinished: bool = False
    whole: bool = True
    issues: tuple[LogIssue, ...] = ()
    foreign: bool = False


def read_text_bytes(path: Path, *, limit: int | None = None, head: int | None = None) -> TextBytes:
    """Read `path` (plain or gzip); with `head`, only whole lines within about that many bytes.

    UTF-16 and UTF-32 are known by their byte order mark; what is not UTF-8 is taken as Latin-1. Issue codes:
    ``encoding``, ``nul_bytes``, ``gzip_cut``.

    Raises `LogError` when the file cannot be opened, is larger than `limit` bytes (`MAX_BYTES` if not given), is
    binary, a Git LFS pointer or an HTML page.
    """
    raw, compressed, cut = _stored_bytes(path, MAX_BYTES if limit is None else limit, head)
    whole = head is None or len(raw) <= head
    raw = raw if whole else raw[:head]
    issues: list[LogIssue] = []
    if cut and whole:
        text = "the compressed file ends too early: what came before is used"
        issues.append(LogIssue("gzip_cut", text, path.name))
    _refuse_foreign(raw, path)
    data, broken_end, foreign = _to_utf8(raw, path, issues)
    if not whole:
        data = data[: data.rfind(b"\n") + 1] or data
        broken_end = False
    zeros = data.endswith(b"\0")
    data = _without_nul(data, path, issues)
    data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    on_block = not compressed and len(raw) % _BLOCK == 0
    open_end = not data.endswith(b"\n")
    unfinished = whole and open_end and (zeros or cut or broken_end or on_block)
    return TextBytes(data, unfinished, whole, tuple(issues), foreign)


def _stored_bytes(path: Path, limit: int, head: int | None) -> tuple[bytes, bool, bool]:
    """The bytes (one more than `head` where there are more), whether they were compressed, and whether the stream was
    cut."""
    wanted = limit if head is None else min(head, limit)
    try:
        with path.open("rb") as file:
            compressed = file.read(2) == b"\x1f\x8b"
            file.seek(0)
            if not compressed:
                raw, cut = file.read(wanted + 1), False
            else:
                raw, cut = _decompressed(file, wanted + 1)
    except OSError as error:
        raise LogError(f"the file cannot be read: {error.strerror or error}", place=path) from None
    if head is None and len(raw) > limit:
        size = f"{limit / 2**20:.0f} MiB" + (" when decompressed" if compressed else "")
        raise LogError(f"the file is larger than {size}", place=path, hint="give a shorter or thinned-out log")
    return raw, compressed, cut


def _decompressed(file: BinaryIO, wanted: int) -> tuple[bytes, bool]:
    """Up to `wanted` bytes of a gzip file of one or more members, and whether it ended too early or in rubbish."""
    parts: list[bytes] = []
    size = 0
    pending = b""
    stream = zlib.decompressobj(_GZIP)
    try:
        while size < wanted:
            pending = pending or file.read(_CHUNK)
            if not pending:
                return b"".join(parts), not stream.eof
            if stream.eof:
                stream = zlib.decompressobj(_GZIP)
            parts.append(stream.decompress(pending, wanted - size))
            size += len(parts[-1])
            pending = stream.unused_data if stream.eof else stream.unconsumed_tail
    except zlib.error:
        return b"".join(parts), True
    return b"".join(parts), False


def _refuse_foreign(raw: bytes, path: Path) -> None:
    """Raise `LogError` for what is certainly no table or JSON, naming it where it can be named."""
    start = raw[:_LOOK]
    what = next((name for magic, name in _FOREIGN if start.startswith(magic)), None)
    if what is not None:
        raise LogError(f"this is {what}; text is expected", place=path)
    if start.startswith(b"version https://git-lfs"):
        raise LogError(
            "this is a Git LFS pointer: the file itself was not downloaded", place=path, hint="run `git lfs pull`"
        )
    if start.lstrip().lower().startswith((b"<!doctype html", b"<html")):
        raise LogError("this is a web page", place=path, hint="download the raw file")
    if any(start.startswith(mark) for mark, _ in _UTF):
        return
    controls = len(start) - len(start.translate(None, bytes(b for b in range(1, 32) if b not in _TEXT_CONTROLS)))
    text_then_zeros = start.rstrip(b"\0")
    holes = len(_ZEROS.findall(text_then_zeros))  # a crash or a flipped bit leaves one or the other in a text
    if holes > _MAX_HOLES or controls > max(_MAX_CONTROLS, _MAX_CONTROL_SHARE * len(start)):
        raise LogError("this is a binary file; text is expected", place=path)
    if start and not text_then_zeros:
        raise LogError(
            "the file holds only zero bytes", place=path, hint="the machine may have crashed while it was written"
        )


def _to_utf8(raw: bytes, path: Path, issues: list[LogIssue]) -> tuple[bytes, bool, bool]:
    """UTF-8 without a byte order mark, whether the last character was cut, and whether it was taken as Latin-1."""
    for mark, name in _UTF:
        if raw.startswith(mark):
            issues.append(LogIssue("encoding", f"the file is {name.upper()}", path.name, severity="info"))
            text = codecs.getincrementaldecoder(name)("replace").decode(raw)
            return text.encode("utf-8"), len(raw) % (4 if name == "utf-32" else 2) != 0, False
    raw = raw.removeprefix(codecs.BOM_UTF8)
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.reason == "unexpected end of data":
            return raw[: error.start], True, False
        text = f"the file is not UTF-8 (first at byte {error.start}, or damaged there): it was read as Latin-1"
        issues.append(LogIssue("encoding", text, path.name, severity="info"))
        return raw.decode("latin-1").encode("utf-8"), False, True
    return raw, False, False


def _without_nul(data: bytes, path: Path, issues: list[LogIssue]) -> bytes:
    """Without zeros at the end, and with blank lines for those that hold zeros: a crash of the machine leaves both
    behind."""
    if b"\0" not in data:
        return data
    kept = data.rstrip(b"\0")
    zeros = len(data) - len(kept)
    lines = 0
    if b"\0" in kept:
        split = kept.split(b"\n")
        lines = sum(b"\0" in line for line in split)
        kept = b"\n".join(b"" if b"\0" in line else line for line in split)
    facts = [f"{zeros} zero bytes at the end"] if zeros else []
    facts += [f"{lines} lines with zero bytes in them"] if lines else []
    text = " and ".join(facts)
    issues.append(LogIssue("nul_bytes", f"{text} were left out: the machine may have crashed", path.name))
    return kept
