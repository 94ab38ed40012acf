"""A third party's adapter, installed for the length of a test in this process and in those that it starts."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rl_diagnose.logs import registry

HERE = Path(__file__).resolve().parent


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder that holds the package of `house_reader`; it is on the path of modules."""
    place = tmp_path / "packages"
    about = place / "house_reader-1.0.dist-info"
    about.mkdir(parents=True)
    shutil.copy(HERE / "house_reader.py", place)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: house-reader\nVersion: 1.0\n", "utf-8")
    (about / "entry_points.txt").write_text("[rl_diagnose.adapters]\nhouse = house_reader:ADAPTER\n", "utf-8")
    monkeypatch.syspath_prepend(place)
    registry._load.cache_clear()  # noqa: SLF001 - adapters are looked up once per process
    yield place
    registry._load.cache_clear()  # noqa: SLF001


@pytest.fixture
def logs(tmp_path: Path) -> Callable[..., Path]:
    """`logs(good=3, kill=1)` makes a folder with three runs that are read and one whose reader is killed."""

    def make(**numbers: int) -> Path:
        folder = tmp_path / "logs"
        folder.mkdir()
        for what, number in numbers.items():
            for i in range(number):
                trace = tmp_path / "traces" / f"{what}-{i}"
                trace.mkdir(parents=True)
                (folder / f"{what}-{i}.house").write_text(f"{what.replace('_', '-')} {trace}", "utf-8")
        return folder

    return make
