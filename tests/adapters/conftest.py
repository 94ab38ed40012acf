"""Fixtures for adapter tests: real small logs, and event files written record by record."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from rl_diagnose.adapters.readers.event_framing import masked_crc32c

Scalars = Iterable[tuple[str, float, float, float]]  # tag, step, wall time, value


@pytest.fixture(scope="session")
def data() -> Path:
    """Folder of small real logs."""
    return Path(__file__).resolve().parents[1] / "data"


@pytest.fixture(scope="session")
def sb3_data(data: Path) -> Path:
    """Folder of small Stable-Baselines3 logs."""
    return data / "sb3"


@pytest.fixture(scope="session")
def write_events() -> Callable[[Path, Scalars], Path]:
    """Writes an event file with one record a scalar, as torch's SummaryWriter does."""
    return _write_events


def _write_events(path: Path, scalars: Scalars) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    version = struct.pack("<Bd", 0x09, 1.0) + b"\x1a" + _sized(b"brain.Event:2")
    events = [_event(tag, int(step), wall, value) for tag, step, wall, value in scalars]
    path.write_bytes(b"".join(_record(event) for event in [version, *events]))
    return path


def _record(data: bytes) -> bytes:
    length = struct.pack("<Q", len(data))
    checks = struct.pack("<I", masked_crc32c(length)), struct.pack("<I", masked_crc32c(data))
    return length + checks[0] + data + checks[1]


def _event(tag: str, step: int, wall: float, value: float) -> bytes:
    scalar = b"\x0a" + _sized(tag.encode()) + b"\x15" + struct.pack("<f", value)
    summary = b"\x0a" + _sized(scalar)
    return struct.pack("<Bd", 0x09, wall) + b"\x10" + _varint(step) + b"\x2a" + _sized(summary)


def _sized(data: bytes) -> bytes:
    return _varint(len(data)) + data


def _varint(number: int) -> bytes:
    out = bytearray()
    while True:
        number, byte = number >> 7, number & 0x7F
        out.append(byte | (0x80 if number else 0))
        if not number:
            return bytes(out)
