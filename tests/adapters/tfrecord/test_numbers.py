"""Every type of number a tensor of rank 0 may have; tbparse fails on most of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rl_diagnose.adapters.readers.tfrecord.reader import read_scalars

# data type of a TensorProto → its field, and numbers as they are put there and as they are meant
HALVES = np.array([0.0, 1.5, -2.25, 65504.0], np.float16)
BFLOATS = np.array([0.0, 1.5, -2.25, 3e38], np.float32).view(np.uint32) >> np.uint32(16)
SIGNED = [0, 1, 127, -1, -128]
TYPES: dict[int, tuple[str, list[Any], list[float]]] = {
    1: ("float_val", [0.0, 1.5, -3e38], [0.0, 1.5, float(np.float32(-3e38))]),
    2: ("double_val", [0.0, 0.1, -1e300], [0.0, 0.1, -1e300]),
    3: ("int_val", [*SIGNED, 2**31 - 1, -(2**31)], [*SIGNED, 2**31 - 1, -(2**31)]),
    4: ("int_val", [0, 1, 255], [0, 1, 255]),
    5: ("int_val", [*SIGNED, -(2**15)], [*SIGNED, -(2**15)]),
    6: ("int_val", SIGNED, [float(number) for number in SIGNED]),
    9: ("int64_val", [*SIGNED, 2**63 - 1, -(2**63)], [*SIGNED, float(2**63 - 1), -(2.0**63)]),
    10: ("bool_val", [False, True], [0.0, 1.0]),
    14: ("half_val", BFLOATS.tolist(), (BFLOATS << np.uint32(16)).view(np.float32).astype(float).tolist()),
    17: ("int_val", [0, 1, 65535], [0, 1, 65535]),
    19: ("half_val", HALVES.view(np.uint16).tolist(), HALVES.astype(float).tolist()),
    22: ("uint32_val", [0, 1, 2**32 - 1], [0, 1, 2.0**32 - 1]),
    23: ("uint64_val", [0, 1, 2**64 - 1], [0, 1, float(2**64 - 1)]),
}
# data type → numpy type within tensor_content
CONTENTS = {1: "<f4", 2: "<f8", 3: "<i4", 4: "u1", 5: "<i2", 6: "i1", 9: "<i8", 10: "?", 17: "<u2", 19: "<f2"}


def read(path: Path, writer: Any, tensors: list[Any]) -> list[float]:
    path.write_bytes(writer.file(writer.event(i, [tensor]) for i, tensor in enumerate(tensors)))
    found = read_scalars(path)
    assert not found.gaps
    values: list[float] = found.scalars["a"].value.tolist()
    assert found.scalars["a"].step.tolist() == list(range(len(values)))
    return values


@pytest.mark.parametrize("many", [1, 500])  # decoded one by one, and together
@pytest.mark.parametrize("dtype", TYPES)
def test_numbers_in_the_field_of_their_type(tmp_path: Path, writer: Any, dtype: int, many: int) -> None:
    name, written, meant = TYPES[dtype]
    tensors = [writer.tensor("a", dtype=dtype, **{name: [number]}) for number in written * many]
    assert read(tmp_path / "events", writer, tensors) == meant * many


@pytest.mark.parametrize("many", [1, 500])
@pytest.mark.parametrize("dtype", CONTENTS)
def test_numbers_as_bytes(tmp_path: Path, writer: Any, dtype: int, many: int) -> None:
    numbers = np.array([0, 1, 100], CONTENTS[dtype])
    tensors = [writer.tensor("a", dtype=dtype, tensor_content=number.tobytes()) for number in [*numbers] * many]
    assert read(tmp_path / "events", writer, tensors) == numbers.astype(float).tolist() * many


def test_tensors_of_anything_but_one_number_are_no_scalars(tmp_path: Path, writer: Any) -> None:
    vector = writer.tensor("a", dtype=1, float_val=[1.0])
    vector.tensor.tensor_shape.dim.add().size = 1
    two = writer.tensor("a", dtype=1, float_val=[1.0, 2.0])
    unknown = writer.tensor("a", dtype=8, scomplex_val=[1.0, 2.0])
    text = writer.tensor("a", dtype=7, string_val=[b"1"])
    path = tmp_path / "events"
    empty = writer.tensor("a", dtype=1)
    path.write_bytes(writer.file([writer.event(1, [value]) for value in (vector, two, unknown, text, empty)]))
    found = read_scalars(path)
    assert not found.scalars
    assert found.records == 6
