"""Event files: what is read, and what is said about broken ones."""

from __future__ import annotations

import logging
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rl_diagnose.adapters.readers.event_files import read_event_file
from rl_diagnose.adapters.readers.event_framing import masked_crc32c, peek_tags
from rl_diagnose.errors import LogError

Writer = Callable[..., Path]


@pytest.fixture
def intact(tmp_path: Path, write_events: Writer) -> Path:
    points = [(tag, 10 * i, 100.0 + i, i + k) for i in range(60) for k, tag in enumerate(("a/x", "b/y"))]
    return write_events(tmp_path / "events.out.tfevents.1.host", points)


def codes(path: Path) -> list[str]:
    return [issue.code for issue in read_event_file(path).issues]


def test_a_checksum_is_that_of_the_crc32c_standard() -> None:
    unmasked = 0xE3069283  # of the digits 1 to 9: the check value that RFC 3720 and every table of checksums give
    expected = (((unmasked >> 15) | (unmasked << 17)) + 0xA282EAD8) & 0xFFFFFFFF
    assert masked_crc32c(b"123456789") == expected


def test_all_points_of_an_intact_file_are_read(intact: Path) -> None:
    events = read_event_file(intact)
    assert set(events.scalars) == {"a/x", "b/y"}
    assert events.issues == ()
    points = events.scalars["b/y"]
    np.testing.assert_array_equal(points.step, 10.0 * np.arange(60))
    np.testing.assert_array_equal(points.wall_time, 100.0 + np.arange(60))
    np.testing.assert_array_equal(points.value, 1.0 + np.arange(60))
    assert {a.dtype for a in (points.step, points.wall_time, points.value)} == {np.dtype(np.float64)}


def test_real_file_agrees_with_the_csv_that_the_same_logger_wrote(sb3_data: Path) -> None:
    folder = sb3_data / "ppo_gaussian"
    header, *rows = [line.split(",") for line in (folder / "progress.csv").read_text("utf-8").splitlines()]
    step, column = header.index("time/total_timesteps"), header.index("train/approx_kl")
    expected = {float(row[step]): float(row[column]) for row in rows if row[column]}
    points = read_event_file(next(folder.glob("events*"))).scalars["train/approx_kl"]
    assert points.step.tolist() == list(expected)
    np.testing.assert_allclose(points.value, list(expected.values()), rtol=1e-6)


def test_points_stay_in_order_of_writing_when_steps_go_back(tmp_path: Path, write_events: Writer) -> None:
    steps = [0, 1, 2, 3, 1, 2]
    path = write_events(tmp_path / "events.out.tfevents.1", [("a", s, 10.0 + i, i) for i, s in enumerate(steps)])
    points = read_event_file(path).scalars["a"]
    assert points.step.tolist() == steps
    assert points.value.tolist() == [0, 1, 2, 3, 4, 5]


def test_non_finite_values_pass_as_written(tmp_path: Path, write_events: Writer) -> None:
    values = [1.0, np.nan, np.inf, -np.inf]
    path = write_events(tmp_path / "events.out.tfevents.1", [("a", i, 1.0 + i, v) for i, v in enumerate(values)])
    np.testing.assert_array_equal(read_event_file(path).scalars["a"].value, values)


@pytest.mark.corpus
def test_rank_0_tensors_and_texts_are_read(shared: Path) -> None:
    samples = shared / "samples"
    keras = read_event_file(next((samples / "tf2_scalars" / "keras_validation").glob("events*")))
    assert keras.scalars["epoch_loss"].value[0] == pytest.approx(1.075351, abs=1e-6)
    torchrl = read_event_file(next(samples.glob("torchrl/*/events*")))
    assert "hparams" in torchrl.texts


def test_an_empty_file_says_so(tmp_path: Path) -> None:
    path = tmp_path / "events.out.tfevents.1"
    path.write_bytes(b"")
    assert codes(path) == ["empty_file"]


def test_a_file_with_only_the_version_record_holds_no_scalars(tmp_path: Path, write_events: Writer) -> None:
    assert codes(write_events(tmp_path / "events.out.tfevents.1", [])) == ["no_scalars"]


def test_a_git_lfs_pointer_says_how_to_get_the_file(tmp_path: Path) -> None:
    path = tmp_path / "events.out.tfevents.1"
    path.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n", "utf-8")
    (issue,) = read_event_file(path).issues
    assert issue.code == "lfs_pointer"
    assert "git lfs pull" in issue.message


@pytest.mark.parametrize("cut", [1, 5, 15, 30])
def test_a_cut_last_record_leaves_the_whole_ones(intact: Path, cut: int) -> None:
    intact.write_bytes(intact.read_bytes()[:-cut])
    events = read_event_file(intact)
    assert [issue.code for issue in events.issues] == ["truncated_tail"]
    assert events.issues[0].severity == "info"
    assert len(events.scalars["a/x"].step) == 60
    assert len(events.scalars["b/y"].step) == 59


def test_a_tail_of_zeros_is_reported(intact: Path) -> None:
    size = intact.stat().st_size
    intact.write_bytes(intact.read_bytes() + bytes(1000))
    events = read_event_file(intact)
    assert [issue.code for issue in events.issues] == ["zero_tail"]
    assert str(size) in events.issues[0].message
    assert len(events.scalars["b/y"].step) == 60


def starts(content: bytes | bytearray) -> list[int]:
    """Where each record of an undamaged file begins."""
    found, position = [], 0
    while position < len(content):
        found.append(position)
        position += 16 + int(struct.unpack_from("<Q", content, position)[0])
    return found


@pytest.mark.parametrize("count", [20, 3000])  # few records are checked one by one, many by vectors
def test_a_flipped_bit_is_reported_with_its_offset(tmp_path: Path, write_events: Writer, count: int) -> None:
    path = write_events(tmp_path / "events.out.tfevents.1", [("a/x", i, 1.0 + i, i) for i in range(count)])
    content = bytearray(path.read_bytes())
    begin = starts(content)[11]  # the eleventh scalar
    content[begin + 32] ^= 4
    path.write_bytes(content)
    events = read_event_file(path)
    (issue,) = events.issues
    assert issue.code == "damaged_record"
    assert f"byte {begin} " in issue.message
    assert events.scalars["a/x"].step.tolist() == [*range(10), *range(11, count)]


def test_a_damaged_length_is_reported_with_its_offset_and_costs_nothing(intact: Path) -> None:
    content = bytearray(intact.read_bytes())
    begin = starts(content)[30]
    content[begin] ^= 1
    intact.write_bytes(content)
    events = read_event_file(intact)
    (issue,) = events.issues
    assert (issue.code, issue.severity) == ("damaged_record", "info")
    assert f"byte {begin};" in issue.message
    assert sum(len(points.step) for points in events.scalars.values()) == 120


def test_every_gap_is_reported_until_there_are_too_many(tmp_path: Path, write_events: Writer) -> None:
    path = write_events(tmp_path / "events.out.tfevents.1", [("a/x", i, 1.0 + i, i) for i in range(1000)])
    content = bytearray(path.read_bytes())
    spoilt = starts(content)[1::2]
    for begin in spoilt:
        content[begin + 32] ^= 4
    path.write_bytes(content)
    *issues, last = read_event_file(path).issues
    assert [int(issue.message.split(" ")[4]) for issue in issues] == spoilt[: len(issues)]
    assert f"{len(spoilt) - len(issues)} more gaps from byte {spoilt[len(issues)]} on" in last.message


def test_a_file_whose_first_record_is_damaged_is_read(intact: Path) -> None:
    content = intact.read_bytes()
    intact.write_bytes(b"\xff" * 40 + content[40:])
    events = read_event_file(intact)
    assert [issue.code for issue in events.issues] == ["damaged_record"]
    assert sum(len(points.step) for points in events.scalars.values()) >= 119


def test_zeros_in_the_middle_are_no_tail(intact: Path) -> None:
    content = intact.read_bytes()
    begin, behind = starts(content)[30], starts(content)[40]
    intact.write_bytes(content[:begin] + bytes(behind - begin) + content[behind:])
    (issue,) = read_event_file(intact).issues
    assert issue.code == "damaged_record"
    assert f"byte {begin} on hold only zeros" in issue.message


def test_a_plain_scalar_log_needs_neither_tbparse_nor_pandas(sb3_data: Path) -> None:
    path = next((sb3_data / "ppo_gaussian").glob("events*"))
    code = (
        "import sys; from pathlib import Path\n"
        "from rl_diagnose.adapters.readers.event_files import read_event_file\n"
        "assert read_event_file(Path(sys.argv[1])).scalars\n"
        "assert not {'tbparse', 'pandas', 'tensorboard', 'google.protobuf', 'polars'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("content", [b"hello", b"step,value\n1,2\n" * 50, bytes(range(256)) * 4])
def test_other_files_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "events.out.tfevents.1"
    path.write_bytes(content)
    with pytest.raises(LogError, match="not a TensorBoard event file"):
        read_event_file(path)
    assert peek_tags(path) == frozenset()


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "events.out.tfevents.none"):
        with pytest.raises(LogError, match="cannot be opened"):
            read_event_file(path)
        assert peek_tags(path) == frozenset()


def test_tags_are_seen_without_decoding_the_file(sb3_data: Path) -> None:
    path = next((sb3_data / "ppo_eval").glob("events*"))
    assert peek_tags(path) == frozenset(read_event_file(path).scalars)


def test_tags_behind_a_large_first_record_are_seen(tmp_path: Path, write_events: Writer) -> None:
    path = write_events(tmp_path / "events.out.tfevents.1", [("x" * 40_000, 1, 1.0, 1.0), ("a/b", 1, 2.0, 1.0)])
    assert "a/b" in peek_tags(path)


def test_tags_behind_a_damaged_header_are_seen(sb3_data: Path, tmp_path: Path) -> None:
    content = bytearray(next((sb3_data / "ppo_eval").glob("events*")).read_bytes())
    tags = peek_tags(next((sb3_data / "ppo_eval").glob("events*")))
    (first,) = struct.unpack_from("<Q", content)
    content[16 + first] ^= 1  # in the length of the second record
    path = tmp_path / "events.out.tfevents.1"
    path.write_bytes(content)
    assert len(tags - peek_tags(path)) <= 1


def test_a_tag_is_not_taken_for_the_shorter_one_it_begins_with(tmp_path: Path) -> None:
    """Two events of equal length, the tags at the same place: three more bytes stand behind the shorter one."""

    def value(tag: bytes, rest: bytes) -> bytes:
        body = b"\x0a" + bytes([len(tag)]) + tag + rest
        summary = b"\x0a" + bytes([len(body)]) + body
        return b"\x2a" + bytes([len(summary)]) + summary

    events = value(b"loss", b"\x3a\x01x" + b"\x15abcd"), value(b"loss_pi", b"\x15abcd")
    assert len(events[0]) == len(events[1])
    path = tmp_path / "events.out.tfevents.1"
    with path.open("wb") as file:
        for event in events:
            length = struct.pack("<Q", len(event))
            sums = (struct.pack("<I", masked_crc32c(data)) for data in (length, event))
            file.write(length + next(sums) + event + next(sums))
    assert peek_tags(path) == {"loss", "loss_pi"}


def test_garbage_inside_sound_records_does_not_raise(tmp_path: Path, write_events: Writer) -> None:
    path = write_events(tmp_path / "events.out.tfevents.1", [("a", 1, 1.0, 1.0)])
    rng = np.random.default_rng(1)
    for _ in range(20):
        noise = rng.bytes(30)
        length = struct.pack("<Q", len(noise))
        record = length + struct.pack("<I", masked_crc32c(length)) + noise + struct.pack("<I", masked_crc32c(noise))
        path.write_bytes(record * 3)
        peek_tags(path)
        try:
            read_event_file(path)
        except LogError as error:
            assert error.place == str(path)  # noqa: PT017 - either outcome is fine, another exception is not


def test_the_reader_leaves_warnings_and_loggers_as_they_were(intact: Path) -> None:
    logger = logging.getLogger("tensorboard")
    before = logger.level
    read_event_file(intact)  # warnings are errors here, so tbparse's own would raise
    assert logger.level == before
