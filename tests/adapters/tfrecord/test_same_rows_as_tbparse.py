"""tbparse is the oracle: on undamaged files both give the same rows, bit for bit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

Check = Callable[[Path], None]
Make = Callable[[Any, int, int], Iterator[Any]]
NAME = "events.out.tfevents.1"


def values(tags: int, iterations: int) -> list[list[float]]:
    rng = np.random.default_rng(tags)
    numbers: list[list[float]] = rng.standard_normal((iterations, tags)).astype(np.float32).tolist()
    return numbers


def simple(w: Any, tags: int, iterations: int) -> Iterator[Any]:
    for i, row in enumerate(values(tags, iterations)):
        for tag, value in enumerate(row):
            yield w.event(100 * i, [w.scalar(f"group/tag_{tag}", value)])


def multi(w: Any, tags: int, iterations: int) -> Iterator[Any]:
    for i, row in enumerate(values(tags, iterations)):
        yield w.event(i, [w.scalar(f"tag_{tag}", value) for tag, value in enumerate(row)])


def tensors(w: Any, tags: int, iterations: int) -> Iterator[Any]:
    for i, row in enumerate(values(tags, iterations)):
        for tag, value in enumerate(row):
            yield w.event(i, [w.tensor(f"tag_{tag}", "scalars", dtype=1, float_val=[value])])


def contents(w: Any, tags: int, iterations: int) -> Iterator[Any]:
    """As TF2 writes them: the bytes of the number in `tensor_content`."""
    for i, row in enumerate(values(tags, iterations)):
        for tag, value in enumerate(row):
            content = np.float32(value).tobytes()
            yield w.event(i, [w.tensor(f"tag_{tag}", "scalars", dtype=1, tensor_content=content)])


def jagged(w: Any, tags: int, iterations: int) -> Iterator[Any]:
    rng = np.random.default_rng(0)
    for i, row in enumerate(values(tags, iterations)):
        for tag, value in enumerate(row):
            if rng.random() < 0.6:
                yield w.event(1000 * i, [w.scalar(f"tag_{'x' * tag}", value)])


def jagged_tensors(w: Any, tags: int, iterations: int) -> Iterator[Any]:
    rng = np.random.default_rng(0)
    for event in tensors(w, tags, iterations):
        if rng.random() < 0.6:
            yield event


def mixed(w: Any, tags: int, iterations: int) -> Iterator[Any]:
    rng = np.random.default_rng(0)
    yield w.event(0, [w.tensor("_hparams_/session_start_info", "hparams", b"\x1a\x00")])
    for i, row in enumerate(values(tags, iterations)):
        for tag, value in enumerate(row):
            yield w.event(i, [w.scalar(f"tag_{tag}", value)])
        if i % 7 == 0:
            yield w.event(i, [w.histogram("weights"), w.scalar("beside", float(i))])
        if i % 50 == 0:
            yield w.event(i, [w.image("frame", rng.bytes(3000))])
            yield w.event(i, [w.tensor("note/text_summary", "text", dtype=7, string_val=[b"note"])])


def new_tags_on_the_way(w: Any, tags: int, iterations: int) -> Iterator[Any]:
    for i, row in enumerate(values(tags, iterations)):
        for tag, value in enumerate(row[: 1 + i * tags // iterations]):
            yield w.event(i * i, [w.scalar(f"tag_{tag}", value)])


def one_tag_twice_an_iteration(w: Any, tags: int, iterations: int) -> Iterator[Any]:
    for i, row in enumerate(values(tags, iterations)):
        for tag, value in enumerate(row):
            yield w.event(i, [w.scalar(f"tag_{tag // 2}", value)])


LAYOUTS: list[Make] = [
    simple,
    multi,
    tensors,
    contents,
    jagged,
    jagged_tensors,
    mixed,
    new_tags_on_the_way,
    one_tag_twice_an_iteration,
]


BOTH_WAYS = pytest.mark.parametrize("as_large", [True, False], indirect=True)


@BOTH_WAYS
@pytest.mark.parametrize("make", LAYOUTS)
@pytest.mark.parametrize(("tags", "iterations"), [(1, 1), (2, 30), (7, 300), (40, 40)])
def test_layouts(tmp_path: Path, writer: Any, assert_same_rows: Check, make: Make, tags: int, iterations: int) -> None:
    path = tmp_path / NAME
    path.write_bytes(writer.file(make(writer, tags, iterations)))
    assert_same_rows(path)


def long_records(w: Any, tags: int, iterations: int) -> Iterator[Any]:
    """No record is as short as a scalar, and none like the one before."""
    rng = np.random.default_rng(0)
    for i in range(iterations * tags):
        yield w.event(i, [w.scalar(f"tag_{'x' * int(length)}", 1.0) for length in rng.integers(100, 200, 2)])


@pytest.mark.parametrize("make", [*LAYOUTS, long_records])
def test_files_larger_than_the_window(
    tmp_path: Path, writer: Any, assert_same_rows: Check, monkeypatch: pytest.MonkeyPatch, make: Make
) -> None:
    monkeypatch.setattr("rl_diagnose.adapters.readers.tfrecord.window._SIZE", 10_007)
    path = tmp_path / NAME
    path.write_bytes(writer.file(make(writer, 9, 400)))
    assert path.stat().st_size > 5 * 10_007
    assert_same_rows(path)


NUMBERS = st.floats(width=32) | st.sampled_from([0.0, -0.0, float("nan"), float("inf")])
STEPS = st.integers(-(2**63), 2**63 - 1) | st.integers(0, 300)
TAGS = st.text(max_size=130) | st.sampled_from(["a", "b", "loss/value"])


@st.composite
def blocks(draw: st.DrawFn) -> list[tuple[int, list[tuple[str, float, bool]]]]:
    """A few iterations that repeat with the steps counted on: events of step, and of tag, value and form."""
    value = st.tuples(TAGS, NUMBERS, st.booleans())
    body = draw(st.lists(st.lists(value, max_size=3), min_size=1, max_size=4))
    first, stride, repeats = draw(STEPS), draw(st.integers(-5, 5000)), draw(st.sampled_from([1, 3, 40, 700]))
    events = []
    for index in range(repeats):
        step = max(-(2**63), min(2**63 - 1, first + index * stride))
        events += [(step, values) for values in body]
    return events


@BOTH_WAYS
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(file=st.lists(blocks(), min_size=1, max_size=3), wall=st.floats(0, 1e10))
def test_any_file(
    tmp_path: Path,
    writer: Any,
    assert_same_rows: Check,
    file: list[list[tuple[int, list[tuple[str, float, bool]]]]],
    wall: float,
) -> None:
    events = [
        writer.event(
            step,
            [
                writer.tensor(tag, dtype=1, float_val=[value]) if tensor else writer.scalar(tag, value)
                for tag, value, tensor in values
            ],
            wall,
        )
        for block in file
        for step, values in block
    ]
    path = tmp_path / NAME
    path.write_bytes(writer.file(events))
    assert_same_rows(path)


@BOTH_WAYS
def test_real_logs(data_files: list[Path], assert_same_rows: Check) -> None:
    assert data_files
    for path in data_files:
        assert_same_rows(path)


@pytest.fixture
def data_files() -> list[Path]:
    """The small event files kept with the tests."""
    folder = Path(__file__).resolve().parents[2] / "data"
    return sorted(path for path in folder.rglob("*tfevents*") if path.is_file())


@BOTH_WAYS
@pytest.mark.corpus
def test_samples_and_a_part_of_the_corpus(shared: Path, assert_same_rows: Check) -> None:
    samples = sorted(path for path in (shared / "samples").rglob("*tfevents*") if path.stat().st_size < 500_000)
    samples = [path for path in samples if not path.name.endswith("LFS_POINTER")]
    runs = sorted((shared / "corpus" / "runs").rglob("*tfevents*"))[::9]
    assert samples
    assert runs
    for path in [*samples, *runs]:
        assert_same_rows(path)
