"""Decodes many records at a time from their varying fields, and verifies their checksums from the same fields."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import cycle
from typing import TYPE_CHECKING

import numpy as np

from .crc32c import field_tables, unmask_all
from .fields import number_of, numbers_of, raw_type, signed_varints

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from .event import Event, Span
    from .fields import Buffer, Raw
    from .layout import Layout

    Floats = NDArray[np.float64]

__all__ = ["Rows", "Stencil", "decode_one", "make_stencil", "shape_of"]

_WORD = 8  # bytes of a varint that fit one word
_FEW_ROWS = 512  # below this many it is faster to look up for all slots at once


@dataclass(frozen=True, slots=True)
class Rows:
    """Decoded records: float64 `step` and `wall_time` (slots, rows), the numbers of each value (slots, rows), and where
    the checksum of the record is right.
    """

    step: Floats
    wall_time: Floats
    values: tuple[Floats, ...]
    sound: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class _Word:
    """Up to eight bytes of fields of one size, one or more in the record of each slot: where they are in the record,
    and the look-ups uint32 (size, fields, 256) by which they enter its checksum. Field i is one of slot i modulo slots.
    """

    size: int
    offsets: tuple[int, ...]
    tables: NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Stencil:
    """How to decode records of one shape, a slot for each layout; these may have their fields in different places.

    `values` has, for each kind of number, the places among the values of a record, and where they are.
    """

    lengths: tuple[int, ...]
    blank_crcs: NDArray[np.uint32]
    step: tuple[_Word, ...]
    wall_time: tuple[_Word, ...]
    values: tuple[tuple[str, tuple[int, ...], tuple[_Word, ...]], ...]

    def decode(
        self, data: Buffer, starts: Sequence[int], pitch: int, rows: int, blank_crcs: NDArray[np.uint32] | None = None
    ) -> Rows:
        """Decode `rows` records of each slot, the data of the first at `starts`, `pitch` bytes apart.

        The checksum is expected behind the data of each record, and `data` must go on for eight bytes behind that.
        `blank_crcs` (slots, rows) where the records of a slot differ in it.
        """
        slots = len(starts)
        crc = unmask_all(_read(data, starts, self.lengths, pitch, rows, 4).astype(np.uint32, copy=False))
        crc ^= self.blank_crcs[:, None] if blank_crcs is None else blank_crcs

        def read(words: tuple[_Word, ...]) -> list[Raw]:
            raw = [_read(data, starts, word.offsets, pitch, rows, word.size) for word in words]
            for fields, word in zip(raw, words, strict=True):
                _fold(crc, fields, word)
            return raw

        step = signed_varints(read(self.step)).astype(np.float64) if self.step else np.zeros((slots, rows))
        wall = numbers_of("<f8", read(self.wall_time)) if self.wall_time else np.zeros((slots, rows))
        values = [wall] * sum(len(places) for _, places, _ in self.values)
        for kind, places, words in self.values:
            numbers = numbers_of(kind, read(words))
            for index, place in enumerate(places):
                values[place] = numbers[index * slots : (index + 1) * slots]
        return Rows(step, wall, tuple(values), crc == 0)


def shape_of(layout: Layout) -> tuple[object, ...]:
    """What has to be equal for layouts to share a stencil: which fields there are, and their sizes."""
    sizes = [span[1] if span else 0 for span in (layout.wall_time, layout.step)]
    return (*sizes, *((value.kind, value.span[1]) for value in layout.values))


def make_stencil(layouts: Sequence[Layout]) -> Stencil:
    """The stencil for slots with these layouts, which are of one shape."""
    lengths = tuple(layout.length for layout in layouts)
    kinds: dict[tuple[str, int], list[int]] = {}
    for place, value in enumerate(layouts[0].values):
        kinds.setdefault((value.kind, value.span[1]), []).append(place)

    def spans(places: list[int]) -> list[Span]:
        return [layout.values[place].span for place in places for layout in layouts]

    return Stencil(
        lengths,
        np.array([layout.blank_crc for layout in layouts], np.uint32),
        _words(lengths, [layout.step for layout in layouts]),
        _words(lengths, [layout.wall_time for layout in layouts]),
        tuple((kind, tuple(places), _words(lengths, spans(places))) for (kind, _), places in kinds.items()),
    )


def _words(lengths: Sequence[int], spans: Sequence[Span | None]) -> tuple[_Word, ...]:
    """The words of fields, of which each slot has equally many; none for fields that are not there."""
    present = [span for span in spans if span is not None and span[1]]
    words = []
    for begin in range(0, present[0][1] if present else 0, _WORD):
        size = min(present[0][1] - begin, _WORD)
        offsets = tuple(offset + begin for offset, _ in present)
        ends = cycle(lengths)
        tables = [field_tables(length - 1 - offset, size) for offset, length in zip(offsets, ends, strict=False)]
        words.append(_Word(size, offsets, tables[0][:, None] if len(tables) == 1 else np.stack(tables, axis=1)))
    return tuple(words)


def _read(data: Buffer, starts: Sequence[int], offsets: Sequence[int], pitch: int, rows: int, size: int) -> Raw:
    """The `size` ≤ 8 bytes of each field in `rows` records, as the low bytes of words (fields, rows)."""
    words: Raw = np.empty((len(offsets), rows), raw_type(size))
    for field, start, offset in zip(words, cycle(starts), offsets, strict=False):
        field[:] = np.ndarray((rows,), words.dtype, data, start + offset, (pitch,))
    if size < words.dtype.itemsize:
        words &= words.dtype.type((1 << 8 * size) - 1)
    return words


def _fold(crc: NDArray[np.uint32], raw: Raw, word: _Word) -> None:
    """Take what fields contribute out of the checksums (slots, rows) of their records, in place."""
    slots, (fields, rows) = len(crc), raw.shape
    varying = int(np.bitwise_or.reduce(raw ^ raw[:, :1], axis=None))
    columns = raw.view(np.uint8).reshape(fields, rows, -1)
    each = _numbers(fields)
    for place, tables in enumerate(word.tables):
        if not varying >> 8 * place & 0xFF:
            part = tables[each, columns[:, 0, place]][:, None]
        elif fields > 1 and rows < _FEW_ROWS:
            part = tables.reshape(-1).take(columns[:, :, place] + 256 * each[:, None])
        else:
            for field, table in enumerate(tables):
                crc[field % slots] ^= table.take(columns[field, :, place], mode="clip")
            continue
        crc ^= part if fields == slots else np.bitwise_xor.reduce(part.reshape(-1, slots, part.shape[1]), axis=0)


@lru_cache(maxsize=64)
def _numbers(count: int) -> NDArray[np.intp]:
    return np.arange(count)


def decode_one(data: bytes, event: Event | Layout) -> tuple[float, float, list[float]]:
    """Step, wall time and numbers of one record."""
    step = number_of("int64", data, *event.step) if event.step else 0.0
    wall = number_of("<f8", data, *event.wall_time) if event.wall_time else 0.0
    return step, wall, [number_of(value.kind, data, *value.span) for value in event.values]
