"""A cheap look at event files: the tags in their head, without decoding anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .tfrecord.crc32c import masked_crc32c
from .tfrecord.headers import HEADER, OVERHEAD, length_at
from .tfrecord.wire import SIZED, MalformedError, fields_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["LFS_MAGIC", "masked_crc32c", "peek_tags"]

LFS_MAGIC = b"version https://git-lfs"
_HEADS = (1 << 14, 1 << 22)
_SUMMARY, _VALUE, _TAG = 5, 1, 1  # fields of Event, Summary, Summary.Value


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
        tags = frozenset(tag for event in _events(data) for tag in _event_tags(event))
        if tags or len(data) < limit:
            break
    return tags


def _events(data: bytes) -> Iterator[bytes]:
    """The data of each whole record from the beginning up to the first damaged header."""
    position, seen = 0, {}  # the same few headers come again and again
    while position + HEADER <= len(data):
        header = data[position : position + HEADER]
        if header not in seen:
            seen[header] = length_at(header, 0)
        length = seen[header]
        if length is None or position + OVERHEAD + length > len(data):
            return
        yield data[position + HEADER : position + HEADER + length]
        position += OVERHEAD + length


def _event_tags(event: bytes) -> Iterator[str]:
    try:
        for number, wire, offset, size in fields_of(event, 0, len(event)):
            if (number, wire) == (_SUMMARY, SIZED):
                for value, value_wire, start, length in fields_of(event, offset, offset + size):
                    if (value, value_wire) == (_VALUE, SIZED):
                        yield from _value_tags(event, start, start + length)
    except (MalformedError, IndexError):
        return


def _value_tags(event: bytes, start: int, stop: int) -> Iterator[str]:
    for number, wire, offset, size in fields_of(event, start, stop):
        if (number, wire) == (_TAG, SIZED):
            yield event[offset : offset + size].decode("utf-8", "replace")
