"""Event files of a training loop of one's own: tags recognised by name."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from rl_diagnose.adapters.raw_events import read_event_table
from rl_diagnose.errors import LogError, NoReadableRunError
from rl_diagnose.logs.load import load_run

Writer = Callable[[Path, Iterable[tuple[str, float, float, float]]], Path]
NAME = "events.out.tfevents.1.host"


@pytest.fixture
def log(tmp_path: Path, write_events: Writer) -> Path:
    """As a hand-written loop leaves it: a return every 10 steps, losses every 20, one of them NaN."""
    points: list[tuple[str, float, float, float]] = [("Reward", s, s, s / 10) for s in range(10, 200, 10)]
    points += [("loss/policy", s, s, math.nan if s == 60 else 0.5) for s in range(20, 200, 20)]
    points += [("approx_kl", s, s, 0.01) for s in range(20, 200, 20)]
    return write_events(tmp_path / "mine" / NAME, points)


def test_tags_become_columns_with_one_row_a_step(log: Path) -> None:
    table = read_event_table(log)
    assert table.rows == 19
    assert math.isnan(table.numbers["loss/policy"][0])
    assert table.numbers["Reward"].tolist() == [i + 1.0 for i in range(19)]
    assert math.isnan(table.non_finite["loss/policy"][5])


def test_the_folder_is_read_as_a_run_of_no_framework(log: Path) -> None:
    run = load_run(log.parent)
    assert run.framework == "tensorboard"
    assert {"reward.train", "policy.loss", "policy.kl"} <= set(run.series)
    assert run.series["policy.loss"].non_finite.nan == 1
    assert len(run.series["policy.kl"]) == 9


def test_of_two_values_at_one_step_the_later_counts(tmp_path: Path, write_events: Writer) -> None:
    points = [("reward", 1.0, 1.0, 5.0), ("reward", 2.0, 2.0, 6.0), ("reward", 1.0, 3.0, 7.0)]
    assert read_event_table(write_events(tmp_path / NAME, points)).numbers["reward"].tolist() == [7.0, 6.0]


def test_a_log_of_something_else_is_not_taken(tmp_path: Path, write_events: Writer) -> None:
    path = write_events(tmp_path / "keras" / NAME, [("epoch_accuracy", float(s), s, 0.5) for s in range(9)])
    with pytest.raises(NoReadableRunError):
        load_run(path.parent)


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,b\n1,2\n", "utf-8")
    with pytest.raises(LogError, match="no event file"):
        read_event_table(tmp_path / "x.csv")
