"""TensorBoard event files: scalars (plain and tensor-valued), last texts and hyper-parameters.

The records are decoded by tbparse. Because tbparse stops at the first damaged record without a word, the
framing is checked here first, and what is lost is reported with its byte offset.
"""

from __future__ import annotations

import logging
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from rl_diagnose.errors import LogError
from rl_diagnose.signals.run import LogIssue

from .event_framing import LFS_MAGIC, first_damaged_record, walk
from .points import EventFile, EventPoints

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pandas as pd
    from tbparse import SummaryReader

    from .event_framing import Framing

__all__ = ["read_event_file"]

_EVERYTHING = frozenset({"scalars", "tensors", "text", "hparams"})
_NOT_EVENTS = "not a TensorBoard event file, or its first record is damaged"
_HINT = "event files are named events.out.tfevents.…; copy the file again if it was damaged on the way"


def read_event_file(path: Path) -> EventFile:
    """Read one event file.

    `scalars` holds one `EventPoints` a tag in the order of writing (float64 `step`, `wall_time` in seconds
    since the epoch, `value` with NaN and infinities as written); rank-0 numeric tensors (TF2) count as
    scalars. `texts` maps a tag, without its ``/text_summary`` suffix, to its last text. Issue codes:
    ``empty_file``, ``lfs_pointer``, ``no_scalars``, ``truncated_tail``, ``zero_tail``, ``damaged_record``,
    ``texts_unreadable``.

    Raises `LogError` for a file that cannot be opened or is not an event file at all.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise LogError(
            f"cannot be opened: {error.strerror or error}",
            place=path,
            hint="check that it is a file and its permissions",
        ) from error
    name = path.name
    if not data:
        return EventFile(
            name,
            {},
            issues=(
                LogIssue("empty_file", "the event file has no bytes: the run stopped before it logged anything", name),
            ),
        )
    if data.startswith(LFS_MAGIC):
        return EventFile(
            name,
            {},
            issues=(
                LogIssue(
                    "lfs_pointer", "a Git LFS pointer, not the event file itself: fetch it with `git lfs pull`", name
                ),
            ),
        )
    framing = walk(data)
    if not framing.starts.size and (framing.stop == "damaged" or (framing.stop == "truncated" and len(data) < 12)):
        raise LogError(_NOT_EVENTS, place=path, hint=_HINT)
    issues = _framing_issues(name, data, framing)
    if not framing.starts.size:
        return EventFile(name, {}, issues=(*issues, _nothing_logged(name)))
    return _decode(path, issues)


def _nothing_logged(name: str) -> LogIssue:
    return LogIssue("no_scalars", "the event file holds no scalars: the run stopped before it logged any", name)


def _framing_issues(name: str, data: bytes, framing: Framing) -> tuple[LogIssue, ...]:
    """What is wrong with the chain of records: at most one issue, since reading ends at the first one."""
    total = len(data)
    bad = first_damaged_record(data, framing)
    if bad is not None:
        return (_damaged(name, int(framing.starts[bad]) - 12, total),)
    if framing.stop == "damaged":
        return (_damaged(name, framing.end, total),)
    if framing.stop == "truncated":
        text = f"the last record is cut at byte {total} (a killed or running job); all whole records were read"
        return (LogIssue("truncated_tail", text, name, severity="info"),)
    if framing.stop == "zeros":
        text = f"from byte {framing.end} on the file holds only zeros: it was not written out completely"
        return (LogIssue("zero_tail", text, name),)
    return ()


def _damaged(name: str, offset: int, total: int) -> LogIssue:
    lost = total - offset
    text = f"the record at byte {offset} is damaged; it and what follows ({lost} of {total} bytes) were not read"
    return LogIssue("damaged_record", text, name)


def _decode(path: Path, issues: tuple[LogIssue, ...]) -> EventFile:
    with _quiet():
        from tbparse import SummaryReader

        types = set(_EVERYTHING)
        try:
            reader = SummaryReader(str(path), extra_columns={"wall_time"}, event_types=types)
        except Exception as odd:  # noqa: BLE001 - tbparse asserts on odd texts and hparams; scalars may still be fine
            types = {"scalars"}
            text = f"texts, tensors and hyper-parameters of the event file could not be decoded ({type(odd).__name__})"
            issues = (*issues, LogIssue("texts_unreadable", text, path.name))
            try:
                reader = SummaryReader(str(path), extra_columns={"wall_time"}, event_types=types)
            except Exception as error:  # any failure inside tbparse means the same: this file cannot be decoded
                raise LogError(f"the event file cannot be decoded ({error})", place=path, hint=_HINT) from error
        scalars = _points(reader.scalars)
        texts: dict[str, str] = {}
        hparams: dict[str, float | int | bool | str] = {}
        if "text" in types:
            scalars = {**_points(reader.tensors), **scalars}
            texts = _last_texts(reader.text)
            hparams = _hparams(reader)
    if not scalars:
        issues = (*issues, _nothing_logged(path.name))
    return EventFile(path.name, scalars, texts, hparams, issues)


def _points(frame: pd.DataFrame) -> dict[str, EventPoints]:
    """Points per tag from a long frame; cells which are not one number (arrays, strings) are left out."""
    if frame.empty:  # an empty result of tbparse has no columns at all
        return {}
    if frame["value"].dtype == object:
        frame = frame[[isinstance(v, (int, float, np.number)) for v in frame["value"]]]
    points = {}
    for tag, rows in frame.groupby("tag", sort=False):
        wall = rows["wall_time"].to_numpy(np.float64)
        written = np.argsort(wall, kind="stable")  # tbparse sorts by step, which hides restarts
        step, value = rows["step"].to_numpy(np.float64), rows["value"].to_numpy(np.float64)
        points[str(tag)] = EventPoints(step[written], wall[written], value[written])
    return points


def _last_texts(frame: pd.DataFrame) -> dict[str, str]:
    if frame.empty:
        return {}
    ordered = frame.sort_values("wall_time", kind="stable")
    return {str(tag): str(rows["value"].iloc[-1]) for tag, rows in ordered.groupby("tag", sort=False)}


def _hparams(reader: SummaryReader) -> dict[str, float | int | bool | str]:
    frame = reader.hparams
    if frame.empty:
        return {}
    values: dict[str, Any] = dict(zip(frame["tag"], frame["value"], strict=True))
    return {str(k): v for k, v in values.items() if isinstance(v, (bool, int, float, str))}


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep deprecation warnings and log lines of tbparse, tensorboard and pandas away from the user."""
    logger = logging.getLogger("tensorboard")
    level = logger.level
    with warnings.catch_warnings():
        for category in (DeprecationWarning, PendingDeprecationWarning, FutureWarning):
            for module in (r"tbparse\b", r"tensorboard\b", r"google\.protobuf\b", r"pandas\b"):
                warnings.filterwarnings("ignore", category=category, module=module)
        logger.setLevel(logging.CRITICAL)
        try:
            yield
        finally:
            logger.setLevel(level)
