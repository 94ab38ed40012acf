"""Damage costs the records it is in and no more, is reported where it is, and never gives a row never written."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rl_diagnose.adapters.readers.tfrecord import window
from rl_diagnose.adapters.readers.tfrecord.reader import read_scalars
from rl_diagnose.adapters.readers.tfrecord.result import ScanResult
from rl_diagnose.errors import LogError

Make = Callable[[Any], Iterator[Any]]
ITERATIONS = 400


def simple(w: Any) -> Iterator[Any]:
    for i in range(ITERATIONS):
        for tag in "abcde":
            yield w.event(2048 * i, [w.scalar(f"train/{tag}", float(np.sin(i)))])


def multi(w: Any) -> Iterator[Any]:
    for i in range(3 * ITERATIONS):
        yield w.event(i, [w.scalar(tag, float(np.sin(i))) for tag in "abcde"])


def tensors(w: Any) -> Iterator[Any]:
    for i in range(ITERATIONS):
        for tag in "abcde":
            yield w.event(i, [w.tensor(tag, "scalars", dtype=1, float_val=[float(np.sin(i))])])


def jagged(w: Any) -> Iterator[Any]:
    rng = np.random.default_rng(0)
    for event in simple(w):
        if rng.random() < 0.6:
            yield event


def mixed(w: Any) -> Iterator[Any]:
    for index, event in enumerate(simple(w)):
        yield event
        if index % 7 == 0:
            yield w.event(index, [w.histogram("weights")])
        if index % 300 == 0:
            yield w.event(index, [w.image("frame", np.random.default_rng(0).bytes(500))])


LAYOUTS: list[Make] = [simple, multi, tensors, jagged, mixed]


@pytest.fixture(params=LAYOUTS)
def content(request: pytest.FixtureRequest, writer: Any) -> bytes:
    found: bytes = writer.file(request.param(writer))
    return found


@pytest.fixture
def plain(writer: Any) -> bytes:
    found: bytes = writer.file(simple(writer))
    return found


@pytest.fixture
def read(tmp_path: Path) -> Callable[[bytes], ScanResult]:
    def scan(content: bytes) -> ScanResult:
        path = tmp_path / "events.out.tfevents.1"
        path.write_bytes(content)
        return read_scalars(path)

    return scan


Read = Callable[[bytes], ScanResult]


def rows(found: ScanResult) -> Counter[tuple[str, float, float, float]]:
    return Counter(
        (tag, *row)
        for tag, points in found.scalars.items()
        for row in zip(points.step.tolist(), points.wall_time.tolist(), points.value.tolist(), strict=True)
    )


def starts(content: bytes) -> list[int]:
    """Where each record of an undamaged file begins."""
    found, position = [], 0
    while position < len(content):
        found.append(position)
        position += 16 + int(struct.unpack_from("<Q", content, position)[0])
    return found


@pytest.mark.parametrize("as_large", [True, False], indirect=True)
def test_three_flipped_bits_anywhere(content: bytes, read: Read) -> None:
    whole = rows(read(content))
    records = starts(content)
    rng = np.random.default_rng(0)
    for _ in range(40):
        broken = bytearray(content)
        bits = rng.integers(0, 8 * len(content), 3).tolist()
        for bit in bits:
            broken[bit // 8] ^= 1 << bit % 8
        found = read(bytes(broken))
        kept = rows(found)
        assert not kept - whole
        assert kept.total() >= 0.99 * whole.total()
        for bit in bits:
            record = records[int(np.searchsorted(records, bit // 8, "right")) - 1]
            assert any(gap.offset <= bit // 8 and record < gap.offset + gap.length for gap in found.gaps)


@pytest.mark.parametrize("as_large", [True, False], indirect=True)
@pytest.mark.parametrize("run", [1, 8, 64, 512, 4096])
def test_a_piece_overwritten_with_garbage(content: bytes, read: Read, run: int) -> None:
    whole = rows(read(content))
    rng = np.random.default_rng(run)
    for _ in range(5):
        begin = int(rng.integers(0, len(content) - run))
        found = read(content[:begin] + rng.bytes(run) + content[begin + run :])
        kept = rows(found)
        assert not kept - whole
        assert kept.total() >= whole.total() * (1 - run / len(content)) - 25
        assert found.gaps


@pytest.mark.parametrize("run", [1, 100, 4096])
def test_a_piece_that_is_missing_or_came_in_between(content: bytes, read: Read, run: int) -> None:
    whole = rows(read(content))
    rng = np.random.default_rng(run)
    for _ in range(5):
        begin = int(rng.integers(0, len(content) - run))
        for broken in (content[:begin] + content[begin + run :], content[:begin] + rng.bytes(run) + content[begin:]):
            kept = rows(read(broken))
            assert not kept - whole
            assert kept.total() >= whole.total() * (1 - run / len(content)) - 25


def test_a_damaged_record_is_reported_by_itself(plain: bytes, read: Read) -> None:
    begin, behind = starts(plain)[700:702]
    broken = bytearray(plain)
    broken[begin + 20] ^= 1
    (gap,) = read(bytes(broken)).gaps
    assert (gap.offset, gap.length, gap.reason) == (begin, behind - begin, "damaged_data")


@pytest.mark.parametrize("bits", [[0], [5, 70], [0, 31, 95], [40], [63, 64]])
def test_a_record_whose_header_has_flipped_bits_is_read(plain: bytes, read: Read, bits: list[int]) -> None:
    begin = starts(plain)[700]
    broken = bytearray(plain)
    for bit in bits:
        broken[begin + bit // 8] ^= 1 << bit % 8
    found = read(bytes(broken))
    assert [(gap.offset, gap.length, gap.reason) for gap in found.gaps] == [(begin, 12, "mended_header")]
    assert rows(found) == rows(read(plain))


def test_a_header_that_is_gone_costs_its_record(plain: bytes, read: Read) -> None:
    begin, behind = starts(plain)[700:702]
    found = read(plain[:begin] + b"\xaa" * 12 + plain[begin + 12 :])
    assert [(gap.offset, gap.length, gap.reason) for gap in found.gaps] == [(begin, behind - begin, "damaged_header")]
    assert rows(found).total() == rows(read(plain)).total() - 1


def test_zeros_in_the_middle_are_passed(plain: bytes, read: Read) -> None:
    begin, behind = starts(plain)[700], starts(plain)[800]
    found = read(plain[:begin] + bytes(behind - begin) + plain[behind:])
    assert [(gap.offset, gap.length, gap.reason) for gap in found.gaps] == [(begin, behind - begin, "zeros")]
    assert rows(found).total() == rows(read(plain)).total() - 100


@pytest.mark.parametrize("size", [1, 11, 12, 16, 1000, 100_000])
def test_a_tail_of_zeros(content: bytes, read: Read, size: int) -> None:
    found = read(content + bytes(size))
    assert [(gap.offset, gap.length, gap.reason) for gap in found.gaps] == [(len(content), size, "zeros")]
    assert not found.truncated
    assert rows(found) == rows(read(content))


def test_a_file_that_is_being_written(content: bytes, read: Read) -> None:
    whole = read(content)
    records = starts(content)
    for record, behind in zip(records[-4:-1], records[-3:], strict=True):
        for cut in range(record, behind, 3):
            found = read(content[:cut])
            assert not found.gaps
            assert found.truncated == (cut > record)
            assert found.records == records.index(record)
            assert not rows(found) - rows(whole)


def test_a_file_cut_anywhere_gives_its_whole_records(content: bytes, read: Read) -> None:
    records = starts(content)
    for cut in np.random.default_rng(0).integers(1, len(content), 20).tolist():
        found = read(content[:cut])
        assert not found.gaps
        assert found.records == int(np.searchsorted([*records[1:], len(content)], cut, "right"))


def test_damage_at_the_edge_of_the_window(writer: Any, read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    content = writer.file(simple(writer))
    whole = rows(read(content))
    monkeypatch.setattr(window, "_SIZE", 5000)
    for at in range(4900, 5100, 5):
        broken = bytearray(content)
        broken[at] ^= 16
        found = read(bytes(broken))
        assert len(found.gaps) == 1
        assert not rows(found) - whole
        assert rows(found).total() >= whole.total() - 1


def test_an_event_file_within_a_record_gives_nothing(writer: Any, read: Read) -> None:
    inner = writer.file(writer.event(i, [writer.scalar("inner", 1.0)]) for i in range(50))
    outer = [writer.event(i, [writer.scalar("outer", 1.0)]) for i in range(50)]
    artefact = writer.event(50, [writer.image("artefact", inner)])
    content = writer.file([*outer, artefact, *outer])
    assert list(read(content).scalars) == ["outer"]
    begin = starts(content)[51]
    for bit in [*range(8 * 12), *range(8 * 12, 8 * 200, 50)]:  # in its header, or in its data
        broken = bytearray(content)
        broken[begin + bit // 8] ^= 1 << bit % 8
        assert list(read(bytes(broken)).scalars) == ["outer"]


def test_a_sound_record_that_is_no_event_is_reported(writer: Any, read: Read) -> None:
    event = writer.event(1, [writer.scalar("a", 1.0)])
    content = writer.file([event])
    found = read(content + writer.record(b"\xff\xff\xff") + writer.record(event.SerializeToString()))
    assert [(gap.offset, gap.reason) for gap in found.gaps] == [(len(content), "not_an_event")]
    assert found.scalars["a"].step.tolist() == [1.0, 1.0]


def test_a_record_that_is_too_large_is_passed(writer: Any, read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rl_diagnose.adapters.readers.tfrecord.reader.LARGEST", 10_000)
    monkeypatch.setattr(window, "_SIZE", 5_000)
    event = writer.event(1, [writer.scalar("a", 1.0)])
    found = read(writer.file([event, writer.event(1, [writer.image("b", bytes(20_000))]), event]))
    (gap,) = found.gaps
    assert gap.reason == "too_large"
    assert gap.length > 20_000
    assert found.scalars["a"].step.tolist() == [1.0, 1.0]


def test_other_bytes_give_one_gap(read: Read) -> None:
    found = read(np.random.default_rng(0).bytes(100_000))
    assert [(gap.offset, gap.length) for gap in found.gaps] == [(0, 100_000)]
    assert not found.records


def test_a_file_that_cannot_be_opened_is_an_error_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="cannot be read") as caught:
        read_scalars(tmp_path / "none")
    assert caught.value.place == str(tmp_path / "none")
