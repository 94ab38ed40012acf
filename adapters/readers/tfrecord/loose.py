"""Decodes records in any order: those of one length and layout together, odd ones one by one."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from .crc32c import checksums, unmask_all
from .decode import decode_one, make_stencil
from .event import parse_event
from .headers import HEADER, OVERHEAD
from .plain import decode_plain

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .collect import Collector
    from .event import Event
    from .fields import Buffer
    from .layout import Layout, Layouts
    from .result import GapReason

    Indices = NDArray[np.intp]
    Integers = NDArray[np.int64]
    Floats = NDArray[np.float64]

__all__ = ["decode_loose", "verify"]

_FEW = 24  # so many records are decoded one by one as fast as together
_LONGEST = 1 << 16
_FEWEST_ALIKE = 4  # a layout that fewer records of a group have is not worth looking for
_MOST_FRUITLESS = 8  # layouts tried in a group of one length that fit hardly any record
_MIXER = 0x9E3779B97F4A7C15


@dataclass(frozen=True, slots=True)
class _Points:
    """Points, one an entry: the record each is in, its place among the scalars of that record, tag and numbers."""

    records: Indices
    places: Integers
    tags: Integers
    steps: Floats
    walls: Floats
    values: Floats


def verify(data: Buffer, starts: Integers, lengths: Integers) -> NDArray[np.bool_]:
    """Whether the checksum behind each record's data is right."""
    words = np.ndarray((len(data) - 3,), "<u4", data, 0, (1,))
    right: NDArray[np.bool_] = checksums(data, starts, lengths) == unmask_all(words[starts + lengths])
    return right


def decode_loose(
    data: Buffer, base: int, starts: Integers, lengths: Integers, layouts: Layouts, collector: Collector
) -> None:
    """Decode records whose headers are sound: int64 `starts` of their data in `data`, in file order, and `lengths`.

    ``data[0]`` is at offset `base` of the file.
    """
    batch = _Batch(data, base, starts, lengths, layouts, collector)
    left = np.arange(starts.size)
    if left.size >= _FEW:
        left = batch.plain(left)
        lengths = lengths[left]
        order = np.argsort(lengths.astype(np.uint16) if lengths.max(initial=0) < 1 << 16 else lengths, kind="stable")
        left, lengths = left[order], lengths[order]
        edges = [0, *(np.flatnonzero(lengths[1:] != lengths[:-1]) + 1).tolist(), left.size]
        odd = [left[:0]]
        for start, stop in pairwise(edges):
            if stop - start < _FEW or lengths[start] > _LONGEST:
                odd.append(left[start:stop])
            else:
                odd.append(batch.alike(left[start:stop], int(lengths[start])))
        left = np.sort(np.concatenate(odd))
    if left.size:
        batch.one_by_one(left)
    batch.finish()


def _distinct(hashes: NDArray[np.uint64]) -> tuple[Indices, Indices, Integers]:
    """Where each distinct hash comes first, which of them each entry is, and how often each comes."""
    short = (hashes >> np.uint64(48)).astype(np.uint16)  # so much is sorted in linear time
    order = np.argsort(short, kind="stable")
    if (np.diff(short[order]) != 0).sum() != (np.diff(hashes[order]) != 0).sum():
        order = np.argsort(hashes, kind="stable")
    changes = np.diff(hashes[order], prepend=~hashes[order[0]]) != 0
    edges = np.flatnonzero(changes)
    group = np.empty(hashes.size, np.intp)
    group[order] = np.cumsum(changes) - 1
    return order[edges], group, np.diff(edges, append=hashes.size)


def _hashes(words: NDArray[np.uint64], mask: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A hash of what each row of words has under a mask; records of one hash that differ fail their checksum."""
    powers = np.cumprod(np.full(mask.size, _MIXER, np.uint64), dtype=np.uint64)
    hashes: NDArray[np.uint64] = (words & mask) @ powers
    return hashes


class _Batch:
    """Records being decoded, and the points found so far."""

    def __init__(
        self, data: Buffer, base: int, starts: Integers, lengths: Integers, layouts: Layouts, collector: Collector
    ) -> None:
        self._data = data
        self._base = base
        self._starts = starts
        self._lengths = lengths
        self._layouts = layouts
        self._collector = collector
        self._points: list[_Points] = []
        self._lost: dict[int, GapReason] = {}
        self._parsed: dict[int, Event | None] = {}  # what was found in records without layout

    def plain(self, members: Indices) -> Indices:
        """Decode plain scalars; returns the other records."""
        found = decode_plain(self._data, self._starts, self._lengths)
        if found is None:
            return members
        tags = np.array([self._collector.tag(tag) for tag in found.tags], np.int64)[found.kinds]
        self._keep(found.members, 0, tags, found.steps, found.walls, found.values, found.sound)
        members = members.copy()
        members[found.members] = -1
        return members[members >= 0]

    def alike(self, members: Indices, length: int) -> Indices:
        """Decode those of these records of one length that are like others of them; returns the rest."""
        width = (length + HEADER + 7) // 8 * 8
        record = np.dtype((np.void, width))
        records = np.ndarray((len(self._data) - width + 1,), record, self._data, 0, (1,))[self._starts[members]]
        odd: list[Indices] = []
        fruitless = 0
        while members.size >= _FEW and fruitless < _MOST_FRUITLESS:
            layout = self._layout(int(members[0]), records[0].tobytes()[:length])
            if layout is None:
                odd.append(members[:1])
                members, records = members[1:], records[1:]
                continue
            words = records.view("<u8").reshape(-1, width // 8)
            mask, tags = (np.frombuffer(bits.ljust(width, b"\0"), "<u8") for bits in (layout.mask, layout.tags))
            like = _hashes(words, mask & ~tags)
            like = like == like[0]
            if like.all():
                odd.append(self._decode(members, records, _hashes(words, tags), layout))
                return np.concatenate(odd)
            odd.append(self._decode(members[like], records[like], _hashes(words[like], tags), layout))
            fruitless += int(like.sum()) < _FEW
            members, records = members[~like], records[~like]
        odd.append(members)
        return np.concatenate(odd)

    def _layout(self, member: int, record: bytes) -> Layout | None:
        """The layout of a record; where it has none, what was found in it is kept for `one_by_one`."""
        layout = self._layouts.known(record)
        if layout is None:
            event = parse_event(record)
            if event is not None and not event.other:
                return self._layouts.learn(record, event)
            self._parsed[member] = event
        return layout

    def _decode(self, members: Indices, records: NDArray[np.void], tags: NDArray[np.uint64], layout: Layout) -> Indices:
        """Decode records that are like `layout` but for their tags, of which there are hashes; returns those whose tags
        are rare.
        """
        found: list[Layout | None] = [layout]
        group = np.zeros(members.size, np.intp)
        rare = members[:0]
        if (tags != tags[0]).any():
            first, group, sizes = _distinct(tags)
            found = [
                self._layouts.of(records[row].tobytes()[: layout.length]) if size >= _FEWEST_ALIKE else None
                for row, size in zip(first.tolist(), sizes.tolist(), strict=True)
            ]
            common = np.array([one is not None for one in found])
            chosen = common[group]
            rare, members, records = members[~chosen], members[chosen], records[chosen]
            group = (np.cumsum(common) - 1)[group[chosen]]
        if members.size:
            layouts = [one for one in found if one is not None]
            blank = np.array([one.blank_crc for one in layouts], np.uint32)[group]
            data = records.view(np.uint8).data
            rows = make_stencil(layouts[:1]).decode(data, [0], records.itemsize, members.size, blank[None])
            for place, values in enumerate(rows.values):
                of_tags = np.array([self._collector.tag(one.values[place].tag) for one in layouts], np.int64)[group]
                self._keep(members, place, of_tags, rows.step[0], rows.wall_time[0], values[0], rows.sound[0])
        return rare

    def _keep(
        self,
        members: Indices,
        place: int,
        tags: Integers,
        steps: Floats,
        walls: Floats,
        values: Floats,
        sound: NDArray[np.bool_],
    ) -> None:
        """Keep the points that are at one place of decoded records, and note which of the records are damaged."""
        if not sound.all():
            self._lost.update(dict.fromkeys(members[~sound].tolist(), "damaged_data"))
            members, tags = members[sound], tags[sound]
            steps, walls, values = steps[sound], walls[sound], values[sound]
        self._points.append(_Points(members, np.full(members.size, place), tags, steps, walls, values))

    def one_by_one(self, members: Indices) -> None:
        """Decode any records, in file order."""
        starts, lengths = self._starts[members], self._lengths[members]
        sound = verify(self._data, starts, lengths).tolist()
        data = memoryview(self._data)
        found: list[tuple[int, int, int, float, float, float]] = []
        for member, start, length, right in zip(
            members.tolist(), starts.tolist(), lengths.tolist(), sound, strict=True
        ):
            if not right:
                self._lost[member] = "damaged_data"
                continue
            record = bytes(data[start : start + length])
            layout = event = None
            if member in self._parsed:
                event = self._parsed[member]
            else:
                layout = self._layouts.known(record)
                event = parse_event(record) if layout is None else None
            known = layout or event
            if known is None:
                self._lost[member] = "not_an_event"
                continue
            if event is not None:
                self._layouts.meet(record, event)
                if event.context:
                    self._collector.context(self._base + start, len(record))
            if not known.values:
                continue
            step, wall, values = decode_one(record, known)
            for place, (value, number) in enumerate(zip(known.values, values, strict=True)):
                found.append((member, place, self._collector.tag(value.tag), step, wall, number))
        if found:
            records, places, tags, *numbers = zip(*found, strict=True)
            steps, walls, floats = (np.array(column, np.float64) for column in numbers)
            integers = np.array(places, np.int64), np.array(tags, np.int64)
            self._points.append(_Points(np.array(records, np.intp), *integers, steps, walls, floats))

    def finish(self) -> None:
        """Hand the points over in file order, and what was lost."""
        counts = np.zeros(self._starts.size, np.int64)
        for points in self._points:
            counts[points.records] = points.places + 1  # the last place of each record comes last
        first = np.cumsum(counts) - counts
        offsets = self._starts + (self._base - HEADER)
        total = int(counts.sum())
        tags, records = np.empty(total, np.int64), np.empty(total, np.intp)
        steps, walls, values = np.empty(total), np.empty(total), np.empty(total)
        for points in self._points:
            at = first[points.records] + points.places
            tags[at], records[at] = points.tags, points.records
            steps[at], walls[at], values[at] = points.steps, points.walls, points.values
        for member, reason in self._lost.items():
            self._collector.gap(int(offsets[member]), OVERHEAD + int(self._lengths[member]), reason)
        self._collector.records += self._starts.size - len(self._lost)
        if total:
            self._collector.add_mixed(tags, offsets[records], steps, walls, values)
