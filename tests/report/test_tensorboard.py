"""Verdicts as texts of an event file: read back by TensorBoard's own reader, shown by a real TensorBoard."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import replace
from pathlib import Path

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from rl_diagnose.adapters.readers.event_files import read_event_file
from rl_diagnose.diagnosis.model import RunDiagnosis
from rl_diagnose.report.tensorboard import file_name, to_events

from .made import BROKEN, QUIET, RUN, diagnosis


def texts(folder: Path) -> dict[str, list[tuple[int, str]]]:
    """Tag to (step, text), as TensorBoard reads them."""
    events = EventAccumulator(str(folder))
    events.Reload()
    return {
        tag.removesuffix("/text_summary"): [
            (event.step, event.tensor_proto.string_val[0].decode("utf-8")) for event in events.Tensors(tag)
        ]
        for tag in events.Tags()["tensors"]
    }


@pytest.mark.parametrize("runs", [(RUN,), (QUIET, RUN, BROKEN)])
def test_tensorboard_reads_a_text_for_each_run(tmp_path: Path, runs: tuple[RunDiagnosis, ...]) -> None:
    made = diagnosis(*runs)
    (tmp_path / file_name(made)).write_bytes(to_events(made))
    found = texts(tmp_path)
    assert set(found) == {f"rl-diagnose/{run.id}" for run in made.runs}
    ((step, text),) = found["rl-diagnose/PPO_3"]
    assert step == 50_000
    assert text.startswith("# rl-diagnose report")
    assert "Entropy bonus too weak" in text
    assert "PPO_6" not in text


def test_the_file_is_sound_for_our_own_reader_and_holds_no_curve(tmp_path: Path) -> None:
    path = tmp_path / file_name(diagnosis())
    path.write_bytes(to_events(diagnosis()))
    read = read_event_file(path)
    assert read.scalars == {}
    assert [issue.code for issue in read.issues] == ["no_scalars"]


@pytest.mark.parametrize("last", [None, 0.0, -5.0, 1e300])
def test_every_last_step_has_a_place(tmp_path: Path, last: float | None) -> None:
    made = diagnosis(replace(RUN, last_step=last, id="a\x1b[31m\udcff"))
    (tmp_path / file_name(made)).write_bytes(to_events(made))
    ((_, [(step, _)]),) = texts(tmp_path).items()
    assert step == {None: 0, 0.0: 0, -5.0: 0, 1e300: 2**63 - 1}[last]


def test_a_later_diagnosis_and_one_of_another_path_have_files_of_their_own() -> None:
    later = replace(diagnosis(), created="2026-12-01T10:00:01+00:00")
    other = replace(diagnosis(), path="runs\ud800")
    assert len({file_name(made) for made in (diagnosis(), later, other)}) == 3


def test_a_real_tensorboard_shows_the_text(tmp_path: Path) -> None:
    made = diagnosis()
    (tmp_path / file_name(made)).write_bytes(to_events(made))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ["--logdir", str(tmp_path), "--port", str(port), "--host", "127.0.0.1", "--load_fast", "false"]
    command = [sys.executable, "-m", "tensorboard.main", *words]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: S603
    try:
        shown = _asked(f"http://127.0.0.1:{port}/data/plugin/text/text?run=.&tag=rl-diagnose%2FPPO_3")
    finally:
        server.terminate()
        server.wait(20)
    (text,) = json.loads(shown)
    assert text["step"] == 50_000
    assert "<h1>rl-diagnose report</h1>" in text["text"]


def _asked(url: str) -> bytes:
    """What the server answers once it has started and read the file."""
    until = time.monotonic() + 90
    while True:
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:  # noqa: S310 - of this machine
                return bytes(answer.read())
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            if time.monotonic() > until:
                raise
            time.sleep(0.3)
