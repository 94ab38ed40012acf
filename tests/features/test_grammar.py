"""Feature names: what is understood, what is refused and how the error helps."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rl_diagnose.features.grammar import FeatureNameError, parse_feature
from rl_diagnose.features.vocabulary import RELATIONS, STATISTICS
from rl_diagnose.features.windows import BUILT_IN_WINDOWS


@pytest.mark.parametrize(
    ("text", "signals", "window", "stat", "args"),
    [
        ("policy.kl.late.median", ("policy.kl",), "late", "median", ()),
        ("value.loss.slope", ("value.loss",), "all", "slope", ()),
        ("alpha.last", ("alpha",), "all", "last", ()),
        ("policy.kl.fraction_above(0.05)", ("policy.kl",), "all", "fraction_above", (0.05,)),
        ("policy.kl.fraction_below(0.0123456789)", ("policy.kl",), "all", "fraction_below", (0.0123456789,)),
        ("reward.train.early.ema(0.99)", ("reward.train",), "early", "ema", (0.99,)),
        ("raw.my key/x.late.mean", ("raw.my key/x",), "late", "mean", ()),
        ("lag_steps(policy.entropy, reward.train)", ("policy.entropy", "reward.train"), "all", "lag_steps", ()),
        ("ratio(value.loss,policy.loss).late", ("value.loss", "policy.loss"), "late", "ratio", ()),
    ],
)
def test_a_name_is_taken_apart(
    text: str, signals: tuple[str, ...], window: str, stat: str, args: tuple[float, ...]
) -> None:
    ref = parse_feature(text)
    assert (ref.signals, ref.window, ref.stat, ref.args) == (signals, window, stat, args)
    assert parse_feature(ref.text) == ref


@pytest.mark.parametrize(
    ("text", "message", "suggestion"),
    [
        ("policy.kl.late.medain", "unknown statistic 'medain'", "median"),
        ("policy.kll.late.median", "unknown signal 'policy.kll'", "policy.kl"),
        ("policy.kl.latee.median", "unknown window 'latee'", "late"),
        ("policy.kl.fraction_above", "fraction_above takes (bound)", None),
        ("policy.kl.median(3)", "median takes no arguments", None),
        ("policy.kl.fraction_above(x)", "the arguments of fraction_above must be numbers", None),
        ("policy.kl.fraction_above(nan)", "the arguments of fraction_above must be finite numbers", None),
        ("policy.kl.steepest_slope(-5)", "the width must be above 0", None),
        ("policy.kl.ema(1.5)", "alpha must be at least 0 and below 1", None),
        ("lag_step(policy.kl, reward.train)", "unknown relation 'lag_step'", "lag_steps"),
        ("lag_steps(policy.kl)", "lag_steps takes two signals", None),
        ("lag_steps(policy.kl, reward.trian)", "unknown signal 'reward.trian'", "reward.train"),
        ("lag_steps(policy.kl, reward.train).lat", "unknown window 'lat'", "late"),
        ("median", "'median' is not signal.statistic", None),
    ],
)
def test_a_wrong_name_says_what_is_wrong_and_what_was_meant(text: str, message: str, suggestion: str | None) -> None:
    with pytest.raises(FeatureNameError) as caught:
        parse_feature(text)
    assert caught.value.message == message
    assert caught.value.suggestion == suggestion or suggestion is None
    assert 1 <= caught.value.column <= len(text) + 1


def test_a_window_of_the_book_is_known_where_it_is_given() -> None:
    assert parse_feature("policy.kl.startup.max", [*BUILT_IN_WINDOWS, "startup"]).window == "startup"


@given(st.text(max_size=60))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    try:
        ref = parse_feature(text)
    except FeatureNameError:
        return
    assert parse_feature(ref.text) == ref


def test_every_entry_of_the_vocabulary_is_documented() -> None:
    meanings = [*(s.meaning for s in STATISTICS.values()), *(r.meaning for r in RELATIONS.values())]
    assert all(meaning.endswith((".", "?")) for meaning in meanings)
