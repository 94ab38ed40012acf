"""Damage to inputs, the same in every run: flipped bits, cuts, splices, repetitions, and numbers that hurt."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence

import numpy as np

__all__ = ["mutations"]

LONGEST = 1 << 16
_NUMBERS = (
    *(struct.pack("<I", number) for number in (0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)),
    *(struct.pack("<Q", number) for number in (0xFFFFFFFF, 0x7FFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF)),
    *(struct.pack("<d", number) for number in (float("nan"), float("inf"), -1e308)),
    *(b"-1", b"0", b"1e999", b"-1e308", b"nan", b"-inf", b"0x10", b"9" * 30, b"1" + b"0" * 400, b"9223372036854775808"),
    *(b"\0", b"\xff", b"\n", b"\r", b'"', b",", b"{", b"[", b"]", b"}", b"()", b": ", b"\xef\xbb\xbf", b"\xf0\x9f"),
)

_Damage = Callable[[np.random.Generator, bytes, bytes], bytes]


def mutations(seeds: Sequence[bytes], count: int, seed: int) -> Iterator[bytes]:
    """`count` inputs made of `seeds`, each damaged one to four times."""
    random = np.random.default_rng(seed)
    for _ in range(count):
        data = seeds[int(random.integers(len(seeds)))]
        for _ in range(int(random.integers(1, 5))):
            other = seeds[int(random.integers(len(seeds)))]
            data = _DAMAGE[int(random.integers(len(_DAMAGE)))](random, data, other)
        yield data[:LONGEST]


def _place(random: np.random.Generator, data: bytes) -> int:
    return int(random.integers(len(data) + 1))


def _range(random: np.random.Generator, data: bytes) -> tuple[int, int]:
    start, stop = sorted((_place(random, data), _place(random, data)))
    return start, stop


def _flipped(random: np.random.Generator, data: bytes, _other: bytes) -> bytes:
    """A few bits changed."""
    changed = bytearray(data)
    for _ in range(int(random.integers(1, 9)) if data else 0):
        changed[int(random.integers(len(data)))] ^= 1 << int(random.integers(8))
    return bytes(changed)


def _cut(random: np.random.Generator, data: bytes, _other: bytes) -> bytes:
    """The end missing, as after a crash."""
    return data[: _place(random, data)]


def _without(random: np.random.Generator, data: bytes, _other: bytes) -> bytes:
    """A piece from the middle missing."""
    start, stop = _range(random, data)
    return data[:start] + data[stop:]


def _spliced(random: np.random.Generator, data: bytes, other: bytes) -> bytes:
    """The beginning of one input, the end of another."""
    return data[: _place(random, data)] + other[_place(random, other) :]


def _repeated(random: np.random.Generator, data: bytes, _other: bytes) -> bytes:
    """A piece written several times."""
    start, stop = _range(random, data)
    return data[:start] + data[start:stop] * int(random.integers(2, 6)) + data[stop:]


def _with_number(random: np.random.Generator, data: bytes, _other: bytes) -> bytes:
    """A number or a sign put in, or written over what was there."""
    number = _NUMBERS[int(random.integers(len(_NUMBERS)))]
    place = _place(random, data)
    return data[:place] + number + data[place + int(random.integers(2)) * len(number) :]


def _zeroed(random: np.random.Generator, data: bytes, _other: bytes) -> bytes:
    """A piece that was never written out."""
    start, stop = _range(random, data)
    return data[:start] + bytes(stop - start) + data[stop:]


_DAMAGE: tuple[_Damage, ...] = (_flipped, _cut, _without, _spliced, _repeated, _with_number, _with_number, _zeroed)
