"""A cheap look at event files: the tags in their head, without decoding anything."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from .tfrecord.crc32c import masked_crc32c
from .tfrecord.headers import HEADER, OVERHEAD, find_headers, length_at
from .tfrecord.wire import SIZED, MalformedError, fields_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

__all__ = ["LFS_MAGIC", "masked_crc32c", "peek_tags"]

LFS_MAGIC = b"version https://git-lfs"
_HEADS = (1 << 14, 1 << 22)
_SUMMARY, _VALUE, _TAG = 5, 1, 1  # fields of Event, Summary, Summary.Value
_PREFIX = 2  # bytes before a tag: its field number, its length


def peek_tags(path: Path) -> frozenset[str]:
    """Tags in the head of an event file; empty for anything that is not one. Never raises.

    The head is 16 KiB, or 4 MiB where the first records are larger than that (a graph, an image) and no tag is in it.
    """
    try:
        state = path.stat()
    except OSError:
        return frozenset()
    return _peek(path, state.st_mtime_ns, state.st_size)


# Every adapter asks, when looking for runs and again when reading: kept for as many files as a sweep has.
@lru_cache(maxsize=1 << 14)
def _peek(path: Path, _changed: int, _size: int) -> frozenset[str]:
    tags: frozenset[str] = frozenset()
    for limit in _HEADS:
        try:
            with path.open("rb") as file:
                data = file.read(limit)
        except OSError:
            return tags
        tags = _shared(frozenset(_tags_of(_events(data))))
        if tags or len(data) < limit:
            break
    return tags


@lru_cache(maxsize=256)
def _shared(tags: frozenset[str]) -> frozenset[str]:
    """One object for equal sets: the runs of a sweep log the same tags."""
    return tags


def _events(data: bytes) -> Iterator[bytes]:
    """The data of each whole record; behind a damaged header, from the next sound one on."""
    position, seen = 0, {}  # the same few headers come again and again
    while position + HEADER <= len(data):
        header = data[position : position + HEADER]
        if header not in seen:
            seen[header] = length_at(header, 0)
        length = seen[header]
        if length is None:
            positions, _ = find_headers(data, position + 1, len(data))
            if not positions.size:
                return
            position = int(positions[0])
            continue
        if position + OVERHEAD + length > len(data):
            return
        yield data[position + HEADER : position + HEADER + length]
        position += OVERHEAD + length


def _tags_of(events: Iterable[bytes]) -> set[str]:
    """All tags of some events.

    An event as long as an earlier one, with the same tags in the same places, is not parsed again. A place takes in the
    bytes that hold the length of the tag: without them a longer tag would pass for the one it begins with.
    """
    tags: set[str] = set()
    parsed: dict[int, list[tuple[tuple[int, bytes], ...]]] = {}
    for event in events:
        shapes = parsed.setdefault(len(event), [])
        if _has_one_of(shapes, event):
            continue
        places = tuple(_event_tags(event))
        tags.update(event[start:stop].decode("utf-8", "replace") for start, stop in places)
        if places:
            shapes.append(tuple((start - _PREFIX, event[start - _PREFIX : stop]) for start, stop in places))
    return tags


def _has_one_of(shapes: list[tuple[tuple[int, bytes], ...]], event: bytes) -> bool:
    for shape in shapes:
        for at, tag in shape:
            if not event.startswith(tag, at):
                break
        else:
            return True
    return False


def _event_tags(event: bytes) -> Iterator[tuple[int, int]]:
    """The tags of an event: where each begins and ends."""
    try:
        for number, wire, offset, size in fields_of(event, 0, len(event)):
            if (number, wire) == (_SUMMARY, SIZED):
                for value, value_wire, start, length in fields_of(event, offset, offset + size):
                    if (value, value_wire) == (_VALUE, SIZED):
                        yield from _value_tags(event, start, start + length)
    except (MalformedError, IndexError):
        return


def _value_tags(event: bytes, start: int, stop: int) -> Iterator[tuple[int, int]]:
    for number, wire, offset, size in fields_of(event, start, stop):
        if (number, wire) == (_TAG, SIZED):
            yield offset, offset + size
