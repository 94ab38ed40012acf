"""A remedy is computed from the run's own value, kept inside its limits, and said relatively where that is unknown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from rl_diagnose.diagnosis.remedies import RemedyContext, plan_remedies
from rl_diagnose.report.words import knob_words
from rl_diagnose.rules.book import AppliesTo, Cause, Expect, Remedy
from rl_diagnose.signals.run import ConfigValue

ENTROPY = Remedy(
    knob="entropy_coef",
    summary="Raise the entropy bonus",
    set="tripled",
    relative="raise it by about a factor of 3",
    expect=(Expect("policy.entropy_ratio.last", "rises_to", 0.03, 2000.0),),
    patch=(("sb3", "model.ent_coef = {value}"),),
)


def context(
    numbers: Mapping[str, float],
    config: Mapping[str, float | int | bool | str] | None = None,
    framework: str | None = "sb3",
) -> RemedyContext:
    known = {name: ConfigValue(value, "config.json") for name, value in (config or {}).items()}
    return RemedyContext(
        known, evaluate=numbers.get, feature={"policy.entropy_ratio.last": 0.013}.get, framework=framework
    )


def plan(remedy: Remedy, where: RemedyContext):  # type: ignore[no-untyped-def]
    return plan_remedies(Cause("c", "C", 0.1, (), remedies=(remedy,)), where)[0]


def test_the_new_value_is_shown_beside_the_present_one_with_code_before_and_after() -> None:
    made = plan(ENTROPY, context({"tripled": 0.03}, {"entropy_coef": 0.01}))
    assert (made.current, made.current_origin, made.proposed, made.clamped) == (0.01, "config.json", 0.03, None)
    assert (made.before, made.after) == ("model.ent_coef = 0.01", "model.ent_coef = 0.03")
    assert made.expected == ("policy.entropy_ratio.last rises to 0.03 within 2,000 steps (now 0.013)",)
    assert made.expect == (("policy.entropy_ratio.last", "rises_to", 0.03, 2000.0),)


def test_a_step_goes_at_most_the_limit_away_from_the_present_value() -> None:
    up = plan(ENTROPY, context({"tripled": 0.09}, {"entropy_coef": 0.01}))
    down = plan(ENTROPY, context({"tripled": 0.001}, {"entropy_coef": 0.01}))
    assert up.proposed == pytest.approx(0.03)
    assert down.proposed == pytest.approx(0.01 / 3)
    assert up.clamped == "one step changes the present value (0.01) by at most a factor of 3"


def test_a_discount_moves_in_the_distance_from_one() -> None:
    remedy = Remedy(knob="gamma", summary="s", set="g", patch=(("sb3", "model.gamma = {value}"),))
    made = plan(remedy, context({"g": 0.9999}, {"gamma": 0.99}))
    assert made.proposed == pytest.approx(0.995)
    assert made.after == "model.gamma = 0.995"
    assert "distance from 1" in (made.clamped or "")


def test_bounds_of_the_knob_hold_and_those_of_the_remedy_come_first() -> None:
    where = context({"tripled": 0.5}, {"entropy_coef": 0.08})
    assert plan(ENTROPY, where).proposed == 0.1
    own = plan(replace(ENTROPY, high=0.09), where)
    assert own.proposed == 0.09
    assert own.clamped is not None
    assert "0.09 is the highest value held to be safe" in own.clamped


def test_a_run_beyond_a_bound_is_not_thrown_back_by_more_than_the_step_limit() -> None:
    remedy = Remedy(knob="learning_rate", summary="s", set="lr")
    assert plan(remedy, context({"lr": 0.0001}, {"learning_rate": 0.03})).proposed == pytest.approx(0.01)
    assert plan(remedy, context({"lr": 0.3}, {"learning_rate": 0.03})).proposed == pytest.approx(0.03)


def test_a_present_value_of_zero_has_no_step_limit_but_the_bounds() -> None:
    made = plan(ENTROPY, context({"tripled": 0.01}, {"entropy_coef": 0.0}))
    assert (made.proposed, made.clamped) == (0.01, None)


def test_negative_values_keep_their_sign() -> None:
    remedy = Remedy(knob="target_entropy", summary="s", set="t")
    assert plan(remedy, context({"t": -1.0}, {"target_entropy": -6.0})).proposed == pytest.approx(-3.0)
    assert plan(remedy, context({"t": -60.0}, {"target_entropy": -6.0})).proposed == pytest.approx(-12.0)


def test_computed_numbers_are_rounded_and_known_ones_are_not() -> None:
    made = plan(ENTROPY, context({"tripled": 0.00940977}, {"entropy_coef": 0.0123457}))
    assert (made.before, made.after) == ("model.ent_coef = 0.0123457", "model.ent_coef = 0.00941")


def test_whole_numbers_stay_whole() -> None:
    remedy = Remedy(knob="n_epochs", summary="s", set="n", patch=(("sb3", "model.n_epochs = {value}"),))
    made = plan(remedy, context({"n": 3.33}, {"n_epochs": 10}))
    assert (made.proposed, made.after) == (3.0, "model.n_epochs = 3")


def test_switches_are_true_or_false() -> None:
    remedy = Remedy(
        knob="normalize_advantage", summary="s", set="on", patch=(("sb3", "PPO(normalize_advantage={value})"),)
    )
    made = plan(remedy, context({"on": 1.0}, {"normalize_advantage": False}))
    assert (made.before, made.after) == ("PPO(normalize_advantage=False)", "PPO(normalize_advantage=True)")


def test_an_unknown_present_value_is_said_relatively() -> None:
    made = plan(ENTROPY, context({}))
    assert (made.current, made.proposed, made.after, made.before) == (None, None, None, None)
    assert knob_words(made) == "entropy_coef: raise it by about a factor of 3"


def test_a_value_that_needs_no_present_value_is_given_even_so() -> None:
    made = plan(ENTROPY, context({"tripled": 0.01}))
    assert (made.proposed, made.after, made.before) == (0.01, "model.ent_coef = 0.01", None)
    assert "present value not in the log" in knob_words(made)


def test_a_knob_without_room_left_says_so_and_comes_last() -> None:
    other = Remedy(knob="n_epochs", summary="other", set="n")
    cause = Cause("c", "C", 0.1, (), remedies=(ENTROPY, other))
    plans = plan_remedies(cause, context({"tripled": 0.3, "n": 5.0}, {"entropy_coef": 0.1, "n_epochs": 10}))
    assert [p.knob for p in plans] == ["n_epochs", "entropy_coef"]
    assert "no room left" in (plans[1].clamped or "")
    assert plans[1].after is None


def test_further_numbers_keep_the_digits_that_matter() -> None:
    remedy = replace(
        ENTROPY,
        values=(("decay", "d"), ("floor", "f")),
        patch=(("sb3", "coef = max({floor}, {value} * {decay} ** step)  # was {current}"),),
    )
    made = plan(remedy, context({"tripled": 0.01, "d": 0.999995, "f": 0.001}, {"entropy_coef": 0.01}))
    assert made.values == (("decay", 0.999995), ("floor", 0.001))
    unknown = plan(remedy, context({"tripled": 0.02, "d": 0.999995, "f": 0.001}, {"entropy_coef": 0.01}))
    assert unknown.after == "coef = max(0.001, 0.02 * 0.999995 ** step)  # was 0.01"


def test_code_for_another_framework_says_that_it_is_an_example() -> None:
    numbers, config = {"tripled": 0.03}, {"entropy_coef": 0.01}
    without = plan(ENTROPY, context(numbers, config, framework=None))
    foreign = plan(ENTROPY, context(numbers, config, framework="tianshou"))
    assert without.framework == foreign.framework == "sb3"
    assert "does not say which framework" in (without.note or "")
    assert "none for Tianshou" in (foreign.note or "")


def test_a_template_can_do_nothing_but_name_numbers() -> None:
    remedy = replace(ENTROPY, patch=(("sb3", "{value.__class__} {{literal}} {value!r} {0} {value}"),))
    made = plan(remedy, context({"tripled": 0.03}, {"entropy_coef": 0.01}))
    assert made.after is None  # {0} names nothing
    remedy = replace(ENTROPY, patch=(("sb3", "{value.__class__} {{literal}} {value!r} {value}"),))
    made = plan(remedy, context({"tripled": 0.03}, {"entropy_coef": 0.01}))
    assert made.after == "{value.__class__} {literal} {value!r} 0.03"


def test_a_configuration_in_words_is_quoted_before() -> None:
    remedy = Remedy(knob="optimizer", summary="s", before=(("sb3", "optimizer = {current}"),), patch=(("sb3", "x"),))
    made = plan(remedy, context({}, {"optimizer": "sgd"}))
    assert (made.current, made.before, made.after) == (None, "optimizer = 'sgd'", "x")


TWO = Cause(
    "c",
    "C",
    0.1,
    (),
    remedies=(
        Remedy(knob="clip_range", summary="clip", applies_to=AppliesTo(("ppo",), (), ("discrete",))),
        Remedy(knob="tau", summary="tau", applies_to=AppliesTo(("sac",), ("sb3",))),
    ),
)


@pytest.mark.parametrize(
    ("algorithm", "framework", "action_space", "shown"),
    [
        ("ppo", "sb3", "discrete", ["clip_range"]),
        ("ppo", "sb3", "continuous", []),
        ("ppo", None, None, ["clip_range"]),
        ("sac", "tianshou", None, []),
        ("sac", "sb3", None, ["tau"]),
        ("a2c", "sb3", "discrete", []),
        (None, None, None, ["clip_range", "tau"]),
        (None, "tianshou", "discrete", ["clip_range"]),
    ],
)
def test_remedies_for_other_learners_are_left_out(
    algorithm: str | None, framework: str | None, action_space: str | None, shown: list[str]
) -> None:
    where = replace(context({}, framework=framework), algorithm=algorithm, action_space=action_space)
    assert [made.knob for made in plan_remedies(TWO, where)] == shown


@pytest.mark.parametrize(
    ("algorithm", "framework", "after", "shown"),
    [
        ("sac", "sb3", "SAC(buffer_size=20000)", "sb3"),
        ("dqn", "sb3", "DQN(buffer_size=20000)", "sb3"),
        (None, "sb3", "DQN(buffer_size=20000)", "sb3"),
        ("sac", "rllib", "rllib 20000", "rllib"),
        (None, "rllib", "rllib 20000", "rllib"),
        ("dqn", "rllib", "DQN(buffer_size=20000)", "sb3"),
    ],
)
def test_code_may_differ_by_algorithm(algorithm: str | None, framework: str, after: str, shown: str) -> None:
    by_algorithm = (("sac", "SAC(buffer_size={value})"), ("other", "DQN(buffer_size={value})"))
    remedy = Remedy(
        knob="buffer_size", summary="s", set="n", patch=(("sb3", by_algorithm), ("rllib", (("sac", "rllib {value}"),)))
    )
    where = replace(context({"n": 20000.0}, framework=framework), algorithm=algorithm)
    made = plan(remedy, where)
    assert (made.after, made.framework) == (after, shown)
    assert (made.note is None) == (framework == shown)


def test_the_code_before_follows_the_algorithm_too() -> None:
    remedy = Remedy(
        knob="tau",
        summary="s",
        set="t",
        patch=(("sb3", (("sac", "sac {value}"), ("other", "tau {value}"))),),
        before=(("sb3", (("td3", "td3 had {current}"),)),),
    )

    def before(algorithm: str) -> str | None:
        code: str | None = plan(remedy, replace(context({"t": 0.01}, {"tau": 0.02}), algorithm=algorithm)).before
        return code

    assert [before(name) for name in ("sac", "td3", "ddpg")] == ["sac 0.02", "td3 had 0.02", "tau 0.02"]
