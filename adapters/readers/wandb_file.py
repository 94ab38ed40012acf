"""Weights & Biases datastore files (``run-<id>.wandb``): history rows, configuration, exit record.

Layout: a 7-byte header, then blocks of 32768 bytes holding records `<u32 checksum, u16 length, u8 type>`; the checksum
is zlib's CRC-32 of the type byte and the data. A payload is one `Record` protobuf; only the handful of fields needed
here is decoded, so no protobuf package and no W&B client is needed.
"""

from __future__ import annotations

import json
import struct
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rl_diagnose.errors import LogError
from rl_diagnose.signals.run import LogIssue

from .records import flatten, table_from_records

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from .points import Table

__all__ = ["MAGIC", "WandbFile", "message_fields", "read_wandb_file", "wandb_records"]

BLOCK = 32768
HEADER = struct.Struct("<IHB")
MAGIC = b":W&B"
FULL, FIRST, MIDDLE, LAST = 1, 2, 3, 4
MAX_RECORD = 64 * 1024 * 1024

# Field numbers of wandb_internal.proto
_RECORD_HISTORY, _RECORD_CONFIG, _RECORD_RUN, _RECORD_EXIT = 2, 5, 17, 18
_RUN_CONFIG, _CONFIG_UPDATE = 4, 1
_HISTORY_ITEM, _HISTORY_STEP, _STEP_NUM = 1, 2, 1
_ITEM_KEY, _ITEM_NESTED_KEY, _ITEM_JSON = 1, 2, 16


@dataclass(frozen=True, slots=True)
class WandbFile:
    """History as a table (``_step``, ``_timestamp``, the user's keys), flat configuration, whether the run ended."""

    history: Table
    config: dict[str, object]
    finished: bool


def read_wandb_file(path: Path) -> WandbFile:
    """Read a datastore up to its last whole record.

    Raises `LogError` for an empty file, a foreign header, or a file without any history.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise LogError(f"the file cannot be read: {error.strerror or error}", place=path) from None
    if not data:
        raise LogError("the W&B file is empty (0 bytes): nothing was logged", place=path)
    if not data.startswith(MAGIC):
        raise LogError("this is not a W&B datastore: its first bytes are not ':W&B'", place=path)
    issues: list[LogIssue] = []
    rows: list[dict[str, object]] = []
    config: dict[str, object] = {}
    finished = False
    for payload in wandb_records(data, path.name, issues):
        try:
            found_rows, found_config, ended = _record(payload)
        except (IndexError, struct.error, ValueError):
            issues.append(LogIssue("damaged_record", "a W&B record could not be decoded and was left out", path.name))
            continue
        rows += found_rows
        config |= found_config
        finished |= ended
    if not rows:
        raise LogError("the W&B file holds no history rows: the run ended before anything was logged", place=path)
    if not finished:
        issues.append(
            LogIssue(
                "no_exit_record",
                "the W&B run has no exit record: it was killed or still runs",
                path.name,
                severity="info",
            )
        )
    return WandbFile(table_from_records(path.name, rows, issues=issues), flatten(config), finished)


def _record(payload: bytes) -> tuple[list[dict[str, object]], dict[str, object], bool]:
    """History rows, configuration and whether it says that the run ended, of one record.

    Raises `IndexError`, `struct.error` or `ValueError` for bytes that are no such message, at any depth.
    """
    rows: list[dict[str, object]] = []
    config: dict[str, object] = {}
    ended = False
    for field, value in message_fields(payload):
        if not isinstance(value, bytes):
            continue
        if field == _RECORD_HISTORY:
            rows.append(_history_row(value))
        elif field == _RECORD_CONFIG:
            config |= _config_items(value)
        elif field == _RECORD_RUN:
            for inner, part in message_fields(value):
                if inner == _RUN_CONFIG and isinstance(part, bytes):
                    config |= _config_items(part)
        elif field == _RECORD_EXIT:
            ended = True
    return rows, config, ended


def wandb_records(data: bytes, name: str, issues: list[LogIssue]) -> Iterator[bytes]:
    """Whole payloads in file order; a bad checksum skips to the next block and is reported."""
    position = len(MAGIC) + 3
    parts: list[bytes] = []
    while position + HEADER.size <= len(data):
        room = BLOCK - position % BLOCK
        if room < HEADER.size:
            position += room
            continue
        checksum, length, kind = HEADER.unpack_from(data, position)
        start, end = position + HEADER.size, position + HEADER.size + length
        if kind == 0 and length == 0 and checksum == 0:  # zero padding or a zero-filled tail
            position += room
            continue
        body = data[start:end]
        if end > len(data):
            issues.append(LogIssue("truncated_tail", f"the file ends inside a record at byte {position}", name))
            return
        if length > room - HEADER.size or zlib.crc32(body, zlib.crc32(bytes([kind]))) != checksum:
            issues.append(
                LogIssue("damaged_record", f"bad checksum at byte {position}: skipped to the next block", name)
            )
            position, parts = position + room, []
            continue
        position = end
        if kind == FULL:
            yield body
        elif kind == FIRST:
            parts = [body]
        elif kind in (MIDDLE, LAST) and parts:
            parts.append(body)
            if sum(map(len, parts)) > MAX_RECORD:
                issues.append(LogIssue("oversized_record", "a W&B record above 64 MiB was left out", name))
                parts = []
            elif kind == LAST:
                yield b"".join(parts)
                parts = []


def _varint(data: bytes, position: int) -> tuple[int, int]:
    result = shift = 0
    while True:
        byte = data[position]
        position += 1
        result |= (byte & 0x7F) << shift
        if byte < 0x80:
            return result, position
        shift += 7
        if shift > 63:
            raise ValueError("varint too long")


def message_fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """(field number, value) pairs of one protobuf message; fixed-width values come as bytes."""
    position = 0
    while position < len(data):
        key, position = _varint(data, position)
        wire = key & 7
        if wire == 0:
            value, position = _varint(data, position)
            yield key >> 3, value
            continue
        if wire == 2:
            length, position = _varint(data, position)
        elif wire in (1, 5):
            length = 8 if wire == 1 else 4
        else:
            raise ValueError(f"wire type {wire}")
        if position + length > len(data):
            raise ValueError("field runs past the end")
        yield key >> 3, data[position : position + length]
        position += length


def _item(data: bytes) -> tuple[str, object]:
    key, nested, text = "", [], b"null"
    for field, value in message_fields(data):
        if not isinstance(value, bytes):
            continue
        if field == _ITEM_KEY:
            key = value.decode("utf-8", "replace")
        elif field == _ITEM_NESTED_KEY:
            nested.append(value.decode("utf-8", "replace"))
        elif field == _ITEM_JSON:
            text = value
    try:
        parsed: object = json.loads(text)
    except (ValueError, RecursionError):
        parsed = text.decode("utf-8", "replace")
    return key or "/".join(nested), parsed


def _history_row(data: bytes) -> dict[str, object]:
    row: dict[str, object] = {}
    for field, value in message_fields(data):
        if not isinstance(value, bytes):
            continue
        if field == _HISTORY_ITEM:
            key, parsed = _item(value)
            row[key] = parsed
        elif field == _HISTORY_STEP:
            row.setdefault("_step", next((v for f, v in message_fields(value) if f == _STEP_NUM), 0))
    return flatten(row)


def _config_items(data: bytes) -> dict[str, object]:
    items: dict[str, object] = {}
    for field, value in message_fields(data):
        if field == _CONFIG_UPDATE and isinstance(value, bytes):
            key, parsed = _item(value)
            if key and not key.startswith("_wandb"):
                items[key] = parsed
    return items
