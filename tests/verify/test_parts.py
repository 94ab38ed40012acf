"""The parts of a verification: noise, returns, splitting a log, and what an earlier report promised."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from rl_diagnose.diagnosis.pipeline import diagnose
from rl_diagnose.errors import UsageError
from rl_diagnose.report.json_report import to_json
from rl_diagnose.signals.run import Run, Semantics, Series
from rl_diagnose.verify.earlier import read_earlier
from rl_diagnose.verify.resample import course, resampled_values
from rl_diagnose.verify.returns import compare_returns
from rl_diagnose.verify.split import split_at

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "collapsed-ppo"


def run(value: list[float], *, first: float = 0.0, signal: str = "reward.train") -> Run:
    """A run with one curve, a point every 100 steps from `first` on."""
    values = np.array(value)
    unknown = np.full(values.size, np.nan)
    step = first + 100.0 * np.arange(values.size, dtype=np.float64)
    series = Series(signal, step, values, unknown, unknown, Semantics(signal, "x"))
    return Run("run", "run", "csv", {signal: series})


def noisy(level: float, n: int = 80, seed: int = 0, noise: float = 1.0) -> list[float]:
    return list(level + noise * np.random.default_rng(seed).normal(size=n))


def test_copies_keep_the_course_and_its_level_shift_and_redraw_the_rest() -> None:
    values = np.concatenate([np.zeros(50), np.full(50, 10.0)]) + np.random.default_rng(1).normal(size=100)
    draws = resampled_values(values, 40, np.random.default_rng(2))
    assert draws.shape == (40, 100)
    assert np.abs(draws[:, :40].mean()) < 0.5
    assert np.abs(draws[:, 60:].mean() - 10) < 0.5
    assert (draws.std(axis=0)[10:40] > 0.3).all()


def test_missing_points_stay_missing_and_short_curves_stay_as_they_are() -> None:
    values = np.array([1.0, np.nan, *range(20)])
    draws = resampled_values(values, 3, np.random.default_rng(0))
    assert np.isnan(draws[:, 1]).all()
    assert np.isfinite(np.delete(draws, 1, axis=1)).all()
    short = np.array([1.0, 5.0, 2.0])
    assert (resampled_values(short, 4, np.random.default_rng(0)) == short).all()


def test_the_course_of_a_constant_is_the_constant() -> None:
    assert (course(np.full(30, 3.0)) == 3.0).all()


@pytest.mark.parametrize(("later", "worse", "better"), [(50.0, False, False), (20.0, True, False), (90.0, False, True)])
def test_returns_differ_only_beyond_noise(later: float, worse: bool, better: bool) -> None:
    found = compare_returns(run(noisy(50.0, seed=1)), run(noisy(later, seed=2)))
    assert found is not None
    assert (found.worse, found.better) == (worse, better)


def test_a_run_that_starts_anew_is_compared_at_the_steps_that_both_have() -> None:
    rising = [float(i) for i in range(100)]
    found = compare_returns(run(rising), run(rising[:50]))
    assert found is not None
    assert found.steps[0] == found.steps[1] == (0.75 * 4900, 4900)
    assert not found.worse


def test_a_run_that_continues_is_compared_at_its_own_end() -> None:
    found = compare_returns(run(noisy(50.0)), run(noisy(80.0), first=8000.0))
    assert found is not None
    assert found.steps[1][0] > 8000
    assert found.better


def test_a_difference_as_large_as_between_unchanged_reruns_is_none() -> None:
    before, after = run(noisy(50.0, seed=1)), run(noisy(40.0, seed=2))
    alone = compare_returns(before, after)
    controls = [run(noisy(level, seed=i)) for i, level in enumerate((30.0, 45.0, 55.0, 70.0))]
    beside = compare_returns(before, after, controls)
    assert alone is not None
    assert beside is not None
    assert (alone.worse, beside.worse) == (True, False)


def test_without_a_shared_return_nothing_is_compared() -> None:
    assert compare_returns(run([1.0] * 20), run([1.0] * 20, signal="policy.kl")) is None
    assert compare_returns(run([1.0] * 20), run([1.0])) is None


def test_a_log_is_split_after_the_step() -> None:
    before, after = split_at(run([1.0] * 10), 400.0)
    assert before.series["reward.train"].step.tolist() == [0, 100, 200, 300, 400]
    assert after.series["reward.train"].step[0] == 500


@pytest.mark.parametrize("step", [-1.0, 5000.0])
def test_a_step_outside_the_log_is_refused(step: float) -> None:
    with pytest.raises(UsageError, match="nothing was logged"):
        split_at(run([1.0] * 10), step)


def test_an_earlier_report_gives_the_cause_and_the_promise(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    report.write_text(to_json(diagnose(EXAMPLE)), "utf-8")
    earlier = read_earlier(report)
    assert earlier.cause == "learning_rate_jumped"
    assert earlier.path == str(EXAMPLE)
    assert earlier.promised[0][:2] == ("policy.kl_scaled.max", "falls_to")
    assert earlier.books[0].startswith("ppo@")


NO_RUNS = json.dumps({"schema": "rl-diagnose/diagnosis/v1", "runs": []})


@pytest.mark.parametrize("text", ["", "[]", "{", '{"schema": "other"}', NO_RUNS])
def test_other_files_are_no_earlier_report(tmp_path: Path, text: str) -> None:
    report = tmp_path / "report.json"
    report.write_text(text, "utf-8")
    with pytest.raises(UsageError):
        read_earlier(report)
