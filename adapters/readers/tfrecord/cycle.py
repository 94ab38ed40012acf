"""Cycles: a run that logs the same tags in the same order at each iteration repeats one run of records over and over.

As long as it does, neither headers nor tags need be looked at one by one: a whole stretch of cycles is compared with
the first one under a mask, and the fields of each record are taken out with a stride.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from .decode import Stencil, make_stencil, shape_of
from .headers import HEADER, OVERHEAD

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .collect import Collector
    from .fields import Buffer
    from .layout import Layout, Layouts

    Floats = NDArray[np.float64]

__all__ = ["Cycle", "likely_periods", "make_cycle"]

_BLOCK_BYTES = 1 << 17  # what is compared at once stays in the processor's cache
_DECODED_AT_ONCE = 1 << 16
_FIRST_ROWS = 4
_LONGEST_PERIOD = 1024
_DISTANCES = (13, 20, 32, 44, 56, 68)  # bytes before the end of a record's data
_SHORT = 13  # here eight bytes, the last of a tag, otherwise twelve
_CANDIDATES = 4
_COMPARED = 4  # entries that have to repeat before more of them are compared


@dataclass(frozen=True, slots=True)
class _Found:
    """Decoded cycles: step, wall time (rows,) and values of each slot, and which records are sound (rows, slots)."""

    steps: list[Floats]
    walls: list[Floats]
    values: list[tuple[Floats, ...]]
    sound: NDArray[np.bool_]
    all_sound: bool

    def points(self, places: list[tuple[int, int]]) -> tuple[Floats, Floats, Floats]:
        """Step, wall time and value of the values at these slots and places in file order, damaged records left out."""
        (slot, place), *more = places
        if not more and self.all_sound:
            return self.steps[slot], self.walls[slot], self.values[slot][place]
        sound = self.sound[:, [slot for slot, _ in places]]
        steps = np.stack([self.steps[slot] for slot, _ in places], axis=1)
        walls = np.stack([self.walls[slot] for slot, _ in places], axis=1)
        values = np.stack([self.values[slot][place] for slot, place in places], axis=1)
        return steps[sound], walls[sound], values[sound]


@dataclass(slots=True, eq=False)
class Cycle:
    """Records that repeat, one a slot: their `layouts`, where the data of each begins (`starts`, from the first byte of
    the first header), and the `size` of one cycle in bytes. `mask` has the bits set that are the same in each cycle,
    `fixed` is a cycle under that mask; both are uint8 (size,).
    """

    layouts: tuple[Layout, ...]
    starts: tuple[int, ...]
    size: int
    mask: NDArray[np.uint8]
    fixed: NDArray[np.uint8]
    _stencils: list[tuple[Stencil, list[int]]] = field(default_factory=list)  # with the slots of one shape

    def rows(self, data: Buffer, position: int, stop: int) -> int:
        """How many cycles follow each other from `position` on, up to `stop`."""
        most = max(0, (stop - position) // self.size)
        done, at_once = 0, _FIRST_ROWS
        while done < most:
            count = min(at_once, most - done)
            block = np.ndarray((count, self.size), np.uint8, data, position + done * self.size)
            equal = (block & self.mask) == self.fixed
            if not equal.all():
                return done + int(np.argmin(equal.all(axis=1)))
            done += count
            at_once = min(4 * at_once, max(_FIRST_ROWS, _BLOCK_BYTES // self.size))
        return most

    def decode(self, data: Buffer, base: int, position: int, rows: int, collector: Collector) -> None:
        """Decode `rows` cycles from `position` on; ``data[0]`` is at offset `base` of the file."""
        sources: dict[int, list[tuple[int, int]]] = {}  # tag → slots, and places of its values within them
        for slot, layout in enumerate(self.layouts):
            for place, value in enumerate(layout.values):
                sources.setdefault(collector.tag(value.tag), []).append((slot, place))
        self._prepare()
        at_once = max(1, _DECODED_AT_ONCE // len(self.layouts))
        for done in range(0, rows, at_once):
            first = position + done * self.size
            found = self._decode(data, first, min(at_once, rows - done))
            for tag, places in sources.items():
                offset = base + first + self.starts[places[0][0]] - HEADER
                collector.add(tag, offset, *found.points(places))
            self._report(base + first, found, collector)

    def _prepare(self) -> None:
        if not self._stencils:
            shapes: dict[tuple[object, ...], list[int]] = {}
            for slot, layout in enumerate(self.layouts):
                shapes.setdefault(shape_of(layout), []).append(slot)
            self._stencils = [(make_stencil([self.layouts[slot] for slot in of]), of) for of in shapes.values()]

    def _decode(self, data: Buffer, position: int, rows: int) -> _Found:
        count = len(self.layouts)
        steps, walls = [np.empty(0)] * count, [np.empty(0)] * count
        values: list[tuple[Floats, ...]] = [()] * count
        sound = np.empty((rows, count), np.bool_)
        for stencil, slots in self._stencils:
            decoded = stencil.decode(data, [position + self.starts[slot] for slot in slots], self.size, rows)
            sound[:, slots] = decoded.sound.T
            for row, slot in enumerate(slots):
                steps[slot], walls[slot] = decoded.step[row], decoded.wall_time[row]
                values[slot] = tuple(column[row] for column in decoded.values)
        return _Found(steps, walls, values, sound, bool(sound.all()))

    def _report(self, offset: int, found: _Found, collector: Collector) -> None:
        """Count the sound records, and report the damaged ones."""
        collector.records += int(found.sound.sum())
        for row, slot in np.argwhere(~found.sound).tolist() if not found.all_sound else ():
            at = offset + row * self.size + self.starts[slot] - HEADER
            collector.gap(at, OVERHEAD + self.layouts[slot].length, "damaged_data")


def make_cycle(data: Buffer, starts: list[int], lengths: list[int], layouts: Layouts) -> Cycle | None:
    """The cycle of these records, which follow each other; None when one of them holds more than scalars."""
    first = starts[0] - HEADER
    members: list[Layout] = []
    masks: list[bytes] = []
    for start, length in zip(starts, lengths, strict=True):
        layout = layouts.of(bytes(data[start : start + length]))
        if layout is None:
            return None
        members.append(layout)
        masks += b"\xff" * HEADER, layout.mask, bytes(OVERHEAD - HEADER)
    mask = np.frombuffer(b"".join(masks), np.uint8)
    fixed = np.frombuffer(data, np.uint8, mask.size, first) & mask
    return Cycle(tuple(members), tuple(start - first for start in starts), mask.size, mask, fixed)


def likely_periods(data: Buffer, starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> list[int]:
    """Numbers of records after which these records, the last ones read, seem to repeat, the smallest first.

    Records are told apart by a few bytes at one distance from their end; it depends on the writer at which of several
    distances the tag is, so each of them is tried.
    """
    if starts.size < 2:
        return []
    eight = np.ndarray((len(data) - 7,), "<u8", data, 0, (1,))
    four = np.ndarray((len(data) - 3,), "<u4", data, 0, (1,))
    periods: set[int] = set()
    for distance in _DISTANCES:
        place = np.maximum(starts + lengths - distance, 0)
        marks = eight[place]
        if distance > _SHORT:
            marks = marks * np.uint64(31) ^ four[place + 8]
        periods.update(_periods(marks))
    return sorted(periods)


def _periods(marks: NDArray[np.uint64]) -> list[int]:
    """The smallest few numbers of entries by which the end of `marks` repeats."""
    few = min(_COMPARED, marks.size // 2)
    equal = marks[few - 1 : -1] == marks[-1]
    for back in range(1, few):
        equal &= marks[few - 1 - back : -1 - back] == marks[-1 - back]
    periods: list[int] = []
    for period in (equal.size - np.flatnonzero(equal)[::-1]).tolist():
        if period > _LONGEST_PERIOD or 2 * period > marks.size or len(periods) == _CANDIDATES:
            break
        if np.array_equal(marks[-period:], marks[-2 * period : -period]):
            periods.append(period)
    return periods
