"""Checksums and archives around fuzzed bytes: without them a changed byte would be refused before anything reads it."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterable, Mapping

from rl_diagnose.adapters.readers.event_framing import masked_crc32c

__all__ = ["event_file", "event_parts", "pack", "unpack", "wandb_file", "wandb_parts", "zip_file"]

_SIZE = struct.Struct("<H")
_EVENT_HEAD = struct.Struct("<QI")
_WANDB_HEAD = struct.Struct("<IHB")
_WANDB_START = b":W&B\xbf\xde\x00"
_WANDB_BLOCK = 32768
_FULL = 1


def pack(parts: Iterable[bytes]) -> bytes:
    """Byte strings as one, each behind its length in two bytes."""
    return b"".join(_SIZE.pack(len(part)) + part for part in parts)


def unpack(data: bytes) -> list[bytes]:
    """The byte strings in `data`, whatever it is: a length beyond its end takes the rest."""
    parts = []
    while len(data) >= _SIZE.size:
        (size,) = _SIZE.unpack_from(data)
        parts.append(data[_SIZE.size : _SIZE.size + size])
        data = data[_SIZE.size + size :]
    return parts


def event_file(parts: Iterable[bytes]) -> bytes:
    """An event file whose records hold these data, with checksums that are right."""
    framed = []
    for data in parts:
        length = struct.pack("<Q", len(data))
        framed += [length, struct.pack("<I", masked_crc32c(length)), data, struct.pack("<I", masked_crc32c(data))]
    return b"".join(framed)


def event_parts(file: bytes, most: int) -> list[bytes]:
    """The data of the first records of an event file, of at most that many bytes together."""
    parts: list[bytes] = []
    position = 0
    while position + _EVENT_HEAD.size <= len(file):
        length, _ = _EVENT_HEAD.unpack_from(file, position)
        position += _EVENT_HEAD.size
        if length + sum(map(len, parts)) > most:
            break
        parts.append(file[position : position + length])
        position += length + 4
    return parts


def wandb_file(parts: Iterable[bytes]) -> bytes:
    """A W&B datastore of these records; one that does not fit into what is left of the first block is left out."""
    file = bytearray(_WANDB_START)
    for data in parts:
        if len(file) + _WANDB_HEAD.size + len(data) <= _WANDB_BLOCK:
            checksum = zlib.crc32(data, zlib.crc32(bytes([_FULL])))
            file += _WANDB_HEAD.pack(checksum, len(data), _FULL) + data
    return bytes(file)


def wandb_parts(file: bytes, most: int) -> list[bytes]:
    """The first whole records of a W&B datastore, of at most that many bytes together."""
    parts: list[bytes] = []
    position = len(_WANDB_START)
    while position + _WANDB_HEAD.size <= min(len(file), _WANDB_BLOCK):
        _, length, kind = _WANDB_HEAD.unpack_from(file, position)
        position += _WANDB_HEAD.size
        if kind != _FULL or length + sum(map(len, parts)) > most:
            break
        parts.append(file[position : position + length])
        position += length
    return parts


def zip_file(members: Mapping[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    """A zip archive of these files, the same for the same files."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data, compression)
    return stream.getvalue()
