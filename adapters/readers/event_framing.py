"""Framing of event files: where each record is, whether it is whole, and a cheap look at the tags.

An event file is a TFRecord stream: ``uint64 length | uint32 masked crc32c(length) | data | uint32 masked
crc32c(data)`` with one `Event` protocol buffer in each `data`. Nothing here needs protobuf or tensorboard.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["LFS_MAGIC", "Framing", "first_damaged_record", "masked_crc32c", "peek_tags", "walk"]

LFS_MAGIC = b"version https://git-lfs"
_HEADER = struct.Struct("<QI")
_HEADER_SIZE = 12
_OVERHEAD = 16  # header and the checksum after the data
_HEADS = (1 << 14, 1 << 22)
_FEW_RECORDS = 48  # below this many records of one length a plain loop is faster than vectors


def _crc_table() -> NDArray[np.uint32]:
    crc = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        crc = np.where(crc & 1, (crc >> 1) ^ np.uint32(0x82F63B78), crc >> 1).astype(np.uint32)
    return crc


_TABLE = _crc_table()
_TABLE_LIST: list[int] = _TABLE.tolist()


def masked_crc32c(data: bytes) -> int:
    """Masked CRC-32C (Castagnoli) of `data`, as TFRecord stores it."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _TABLE_LIST[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    crc ^= 0xFFFFFFFF
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Framing:
    """The chain of whole records from the start of a file.

    `starts` and `lengths` are int64 arrays of shape (records,): offset and size of each record's data.
    `end` is the offset behind the last whole record. `stop` says why the chain ends there: ``end`` of the
    file, a ``truncated`` record, ``zeros`` up to the end of the file, or a ``damaged`` header.
    """

    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    end: int
    stop: Literal["end", "truncated", "zeros", "damaged"]


def walk(data: bytes) -> Framing:
    """Follow the record headers of `data`, checking the checksum of each length. Never raises."""
    starts: list[int] = []
    lengths: list[int] = []
    sizes: dict[bytes, int] = {}  # the same few lengths come again and again
    stop: Literal["end", "truncated", "zeros", "damaged"] = "end"
    position, total = 0, len(data)
    while position < total:
        header = data[position : position + _HEADER_SIZE]
        size = sizes.get(header)
        if size is None:
            if len(header) < _HEADER_SIZE:
                stop = "truncated" if header.strip(b"\0") else "zeros"
                break
            size, crc = _HEADER.unpack(header)
            if masked_crc32c(header[:8]) != crc:
                stop = "damaged" if data[position:].strip(b"\0") else "zeros"
                break
            sizes[header] = size
        if position + _OVERHEAD + size > total:
            stop = "truncated"
            break
        starts.append(position + _HEADER_SIZE)
        lengths.append(size)
        position += _OVERHEAD + size
    return Framing(np.array(starts, np.int64), np.array(lengths, np.int64), position, stop)


def first_damaged_record(data: bytes, framing: Framing) -> int | None:
    """Index of the first record whose data fails its checksum; None when all of them are sound."""
    raw = np.frombuffer(data, np.uint8)
    stored = np.zeros(framing.starts.size, np.uint32)
    for k in range(4):
        stored |= raw[framing.starts + framing.lengths + k].astype(np.uint32) << np.uint32(8 * k)
    bad: list[int] = []
    for length in np.unique(framing.lengths).tolist():
        index = np.flatnonzero(framing.lengths == length)
        if index.size < _FEW_RECORDS:
            for i in index.tolist():
                start = int(framing.starts[i])
                if masked_crc32c(data[start : start + length]) != int(stored[i]):
                    bad.append(i)
            continue
        computed = _masked_crc_of_many(raw, framing.starts[index], length)
        bad.extend(index[computed != stored[index]].tolist())
    return min(bad, default=None)


def _masked_crc_of_many(raw: NDArray[np.uint8], starts: NDArray[np.int64], length: int) -> NDArray[np.uint32]:
    """Masked checksums of many records of one length: one vector step a byte."""
    crc = np.full(starts.size, 0xFFFFFFFF, np.uint32)
    for offset in range(length):
        crc = _TABLE[(crc ^ raw[starts + offset]) & np.uint32(0xFF)] ^ (crc >> np.uint32(8))
    crc = ~crc
    rotated = (crc >> np.uint32(15)) | (crc << np.uint32(17))
    return rotated + np.uint32(0xA282EAD8)  # wraps around at 2³², as it must


def peek_tags(path: Path) -> frozenset[str]:
    """Tags in the head of an event file; empty for anything that is not one. Never raises.

    The head is 16 KiB, or 4 MiB where the first records are larger than that (a graph, an image) and no tag is in it.
    """
    tags: frozenset[str] = frozenset()
    for limit in _HEADS:
        try:
            with path.open("rb") as file:
                data = file.read(limit)
        except OSError:
            return tags
        framing = walk(data)
        tags = frozenset(
            tag
            for start, length in zip(framing.starts.tolist(), framing.lengths.tolist(), strict=True)
            for tag in _event_tags(data[start : start + length])
        )
        if tags or framing.stop == "damaged" or len(data) < limit:
            break
    return tags


def _event_tags(event: bytes) -> Iterator[str]:
    """Tags of one `Event`: field 5 is the summary, its field 1 a value, whose field 1 is the tag."""
    for number, summary in _submessages(event):
        if number != 5:
            continue
        for value_number, value in _submessages(summary):
            if value_number != 1:
                continue
            tag = next((text for text_number, text in _submessages(value) if text_number == 1), None)
            if tag is not None:
                yield tag.decode("utf-8", "replace")


def _submessages(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Length-delimited fields of a protocol buffer as (field number, bytes); stops at the first odd byte."""
    position = 0
    while position < len(data):
        key, position = _varint(data, position)
        wire = key & 7
        if wire == 0:
            _, position = _varint(data, position)
        elif wire == 1:
            position += 8
        elif wire == 5:
            position += 4
        elif wire == 2:
            size, position = _varint(data, position)
            if position + size > len(data):
                return
            yield key >> 3, data[position : position + size]
            position += size
        else:
            return


def _varint(data: bytes, position: int) -> tuple[int, int]:
    """The varint at `position` and the offset behind it; a cut one ends at the end of `data`."""
    value = shift = 0
    while position < len(data) and shift < 70:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if not byte & 0x80:
            break
        shift += 7
    return value, position
