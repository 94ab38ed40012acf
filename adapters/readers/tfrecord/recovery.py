"""Getting over damage: mending a header, or finding the next record. All positions are offsets in the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .headers import HEADER, OVERHEAD, find_headers, length_at, mended_lengths
from .loose import verify

if TYPE_CHECKING:
    from .window import Window

__all__ = ["mended_length", "next_record"]

_SEARCHED_AT_ONCE = 1 << 20


def mended_length(window: Window, offset: int) -> int | None:
    """The length of the record at `offset` whose header is spoilt by up to three flipped bits.

    None unless its data have the right checksum, or another record or the end of the file follows them. Moves the
    window where it has to. Stepping over the record as a whole keeps a file within a file (an event file logged as an
    artefact) from being taken for a part of this one.
    """
    place = offset - window.base
    for length in mended_lengths(window.data[place : place + HEADER]):
        if _confirmed(window, offset, length):
            return length
    return None


def next_record(window: Window, offset: int) -> int:
    """Where the first record begins that is found from `offset` on; the size of the file when there is none.

    A header counts when another record or the end of the file follows its record, or its data have the right checksum.
    Moves the window where it has to.
    """
    while offset + HEADER <= window.size:
        window.cover(offset, min(offset + _SEARCHED_AT_ONCE, window.size))
        stop = min(offset + _SEARCHED_AT_ONCE, window.base + window.stop)
        base = window.base
        positions, lengths = find_headers(window.data, offset - base, stop - base)
        for position, length in zip((positions + base).tolist(), lengths.tolist(), strict=True):
            if _confirmed(window, position, length):
                return int(position)
        offset = stop - HEADER + 1
    return window.size


def _confirmed(window: Window, offset: int, length: int) -> bool:
    behind = offset + OVERHEAD + length
    if behind > window.size or not window.cover(offset, behind + HEADER):
        return False
    position = behind - window.base
    if behind == window.size or (position + HEADER <= window.stop and length_at(window.data, position) is not None):
        return True
    start = offset - window.base + HEADER
    return bool(verify(window.data, np.array([start]), np.array([length]))[0])
