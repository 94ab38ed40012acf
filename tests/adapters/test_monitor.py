"""Monitor files: one row per finished episode."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rl_diagnose.adapters.readers.monitor import read_monitor
from rl_diagnose.errors import LogError


def _write(folder: Path, content: str) -> Path:
    path = folder / "monitor.csv"
    path.write_text(content, encoding="utf-8", newline="")
    return path


def test_head_and_episodes(tmp_path: Path) -> None:
    monitor = read_monitor(
        _write(
            tmp_path, '#{"t_start": 100.5, "env_id": "Pendulum-v1"}\nr,l,t,is_success\n-1.5,200,0.25,True\n2,10,1.5,\n'
        )
    )

    assert monitor.file == "monitor.csv"
    assert monitor.t_start == 100.5
    assert monitor.env_id == "Pendulum-v1"
    assert monitor.returns.tolist() == [-1.5, 2]
    assert monitor.lengths.tolist() == [200, 10]
    assert monitor.times.tolist() == [0.25, 1.5]
    np.testing.assert_array_equal(monitor.extras["is_success"], [1, np.nan])


@pytest.mark.parametrize("env", ['"None"', "null", '""'])
def test_an_environment_without_a_name(env: str, tmp_path: Path) -> None:
    assert read_monitor(_write(tmp_path, f'#{{"t_start": 1.0, "env_id": {env}}}\nr,l,t\n1,2,3\n')).env_id is None


def test_the_head_of_openai_baselines_has_spaces(tmp_path: Path) -> None:
    assert read_monitor(_write(tmp_path, '# {"t_start": 7.0, "env_id": "A-v0"} \nr,l,t\n1,2,3\n')).t_start == 7.0


@pytest.mark.parametrize("head", ["#{broken\n", "#[1]\n", ""])
def test_a_head_that_cannot_be_read_costs_only_what_it_says(head: str, tmp_path: Path) -> None:
    monitor = read_monitor(_write(tmp_path, head + "r,l,t\n1,2,3\n"))

    assert monitor.t_start is None
    assert monitor.env_id is None
    assert monitor.returns.tolist() == [1]


def test_columns_in_another_order(tmp_path: Path) -> None:
    monitor = read_monitor(_write(tmp_path, "t,r,l\n3,1,2\n"))

    assert (monitor.returns[0], monitor.lengths[0], monitor.times[0]) == (1, 2, 3)


def test_non_finite_returns_are_kept_and_rows_without_return_are_not(tmp_path: Path) -> None:
    monitor = read_monitor(_write(tmp_path, "r,l,t\nnan,5,1\n,6,2\ninf,7,3\n-inf,8,4\n1,,5\n2,9,\n"))

    np.testing.assert_array_equal(monitor.returns, [np.nan, np.inf, -np.inf, 2])
    assert monitor.lengths.tolist() == [5, 7, 8, 9]
    np.testing.assert_array_equal(monitor.times, [1, 3, 4, np.nan])


def test_a_run_without_a_finished_episode(sb3_data: Path) -> None:
    monitor = read_monitor(sb3_data / "monitor_empty" / "monitor.csv")

    assert monitor.returns.shape == monitor.lengths.shape == monitor.times.shape == (0,)
    assert monitor.t_start == pytest.approx(1660921876.17, abs=0.01)


def test_a_last_row_that_was_cut_is_left_out(tmp_path: Path) -> None:
    monitor = read_monitor(_write(tmp_path, "r,l,t\n1,2,3\n4,5"))

    assert monitor.returns.tolist() == [1]
    assert [issue.code for issue in monitor.issues] == ["partial_last_line"]


def test_a_real_monitor(sb3_data: Path) -> None:
    monitor = read_monitor(sb3_data / "monitors" / "train.monitor.csv")

    assert monitor.env_id == "Ant-v4"
    assert monitor.returns.shape == (324,)
    assert (np.diff(monitor.times) >= 0).all()
    assert monitor.issues == ()


@pytest.mark.parametrize(
    ("content", "fact"),
    [
        ("step,reward\n1,2\n", "no numeric column r or l or t"),
        ("r,l,t\na,b,c\n", "no numeric column r or l or t"),
        ("r,l\n1,2\n", "no numeric column t"),
        ("", "empty"),
    ],
)
def test_what_is_no_monitor_file_is_refused(content: str, fact: str, tmp_path: Path) -> None:
    with pytest.raises(LogError, match=fact):
        read_monitor(_write(tmp_path, content))


def test_episodes_without_a_return_still_took_their_steps(tmp_path: Path) -> None:
    monitor = read_monitor(_write(tmp_path, "r,l,t\n1,5,1\n&,6,2\n3,7,3\n4,8,4\n5,9,5\n"))

    assert monitor.returns.tolist() == [1, 3, 4, 5]
    assert monitor.left_out.tolist() == [[1, 6, 2]]


@pytest.mark.parametrize("length", ["&", "", "7.5", "-7", "nan", "inf", "1e300"])
def test_an_episode_without_a_length_says_from_where_on_steps_are_too_low(tmp_path: Path, length: str) -> None:
    monitor = read_monitor(_write(tmp_path, f"r,l,t\n1,5,1\n2,{length},2\n3,7,3\n4,8,4\n5,9,5\n"))

    assert monitor.returns.tolist() == [1, 3, 4, 5]
    issue = monitor.issues[-1]
    assert (issue.code, issue.source) == ("rows_without_length", "monitor.csv")
    assert "row 2" in issue.message


def test_lines_that_are_left_out_may_have_been_episodes(tmp_path: Path) -> None:
    monitor = read_monitor(_write(tmp_path, "r,l,t\n1,5,1\n2m5,2\n3,7,3\n"))

    assert monitor.returns.tolist() == [1, 3]
    assert [issue.code for issue in monitor.issues] == ["ragged_rows", "episodes_missing"]


@pytest.mark.parametrize("start", ["Infinity", "NaN", "true", "1" + "0" * 400])
def test_a_start_that_is_no_time_is_none(tmp_path: Path, start: str) -> None:
    assert read_monitor(_write(tmp_path, f'#{{"t_start": {start}}}\nr,l,t\n1,5,1\n')).t_start is None
