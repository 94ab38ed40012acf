"""The kinds of damage: each makes copies of one log file, and says what a reader could see of it."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from rl_diagnose.adapters.readers.tfrecord.crc32c import masked_crc32c

from .forms import cells_still_well_formed, ends_in_sight, event_records, lines, still_well_formed, wandb_records

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .forms import Form

__all__ = ["KINDS", "Copy", "damages"]

FLIPS = (1, 3, 30)
KINDS = (
    "cut", *(f"{bits} bit{'s' if bits > 1 else ''} flipped" for bits in FLIPS),
    "records swapped", "tail of zeros", "file twice", "restart",
)  # fmt: skip
_LINED = ("table", "records", "text")
_HEAD_LINES = 2  # a comment and a header: they are not swapped


@dataclass(frozen=True, slots=True)
class Copy:
    """One damaged copy of a log file called `name`: what stands in it and in `others` beside it.

    `visible` is the content that a perfect reader would have: the original, or that with the changes which nobody can
    see. Where it is the damaged content itself the damage is invisible. `grows`: rows may come behind the original's
    last, with its values.
    """

    kind: str
    label: str
    content: bytes
    visible: bytes
    others: dict[str, bytes] = field(default_factory=dict)
    grows: bool = False

    @property
    def invisible(self) -> bool:
        """Whether nothing in the copy shows that it is damaged."""
        return self.content == self.visible and not self.others


def damages(name: str, content: bytes, form: Form, *, every: int, repeats: int, counted: bool) -> Iterator[Copy]:
    """All copies of one file. `every`: per cent of its length between two cuts; `repeats`: how often bits are flipped
    and records swapped; `counted`: its rows have no steps, so that their order says when they were."""
    yield from _cut(content, form, every)
    for kind, bits in zip(KINDS[1:], FLIPS, strict=False):
        for repeat in range(repeats):
            yield _flipped(kind, content, form, bits, repeat)
    yield from _swapped(name, content, form, repeats, counted)
    for percent in (5, 20):
        keep = len(content) - len(content) * percent // 100
        yield Copy("tail of zeros", f"last {percent} %", content[:keep] + bytes(len(content) - keep), content)
    for twin in _twins(name):
        yield Copy("file twice", twin, content, content, {twin: content})
    yield from _restarted(name, content, form)


def _cut(content: bytes, form: Form, every: int) -> Iterator[Copy]:
    for percent in range(every, 100, every):
        at = len(content) * percent // 100
        if form in _LINED:
            seen = ends_in_sight(form, content, at)
        elif form == "events":
            seen = at not in {stop for _, stop in event_records(content)}
        else:
            seen = True
        kept = content[:at]
        yield Copy("cut", f"at byte {at}", kept, content if seen else kept)


def _flipped(kind: str, content: bytes, form: Form, bits: int, repeat: int) -> Copy:
    rng = np.random.default_rng([zlib.crc32(content), bits, repeat])
    chosen = sorted(rng.choice(8 * len(content), bits, replace=False).tolist())
    broken = _with_flips(content, chosen)
    label = "bits " + ", ".join(map(str, chosen[:4])) + (" …" if bits > 4 else "")
    if form == "document":
        return Copy(kind, label, broken, broken if still_well_formed(form, content, broken) else content)
    if form not in _LINED:
        return Copy(kind, label, broken, content)
    unseen: list[int] = []
    for start, stop in lines(content):
        here = [bit for bit in chosen if start <= bit // 8 < stop]
        if here and still_well_formed(form, content[start:stop], broken[start:stop]):
            unseen += here
        elif here and form == "table":
            spans = cells_still_well_formed(content[start:stop], broken[start:stop])
            unseen += [bit for bit in here if any(a <= bit // 8 - start < b for a, b in spans)]
    return Copy(kind, label, broken, _with_flips(content, unseen))


def _with_flips(content: bytes, bits: list[int]) -> bytes:
    broken = bytearray(content)
    for bit in bits:
        broken[bit // 8] ^= 1 << bit % 8
    return bytes(broken)


def _swapped(name: str, content: bytes, form: Form, repeats: int, counted: bool) -> Iterator[Copy]:
    """Two records change places, neighbours in every other copy; in W&B files neighbours in one block only."""
    if form == "events":
        parts = event_records(content)[1:]
    elif form == "wandb":
        parts = [part for part in wandb_records(content) if part[0] // 32768 == part[1] // 32768]
    elif form in _LINED:
        parts = lines(content)[_HEAD_LINES if form == "table" else 0 :]
    else:
        return
    if len(parts) < 2:
        return
    rng = np.random.default_rng([zlib.crc32(name.encode()), len(content)])
    for repeat in range(repeats):
        one = int(rng.integers(0, len(parts) - 1))
        other = one + 1 if repeat % 2 == 0 or form == "wandb" else int(rng.integers(0, len(parts)))
        (a, b), (c, d) = sorted([parts[one], parts[other]])
        if form == "wandb" and (b != c or a // 32768 != c // 32768):
            continue
        if a == c:
            continue
        broken = content[:a] + content[c:d] + content[b:c] + content[a:b] + content[d:]
        unseen = form == "text" or counted
        yield Copy("records swapped", f"at bytes {a} and {c}", broken, broken if unseen else content)


def _twins(name: str) -> tuple[str, ...]:
    """What a second download and a file manager call a copy of a file."""
    stem, dot, ending = name.rpartition(".")
    if "tfevents" in name or not dot:
        return f"{name} (1)", f"{name} - Copy"
    return f"{stem} (1).{ending}", f"{stem} - Copy.{ending}"


def _restarted(name: str, content: bytes, form: Form) -> Iterator[Copy]:
    if form == "events":
        records = event_records(content)
        later = _later(content, records)
        head = content[: records[0][1]] if records else b""
        yield Copy("restart", "in a new file", content, content, {_next_name(name): head + later})
    elif form in _LINED:
        spans = lines(content)
        first = 0
        if form == "table":
            first = next((i for i, (a, b) in enumerate(spans) if not content[a:b].startswith(b"#")), 0)
        rows = spans[first + (form == "table") :]
        if len(rows) < 4 or not content.endswith(b"\n"):
            return
        begin, half = rows[0][0], rows[len(rows) // 2][0]
        yield Copy("restart", "rows appended", content + content[begin:half], content, grows=True)
        if form == "table":
            again = content[spans[first][0] : half]
            yield Copy("restart", "header and rows appended", content + again, content, grows=True)


def _later(content: bytes, records: list[tuple[int, int]]) -> bytes:
    """The first half of the records behind the first, written again after the last of them was."""
    times = [time for start, _ in records if (time := _wall_time(content, start)) is not None]
    shift = max(times, default=0.0) - min(times, default=0.0) + 60.0
    written = []
    for start, stop in records[1 : 1 + len(records) // 2]:
        time = _wall_time(content, start)
        data = content[start + 12 : stop - 4]
        if time is not None:
            data = b"\x09" + struct.pack("<d", time + shift) + data[9:]
        written.append(content[start : start + 12] + data + struct.pack("<I", masked_crc32c(data)))
    return b"".join(written)


def _wall_time(content: bytes, start: int) -> float | None:
    """The time that an event begins with; None where it begins with something else."""
    if content[start + 12 : start + 13] != b"\x09":
        return None
    return float(struct.unpack_from("<d", content, start + 13)[0])


def _next_name(name: str) -> str:
    """A name for the event file of a later start, which sorts behind the first."""
    parts = name.split(".")
    at = next((i for i, part in enumerate(parts) if part.isdigit()), None)
    if at is None:
        return f"{name}.1"
    parts[at] = str(int(parts[at]) + 86_400)
    return ".".join(parts)
