"""Texts and hyper-parameters: the usual forms are read here, others by tbparse, which is also the oracle."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from rl_diagnose.adapters.readers.event_files import read_event_file
from rl_diagnose.adapters.readers.tfrecord import fallback
from rl_diagnose.adapters.readers.tfrecord.context import Context

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData

SETTINGS = {"lr": 3e-4, "name": "größe", "flag": True, "off": False, "zero": 0.0, "empty": ""}


def session(**settings: Any) -> bytes:
    """What the hparams plugin keeps of a session that starts."""
    data = HParamsPluginData()
    for name, value in settings.items():
        held = data.session_start_info.hparams[name]
        if value is None:
            held.null_value = 0
        elif isinstance(value, list):
            held.list_value.SetInParent()
        elif isinstance(value, bool):
            held.bool_value = value
        elif isinstance(value, float):
            held.number_value = value
        else:
            held.string_value = value
    content: bytes = data.SerializeToString()
    return content


def hparams(w: Any, **settings: Any) -> Any:
    return w.event(0, [w.tensor("_hparams_/session_start_info", "hparams", session(**settings))])


def text(w: Any, tag: str, *strings: bytes, plugin: str = "text", wall: float = 1.0) -> Any:
    return w.event(0, [w.tensor(tag, plugin, dtype=7, string_val=strings)], wall)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "events.out.tfevents.1"


@pytest.fixture
def no_tbparse(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes an import of tbparse fail."""
    monkeypatch.setitem(sys.modules, "tbparse", None)


@pytest.mark.usefixtures("no_tbparse")
def test_usual_texts_and_hyper_parameters_need_no_tbparse(path: Path, writer: Any) -> None:
    path.write_bytes(writer.file([hparams(writer, **SETTINGS), text(writer, "args/text_summary", b"--seed 1")]))
    events = read_event_file(path)
    assert events.hparams == SETTINGS
    assert {type(value) for value in events.hparams.values()} == {float, str, bool}
    assert events.texts == {"args": "--seed 1"}
    assert [issue.code for issue in events.issues] == ["no_scalars"]


@pytest.mark.usefixtures("no_tbparse")
def test_the_text_of_the_latest_wall_time_counts(path: Path, writer: Any) -> None:
    walls = [(b"first", 1.0), (b"latest", 3.0), (b"late in the file", 2.0)]
    path.write_bytes(writer.file(text(writer, "note", string, wall=wall) for string, wall in walls))
    assert read_event_file(path).texts == {"note": "latest"}


@pytest.mark.usefixtures("no_tbparse")
def test_a_writer_may_name_the_plugin_only_the_first_time(path: Path, writer: Any) -> None:
    events = [text(writer, "note", b"first"), text(writer, "note", b"second", plugin="")]
    path.write_bytes(writer.file([*events, text(writer, "other", b"no text", b"of a plugin", plugin="")]))
    assert read_event_file(path).texts == {"note": "second"}


@pytest.mark.usefixtures("no_tbparse")
def test_the_first_session_counts(path: Path, writer: Any) -> None:
    path.write_bytes(writer.file([hparams(writer, lr=1.0), hparams(writer, lr=2.0)]))
    assert read_event_file(path).hparams == {"lr": 1.0}


@pytest.mark.usefixtures("no_tbparse")
def test_images_in_tensors_are_no_texts(path: Path, writer: Any) -> None:
    path.write_bytes(writer.file([text(writer, "frame", b"4", b"4", b"\x89PNG", plugin="images")]))
    assert read_event_file(path).texts == {}


def test_hyper_parameters_of_an_unusual_form_are_read_by_tbparse(path: Path, writer: Any) -> None:
    path.write_bytes(writer.file([hparams(writer, lr=1.0, layers=["list"]), text(writer, "note", b"text")]))
    events = read_event_file(path)
    assert events.hparams == {"lr": 1.0}
    assert events.texts == {"note": "text"}
    assert [issue.code for issue in events.issues] == ["no_scalars"]


@pytest.mark.parametrize("strings", [(b"one", b"two"), (b"\xff\xfe",)])
def test_texts_that_nobody_can_read_are_reported_and_cost_nothing_else(
    path: Path, writer: Any, strings: tuple[bytes, ...]
) -> None:
    events = [text(writer, "odd", *strings), text(writer, "note", b"text"), hparams(writer, lr=1.0)]
    path.write_bytes(writer.file([*events, writer.event(1, [writer.scalar("a", 1.0)])]))
    found = read_event_file(path)
    assert found.texts == {"note": "text"}
    assert found.hparams == {"lr": 1.0}
    assert found.scalars["a"].value.tolist() == [1.0]
    assert [issue.code for issue in found.issues] == ["texts_unreadable"]


def test_tbparse_is_asked_for_the_unusual_records_only(
    path: Path, writer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    original = fallback.read_with_tbparse

    def noted(records: Sequence[bytes]) -> Any:
        asked.append(len(records))
        return original(records)

    monkeypatch.setattr(fallback, "read_with_tbparse", noted)
    events = [text(writer, "odd", b"one", b"two"), text(writer, "note", b"text")]
    path.write_bytes(writer.file([*events, *(writer.event(i, [writer.scalar("a", 1.0)]) for i in range(500))]))
    read_event_file(path)
    assert asked == [1]


def test_records_cut_short_are_not_of_the_usual_form(writer: Any) -> None:
    whole = text(writer, "note", b"text").SerializeToString()
    taken = [Context().take(whole[:cut]) for cut in range(len(whole) - 1, 20, -1)]
    assert not any(taken)


def with_context(shared: Path) -> Iterator[Path]:
    for path in sorted((shared / "samples").rglob("*tfevents*")):
        if not path.name.endswith("LFS_POINTER") and path.stat().st_size < 500_000:
            yield path


@pytest.mark.corpus
def test_real_logs_give_what_tbparse_reads(shared: Path) -> None:
    from tbparse import SummaryReader

    seen = 0
    for path in with_context(shared):
        events = read_event_file(path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            reader = SummaryReader(str(path), extra_columns={"wall_time"}, event_types={"text", "tensors", "hparams"})
            texts, settings = fallback._last_texts(reader), fallback._hparams(reader)  # noqa: SLF001
        assert events.texts == texts
        assert events.hparams == settings
        seen += bool(texts) + bool(settings)
    assert seen > 1
