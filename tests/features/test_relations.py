"""Relations between two signals on curves whose relation is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from rl_diagnose.features.extract import Plan, extract
from rl_diagnose.features.onset import find_onset, normal_band_onset

from .made import feature, run, series

RNG = np.random.default_rng(5)
SMOOTH = np.convolve(RNG.normal(size=420), np.ones(12) / 12, "valid")[:400]


def test_a_delayed_copy_lags_by_its_delay_and_the_sign_says_who_leads() -> None:
    made = run({"policy.entropy": SMOOTH[20:], "reward.train": SMOOTH[:-20]})
    forward, backward, peak, sure = feature(
        made,
        "lag_steps(policy.entropy, reward.train)",
        "lag_steps(reward.train, policy.entropy)",
        "lag_peak(policy.entropy, reward.train)",
        "lag_significance(policy.entropy, reward.train)",
    )
    assert forward == pytest.approx(2000.0, abs=200)
    assert backward == pytest.approx(-2000.0, abs=200)
    assert peak is not None
    assert peak > 0.8
    assert sure is not None
    assert sure > 0.95


def test_the_lag_in_iterations_is_the_lag_in_steps_over_the_iterations_length() -> None:
    made = run({"policy.entropy": SMOOTH[20:], "reward.train": SMOOTH[:-20]})
    (iterations,) = feature(made, "lag_iterations(policy.entropy, reward.train)")
    assert iterations == pytest.approx(20.0, abs=2)


def test_the_window_of_a_return_is_taken_off_the_lag() -> None:
    reward = series("reward.train", SMOOTH[:-20], episodes=100)
    length = np.full(380, 20.0)
    made = run({"policy.entropy": SMOOTH[20:], "reward.train": reward, "episode.length": length})
    (lag,) = feature(made, "lag_steps(policy.entropy, reward.train)")
    assert lag == pytest.approx(2000.0 - 100 * 20 / 2, abs=200)


def test_unrelated_noise_has_no_reliable_lag() -> None:
    unreliable = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        made = run({"policy.entropy": rng.normal(size=200), "reward.train": rng.normal(size=200)})
        row = extract(made, Plan.build(["lag_steps(policy.entropy, reward.train)"]))
        unreliable += float(row.reliability[0]) < 0.95
    assert unreliable >= 17


def test_correlation_is_spearmans_on_a_common_grid() -> None:
    a, b = RNG.normal(size=100), RNG.normal(size=100)
    made = run({"policy.kl": a, "value.loss": a + b})
    (got,) = feature(made, "correlation(policy.kl, value.loss)")
    assert got == pytest.approx(stats.spearmanr(a, a + b).statistic)


def test_changes_correlate_although_the_trends_are_opposite() -> None:
    wave, time = np.sin(np.arange(200) / 5), np.linspace(0, 1, 200)
    made = run({"policy.kl": wave + 3 * time, "value.loss": wave - 3 * time})
    levels, changes = feature(made, "correlation(policy.kl, value.loss)", "correlation_changes(policy.kl, value.loss)")
    assert levels is not None
    assert changes is not None
    assert changes > 0.9 > levels


def test_the_signal_that_leaves_its_early_band_first_is_named() -> None:
    quiet = 0.01 * RNG.normal(size=100)
    early, late = quiet.copy(), quiet.copy()
    early[40:] += 1.0
    late[70:] += 1.0
    made = run({"policy.kl": early, "reward.train": late, "value.loss": quiet})
    first, second, never = feature(
        made,
        "onset_before(policy.kl, reward.train)",
        "onset_before(reward.train, policy.kl)",
        "onset_before(policy.kl, value.loss)",
    )
    assert first == pytest.approx(0.3, abs=0.02)
    assert second == pytest.approx(-0.3, abs=0.02)
    assert never == pytest.approx(0.6, abs=0.02)


def test_which_signal_became_non_finite_first() -> None:
    a, b = np.ones(50), np.ones(50)
    a[20:], b[30:] = np.nan, np.inf
    (before,) = feature(run({"value.loss": a, "policy.loss": b}), "non_finite_before(value.loss, policy.loss)")
    assert before == pytest.approx(10 / 49, abs=0.01)


def test_a_ratio_is_of_medians_of_magnitudes() -> None:
    (got,) = feature(
        run({"value.loss": [2.0, 4.0, 6.0], "policy.loss": [-1.0, -2.0, 1.0]}), "ratio(value.loss, policy.loss)"
    )
    assert got == 4.0


def test_an_onset_is_the_first_lasting_stretch_and_no_single_point() -> None:
    step = np.arange(100, dtype=np.float64) * 10
    value = np.zeros(100)
    value[10] = 1.0
    value[40:80] = 1.0
    value[60] = 0.0
    assert find_onset(step, value, direction="above", bound=0.5) == (400.0, 790.0)
    assert find_onset(step, -value, direction="below", bound=-0.5) == (400.0, 790.0)
    assert find_onset(step, value, direction="above", bound=2.0) is None
    assert find_onset(np.empty(0), np.empty(0), direction="above", bound=0.0) is None


def test_a_signal_that_stays_in_its_band_never_leaves_it() -> None:
    assert normal_band_onset(series("policy.kl", RNG.normal(size=200))) is None
    assert normal_band_onset(series("policy.kl", [1.0, 2.0, 3.0])) is None
