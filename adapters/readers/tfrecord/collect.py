"""Gathers what is decoded, part by part in file order, into one result."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ..points import EventPoints
from .result import Gap, ScanResult

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .result import GapReason

    Floats = NDArray[np.float64]

__all__ = ["Collector"]


class Collector:
    """Points per tag and everything else of a file that is being read; all offsets are offsets in the file."""

    def __init__(self) -> None:
        self.records = 0
        self.truncated = False
        self._ids: dict[str, int] = {}
        self._parts: list[list[tuple[Floats, Floats, Floats]]] = []
        self._first: list[int] = []
        self._gaps: list[Gap] = []
        self._contexts: list[tuple[int, int]] = []

    def tag(self, name: str) -> int:
        """The number by which points of this tag are added."""
        number = self._ids.setdefault(name, len(self._parts))
        if number == len(self._parts):
            self._parts.append([])
            self._first.append(-1)
        return number

    def add(self, tag: int, offset: int, step: Floats, wall_time: Floats, value: Floats) -> None:
        """Points of one tag that follow those added before; the first is in the record at `offset`."""
        if not step.size:
            return
        if self._first[tag] < 0:
            self._first[tag] = offset
        self._parts[tag].append((step, wall_time, value))

    def add_mixed(
        self, tags: NDArray[np.int64], offsets: NDArray[np.int64], step: Floats, wall_time: Floats, value: Floats
    ) -> None:
        """Points of several tags in file order, one an entry of each array."""
        order = np.argsort(tags.astype(np.uint16) if len(self._parts) < 1 << 16 else tags, kind="stable")
        ordered = tags[order]
        edges = [0, *(np.flatnonzero(ordered[1:] != ordered[:-1]) + 1).tolist(), order.size]
        step, wall_time, value, offsets = step[order], wall_time[order], value[order], offsets[order]
        for start, stop in pairwise(edges):
            if start < stop:
                points = slice(start, stop)
                self.add(int(ordered[start]), int(offsets[start]), step[points], wall_time[points], value[points])

    def gap(self, offset: int, length: int, reason: GapReason) -> None:
        """Report bytes that gave nothing."""
        self._gaps.append(Gap(offset, length, reason))

    def context(self, offset: int, length: int) -> None:
        """Report a sound record with texts or hyper-parameters; `offset` is that of its data."""
        self._contexts.append((offset, length))

    def result(self, size: int) -> ScanResult:
        """Everything gathered; the collector is empty afterwards."""
        scalars = {}
        for name, number in sorted(self._ids.items(), key=lambda item: self._first[item[1]]):
            parts, self._parts[number] = self._parts[number], []
            if parts:
                scalars[name] = EventPoints(*(_quiet(np.concatenate(column)) for column in zip(*parts, strict=True)))
        return ScanResult(
            size, self.records, scalars, _joined(self._gaps), self.truncated, tuple(sorted(self._contexts))
        )


def _quiet(values: Floats) -> Floats:
    """The values with signalling NaNs made quiet: whoever adds to one later would be warned of an invalid value."""
    return values * 1.0 if np.isnan(values).any() else values


def _joined(gaps: list[Gap]) -> tuple[Gap, ...]:
    """Gaps in file order, those of one reason that touch made one."""
    joined: list[Gap] = []
    for gap in sorted(gaps, key=lambda gap: gap.offset):
        last = joined[-1] if joined else None
        if last is not None and last.reason == gap.reason and last.offset + last.length == gap.offset:
            joined[-1] = Gap(last.offset, last.length + gap.length, gap.reason)
        else:
            joined.append(gap)
    return tuple(joined)
