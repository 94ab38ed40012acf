"""Event files to be timed on, written record by record: the layouts that writers produce."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import numpy as np

from rl_diagnose.adapters.readers.tfrecord.crc32c import checksums

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

__all__ = ["LAYOUTS", "write_event_file"]

_AT_ONCE = 50_000  # records
_MASK_DELTA = np.uint32(0xA282EAD8)
_WALL = 1_700_000_000.0
_CLIP_RANGE = 0.2  # a setting: no run draws it at random
_JAGGED = 0.6  # share of the tags that an iteration logs
_HISTOGRAM_EVERY, _IMAGE_EVERY, _TEXT_EVERY = 5, 100, 1000  # iterations
_IMAGE_BYTES, _BUCKETS = 30_000, 30


def write_event_file(path: Path, layout: str, tags: int, points: int, names: Sequence[str] = ()) -> None:
    """Write an event file of one of the `LAYOUTS` with `points` iterations of `tags` tags.

    Of the layout ``simple`` the tags may have `names`."""
    with path.open("wb") as file:
        batch = [struct.pack("<Bd", 0x09, _WALL) + b"\x1a" + _sized(b"brain.Event:2")]
        for event in _simple(tags, points, names) if names else LAYOUTS[layout](tags, points):
            batch.append(event)
            if len(batch) == _AT_ONCE:
                file.write(_records(batch))
                batch.clear()
        file.write(_records(batch))


def _iterations(
    tags: int, points: int, names: Sequence[str] = ()
) -> Iterator[tuple[int, float, Sequence[str], list[float]]]:
    """Step, wall time, tags and their values of each iteration."""
    rng = np.random.default_rng(0)
    names = names or [f"train/signal_number_{tag}" for tag in range(tags)]
    for index in range(points):
        values = [
            _CLIP_RANGE if name == "train/clip_range" else value
            for name, value in zip(names, rng.standard_normal(tags).tolist(), strict=True)
        ]
        yield 2048 * (index + 1), _WALL + 1.7 * index, names, values


def _simple(tags: int, points: int, names: Sequence[str] = ()) -> Iterator[bytes]:
    """One scalar an event, as torch, tensorboardX and Stable-Baselines3 write."""
    for step, wall, own, values in _iterations(tags, points, names):
        head = _head(step, wall)
        for name, value in zip(own, values, strict=True):
            yield head + _summary([_scalar(name, value)])


def _multi(tags: int, points: int) -> Iterator[bytes]:
    """All scalars of an iteration in one event, as TF1 writers do."""
    for step, wall, names, values in _iterations(tags, points):
        head = _head(step, wall)
        yield head + _summary([_scalar(name, value) for name, value in zip(names, values, strict=True)])


def _tensor(tags: int, points: int) -> Iterator[bytes]:
    """One float32 tensor of rank 0 an event, as TF2 and Keras write."""
    plugin = b"\x4a" + _sized(b"\x0a" + _sized(b"\x0a" + _sized(b"scalars")))
    for step, wall, names, values in _iterations(tags, points):
        head = _head(step, wall)
        for name, value in zip(names, values, strict=True):
            tensor = b"\x08\x01\x12\x00\x22" + _sized(struct.pack("<f", value))
            yield head + _summary([b"\x0a" + _sized(name.encode()) + b"\x42" + _sized(tensor) + plugin])


def _jagged(tags: int, points: int) -> Iterator[bytes]:
    """As `_simple`, but an iteration logs only some of the tags: nothing repeats."""
    rng = np.random.default_rng(1)
    for step, wall, names, values in _iterations(tags, points):
        head = _head(step, wall)
        for name, value, logged in zip(names, values, (rng.random(tags) < _JAGGED).tolist(), strict=True):
            if logged:
                yield head + _summary([_scalar(name, value)])


def _mixed(tags: int, points: int) -> Iterator[bytes]:
    """As `_simple`, with histograms, images, texts and hyper-parameters in between."""
    rng = np.random.default_rng(2)
    number = _sized(b"\x11" + struct.pack("<d", 3e-4))
    session = b"\x1a" + _sized(b"\x0a" + _sized(b"\x0a" + _sized(b"learning_rate") + b"\x12" + number))
    hparams = b"\x0a" + _sized(b"hparams") + b"\x12" + _sized(session)
    ssi = b"\x0a" + _sized(b"_hparams_/session_start_info") + b"\x4a" + _sized(b"\x0a" + _sized(hparams))
    text_plugin = b"\x4a" + _sized(b"\x0a" + _sized(b"\x0a" + _sized(b"text")))
    for index, (step, wall, names, values) in enumerate(_iterations(tags, points)):
        head = _head(step, wall)
        if not index:
            yield head + _summary([ssi])
        for name, value in zip(names, values, strict=True):
            yield head + _summary([_scalar(name, value)])
        if index % _HISTOGRAM_EVERY == 0:
            edges, counts = np.sort(rng.standard_normal(_BUCKETS)), rng.integers(0, 99, _BUCKETS).astype(float)
            histogram = b"".join(bytes([9 + 8 * k]) + struct.pack("<d", 1.0) for k in range(5))
            histogram += b"\x32" + _sized(edges.tobytes()) + b"\x3a" + _sized(counts.tobytes())
            yield head + _summary([b"\x0a" + _sized(b"weights") + b"\x2a" + _sized(histogram)])
        if index % _IMAGE_EVERY == 0:
            image = b"\x08\x40\x10\x40\x18\x03\x22" + _sized(rng.bytes(_IMAGE_BYTES))
            yield head + _summary([b"\x0a" + _sized(b"frame") + b"\x22" + _sized(image)])
        if index % _TEXT_EVERY == 0:
            tensor = b"\x08\x07\x12\x00\x42" + _sized(b"a note at this point")
            yield head + _summary([b"\x0a" + _sized(b"note") + b"\x42" + _sized(tensor) + text_plugin])


LAYOUTS = {"simple": _simple, "multi": _multi, "tensor": _tensor, "jagged": _jagged, "mixed": _mixed}


def _head(step: int, wall: float) -> bytes:
    """What comes before the summary of an event."""
    return struct.pack("<Bd", 0x09, wall) + b"\x10" + _varint(step)


def _scalar(tag: str, value: float) -> bytes:
    return b"\x0a" + _sized(tag.encode()) + b"\x15" + struct.pack("<f", value)


def _summary(values: Iterable[bytes]) -> bytes:
    return b"\x2a" + _sized(b"".join(b"\x0a" + _sized(value) for value in values))


def _records(events: list[bytes]) -> bytes:
    """The events as TFRecords: length, its checksum, data, their checksum."""
    lengths = np.array([len(event) for event in events], np.int64)
    headers = lengths.astype("<u8").tobytes()
    header_crcs = _masked(headers, np.arange(len(events), dtype=np.int64) * 8, np.full(len(events), 8, np.int64))
    data_crcs = _masked(b"".join(events), np.cumsum(lengths) - lengths, lengths)
    parts = (
        part
        for index, event in enumerate(events)
        for part in (headers[8 * index : 8 * index + 8], header_crcs[index], event, data_crcs[index])
    )
    return b"".join(parts)


def _masked(data: bytes, starts: np.ndarray, lengths: np.ndarray) -> list[bytes]:
    crc = checksums(data, starts, lengths)
    masked = ((crc >> np.uint32(15)) | (crc << np.uint32(17))) + _MASK_DELTA
    stored = masked.astype("<u4").tobytes()
    return [stored[at : at + 4] for at in range(0, len(stored), 4)]


def _sized(data: bytes) -> bytes:
    return _varint(len(data)) + data


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)
