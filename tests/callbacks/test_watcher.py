"""The part of the callbacks that no framework is needed for: when it looks, what it tells, what it survives."""

from __future__ import annotations

import logging
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from rl_diagnose import RunDiagnosis, UsageError, diagnose
from rl_diagnose.callbacks import watcher as module
from rl_diagnose.callbacks.watcher import Options, Watcher

ROWS = (Path(__file__).parents[2] / "examples" / "collapsed-ppo" / "progress.csv").read_text(encoding="utf-8")
HEADER, *LINES = ROWS.splitlines()


class Clock:
    """Time that passes only when it is told to, or by `tick` whenever it is asked."""

    def __init__(self) -> None:
        self.now = 0.0
        self.tick = 0.0

    def __call__(self) -> float:
        self.now += self.tick
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr("rl_diagnose.callbacks.watcher.time.perf_counter", made)
    return made


def write(watcher: Watcher, rows: int) -> None:
    """What a callback does: append rows to the log and count them."""
    assert watcher.folder is not None
    file = watcher.folder / "progress.csv"
    lines = LINES[watcher.rows : watcher.rows + rows]
    with file.open("a", encoding="utf-8") as out:
        out.write("".join(f"{line}\n" for line in ([HEADER, *lines] if watcher.rows == 0 else lines)))
    watcher.rows += rows


def test_the_answer_is_that_of_the_log_itself() -> None:
    watcher = Watcher({"share": 1.0})
    folder = watcher.begin("PPO")
    assert folder is not None
    write(watcher, len(LINES))
    watcher.look(last=True)
    assert watcher.run is not None
    assert watcher.diagnosis is not None
    assert watcher.diagnosis.to_dict()["runs"] == diagnose(folder).to_dict()["runs"]
    assert watcher.run.verdict == "finding"


def test_it_looks_every_so_many_rows(clock: Clock) -> None:
    watcher = Watcher({"every": 20})
    watcher.begin("PPO")
    write(watcher, 19)
    clock.now = 1e6
    watcher.look()
    assert watcher.diagnosis is None
    write(watcher, 1)
    watcher.look()
    assert watcher.diagnosis is not None


def test_looks_take_no_more_than_their_share_of_the_time(clock: Clock) -> None:
    watcher = Watcher({"every": 1, "share": 0.01})
    watcher.begin("PPO")
    looks = 0
    for second in range(1, 2001):
        clock.now = float(second)
        if second % 20 == 0:
            write(watcher, 1)
        before = watcher.diagnosis
        clock.tick = 0.5  # so that each look takes 0.5 s or more
        spent = watcher.spent
        watcher.look()
        clock.tick = 0.0
        if watcher.diagnosis is not before:
            looks += 1
            assert watcher.spent > spent
            assert watcher.spent <= 0.01 * second + 2.0  # by one look more than allowed, which got longer
    assert 5 <= looks <= 40


def test_the_last_look_comes_whatever_it_costs(clock: Clock) -> None:
    watcher = Watcher({"every": 10_000})
    watcher.begin("PPO")
    write(watcher, 50)
    clock.now = 0.1
    assert watcher.look(last=True)
    assert watcher.diagnosis is not None
    assert not watcher.look(last=True), "nothing was added since"


def test_a_change_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    told: list[RunDiagnosis] = []
    watcher = Watcher({"every": 1, "share": 1.0, "on_change": told.append, "stop_at": 0.9, "patience": 1})
    watcher.begin("PPO")
    watcher.spent = -1e9  # no look is put off
    caplog.set_level(logging.INFO, "rl_diagnose")
    stopped_at = None
    for _ in LINES[::5]:
        write(watcher, 5)
        watcher.look()
        if watcher.stop and stopped_at is None:
            stopped_at = watcher.rows
    verdicts = [(run.verdict, run.top.id if run.top else None) for run in told]
    assert all(one != other for one, other in pairwise(verdicts))
    assert len(verdicts) == len(caplog.records)
    assert verdicts[-1][0] == "finding"
    assert caplog.records[-1].levelname == "WARNING"
    assert watcher.run is not None
    assert watcher.run.top is not None
    assert watcher.run.top.title in caplog.records[-1].message
    assert stopped_at is not None
    assert stopped_at < len(LINES)
    assert "# " in watcher.markdown


def test_a_finding_counts_when_it_stood_in_several_looks_in_a_row(caplog: pytest.LogCaptureFixture) -> None:
    patient = Watcher({"every": 1, "share": 1.0, "stop_at": 0.5, "patience": 4})
    patient.begin("PPO")
    patient.spent = -1e9
    write(patient, len(LINES) - 5)
    for looks in range(1, 5):
        write(patient, 1)
        patient.look()
        assert patient.run is not None
        assert patient.run.verdict == "finding"
        assert patient.stop == (looks == 4)
        assert len(caplog.records) == (looks == 4)


def test_an_error_while_looking_ends_the_watching_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    watcher = Watcher({"every": 1, "share": 1.0})
    watcher.begin("PPO")
    watcher.spent = -1e9

    def fail(*_: Any, **__: Any) -> None:
        raise MemoryError("no room")

    monkeypatch.setattr(module, "diagnose", fail)
    write(watcher, 20)
    assert not watcher.look()
    assert not watcher.alive
    assert not watcher.look(last=True)
    assert [record.message for record in caplog.records] == [
        "rl-diagnose stops watching this training: MemoryError: no room"
    ]


def test_a_hook_that_fails_does_not_stop_the_training(caplog: pytest.LogCaptureFixture) -> None:
    def hook(run: RunDiagnosis) -> None:
        raise ValueError(run.id)

    watcher = Watcher({"on_change": hook})
    watcher.begin("PPO")
    write(watcher, len(LINES))
    watcher.look(last=True)
    assert "ValueError: PPO" in caplog.text


def test_a_folder_that_cannot_be_made_does_not_stop_the_training(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    watcher = Watcher({"folder": tmp_path / "file"})
    assert watcher.begin("PPO") is None
    assert not watcher.alive
    assert "stops watching" in caplog.text


def test_nothing_to_read_yet_is_no_error(caplog: pytest.LogCaptureFixture) -> None:
    watcher = Watcher({})
    watcher.begin("PPO")
    watcher.rows = 1
    assert not watcher.look(last=True)
    assert watcher.alive
    assert not caplog.records


def test_logs_are_kept_where_it_was_said_each_run_in_a_folder_of_its_own(tmp_path: Path) -> None:
    watcher = Watcher({"folder": tmp_path / "kept"})
    assert watcher.begin("PPO") == tmp_path / "kept" / "PPO"
    assert watcher.begin("PPO") == tmp_path / "kept" / "PPO_2"
    del watcher
    assert (tmp_path / "kept" / "PPO").is_dir()


def test_a_temporary_log_goes_away_with_its_watcher() -> None:
    watcher = Watcher({})
    folder = watcher.begin("PPO")
    assert folder is not None
    assert folder.is_dir()
    del watcher
    assert not folder.exists()


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"rulebooks": "no_such_book"}, UsageError, "no_such_book"),
        ({"action_space": "discreet:4"}, UsageError, "discreet"),
        ({"mapping": {"score": "reward.tarin"}}, UsageError, "reward.tarin"),
        ({"every": 0}, UsageError, "every"),
        ({"patience": 0}, UsageError, "patience"),
        ({"share": 0.0}, UsageError, "share"),
        ({"stop_at": 1.5}, UsageError, "stop_at"),
        ({"evry": 5}, UsageError, "evry"),
    ],
)
def test_wrong_options_are_refused_before_the_training(options: Options, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        Watcher(options)
