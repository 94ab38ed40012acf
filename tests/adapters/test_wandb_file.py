"""W&B datastore files, written here byte by byte after the documented layout, and a real one."""

from __future__ import annotations

import json
import struct
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rl_diagnose.adapters.readers.wandb_file import BLOCK, read_wandb_file
from rl_diagnose.errors import LogError

HEADER = b":W&B" + struct.pack("<HB", 0xBEE1, 0)


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(number: int, payload: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def item(key: str, value: object, *, nested: bool = False) -> bytes:
    keys = b"".join(field(2, part.encode()) for part in key.split("/")) if nested else field(1, key.encode())
    return keys + field(16, json.dumps(value).encode())


def history(row: dict[str, object], *, nested: bool = False) -> bytes:
    return field(2, b"".join(field(1, item(k, v, nested=nested)) for k, v in row.items()))


def store(payloads: list[bytes]) -> bytes:
    data = bytearray(HEADER)
    for payload in payloads:
        rest, first = payload, True
        while True:
            room = BLOCK - len(data) % BLOCK
            if room < 7:
                data += b"\0" * room
                room = BLOCK
            part, rest = rest[: room - 7], rest[room - 7 :]
            kind = (1 if not rest else 2) if first else (4 if not rest else 3)
            data += struct.pack("<IHB", zlib.crc32(part, zlib.crc32(bytes([kind]))), len(part), kind) + part
            first = False
            if not rest:
                break
    return bytes(data)


EXIT = field(18, b"")


def write(tmp_path: Path, data: bytes) -> Path:
    path = tmp_path / "run-x.wandb"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("nested", [False, True])
def test_history_and_configuration_are_read_from_both_writers(tmp_path: Path, nested: bool) -> None:
    config = field(5, field(1, item("lr", 0.1)))
    rows = [history({"train/kl": 0.1 * i, "_step": i}, nested=nested) for i in range(3)]
    read = read_wandb_file(write(tmp_path, store([config, *rows, EXIT])))
    assert read.history.numbers["train/kl"].tolist() == [0.0, 0.1, 0.2]
    assert read.config == {"lr": 0.1}
    assert read.finished
    assert read.history.issues == ()


def test_a_record_that_spans_blocks_is_put_together(tmp_path: Path) -> None:
    long = history({"text": "x" * (2 * BLOCK), "a": 1.0})
    read = read_wandb_file(write(tmp_path, store([long, history({"a": 2.0}), EXIT])))
    assert read.history.numbers["a"].tolist() == [1.0, 2.0]


def test_non_finite_values_are_kept_as_evidence(tmp_path: Path) -> None:
    read = read_wandb_file(
        write(tmp_path, store([history({"a": 1.0}), history({"a": "NaN"}), history({"a": float("inf")}), EXIT]))
    )
    assert read.history.numbers["a"][0] == 1.0
    assert [str(v) for v in read.history.non_finite["a"]] == ["0.0", "nan", "inf"]


def test_a_killed_run_is_read_and_said_to_be_unfinished(tmp_path: Path) -> None:
    data = store([history({"a": float(i)}) for i in range(5)])
    read = read_wandb_file(write(tmp_path, data[:-3]))
    assert read.history.numbers["a"].tolist() == [0.0, 1.0, 2.0, 3.0]
    assert [i.code for i in read.history.issues] == ["truncated_tail", "no_exit_record"]


def test_a_damaged_block_is_skipped_and_reported(tmp_path: Path) -> None:
    rows = [history({"a": float(i), "pad": "p" * 200}) for i in range(400)]
    data = bytearray(store([*rows, EXIT]))
    data[BLOCK // 2] ^= 0xFF
    read = read_wandb_file(write(tmp_path, bytes(data)))
    values = read.history.numbers["a"]
    assert 200 < values.size < 400
    assert set(values) <= {float(i) for i in range(400)}
    assert "damaged_record" in {i.code for i in read.history.issues}


@pytest.mark.parametrize(
    ("data", "message"),
    [(b"", "empty"), (b"not wandb at all", "not a W&B datastore"), (HEADER, "no history rows")],
)
def test_what_is_no_history_is_refused_with_a_reason(tmp_path: Path, data: bytes, message: str) -> None:
    with pytest.raises(LogError, match=message):
        read_wandb_file(write(tmp_path, data))


@given(junk=st.binary(max_size=400))
def test_junk_after_the_header_never_raises_anything_else(
    tmp_path_factory: pytest.TempPathFactory, junk: bytes
) -> None:
    path = tmp_path_factory.mktemp("junk") / "run.wandb"
    path.write_bytes(HEADER + junk)
    with pytest.raises(LogError):
        read_wandb_file(path)


@pytest.mark.corpus
def test_a_real_file_of_ray_2_7_gives_the_rows_of_its_json_log(shared: Path) -> None:
    folder = shared / "samples" / "rllib" / "ray2.7_ppo_learner_api"
    read = read_wandb_file(folder / "run-08bd7_00000.wandb")
    rows = [json.loads(line) for line in (folder / "result.json").read_text().splitlines()]
    wanted = [row["episode_reward_mean"] for row in rows]
    got = read.history.numbers["episode_reward_mean"].tolist()
    assert got == pytest.approx(wanted[: len(got)])
    assert read.config["num_gpus"] == rows[0]["config"]["num_gpus"]


def test_a_record_whose_inner_messages_are_damaged_is_left_out(tmp_path: Path) -> None:
    broken = [field(2, b"\xff" * 5), field(2, field(1, b"\x0a\xff")), field(17, b"\x22\xff\xff")]
    path = write(tmp_path, store([history({"a": 1.0}), *broken, history({"a": 2.0})]))
    found = read_wandb_file(path)
    assert found.history.numbers["a"].tolist() == [1.0, 2.0]
    assert [issue.code for issue in found.history.issues].count("damaged_record") == 3
