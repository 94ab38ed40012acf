"""CRC-32C (Castagnoli) of many byte strings at once, and the masking that TFRecord files apply to it.

A CRC register is linear over GF(2): the register after a message is the exclusive or of what each of its bytes
contributes, and a byte contributes a table look-up that depends only on its distance from the end. Everything here
follows from that: `field_tables` has the look-ups per distance, a whole checksum is a fold of words in a tree, and a
caller that knows which bytes of a record vary looks only those up.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .fields import Buffer

    Words = NDArray[np.uint32]

__all__ = ["checksum", "checksums", "distance_tables", "field_tables", "masked_crc32c", "unmask", "unmask_all"]

_ALL_ONES = 0xFFFFFFFF
_POLYNOMIAL = np.uint32(0x82F63B78)  # reversed, as RFC 3720 uses it
_MASK_DELTA = 0xA282EAD8
_FEWEST_TABLES = 8
# Four bytes that bring an empty register to all ones, the state in which CRC-32C starts: with them in front, a message
# is summed from an empty register, and zeros in front of that change nothing.
_START = bytes.fromhex("54641f64")
_BATCH_BYTES = 1 << 20
_PIECE_BYTES = 1 << 18
_SEGMENT = 1024
_SPREAD = 8  # strings of one batch differ in length by at most 1/8


def checksum(data: Buffer) -> int:
    """CRC-32C (not masked) of one short string."""
    crc = _ALL_ONES
    table = _byte_list()
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ _ALL_ONES


def masked_crc32c(data: Buffer) -> int:
    """Masked CRC-32C of one short string, as TFRecord stores it."""
    crc = checksum(data)
    return (((crc >> 15) | (crc << 17)) + _MASK_DELTA) & _ALL_ONES


def unmask(stored: int) -> int:
    """The checksum behind a stored, masked one."""
    rotated = (stored - _MASK_DELTA) & _ALL_ONES
    return ((rotated >> 17) | (rotated << 15)) & _ALL_ONES


def unmask_all(stored: Words) -> Words:
    """The checksums behind stored, masked ones: uint32 (n,)."""
    rotated = stored - np.uint32(_MASK_DELTA)
    crc = rotated >> np.uint32(17)
    rotated <<= np.uint32(15)
    crc |= rotated
    return crc


@lru_cache(maxsize=4096)
def field_tables(distance: int, size: int) -> Words:
    """Look-ups uint32 (size, 256) for the bytes of a field: what byte j contributes to the checksum of its record.

    `distance` is the number of bytes that follow the first byte of the field.
    """
    segments, behind = divmod(distance - size + 1, _SEGMENT)
    rows = _tables(behind + size)[behind : behind + size][::-1]
    return _shifted(rows, _shift(segments)) if segments else rows


def distance_tables(count: int) -> Words:
    """Look-ups uint32 (≥ 256 `count`,): place 256 d + b has what byte b contributes when d bytes follow it."""
    return _tables(count).reshape(-1)


def checksums(data: Buffer, starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> Words:
    """CRC-32C (not masked) of ``data[start : start + length]`` for each start and length: uint32 (n,)."""
    result = np.empty(starts.size, np.uint32)
    order = np.argsort(lengths, kind="stable")
    ordered = lengths[order]
    done = 0
    while done < order.size:
        shortest = int(ordered[done])
        stop = int(np.searchsorted(ordered, shortest + shortest // _SPREAD + _SPREAD, "right"))
        stop = min(stop, done + max(1, _BATCH_BYTES // (int(ordered[stop - 1]) + 8)))
        batch = order[done:stop]
        result[batch] = _batch(data, starts[batch].tolist(), lengths[batch].tolist())
        done = stop
    return result


def _batch(data: Buffer, starts: list[int], lengths: list[int]) -> Words:
    """Checksums of strings of about one length: a look-up a byte within segments, then a tree over the segments."""
    needed = lengths[-1] + len(_START)
    segment = min(_SEGMENT, -(-needed // 8) * 8)
    segments = -(-needed // segment)
    width = segments * segment
    padding = bytes(width - len(_START) - lengths[0])
    pieces: list[bytes | memoryview] = []
    view = memoryview(data)
    for start, length in zip(starts, lengths, strict=True):
        pieces += padding[: width - len(_START) - length], _START, view[start : start + length]
    rows = np.frombuffer(b"".join(pieces), np.uint8)
    crc = _short(rows.reshape(-1, segment)).reshape(-1, segments)
    distance = 1
    while crc.shape[1] > 1:
        if crc.shape[1] % 2:
            crc = np.concatenate([np.zeros((len(starts), 1), crc.dtype), crc], axis=1)
        crc = _shifted(crc[:, 0::2], _shift(distance)) ^ crc[:, 1::2]
        distance *= 2
    return crc[:, 0] ^ np.uint32(_ALL_ONES)


def _short(rows: NDArray[np.uint8]) -> Words:
    """The register after each row of bytes, starting from an empty one."""
    count, size = rows.shape
    table = _tables(size).reshape(-1)
    offsets = _row_offsets(size)
    at_once = max(1, _PIECE_BYTES // size)
    crc = np.empty(count, np.uint32)
    for done in range(0, count, at_once):
        piece = slice(done, done + at_once)
        np.bitwise_xor.reduce(table.take(rows[piece] + offsets), axis=1, out=crc[piece])
    return crc


@lru_cache(maxsize=_SEGMENT // 8)
def _row_offsets(segment: int) -> NDArray[np.intp]:
    """Where the look-ups for each byte of a segment begin in the flattened tables."""
    return np.arange(segment - 1, -1, -1, dtype=np.intp) * 256


@lru_cache(maxsize=1)
def _byte_list() -> list[int]:
    table: list[int] = _tables(1)[0].tolist()
    return table


def _tables(count: int) -> Words:
    """Look-ups uint32 (≥ count, 256): row d, column b is what byte b contributes when d bytes follow it."""
    return _power_tables(max(_FEWEST_TABLES, 1 << (count - 1).bit_length()))


@lru_cache(maxsize=16)
def _power_tables(count: int) -> Words:
    if count > _FEWEST_TABLES:
        half = _power_tables(count // 2)
        return np.concatenate([half, _shifted(half, half[count // 2 - 4 : count // 2][::-1])])
    tables = np.empty((count, 256), np.uint32)
    crc = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        crc = np.where(crc & np.uint32(1), (crc >> np.uint32(1)) ^ _POLYNOMIAL, crc >> np.uint32(1))
    tables[0] = crc
    for row in range(1, count):
        tables[row] = crc[tables[row - 1] & np.uint32(0xFF)] ^ (tables[row - 1] >> np.uint32(8))
    return tables


@lru_cache(maxsize=256)
def _shift(segments: int) -> Words:
    """Look-ups (4, 256) that move a register over `segments` ≥ 1 times `_SEGMENT` zero bytes."""
    if segments == 1:
        return _tables(_SEGMENT)[_SEGMENT - 4 : _SEGMENT][::-1]
    half = _shift(segments // 2)
    both = _shifted(half, half)
    return _shifted(both, _shift(1)) if segments % 2 else both


def _shifted(registers: Words, shift: Words) -> Words:
    """Each register moved by the look-ups of `_shift`: byte i of it, the lowest first, through row i."""
    quads = np.ascontiguousarray(registers, "<u4").view(np.uint8).reshape(*registers.shape, 4)
    moved: Words = shift[0].take(quads[..., 0])
    for i in range(1, 4):
        moved ^= shift[i].take(quads[..., i])
    return moved
