"""A diagnosis as an event file of texts, for TensorBoard to show beside the curves.

An event file is a sequence of TFRecords: length, its checksum, a serialised `Event` protocol buffer, its checksum.
Field numbers are those of TensorFlow's `event.proto`, `summary.proto` and `tensor.proto`.
"""

from __future__ import annotations

import struct
from dataclasses import replace
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING

from ..adapters.readers.tfrecord.crc32c import masked_crc32c
from ..logs.find import OWN_EVENTS
from . import words
from .markdown import to_markdown
from .text import clean

if TYPE_CHECKING:
    from ..diagnosis.model import Diagnosis, RunDiagnosis

__all__ = ["file_name", "to_events"]

_VERSION = b"brain.Event:2"
_TEXTS = b"text"  # the plugin that shows them
_STRING = 7  # DT_STRING
_LAST_STEP = 2**63 - 1  # of an int64


def file_name(diagnosis: Diagnosis) -> str:
    """A name of its own for each time and path of a diagnosis: TensorBoard does not see that a file was replaced."""
    path = sha256(diagnosis.path.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"events.out.tfevents.{_created(diagnosis):.0f}.{path}{OWN_EVENTS}"


def to_events(diagnosis: Diagnosis) -> bytes:
    """The content of the file: a text for each run, worst first, in Markdown at the run's last step.

    The tag is ``rl-diagnose/`` and the name of the run.
    """
    at = struct.pack("<d", _created(diagnosis))
    runs = sorted(diagnosis.runs, key=words.severity)
    events = [_field(3, _VERSION), *(_text_event(diagnosis, run) for run in runs)]
    return b"".join(_record(b"\x09" + at + event) for event in events)


def _created(diagnosis: Diagnosis) -> float:
    return datetime.fromisoformat(diagnosis.created).timestamp()


def _text_event(diagnosis: Diagnosis, run: RunDiagnosis) -> bytes:
    step = min(max(int(run.last_step or 0.0), 0), _LAST_STEP)
    tag = f"rl-diagnose/{clean(run.id)}"
    # What concerns all runs stands in the other reports; here each text is about its own run.
    text = to_markdown(replace(diagnosis, runs=(run,), notes=()))
    tensor = _number(1, _STRING) + _field(2, _field(2, _number(1, 1))) + _field(8, text.encode("utf-8"))
    metadata = _field(1, _field(1, _TEXTS))
    value = _field(1, tag.encode("utf-8")) + _field(9, metadata) + _field(8, tensor)
    return _number(2, step) + _field(5, _field(1, value))


def _field(number: int, content: bytes) -> bytes:
    """A field of bytes: text or a message."""
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _number(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _record(data: bytes) -> bytes:
    length = struct.pack("<Q", len(data))
    sums = (struct.pack("<I", masked_crc32c(part)) for part in (length, data))
    return length + next(sums) + data + next(sums)
