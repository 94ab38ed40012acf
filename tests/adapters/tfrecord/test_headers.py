"""Record headers: found wherever they are, and mended."""

from __future__ import annotations

import struct
from itertools import combinations

import numpy as np
import pytest

from rl_diagnose.adapters.readers.tfrecord.crc32c import masked_crc32c
from rl_diagnose.adapters.readers.tfrecord.headers import find_headers, follow, length_at, mended_lengths


def header(length: int) -> bytes:
    data = struct.pack("<Q", length)
    return data + struct.pack("<I", masked_crc32c(data))


@pytest.mark.parametrize("length", [0, 1, 255, 65_535, 65_536, 2**32 - 1])
def test_a_header_is_found_among_other_bytes(length: int) -> None:
    noise = np.random.default_rng(0).bytes(500)
    data = noise + header(length) + noise
    positions, lengths = find_headers(data, 0, len(data))
    assert (positions.tolist(), lengths.tolist()) == ([500], [length])
    assert length_at(data, 500) == length
    assert find_headers(data, 0, len(data), short=True)[0].tolist() == ([500] if length < 65_536 else [])


def test_a_header_must_lie_in_the_stretch() -> None:
    data = bytes(20) + header(7) + bytes(20)
    assert find_headers(data, 20, 32)[0].tolist() == [20]
    assert find_headers(data, 21, 52)[0].size == 0
    assert find_headers(data, 0, 31)[0].size == 0
    assert find_headers(data, 20, 25)[0].size == 0


def test_zeros_and_other_bytes_are_no_header() -> None:
    assert length_at(bytes(12), 0) is None
    assert length_at(header(5)[:11], 0) is None
    assert length_at(header(2**32), 0) is None  # no record is that long
    assert find_headers(bytes(1000), 0, 1000)[0].size == 0


def test_records_are_followed_until_the_chain_breaks() -> None:
    first, second, third = header(4) + bytes(8), header(0) + bytes(4), header(100)
    data = first + second + b"?" * 9 + third
    positions, lengths = find_headers(data, 0, len(data))
    chain, behind = follow(positions, lengths, 0, len(data))
    assert chain.tolist() == [0, 1]
    assert behind == len(first + second)
    assert follow(positions, lengths, 1, len(data))[0].size == 0


@pytest.mark.parametrize("length", [0, 43, 60_000, 2**31])
def test_up_to_three_flipped_bits_are_mended(length: int) -> None:
    rng = np.random.default_rng(0)
    flips = [
        *combinations(range(96), 1),
        *(rng.choice(96, n, replace=False).tolist() for n in (2, 3) for _ in range(99)),
    ]
    for bits in flips:
        broken = bytearray(header(length))
        for bit in bits:
            broken[bit // 8] ^= 1 << bit % 8
        assert mended_lengths(broken) == [length]


def test_other_bytes_cannot_be_mended() -> None:
    rng = np.random.default_rng(0)
    assert not any(mended_lengths(rng.bytes(12)) for _ in range(200))
