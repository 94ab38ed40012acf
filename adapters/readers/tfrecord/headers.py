"""Record headers: finding all of them in a stretch of bytes, and mending one that a few flipped bits have spoilt.

A header is the length of the record's data as a little-endian uint64 and the masked checksum of these eight bytes. No
record is longer than 4 GiB, so four zero bytes before a right checksum mark a header wherever it is: a reader can start
in the middle of a file. All positions here are offsets into `data`.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from .crc32c import field_tables, masked_crc32c, unmask, unmask_all

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .fields import Buffer

    Offsets = NDArray[np.int64]

__all__ = ["HEADER", "OVERHEAD", "find_headers", "follow", "length_at", "mended_lengths"]

HEADER = 12  # bytes before the data of a record
OVERHEAD = 16  # bytes around the data of a record
_HEADER = struct.Struct("<QI")
_MOST_FLIPPED = 3
_LENGTH_BITS = 32


def length_at(data: Buffer, position: int) -> int | None:
    """Length of the record whose header is at `position`; None when there is no header."""
    if position + HEADER > len(data):
        return None
    length: int
    length, stored = _HEADER.unpack_from(data, position)
    if length >> _LENGTH_BITS or masked_crc32c(data[position : position + 8]) != stored:
        return None
    return length


def find_headers(data: Buffer, start: int, stop: int, *, short: bool = False) -> tuple[Offsets, Offsets]:
    """Positions and record lengths of all headers within ``data[start:stop]``, in order, whatever they belong to.

    `short`: only those of records below 64 KiB, which is quicker.
    """
    none = np.empty(0, np.int64)
    if stop - start < HEADER:
        return none, none
    zero = np.frombuffer(data, np.uint8, stop - start, start) == 0
    pairs = zero[:-1] & zero[1:]
    high = pairs[4:-6] & pairs[6:-4]  # of the length, at the end of its eight bytes
    if short:
        high &= pairs[2:-8]
    positions = np.flatnonzero(high) + start
    lengths = _words(data)[positions]
    right = unmask_all(_words(data)[positions + 8]) == _length_crcs(lengths)
    return positions[right], lengths[right].astype(np.int64)


def _words(data: Buffer) -> NDArray[np.uint32]:
    """The four bytes at each position, as a view."""
    return np.ndarray((len(data) - 3,), "<u4", data, 0, (1,))


def _length_crcs(lengths: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Checksums, not masked, of lengths below 2³² as eight bytes."""
    tables = field_tables(7, 4)
    places = np.ascontiguousarray(lengths, "<u4").view(np.uint8).reshape(-1, 4)
    crc = np.full(lengths.size, unmask(masked_crc32c(bytes(8))), np.uint32)
    for place in range(4):
        crc ^= tables[place].take(places[:, place])
    return crc


def follow(positions: Offsets, lengths: Offsets, start: int, stop: int) -> tuple[NDArray[np.intp], int]:
    """Which of the headers found up to `stop` form the chain of records that begins at `start`.

    Returns their indices and the position behind the last record. Where that is before ``stop - 12``, no header is
    there: the chain is broken.
    """
    behind = positions + lengths + OVERHEAD
    breaks = np.flatnonzero(behind[:-1] != positions[1:])
    chain: list[NDArray[np.intp]] = []
    while start + HEADER <= stop:
        first = int(np.searchsorted(positions, start))
        if first == positions.size or positions[first] != start:
            break
        after = int(np.searchsorted(breaks, first))
        last = int(breaks[after]) if after < breaks.size else positions.size - 1
        chain.append(np.arange(first, last + 1))
        start = int(behind[last])
    return (np.concatenate(chain) if chain else np.empty(0, np.intp)), start


def mended_lengths(header: Buffer) -> list[int]:
    """Lengths that the twelve bytes may have said before up to three of their bits were flipped, the likeliest first.

    CRC-32C tells all headers apart that differ in fewer than six bits, so there is hardly ever more than one.
    """
    length, stored = _HEADER.unpack(header)
    patterns, weights, order, effects = _flips()
    high = int(length) >> _LENGTH_BITS
    low = int(length) & 0xFFFFFFFF
    budget = _MOST_FLIPPED - high.bit_count()
    if budget < 0:
        return []
    wanted = unmask_all(np.uint32(stored) ^ patterns) ^ _length_crcs(np.array([low], np.uint32))
    place = np.minimum(np.searchsorted(effects, wanted, sorter=order), order.size - 1)
    found = order[place]
    fits = (effects[found] == wanted) & (weights + weights[found] <= budget)
    hits = np.flatnonzero(fits)
    hits = hits[np.argsort((weights + weights[found])[hits], kind="stable")]
    return [low ^ int(patterns[found[hit]]) for hit in hits]


@lru_cache(maxsize=1)
def _flips() -> tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.intp], NDArray[np.uint32]]:
    """All ways to flip up to three of 32 bits: patterns, how many bits each flips, and what each does to the checksum
    of a length, with the order that sorts these.
    """
    bits = [1 << bit for bit in range(_LENGTH_BITS)]
    chosen = [c for count in range(_MOST_FLIPPED + 1) for c in combinations(bits, count)]
    patterns = np.array([sum(c) for c in chosen], np.uint32)
    weights = np.array([len(c) for c in chosen], np.int64)
    effects = _length_crcs(patterns) ^ _length_crcs(np.zeros(1, np.uint32))
    return patterns, weights, np.argsort(effects), effects
