"""What reading an event file gives: scalars, where its other records are, and what could not be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from ..points import EventPoints

__all__ = ["Gap", "GapReason", "ScanResult"]

GapReason = Literal["damaged_data", "damaged_header", "mended_header", "not_an_event", "too_large", "zeros"]


@dataclass(frozen=True, slots=True)
class Gap:
    """`length` bytes from `offset` on that gave nothing.

    ``damaged_data``: the checksum of one or more records is wrong. ``damaged_header``: it is not known how long a
    record is; all bytes up to the next sound record are lost. ``zeros``: the same, and all of them are zero, as after a
    crash of the machine. ``not_an_event``: the checksum is right, but the record is no `Event`. ``too_large``: a record
    of more than 256 MiB, which is not looked into. ``mended_header``: bits of a header were flipped; the record it
    belongs to could be found nevertheless, so nothing is lost.
    """

    offset: int
    length: int
    reason: GapReason


@dataclass(frozen=True, slots=True)
class ScanResult:
    """One event file of `size` bytes and `records` sound records.

    `scalars` maps each tag, in the order of first appearance, to its points in file order: plain numbers and tensors of
    rank 0, steps that repeat or go back included. `truncated`: the last record is not complete, as in a file that is
    still written. `gaps` are in file order; damage next to damage is one gap. `contexts` are sound records with texts
    or hyper-parameters in file order: offset and length of their data.
    """

    size: int
    records: int
    scalars: dict[str, EventPoints]
    gaps: tuple[Gap, ...]
    truncated: bool
    contexts: tuple[tuple[int, int], ...]
