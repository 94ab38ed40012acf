"""The stretch of a file in memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from rl_diagnose.adapters.readers.tfrecord import window
from rl_diagnose.adapters.readers.tfrecord.window import MARGIN, Window


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(window, "_SIZE", 100)
    path = tmp_path / "file"
    path.write_bytes(bytes(range(250)))
    return path


def held(seen: Window) -> bytes:
    return bytes(seen.data[: seen.stop])


def test_it_moves_and_knows_the_end(path: Path) -> None:
    with path.open("rb", buffering=0) as file:
        seen = Window(file)
        assert (seen.size, seen.base, seen.at_end) == (250, 0, False)
        assert held(seen) == bytes(range(100 - MARGIN))
        seen.load(200)
        assert (seen.base, seen.at_end) == (200, True)
        assert held(seen) == bytes(range(200, 250))
        assert len(seen.data) >= seen.stop + MARGIN


def test_it_grows_when_asked_to_hold_more(path: Path) -> None:
    with path.open("rb", buffering=0) as file:
        seen = Window(file)
        assert seen.cover(20, 220)
        assert (seen.base, held(seen)[:200]) == (20, bytes(range(20, 220)))
        assert seen.cover(30, 40)
        assert seen.base == 20


def test_what_is_written_later_is_not_seen(path: Path) -> None:
    with path.open("rb", buffering=0) as file:
        seen = Window(file)
        with path.open("ab") as more:
            more.write(bytes(500))
        seen.load(240)
        assert (held(seen), seen.at_end) == (bytes(range(240, 250)), True)


def test_a_file_that_becomes_shorter_ends_there(path: Path) -> None:
    with path.open("rb", buffering=0) as file:
        seen = Window(file)
        path.write_bytes(bytes(range(180)))
        seen.load(150)
        assert (held(seen), seen.at_end, seen.size) == (bytes(range(150, 180)), True, 180)
        seen.load(240)
        assert (held(seen), seen.at_end) == (b"", True)


def test_zeros_are_told_from_other_bytes(path: Path) -> None:
    path.write_bytes(b"a" + bytes(300) + b"b")
    with path.open("rb", buffering=0) as file:
        seen = Window(file)
        assert seen.only_zeros(1, 301)
        assert not seen.only_zeros(0, 301)
        assert not seen.only_zeros(1, 302)
        assert not seen.only_zeros(1, 400)
