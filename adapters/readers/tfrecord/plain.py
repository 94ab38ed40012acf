"""Decodes plain scalars: events with a wall time, a step and one ``simple_value``, as torch and tensorboardX write.

They are recognised and decoded together whatever their tags and lengths, so a short log of many tags costs no more than
one of few.

The bytes of such an event, the numbers in brackets being sizes::

    09 wall time (8)   10 step (1…5)   2a n   0a n   0a n tag (n)   15 value (4)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .crc32c import checksums, distance_tables, unmask_all
from .fields import signed_varints

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .fields import Buffer

    Indices = NDArray[np.intp]
    Integers = NDArray[np.int64]
    Floats = NDArray[np.float64]
    Words = NDArray[np.uint64]

__all__ = ["Plain", "decode_plain"]

_HEAD = 24  # bytes at the beginning that hold wall time and step
_SHORTEST, _LONGEST = 24, 143  # of events whose inner lengths are one byte each
_LONGEST_TAG = 118
_MOST_STEP_BYTES = 5
_HIGH_BITS = 0x8080808080
_INNER = 0x0A << 32 | 0x0A << 16 | 0x2A
_INNER_MASK = (1 << 48) - 1
_MIXER = np.uint64(0x9E3779B97F4A7C15)
_LOW_BYTES = np.array([(1 << 8 * count) - 1 for count in range(9)], np.uint64)


@dataclass(frozen=True, slots=True)
class Plain:
    """Plain scalars: which of the records they are, in order, and for each of them step, wall time, value, and whether
    the checksum is right. `kinds` numbers records of one tag, tag position and length; `tags` has the tag of each kind.
    """

    members: Indices
    steps: Floats
    walls: Floats
    values: Floats
    sound: NDArray[np.bool_]
    kinds: Indices
    tags: list[str]


def decode_plain(data: Buffer, starts: Integers, lengths: Integers) -> Plain | None:
    """Decode those of the records that are plain scalars; None when there are none.

    `data` must go on for 32 bytes behind the last record.
    """
    members = np.flatnonzero((lengths >= _SHORTEST) & (lengths <= _LONGEST))
    if not members.size:
        return None
    starts, lengths = starts[members], lengths[members]
    eight = np.ndarray((len(data) - 7,), "<u8", data, 0, (1,))
    head = np.ndarray((len(data) - _HEAD + 1,), np.dtype((np.void, _HEAD)), data, 0, (1,))[starts]
    raw = np.ndarray((members.size,), "<u8", head, 10, (_HEAD,)).copy()
    bytes_of_head = head.view(np.uint8).reshape(-1, _HEAD)
    step_size = np.where(bytes_of_head[:, 9] == 0x10, _varint_sizes(raw), -1)
    inner = starts + 10 + step_size
    tag_sizes = lengths - step_size - 21
    inner_sizes = tag_sizes.astype(np.uint64)
    expected = inner_sizes * np.uint64(1 << 40 | 1 << 24 | 1 << 8) + np.uint64(_INNER + (7 << 24) + (9 << 8))
    plain = (eight[inner] & np.uint64(_INNER_MASK)) == expected
    plain &= (bytes_of_head[:, 0] == 0x09) & (step_size != 0) & (tag_sizes >= 0) & (tag_sizes <= _LONGEST_TAG)
    plain &= np.frombuffer(data, np.uint8)[starts + lengths - 5] == 0x15
    if not plain.any():
        return None
    if not plain.all():
        members, starts, lengths, head, raw = members[plain], starts[plain], lengths[plain], head[plain], raw[plain]
        step_size, inner, tag_sizes = step_size[plain], inner[plain], tag_sizes[plain]
    raw &= _LOW_BYTES[np.maximum(step_size, 0)]
    walls = np.ndarray((members.size,), "<u8", head, 1, (_HEAD,)).copy()
    ends = eight[starts + lengths - 4].view("<u4").reshape(-1, 2)
    values, stored = ends[:, 0].copy(), ends[:, 1]
    varying = _varying_part(lengths, walls, raw, values)
    first, kinds = _kinds(eight, inner + 6, tag_sizes, lengths)
    fixed = checksums(data, starts[first], lengths[first]) ^ varying[first]
    return Plain(
        members,
        signed_varints([raw]).astype(np.float64),
        walls.view("<f8").astype(np.float64, copy=False),
        values.view("<f4").astype(np.float64),
        (fixed[kinds] ^ varying) == unmask_all(stored),
        kinds,
        [
            bytes(data[start : start + size]).decode("utf-8", "backslashreplace")
            for start, size in zip((inner[first] + 6).tolist(), tag_sizes[first].tolist(), strict=True)
        ],
    )


def _varint_sizes(words: Words) -> Integers:
    """Bytes of the varint at the beginning of each word; 0 where there are more than five."""
    last = ~words & np.uint64(_HIGH_BITS)
    last &= np.uint64(0) - last  # the lowest bit
    sizes: Integers = np.not_equal(last, 0).astype(np.int64)
    for size in range(1, _MOST_STEP_BYTES):
        sizes += last > np.uint64(1 << 8 * size - 1)
    return sizes


def _varying_part(lengths: Integers, walls: Words, steps: Words, values: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """What wall times, steps and values contribute to the checksums, but for bytes that are the same in all records:
    these are left to the fixed part.
    """
    table = distance_tables(_LONGEST + 1)
    part = np.zeros(lengths.size, np.uint32)
    for words, offset in ((walls, 1), (steps, 10)):
        varying = int(np.bitwise_or.reduce(words ^ words[0]))
        columns = words.view(np.uint8).reshape(words.size, -1)
        for place in range(8):
            if varying >> 8 * place & 0xFF:
                part ^= table.take(((lengths - (1 + offset + place)) << 8) + columns[:, place])
    columns = values.view(np.uint8).reshape(values.size, -1)
    for place in range(4):
        part ^= table[256 * (3 - place) :].take(columns[:, place])
    return part


def _kinds(eight: Words, tags: Integers, sizes: Integers, lengths: Integers) -> tuple[Indices, Indices]:
    """Where each kind comes first, and the kind of each record: those of one kind have one length, and the same tag in
    the same place. Told by a hash; records that are taken for another kind fail their checksum.
    """
    hashes = (sizes << 8 | lengths).astype(np.uint64) * _MIXER
    for place in range(0, int(sizes.max()), 8):
        words = eight[np.minimum(tags + place, eight.size - 1)] & _LOW_BYTES[np.clip(sizes - place, 0, 8)]
        hashes = (hashes ^ (hashes >> np.uint64(29)) ^ words) * _MIXER
    _, first, kinds = np.unique(hashes, return_index=True, return_inverse=True)
    return first, kinds
