"""Checksums, against a loop over the bits of the polynomial."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rl_diagnose.adapters.readers.tfrecord.crc32c import (
    checksum,
    checksums,
    field_tables,
    masked_crc32c,
    unmask,
    unmask_all,
)


def by_bits(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def test_the_check_value_of_the_standard() -> None:
    assert checksum(b"123456789") == 0xE3069283  # RFC 3720


@given(st.lists(st.binary(max_size=300), min_size=1, max_size=20))
def test_many_strings_at_once(strings: list[bytes]) -> None:
    lengths = np.array([len(string) for string in strings], np.int64)
    found = checksums(b"".join(strings), np.cumsum(lengths) - lengths, lengths)
    assert found.tolist() == [by_bits(string) for string in strings] == [checksum(string) for string in strings]


@pytest.mark.parametrize("size", [0, 1, 1019, 1020, 1021, 1024, 2044, 5000, 70_001])
def test_long_strings(size: int) -> None:
    data = np.random.default_rng(size).bytes(size)
    assert checksums(data, np.zeros(1, np.int64), np.full(1, size)).tolist() == [by_bits(data)]


@given(st.binary(min_size=1, max_size=64), st.integers(0, 63), st.integers(0, 3000))
def test_what_a_byte_contributes_depends_on_its_distance_from_the_end(data: bytes, place: int, behind: int) -> None:
    place %= len(data)
    whole = data + bytes(behind)
    blank = whole[:place] + b"\0" + whole[place + 1 :]
    (table,) = field_tables(len(whole) - 1 - place, 1)
    assert by_bits(blank) ^ int(table[whole[place]]) == by_bits(whole)


@given(st.binary(max_size=40))
def test_masking_can_be_undone(data: bytes) -> None:
    masked = masked_crc32c(data)
    assert unmask(masked) == by_bits(data)
    assert unmask_all(np.array([masked], np.uint32)).tolist() == [by_bits(data)]
