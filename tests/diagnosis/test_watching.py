"""Watching a log that grows: a look at each change, equal to a fresh diagnosis, and news when a verdict changes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from rl_diagnose.diagnosis.model import Diagnosis
from rl_diagnose.diagnosis.pipeline import diagnose
from rl_diagnose.diagnosis.watching import Look, watch
from rl_diagnose.report.json_report import to_document

TABLE = Path(__file__).resolve().parents[2] / "examples" / "collapsed-ppo" / "progress.csv"


class NoMoreError(Exception):
    """The log does not grow any more."""


def grow(folder: Path, sizes: list[int]) -> list[Look]:
    """Looks at a table that has so many lines each time it is asked for, then ends."""
    lines = TABLE.read_text("utf-8").splitlines(keepends=True)
    folder.mkdir()
    target = folder / "progress.csv"
    pending = iter(sizes)

    def wait(_: float) -> None:
        size = next(pending, None)
        if size is None:
            raise NoMoreError
        target.write_text("".join(lines[:size]), "utf-8")

    looks = []
    try:
        for look in watch(folder, lambda: diagnose(folder), 1.0, wait):
            looks.append(look)  # noqa: PERF402 - the generator is left by an exception
    except NoMoreError:
        pass
    return looks


def test_a_run_is_waited_for_and_the_change_of_its_verdict_is_news(tmp_path: Path) -> None:
    looks = grow(tmp_path / "run", [20, 38, 38, 79])
    assert looks[0].diagnosis is None
    assert "no files" in looks[0].reason
    verdicts = [look.diagnosis.runs[0].verdict for look in looks if look.diagnosis is not None]
    assert verdicts[-1] == "finding"
    assert verdicts[0] != "finding"
    assert any("Learning rate jumped" in line for line in looks[-1].news)


def test_each_look_equals_a_fresh_diagnosis_of_the_same_prefix(tmp_path: Path) -> None:
    looks = grow(tmp_path / "run", [30, 60])
    fresh = tmp_path / "fresh" / "run"
    fresh.mkdir(parents=True)
    lines = TABLE.read_text("utf-8").splitlines(keepends=True)
    for look, size in zip(looks[1:], (30, 60), strict=True):
        (fresh / "progress.csv").write_text("".join(lines[:size]), "utf-8")
        assert look.diagnosis is not None
        wanted, got = (to_document(d)["runs"][0]["causes"] for d in (diagnose(fresh), look.diagnosis))
        assert got == wanted


def test_nothing_is_read_again_while_nothing_changes(tmp_path: Path) -> None:
    shutil.copytree(TABLE.parent, tmp_path / "run")
    calls = []

    def look() -> Diagnosis:
        calls.append(1)
        return diagnose(tmp_path / "run")

    waits: list[float] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 5:
            raise NoMoreError

    with pytest.raises(NoMoreError):
        list(watch(tmp_path / "run", look, 1.0, wait))
    assert waits == [1.0] * 5
    assert len(calls) == 1
