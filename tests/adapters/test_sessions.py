"""Joining the sessions of a run: restarts, resumed runs, stray and duplicate points."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from rl_diagnose.adapters.sessions import LogSource, Track, merge_sessions
from rl_diagnose.signals.run import LogIssue


def track(file: str, steps: Sequence[float], start: float, *, values: Sequence[float] | None = None) -> Track:
    """Points one second apart, with the order of writing as value."""
    order = start + np.arange(len(steps), dtype=float)
    value = order if values is None else np.array(values, float)
    return Track(np.array(steps, float), value, order, order, (file,))


def source(file: str, start: float, **tracks: Sequence[float]) -> LogSource:
    return LogSource(file, start, {key: track(file, steps, start) for key, steps in tracks.items()})


def merge(*sources: LogSource, main: str = "abcd") -> tuple[dict[str, Track], dict[str, LogIssue]]:
    tracks, issues = merge_sessions(sources, lambda key: key in main)
    return tracks, {issue.code: issue for issue in issues}


def test_a_single_session_is_left_alone() -> None:
    tracks, issues = merge(source("f", 100, a=[1, 2, 3], b=[2, 4]))
    assert tracks["a"].step.tolist() == [1, 2, 3]
    assert issues == {}


def test_a_resumed_run_goes_on_in_a_second_file() -> None:
    tracks, issues = merge(source("two", 200, a=[4, 5]), source("one", 100, a=[1, 2, 3]))
    assert tracks["a"].step.tolist() == [1, 2, 3, 4, 5]
    assert tracks["a"].files == ("one", "two")
    assert list(issues) == ["resumed"]
    assert (issues["resumed"].severity, issues["resumed"].source, issues["resumed"].step) == ("info", "two", 4)


def test_a_restart_from_a_checkpoint_wins_over_what_it_abandons() -> None:
    tracks, issues = merge(source("one", 100, a=[10, 20, 30, 40]), source("two", 200, a=[20, 30]))
    assert tracks["a"].step.tolist() == [10, 20, 30]
    assert tracks["a"].value.tolist() == [100, 200, 201]  # the later file's
    assert list(issues) == ["restart"]
    assert (issues["restart"].source, issues["restart"].step) == ("two", 20)
    assert "3 earlier points" in issues["restart"].message


def test_a_restart_in_one_file_is_seen_as_well() -> None:
    tracks, issues = merge(source("f", 100, a=[10, 20, 30, 10, 20]))
    assert tracks["a"].value.tolist() == [103, 104]
    assert list(issues) == ["restart"]


def test_a_rare_key_loses_the_points_of_the_abandoned_part() -> None:
    first = LogSource("one", 100, {"a": track("one", [1, 2, 3, 4, 5, 6], 100), "b": track("one", [3, 6], 102.5)})
    second = LogSource("two", 200, {"a": track("two", [4, 5], 200)})
    tracks, issues = merge(first, second)
    assert tracks["b"].step.tolist() == [3]
    assert list(issues) == ["restart"]


def test_a_key_on_an_axis_of_its_own_does_not_take_part() -> None:
    first = source("one", 100, a=[1000, 2000, 3000], x=[1, 2, 3])
    second = source("two", 200, a=[1000, 2000], x=[4, 5])
    tracks, issues = merge(first, second)
    assert tracks["x"].step.tolist() == [1, 2, 3, 4, 5]
    assert tracks["a"].value.tolist() == [200, 201]
    assert issues["restart"].step == 1000


def test_two_restarts_leave_the_last_part() -> None:
    parts = [source(f"f{i}", 100.0 * (i + 1), a=[10, 20, 30]) for i in range(3)]
    tracks, issues = merge_sessions(parts, lambda _: True)
    assert tracks["a"].value.tolist() == [300, 301, 302]
    assert [issue.code for issue in issues] == ["restart", "restart"]
    assert [issue.source for issue in issues] == ["f1", "f2"]


@pytest.mark.parametrize("steps", [[1, 2, 3, 2.5, 4, 5], [1, 2, 3, 4, 5, 0]])
def test_one_point_that_goes_back_is_no_restart(steps: list[float]) -> None:
    tracks, issues = merge(source("f", 100, a=steps))
    assert tracks["a"].step.tolist() == sorted(steps)
    assert list(issues) == ["backward_steps"]
    assert issues["backward_steps"].severity == "info"


def test_of_several_values_at_one_step_the_last_written_is_kept() -> None:
    values = track("f", [1, 2, 2, 3], 100, values=[1.0, 2.0, 5.0, 3.0])
    tracks, issues = merge(LogSource("f", 100, {"a": values}))
    assert tracks["a"].value.tolist() == [1.0, 5.0, 3.0]
    assert issues["duplicate_steps"].step == 2


def test_the_same_value_twice_is_not_worth_a_word() -> None:
    values = track("f", [1, 2, 2, 3, 3], 100, values=[1.0, 2.0, 2.0, np.nan, np.nan])
    tracks, issues = merge(LogSource("f", 100, {"a": values}))
    assert tracks["a"].step.tolist() == [1, 2, 3]
    assert issues == {}


def test_two_files_written_at_the_same_time_are_not_interleaved() -> None:
    tracks, issues = merge(source("one", 100, a=[1, 2, 3, 4], b=[1]), source("two", 100.5, a=[10, 20]))
    assert tracks["a"].step.tolist() == [10, 20]
    assert tracks["b"].step.tolist() == [1]
    assert "concurrent_writers" in issues


def test_two_files_with_different_keys_belong_together() -> None:
    tracks, issues = merge(source("one", 100, a=[1, 2, 3]), source("two", 101, b=[1, 2, 3]))
    assert set(tracks) == {"a", "b"}
    assert issues == {}


def test_files_without_wall_time_are_in_the_order_of_their_starts() -> None:
    def table(file: str, start: float, steps: list[float]) -> LogSource:
        rows = np.arange(len(steps), dtype=float)
        return LogSource(file, start, {"a": Track(np.array(steps), rows, rows, np.full(len(steps), np.nan), (file,))})

    tracks, issues = merge(table("b.csv", 1, [3.0, 4.0]), table("a.csv", 0, [1.0, 2.0, 3.0]))
    assert tracks["a"].step.tolist() == [1, 2, 3, 4]
    assert tracks["a"].files == ("a.csv", "b.csv")
    assert "concurrent_writers" not in issues


def test_an_empty_source_is_harmless() -> None:
    tracks, issues = merge(source("empty", np.inf), source("f", 100, a=[1, 2]))
    assert tracks["a"].step.tolist() == [1, 2]
    assert issues == {}


def test_merging_never_leaves_equal_or_falling_steps() -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        parts = [source(f"f{i}", 100.0 * i, a=rng.integers(0, 30, 12).tolist()) for i in range(3)]
        tracks, _ = merge_sessions(parts, lambda _: True)
        assert (np.diff(tracks["a"].step) > 0).all()
        assert np.isfinite(tracks["a"].value).all()


def test_what_is_odd_about_steps_names_its_file() -> None:
    _, issues = merge(
        LogSource("one", 0.0, {"a": track("one", [1, 2, 2, 3], 0.0, values=[1, 2, 3, 4])}),
    )
    assert issues["duplicate_steps"].source == "one"
    _, issues = merge(source("two", 0.0, a=[1, 3, 2, 4]))
    assert issues["backward_steps"].source == "two"
