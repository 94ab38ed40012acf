"""Layouts: what records have in common that are alike up to their wall time, step and numbers.

A training run writes the same few records over and over. One of them is parsed; its layout says which bits vary, so
that any record of equal length whose other bits are the same can be decoded, and its checksum verified, from the
varying fields alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from .crc32c import checksum, checksums
from .event import parse_event
from .fields import is_varint

if TYPE_CHECKING:
    from .event import Event, Span, Value

__all__ = ["Layout", "Layouts"]

_MOST_KEPT = 20_000
_SHORT = 512  # below this many bytes a plain loop is faster than vectors


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Where a record of `length` bytes with nothing but scalars keeps them; `wall_time` and `step` None: it has none.

    `mask` has the bits set that do not vary, `tags` those of the tags among them; both are as long as the record.
    `blank_crc` is the checksum of the record with all bytes of the fields zero.
    """

    length: int
    wall_time: Span | None
    step: Span | None
    values: tuple[Value, ...]
    mask: bytes
    tags: bytes
    blank_crc: int


@dataclass(slots=True)
class Layouts:
    """The layouts seen so far in a file."""

    _masks: dict[int, dict[int, dict[int, Layout]]] = field(default_factory=dict)  # by length, mask and fixed bits
    _kept: int = 0
    _met: set[tuple[int, str]] = field(default_factory=set)  # length and first tag of records parsed one by one

    def known(self, data: bytes) -> Layout | None:
        """The layout of a record's data where a record like it was seen."""
        masks = self._masks.get(len(data))
        if not masks:
            return None
        bits = int.from_bytes(data, "little")
        for mask, layouts in masks.items():
            layout = layouts.get(bits & mask)
            if layout is not None:
                return layout
        return None

    def of(self, data: bytes) -> Layout | None:
        """The layout of a record's data; None when it is not an event with scalars and nothing else."""
        layout = self.known(data)
        if layout is None:
            event = parse_event(data)
            if event is not None and not event.other:
                layout = self.learn(data, event)
        return layout

    def meet(self, data: bytes, event: Event) -> None:
        """Keep the layout of a parsed record if one like it was met before."""
        if event.other:
            return
        key = len(data), event.values[0].tag
        if key in self._met:
            self.learn(data, event)
        elif len(self._met) < _MOST_KEPT:
            self._met.add(key)

    def learn(self, data: bytes, event: Event) -> Layout:
        """Keep the layout of a parsed record with nothing but scalars."""
        layout, mask, fixed = _layout(data, event)
        if self._kept >= _MOST_KEPT:
            self._masks.clear()
            self._kept = 0
        self._masks.setdefault(layout.length, {}).setdefault(mask, {})[fixed] = layout
        self._kept += 1
        return layout


def _layout(data: bytes, event: Event) -> tuple[Layout, int, int]:
    """The layout of a record, its mask and the record under it as numbers."""
    mask = bytearray(b"\xff" * len(data))
    blank = bytearray(data)
    fields = [(value.span, is_varint(value.kind)) for value in event.values]
    if event.wall_time is not None:
        fields.append((event.wall_time, False))
    if event.step is not None:
        fields.append((event.step, True))
    for (offset, size), varint in fields:
        mask[offset : offset + size] = (b"\x80" if varint else b"\0") * size  # a varint keeps its size
        blank[offset : offset + size] = bytes(size)
    if len(data) <= _SHORT:
        crc = checksum(blank)
    else:
        (crc,) = checksums(blank, np.zeros(1, np.int64), np.full(1, len(data))).tolist()
    tags = bytearray(len(data))
    for value in event.values:
        offset, size = value.tag_span
        tags[offset : offset + size] = b"\xff" * size
    layout = Layout(len(data), event.wall_time, event.step, tuple(event.values), bytes(mask), bytes(tags), crc)
    bits = int.from_bytes(mask, "little")
    return layout, bits, int.from_bytes(data, "little") & bits
