"""Event files in every layout, written through TensorBoard's own message classes, and tbparse's view of them."""

from __future__ import annotations

import logging
import struct
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from rl_diagnose.adapters.readers.event_framing import masked_crc32c
from rl_diagnose.adapters.readers.tfrecord import reader

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.compat.proto.tensor_pb2 import TensorProto

Rows = dict[str, NDArray[np.float64]]  # tag → (points, 3): step, wall time, value


class EventWriter:
    """Builds the bytes of event files."""

    @staticmethod
    def record(data: bytes) -> bytes:
        length = struct.pack("<Q", len(data))
        checks = (struct.pack("<I", masked_crc32c(part)) for part in (length, data))
        return length + next(checks) + data + next(checks)

    def file(self, events: Iterable[Any]) -> bytes:
        """The bytes of a file with these events behind the version."""
        version = Event(wall_time=1.0, file_version="brain.Event:2")
        return b"".join(self.record(event.SerializeToString()) for event in [version, *events])

    @staticmethod
    def event(step: int, values: Sequence[Any], wall: float | None = None) -> Any:
        return Event(wall_time=100.0 + step if wall is None else wall, step=step, summary=Summary(value=values))

    @staticmethod
    def scalar(tag: str, value: float) -> Any:
        return Summary.Value(tag=tag, simple_value=value)

    @staticmethod
    def tensor(tag: str, plugin: str = "", content: bytes = b"", **fields: Any) -> Any:
        """A tensor of rank 0, unless `fields` of the TensorProto say otherwise."""
        value = Summary.Value(tag=tag, tensor=TensorProto(**fields))
        value.tensor.tensor_shape.SetInParent()
        if plugin:
            value.metadata.plugin_data.plugin_name = plugin
            value.metadata.plugin_data.content = content
        return value

    @staticmethod
    def histogram(tag: str) -> Any:
        value = Summary.Value(tag=tag)
        value.histo.min, value.histo.max, value.histo.num = -1.0, 1.0, 3.0
        value.histo.bucket_limit.extend([0.0, 1.0])
        value.histo.bucket.extend([1.0, 2.0])
        return value

    @staticmethod
    def image(tag: str, content: bytes) -> Any:
        return Summary.Value(tag=tag, image=Summary.Image(height=1, width=1, encoded_image_string=content))


@pytest.fixture(autouse=True)
def as_large(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Has small files read as large ones are, in steps and by cycles; with the parameter False, as what they are."""
    if getattr(request, "param", True):
        monkeypatch.setattr(reader, "_FIRST_BLOCK", 1 << 11)
        monkeypatch.setattr(reader, "_FIRST_TRY", 1 << 12)
        monkeypatch.setattr(reader, "_WORTH_A_CYCLE", 0)


@pytest.fixture(scope="session")
def writer() -> EventWriter:
    return EventWriter()


def rows_of_tbparse(path: Path) -> Rows:
    """The rows that tbparse gives, in order of tags, steps, wall times and values."""
    from tbparse import SummaryReader

    logging.getLogger("tensorboard").setLevel(logging.CRITICAL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tbparse = SummaryReader(str(path), extra_columns={"wall_time"}, event_types={"scalars", "tensors"})
        rows: dict[str, list[tuple[float, float, float]]] = {}
        for frame in (tbparse.scalars, tbparse.tensors):
            if frame.empty:
                continue
            columns = (frame[name].tolist() for name in ("tag", "step", "wall_time", "value"))
            for tag, step, wall, value in zip(*columns, strict=True):
                if isinstance(value, (int, float, np.number)):
                    rows.setdefault(tag, []).append((float(step), float(wall), float(value)))
    return {tag: in_order(np.array(points)) for tag, points in rows.items()}


def in_order(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows in an order that does not depend on the order of the file."""
    return points[np.lexsort(points.T[::-1])]


@pytest.fixture(scope="session")
def assert_same_rows() -> Callable[[Path], None]:
    """Asserts that a file gives the same rows here as with tbparse."""

    def check(path: Path) -> None:
        found = reader.read_scalars(path)
        expected = rows_of_tbparse(path)
        assert not found.gaps
        assert set(found.scalars) == set(expected)
        for tag, points in found.scalars.items():
            rows = in_order(np.stack([points.step, points.wall_time, points.value], axis=1))
            np.testing.assert_array_equal(rows, expected[tag], err_msg=f"{path.name}: {tag}")

    return check
