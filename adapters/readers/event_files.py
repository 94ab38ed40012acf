"""TensorBoard event files: scalars (plain and tensor-valued), last texts and hyper-parameters.

What is wrong with a file is reported with its byte offset; everything that is still sound is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rl_diagnose.errors import LogError
from rl_diagnose.signals.run import LogIssue

from .event_framing import LFS_MAGIC
from .points import EventFile
from .tfrecord.context import Context
from .tfrecord.reader import read_scalars

if TYPE_CHECKING:
    from pathlib import Path

    from .tfrecord.result import Gap, ScanResult

__all__ = ["read_event_file"]

_NOT_EVENTS = "not a TensorBoard event file, or damaged from beginning to end"
_HINT = "event files are named events.out.tfevents.…; copy the file again if it was damaged on the way"
_SHORTEST = 12  # bytes: a file that is shorter has no whole record header
_MOST_GAPS = 100  # reported one by one
_GAPS = {
    "damaged_data": "the record at byte {offset} is damaged: {length} bytes were left out",
    "damaged_header": "the record at byte {offset} is damaged: {length} bytes up to the next one were left out",
    "mended_header": "bits were flipped in the record header at byte {offset}; its record was read all the same",
    "not_an_event": "the record at byte {offset} is no event: {length} bytes were left out",
    "too_large": "the record at byte {offset} is too large to be a scalar: {length} bytes were left out",
    "zeros": "the {length} bytes from byte {offset} on hold only zeros: they were not written out",
}


def read_event_file(path: Path) -> EventFile:
    """Read one event file.

    `scalars` holds one `EventPoints` a tag in the order of writing (float64 `step`, `wall_time` in seconds
    since the epoch, `value` with NaN and infinities as written); rank-0 numeric tensors (TF2) count as
    scalars. `texts` maps a tag, without its ``/text_summary`` suffix, to its last text. Issue codes:
    ``empty_file``, ``lfs_pointer``, ``no_scalars``, ``truncated_tail``, ``zero_tail``, ``damaged_record`` (one a gap,
    the first hundred), ``texts_unreadable``.

    Raises `LogError` for a file that cannot be opened or is not an event file at all.
    """
    name = path.name
    try:
        with path.open("rb") as file:
            head = file.read(len(LFS_MAGIC))
    except OSError as error:
        raise LogError(
            f"cannot be opened: {error.strerror or error}",
            place=path,
            hint="check that it is a file and its permissions",
        ) from error
    if not head:
        text = "the event file has no bytes: the run stopped before it logged anything"
        return EventFile(name, {}, issues=(LogIssue("empty_file", text, name),))
    if head == LFS_MAGIC:
        text = "a Git LFS pointer, not the event file itself: fetch it with `git lfs pull`"
        return EventFile(name, {}, issues=(LogIssue("lfs_pointer", text, name),))
    found = read_scalars(path)
    if not found.records and (
        any(gap.reason != "zeros" for gap in found.gaps) or (found.truncated and found.size < _SHORTEST)
    ):
        raise LogError(_NOT_EVENTS, place=path, hint=_HINT)
    issues = _damage(name, found)
    texts, hparams, failed = _context(path, found)
    if failed:
        text = f"some texts or hyper-parameters of the event file could not be decoded ({failed})"
        issues.append(LogIssue("texts_unreadable", text, name))
    if not found.scalars:
        text = "the event file holds no scalars: the run stopped before it logged any"
        issues.append(LogIssue("no_scalars", text, name))
    return EventFile(name, found.scalars, texts, hparams, tuple(issues))


def _damage(name: str, found: ScanResult) -> list[LogIssue]:
    """What is wrong with the chain of records: one issue a gap, but no more than a reader can take in."""
    issues = [_gap(name, gap, found.size) for gap in found.gaps[:_MOST_GAPS]]
    more = found.gaps[_MOST_GAPS:]
    if more:
        text = f"{len(more)} more gaps from byte {more[0].offset} on, {sum(gap.length for gap in more)} bytes in all"
        issues.append(LogIssue("damaged_record", text, name))
    if found.truncated:
        text = f"the last record is cut at byte {found.size} (a killed or running job); all whole records were read"
        issues.append(LogIssue("truncated_tail", text, name, severity="info"))
    return issues


def _gap(name: str, gap: Gap, size: int) -> LogIssue:
    if gap.reason == "zeros" and gap.offset + gap.length == size:
        text = f"from byte {gap.offset} on the file holds only zeros: it was not written out completely"
        return LogIssue("zero_tail", text, name)
    text = _GAPS[gap.reason].format(offset=gap.offset, length=gap.length)
    return LogIssue("damaged_record", text, name, severity="info" if gap.reason == "mended_header" else "warning")


def _context(path: Path, found: ScanResult) -> tuple[dict[str, str], dict[str, float | int | bool | str], str | None]:
    """Texts, hyper-parameters, and the kind of exception met with records that hold them in an unusual form."""
    context = Context()
    unusual = [data for data in _records(path, found.contexts) if not context.take(data)]
    if not unusual:
        return context.texts(), dict(context.hparams), None
    from .tfrecord.fallback import read_with_tbparse

    texts, hparams, failed = read_with_tbparse(unusual)
    return {**texts, **context.texts()}, {**hparams, **context.hparams}, failed


def _records(path: Path, places: tuple[tuple[int, int], ...]) -> list[bytes]:
    """The data of records at these offsets, of these lengths."""
    if not places:
        return []
    records = []
    try:
        with path.open("rb") as file:
            for offset, length in places:
                file.seek(offset)
                records.append(file.read(length))
    except OSError as error:
        raise LogError(
            f"cannot be read: {error.strerror or error}", place=path, hint="check that it is a file and its permissions"
        ) from error
    return records
