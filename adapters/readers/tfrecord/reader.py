"""Reads the scalars of an event file: window by window, checking every checksum, and going on behind damage."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rl_diagnose.errors import LogError

from .collect import Collector
from .cycle import likely_periods, make_cycle
from .headers import HEADER, OVERHEAD, find_headers, follow, length_at
from .layout import Layouts
from .loose import decode_loose
from .recovery import mended_length, next_record
from .window import LARGEST, Window

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import FileIO
    from pathlib import Path

    from numpy.typing import NDArray

    from .cycle import Cycle
    from .result import GapReason, ScanResult

    Integers = NDArray[np.int64]

__all__ = ["read_scalars"]

_FIRST_BLOCK, _LARGEST_BLOCK = 1 << 15, 1 << 18
_FEWEST_CYCLES = 16
_FEWEST_SCALARS = 1024  # in a stretch of cycles that is decoded as such
_LONGEST_CYCLE = 1 << 18
_FIRST_TRY = 1 << 14
_WORTH_A_CYCLE = 1 << 18  # bytes left in the file; fewer are decoded record by record before a cycle is found
_LOOKED_BACK = 2048  # records in which a period is looked for


def read_scalars(path: Path) -> ScanResult:
    """Read all scalars of one event file, and what else is in it.

    Every checksum is verified. Damage costs the records it is in and no more, is reported as a gap, and never gives a
    point that was not written. A last record that is not complete is left out. A file that is not an event file gives
    no records and one gap. Memory stays within a few windows of 8 MiB plus the result, except for single records that
    are larger.

    Raises `LogError` when the file cannot be read.
    """
    try:
        # a signalling NaN is a NaN like others
        with path.open("rb", buffering=0) as file, np.errstate(invalid="ignore"):
            return _Scanner(file).scan()
    except OSError as error:
        raise LogError(
            f"cannot be read: {error.strerror or error}", place=path, hint="check that it is a file and its permissions"
        ) from error


def _fewest(cycle: Cycle) -> int:
    """How many cycles have to follow each other to be decoded as such."""
    return max(_FEWEST_CYCLES, _FEWEST_SCALARS // sum(len(layout.values) for layout in cycle.layouts))


class _Scanner:
    """The state of reading one file: where it is, and the records seen but not decoded yet."""

    def __init__(self, file: FileIO) -> None:
        self._window = Window(file)
        self._position = 0  # in the window, as all positions here
        self._collector = Collector()
        self._layouts = Layouts()
        self._loose: list[tuple[Integers, Integers]] = []  # where the data of records begin, and their lengths
        self._cycle: Cycle | None = None
        self._period = 0  # records in it
        self._block = _FIRST_BLOCK
        self._seen = 0  # bytes of records since the last stretch of cycles
        self._next_try = _FIRST_TRY  # so many have to be seen before a cycle is looked for again

    def scan(self) -> ScanResult:
        while not self._finished():
            if not self._take_cycles():
                self._take_block()
        self._flush()
        return self._collector.result(self._window.size)

    def _finished(self) -> bool:
        return self._window.at_end and self._position >= self._window.stop

    def _move(self, position: int, least: int = 0) -> None:
        """Decode what was seen, and move the window so that it begins at `position`."""
        self._flush()
        self._window.load(self._window.base + position, least)
        self._position = 0

    def _flush(self) -> None:
        if not self._loose:
            return
        starts, lengths = (np.concatenate(column) for column in zip(*self._loose, strict=True))
        self._loose.clear()
        if starts.size:
            decode_loose(self._window.data, self._window.base, starts, lengths, self._layouts, self._collector)

    def _take_cycles(self) -> bool:
        """Decode as many cycles as follow; False when there are too few to be worth it."""
        window, cycle = self._window, self._cycle
        if cycle is None:
            return False
        rows = cycle.rows(window.data, self._position, window.stop)
        if rows < _fewest(cycle):
            goes_on = rows and self._position + (rows + 1) * cycle.size > window.stop  # as far as the window shows
            if goes_on and self._position and not window.at_end:
                self._move(self._position)
                return True
            return False
        self._flush()
        cycle.decode(window.data, window.base, self._position, rows, self._collector)
        self._position += rows * cycle.size
        self._block = max(cycle.size, HEADER)
        self._seen, self._next_try = 0, cycle.size
        return True

    def _take_block(self) -> None:
        """Find the records of the next block, and deal with what stops them."""
        window = self._window
        stop = min(self._position + self._block, window.stop)
        positions, lengths = find_headers(window.data, self._position, stop, short=True)
        chain, behind = follow(positions, lengths, self._position, stop)
        if chain.size and behind > window.stop:
            chain, behind = chain[:-1], int(positions[chain[-1]])
            beyond = int(lengths[np.searchsorted(positions, behind)])
        else:
            beyond = None
        if chain.size:
            self._loose.append((positions[chain] + HEADER, lengths[chain]))
            self._seen += behind - self._position
        self._position = behind
        if beyond is None and behind + HEADER <= stop:
            beyond = length_at(window.data, behind)
            if beyond is not None and behind + OVERHEAD + beyond <= window.stop:
                self._loose.append((np.array([behind + HEADER]), np.array([beyond])))
                self._position += OVERHEAD + beyond
                return
        if beyond is not None:
            self._take_beyond(beyond)
        elif behind + HEADER <= stop:
            self._pass_damage()
        elif stop == window.stop:
            self._take_tail()
        else:
            self._block = min(2 * self._block, _LARGEST_BLOCK)
            self._find_cycle()

    def _take_beyond(self, length: int) -> None:
        """The record at the position does not fit into the window."""
        window, behind = self._window, self._position + OVERHEAD + length
        if window.base + behind > window.size:
            self._collector.truncated = True
            self._move(window.size - window.base)
        elif OVERHEAD + length > LARGEST:
            self._flush()
            offset = window.base + self._position
            self._collector.gap(offset, OVERHEAD + length, "too_large")
            self._move(behind)
        else:
            self._move(self._position, OVERHEAD + length)

    def _take_tail(self) -> None:
        """Not even a header is left in the window."""
        window, position = self._window, self._position
        if not window.at_end:
            self._move(position)
            return
        rest = window.data[position : window.stop]
        if rest.strip(b"\0"):
            self._collector.truncated = True
        elif rest:
            self._flush()
            self._collector.gap(window.base + position, len(rest), "zeros")
        self._position = window.stop

    def _find_cycle(self) -> None:
        """Look for a cycle in the last records; where there is one, go back to its beginning."""
        window, position = self._window, self._position
        left = window.size - window.base - position
        if self._seen < self._next_try or left < _WORTH_A_CYCLE or not self._loose:
            return
        starts, lengths = (np.concatenate(column) for column in zip(*self._loose, strict=True))
        self._next_try = 4 * self._seen
        for period in self._periods(starts[-_LOOKED_BACK:], lengths[-_LOOKED_BACK:]):
            begin = int(starts[-period]) - HEADER
            size = position - begin
            if size > _LONGEST_CYCLE or size != int(lengths[-period:].sum()) + period * OVERHEAD:
                continue
            if not self._repeats(starts[-period:], size):
                continue
            cycle = make_cycle(window.data, starts[-period:].tolist(), lengths[-period:].tolist(), self._layouts)
            if cycle is None:
                continue
            fewest = _fewest(cycle)
            if cycle.rows(window.data, begin, min(begin + fewest * size, window.stop)) >= fewest:
                self._cycle, self._period, self._position = cycle, period, begin
                self._loose = [(starts[:-period], lengths[:-period])]
                return

    def _repeats(self, starts: Integers, size: int) -> bool:
        """Whether the headers of these records come again `size` bytes further on, and often enough after that."""
        data = self._window.data
        if int(starts[0]) + _FEWEST_CYCLES * size > self._window.stop:
            return False
        return all(
            data[start - HEADER : start] == data[start - HEADER + ahead : start + ahead]
            for ahead in ((_FEWEST_CYCLES - 1) * size, size)
            for start in starts.tolist()
        )

    def _periods(self, starts: Integers, lengths: Integers) -> Iterator[int]:
        """Periods to try: the one that fitted last, then those that the records suggest."""
        if 0 < self._period <= starts.size:
            yield self._period
        yield from likely_periods(self._window.data, starts, lengths)

    def _pass_damage(self) -> None:
        """There is no header where one should be: mend it, or go on at the next record behind it."""
        self._flush()
        window, damage = self._window, self._window.base + self._position
        length = mended_length(window, damage)
        if length is not None:
            self._collector.gap(damage, HEADER, "mended_header")
            self._position = damage - window.base + OVERHEAD + length
            self._loose.append((np.array([damage - window.base + HEADER]), np.array([length])))
        else:
            found = next_record(window, damage + 1)
            reason: GapReason = "zeros" if window.only_zeros(damage, found) else "damaged_header"
            self._collector.gap(damage, found - damage, reason)
            window.cover(found, found)
            self._position = found - window.base
        self._block, self._seen = _FIRST_BLOCK, 0
