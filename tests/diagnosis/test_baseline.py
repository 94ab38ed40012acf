"""A run is compared with runs that are known to be good: its return at the same steps, and its settings."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from rl_diagnose.diagnosis.baseline import SIGNAL, Baseline, read_baseline
from rl_diagnose.diagnosis.pipeline import diagnose
from rl_diagnose.errors import NoReadableRunError, UsageError
from rl_diagnose.logs.adapter import ReadOptions
from rl_diagnose.signals.run import Run

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "collapsed-ppo"


def table(folder: Path, returns: list[float], step: int = 1000, **config: float) -> Path:
    """A run of Stable-Baselines3 with the given mean returns, one row each `step` steps."""
    folder.mkdir(parents=True)
    names = ["time/total_timesteps", "rollout/ep_rew_mean", *(f"train/{name}" for name in config)]
    rows = [[(i + 1) * step, value, *config.values()] for i, value in enumerate(returns)]
    lines = [",".join(names), *(",".join(str(cell) for cell in row) for row in rows)]
    (folder / "progress.csv").write_text("\n".join(lines) + "\n", "utf-8")
    return folder


def one(path: Path) -> Run:
    """The run below `path`, as a baseline reads it."""
    (run,) = read_baseline(str(path), ReadOptions()).runs
    return run


RISING = [float(10 * i) for i in range(41)]  # 0 to 400


def against(own: Run, *good: Run) -> np.ndarray:
    """What `own` is against the good runs, shape (n,)."""
    return Baseline("good", good).compared(own).series[SIGNAL].value


def test_the_distance_is_in_ranges_of_the_baseline(tmp_path: Path) -> None:
    good, flat = one(table(tmp_path / "good", RISING)), one(table(tmp_path / "flat", [0.0] * 41))
    assert against(good, good) == pytest.approx(np.zeros(41))
    below = against(flat, good)
    assert below[20] == pytest.approx(-0.5, abs=0.03)
    assert below[-1] == pytest.approx(-1.0, abs=0.05)


def test_several_good_runs_are_one_by_their_median(tmp_path: Path) -> None:
    good = [one(table(tmp_path / f"good{i}", [factor * v for v in RISING])) for i, factor in enumerate((0.5, 1, 8))]
    own = one(table(tmp_path / "own", RISING))
    assert against(own, *good) == pytest.approx(np.zeros(41))


def test_rows_are_compared_at_the_same_step_and_beyond_the_end_with_the_last_level(tmp_path: Path) -> None:
    good = one(table(tmp_path / "good", RISING))
    slow = one(table(tmp_path / "slow", RISING, step=2000))
    distance = against(slow, good)
    assert distance[19] == pytest.approx(-0.5, abs=0.03)  # 200 at step 40,000, where the good run ends with 400
    assert distance[-1] == pytest.approx(0.0, abs=0.05)


def test_what_differs_is_told_and_the_run_itself_is_left_alone(tmp_path: Path) -> None:
    good = one(table(tmp_path / "good", RISING, learning_rate=3e-4, clip_range=0.2))
    own = one(table(tmp_path / "own", RISING, learning_rate=3e-2, clip_range=0.2))
    before = dataclasses.replace(own)
    compared = Baseline("good", (good,)).compared(own)
    (issue,) = [issue for issue in compared.issues if issue.code == "baseline"]
    assert issue.message == "compared with good; what differs: learning_rate 0.03 (there 0.0003)"
    assert own == before
    assert SIGNAL not in own.series


def test_the_same_settings_are_said_to_be_the_same(tmp_path: Path) -> None:
    good = one(table(tmp_path / "good", RISING, learning_rate=3e-4))
    (issue,) = [i for i in Baseline("good", (good,)).compared(good).issues if i.code == "baseline"]
    assert issue.message.endswith("; no known setting differs")


def test_runs_that_cannot_be_compared_say_why(tmp_path: Path) -> None:
    good, never = one(table(tmp_path / "good", RISING)), one(table(tmp_path / "never", [3.0] * 41))
    other = dataclasses.replace(good, algorithm="dqn")
    own = dataclasses.replace(good, algorithm="ppo")
    without = dataclasses.replace(own, series={})
    for run, mate, why in (
        (without, good, "the run has no training return"),
        (own, other, "none of its runs has a training return over env steps, for the same algorithm"),
        (own, never, "its return never changed"),
    ):
        compared = Baseline("good", (mate,)).compared(run)
        assert SIGNAL not in compared.series
        (issue,) = [issue for issue in compared.issues if issue.code == "no_baseline"]
        assert issue.message == f"not compared with good: {why}"


def test_what_cannot_be_read_is_noted_and_nothing_at_all_is_an_error(tmp_path: Path) -> None:
    folder = tmp_path / "sweep"
    table(folder / "good", RISING)
    table(folder / "short", [1.0, 2.0])
    baseline = read_baseline(str(folder), ReadOptions())
    assert [run.id for run in baseline.runs] == ["good"]
    assert baseline.notes == ("baseline short: has no training return of 5 points and more",)
    with pytest.raises(NoReadableRunError, match="--baseline wants a run that is known to be good"):
        read_baseline(str(folder / "short"), ReadOptions())
    with pytest.raises(UsageError, match="no such file or folder"):
        read_baseline(str(tmp_path / "nowhere"), ReadOptions())


def test_a_run_that_rises_but_stays_below_is_poor_only_with_the_baseline(tmp_path: Path) -> None:
    good, own = table(tmp_path / "good", RISING), table(tmp_path / "own", [v / 8 for v in RISING])

    def poor(baseline: Path | None = None) -> float:
        (run,) = diagnose(own, baseline=baseline).runs
        return max(
            line.membership or 0.0 for cause in run.causes for line in cause.evidence if line.symptom == "return_poor"
        )

    assert poor() < 0.2
    assert poor(baseline=good) > 0.9


def test_the_example_is_found_with_itself_as_it_was_before(tmp_path: Path) -> None:
    (run,) = diagnose(EXAMPLE, baseline=table(tmp_path / "good", RISING)).runs
    assert run.causes[0].id == "learning_rate_jumped"
    assert any(remark.startswith("Compared with ") for remark in run.remarks)
