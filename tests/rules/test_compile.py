"""Names, features, expressions and ramps are looked up; what a book means is left as plain values."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rl_diagnose.features.windows import Window
from rl_diagnose.rules.book import (
    All,
    Any_,
    AppliesTo,
    Book,
    Calibration,
    Expect,
    First,
    Leaf,
    Link,
    Mean,
    Not,
    OnsetSpec,
    Ramp,
    Symptom,
    SymptomRef,
)
from rl_diagnose.rules.needs import leaves

from .made import Said, Write

Loaded = Callable[[str], Book]

BODY = """\
description: A book.
applies_to: {algorithm: [ppo, a2c], action_space: [discrete]}
windows:
  startup: {steps: {from: 0, to: 5000}}
  second_half: {fraction: {from: 0.5, to: 1.0}}
  later: {iterations: {from: 20}}
derive: {room: "policy.entropy.startup.median - entropy_coef", air: "room * 2"}
symptoms:
  low:
    title: Low
    description: It is low.
    base_rate: uncommon
    severity: 2
    onset: {signal: policy.entropy_ratio, below: 0}
    all:
      - {feature: policy.kl.late.median, falling: {low: 0.02, high: 0.10}, scale: log}
      - any: [{symptom: high}, {not: {mean: [{derived: room, rising: {low: -0.05, high: 0}}]}}]
      - first: [{symptom: high}]
  high: {title: High, config: n_steps, band: {low: 1, full_low: 2, high: 4}, base_rate: 0.25}
  broken: {title: Broken, issue: restart, rising: {low: 0, high: 1}, base_rate: rare, onset: {signal: alpha, above: 2}}
causes:
  weak:
    title: Weak
    description: It is weak.
    kind: benign
    status: experimental
    prior: 0.08
    applies_to: {algorithm: [ppo]}
    requires: [policy.entropy]
    excludes: [strong]
    evidence:
      - {symptom: low, seen: always}
      - {symptom: high, seen: 0.55, absence: ignore}
      - {config: entropy_coef, falling: {low: 0, high: 0.005}, seen: rarely, base_rate: common}
      - {feature: policy.kl.max, rising: {low: 0, high: 1}, seen: often, base_rate: rare, title: KL once large}
    remedies:
      - knob: entropy_coef
        summary: Raise it
        set: "max(entropy_coef * 3, 0.01)"
        bounds: {low: 1.0e-4, high: 0.1}
        step_limit: 3
        relative: raise it
        values: {floor: "0.001"}
        expect: [{feature: policy.kl.max, rises_to: 0.03, within_steps: 2000}, {feature: policy.kl.max, falls_to: 0}]
        before: {sb3: "model.ent_coef = {current}"}
        patch: {sb3: "model.ent_coef = {value}"}
    tell_apart: Look.
    references: [Somebody 2017]
  strong: {title: Strong, prior: 0.1, status: deprecated, replaced_by: weak}
calibration: {a: 1.5, b: -0.1, corpus: "sha256:0", n: 164, brier: 0.05, log_loss: 0.2, ece: 0.02, date: "2026-12-01"}
"""


def test_everything_that_is_written_arrives(loaded: Loaded) -> None:
    book = loaded(BODY)
    assert (book.id, book.version, book.title, book.description) == ("house", "1.0.0", "house", "A book.")
    assert book.applies_to == AppliesTo(("ppo", "a2c"), (), ("discrete",))
    assert book.windows == (
        Window("later", "iterations", 20, None),
        Window("second_half", "fraction", 0.5, 1.0),
        Window("startup", "steps", 0, 5000),
    )
    assert book.derived == (("air", "room * 2"), ("room", "policy.entropy.startup.median - entropy_coef"))
    assert book.calibration == Calibration(1.5, -0.1, "sha256:0", 164, 0.05, 0.2, 0.02, "2026-12-01")
    assert len(book.sha256) == 64


def test_symptoms_are_conditions_over_ramps(loaded: Loaded) -> None:
    symptoms = {s.id: s for s in loaded(BODY).symptoms}
    low = All(
        (
            Leaf("feature", "policy.kl.late.median", Ramp("falling", 0.02, 0.10, scale="log")),
            Any_((SymptomRef("high"), Not(Mean((Leaf("derived", "room", Ramp("rising", -0.05, 0.0)),))))),
            First((SymptomRef("high"),)),
        )
    )
    onset = OnsetSpec("policy.entropy_ratio", "below", 0.0)
    assert symptoms["low"] == Symptom("low", "Low", low, 0.1, onset, 2.0, "It is low.")
    assert symptoms["high"].condition == Leaf("config", "n_steps", Ramp("band", 1, 4, 2, None))
    assert symptoms["high"].base_rate == 0.25
    assert symptoms["broken"].condition == Leaf("issue", "restart", Ramp("rising", 0, 1))
    assert symptoms["broken"].onset == OnsetSpec("alpha", "above", 2)


def test_words_become_probabilities_and_evidence_with_a_number_becomes_a_symptom(loaded: Loaded) -> None:
    book = loaded(BODY)
    weak = next(c for c in book.causes if c.id == "weak")
    assert weak.links == (
        Link("low", 0.95),
        Link("high", 0.55, "ignore"),
        Link("weak__3", 0.03),
        Link("weak__4", 0.60),
    )
    symptoms = {s.id: s for s in book.symptoms}
    assert symptoms["weak__3"] == Symptom(
        "weak__3", "entropy_coef low", Leaf("config", "entropy_coef", Ramp("falling", 0, 0.005)), 0.3
    )
    assert symptoms["weak__4"].title == "KL once large"


def test_causes_and_remedies_keep_their_fields(loaded: Loaded) -> None:
    strong, weak = loaded(BODY).causes
    assert (weak.kind, weak.status, weak.prior, weak.requires) == ("benign", "experimental", 0.08, ("policy.entropy",))
    assert (weak.excludes, weak.applies_to) == (("strong",), AppliesTo(("ppo",)))
    assert (weak.tell_apart, weak.references, weak.description) == ("Look.", ("Somebody 2017",), "It is weak.")
    assert (strong.status, strong.replaced_by) == ("deprecated", "weak")
    (remedy,) = weak.remedies
    assert (remedy.knob, remedy.set, remedy.low, remedy.high, remedy.step_limit) == (
        "entropy_coef",
        "max(entropy_coef * 3, 0.01)",
        1e-4,
        0.1,
        3,
    )
    assert remedy.expect == (
        Expect("policy.kl.max", "rises_to", 0.03, 2000),
        Expect("policy.kl.max", "falls_to", 0.0, None),
    )
    assert (remedy.values, remedy.patch) == ((("floor", "0.001"),), (("sb3", "model.ent_coef = {value}"),))
    assert (remedy.before, remedy.relative) == ((("sb3", "model.ent_coef = {current}"),), "raise it")


def test_symptoms_and_causes_come_in_the_order_of_their_ids(loaded: Loaded) -> None:
    book = loaded(BODY)
    assert [s.id for s in book.symptoms] == sorted(s.id for s in book.symptoms)
    assert [c.id for c in book.causes] == ["strong", "weak"]


def test_books_can_be_compared_and_hashed(loaded: Loaded) -> None:
    assert loaded(BODY) == loaded(BODY)
    assert hash(loaded(BODY)) == hash(loaded(BODY))


def test_features_get_their_canonical_names_also_within_expressions(loaded: Loaded) -> None:
    """The window `all` is the default, and arguments have one way of being written."""
    features = "policy.kl.all.median", "policy.kl.fraction_above( 5.0e-2 )", "correlation(policy.kl,reward.train).all"
    body = f"derive: {{room: '  {features[0]} + {features[1]} * 2 - {features[2]}'}}\n" + symptom(
        "all: [" + ", ".join(f"{{feature: '{name}', rising: {{low: 0, high: 1}}}}" for name in features) + "]"
    )
    body += remedy(f"set: '1 + {features[0]}', values: {{floor: '{features[1]}'}}").removeprefix(HEAD + ISSUE)
    book = loaded(body)
    names = ["policy.kl.median", "policy.kl.fraction_above(0.05)", "correlation(policy.kl, reward.train)"]
    assert [leaf.name for leaf in leaves(book.symptoms[0].condition)] == names
    assert book.derived == (("room", f"  {names[0]} + {names[1]} * 2 - {names[2]}"),)
    assert (book.causes[0].remedies[0].set, book.causes[0].remedies[0].values) == (
        f"1 + {names[0]}",
        (("floor", names[1]),),
    )


# -- mistakes ----------------------------------------------------------------------------------------------------------

HEAD = "symptoms:\n  s: {title: S, base_rate: rare, "
ISSUE = "issue: restart, rising: {low: 0, high: 1}}\n"


def symptom(fields: str) -> str:
    return f"{HEAD}{fields}}}\n"


def cause(fields: str) -> str:
    return f"{HEAD}{ISSUE}causes:\n  c: {{title: C, prior: 0.1, {fields}}}\n"


def remedy(fields: str) -> str:
    return cause(f"remedies: [{{knob: gamma, summary: S, {fields}}}]")


RISING = "rising: {low: 0, high: 1}"
NUMBER = "unknown configuration value or derived number"
ORDER = "RB024 the bounds are out of order: "
MISTAKES = [
    # features: at the part that is wrong
    (symptom(f"feature: ▸policy.lk.max, {RISING}"), "RB020"),
    (symptom(f"feature: policy.kl.▸lat.median, {RISING}"), "RB020"),
    (symptom(f"feature: 'policy.kl.late.▸medien', {RISING}"), "RB020"),
    # names
    ("derive: {room: '1'}\n" + symptom(f"derived: ▸rom, {RISING}"), "RB021 unknown derived number 'rom'"),
    (symptom(f"config: ▸learnin_rate, {RISING}"), "RB021 unknown configuration value 'learnin_rate'"),
    (symptom("all: [{symptom: ▸t}]"), "RB021 unknown symptom 't'"),
    (symptom(f"config: gamma, {RISING}, onset: {{signal: ▸policy.entrop, above: 1}}"), "RB021 unknown signal"),
    (cause("requires: [▸policy.klx]"), "RB021 unknown signal 'policy.klx' (did you mean 'policy.kl'?)"),
    (cause("excludes: [▸d]"), "RB021 unknown cause 'd'"),
    (cause("excludes: [▸c]"), "RB021 a cause cannot exclude itself"),
    (cause("replaced_by: ▸d"), "RB021 unknown cause 'd'"),
    (cause("evidence: [{symptom: ▸x, seen: often}]"), "RB021 unknown symptom 'x'"),
    (cause("evidence: [{symptom: s, seen: often}, {symptom: ▸s, seen: often}]"), "RB025 's' is evidence twice"),
    (cause("remedies: [{knob: ▸gam, summary: S}]"), "RB021 unknown knob 'gam' (did you mean 'gamma'?)"),
    # expressions: at the character that is wrong
    ('derive: {room: "gamma + ▸gamm"}\n', f"RB021 {NUMBER} 'gamm' (did you mean 'gamma'?)"),
    ('derive: {room: "1 + ▸eval(gamma)"}\n', "RB022 unknown function 'eval'"),
    ("derive: {room: gamma ▸% 2}\n", "RB022 '%' is not allowed here"),
    ('derive: {room: "2 * policy.kl.▸lat.median"}\n', "RB020"),
    (remedy("set: 'gamma * ▸x'"), f"RB021 {NUMBER} 'x'"),
    (remedy("values: {floor: '▸x'}"), f"RB021 {NUMBER} 'x'"),
    (remedy("expect: [{feature: policy.kl.▸mox, rises_to: 1}]"), "RB020"),
    # ramps, windows, bounds
    (symptom("config: gamma, rising: ▸{low: 1, high: 1}"), f"{ORDER}low < high"),
    (symptom("config: gamma, falling: ▸{low: 2, high: 1}"), f"{ORDER}low < high"),
    (symptom("config: gamma, band: ▸{low: 1, full_low: 3, full_high: 2, high: 4}"), f"{ORDER}low ≤ full_low"),
    (symptom("config: gamma, band: ▸{low: 1, full_low: 0, high: 4}"), f"{ORDER}low ≤ full_low"),
    (symptom("config: gamma, scale: log, rising: ▸{low: 0, high: 1}"), "RB024 bounds on a log scale must be above 0"),
    ("windows: {w: {steps: ▸{from: 5, to: 5}}}\n", "RB024 the window 'w' ends before it starts"),
    ("windows: {▸late: {steps: {from: 5}}}\n", "RB026 the window 'late' is built in (choose another name)"),
    ("derive: {▸gamma: '1'}\n", "RB026 'gamma' is the name of a configuration value (choose another name)"),
    ("derive: {▸max: '1'}\n", "RB026 'max' is the name of a function (choose another name)"),
    (remedy("bounds: ▸{low: 1, high: 1}"), "RB024 low must be below high"),
    # circles
    (symptom("not: {symptom: s}").replace("  s:", "  ▸s:"), "RB023 the symptom 's' is made of itself"),
    ("derive: {▸a: 'a + 1'}\n", "RB023 the derived number 'a' is made of itself"),
]


@pytest.mark.parametrize(("marked", "expected"), MISTAKES)
def test_a_mistake_is_named_where_it_is(marked: str, expected: str, write: Write, said: Said) -> None:
    """▸ stands before the place that is to be named."""
    before = marked[: marked.index("▸")].split("\n")
    (found,) = said(write(marked.replace("▸", "")))
    assert found.startswith(f"{len(before)}:{len(before[-1]) + 1} {expected}")


def test_all_mistakes_come_at_once_in_the_order_of_the_file(write: Write, said: Said) -> None:
    body = (
        symptom(f"config: gama, {RISING}")
        + "derive: {a: 'b', b: 'a + x'}\ncauses: {c: {title: C, prior: 0.1, requires: [y]}}\n"
    )
    assert said(write(body)) == [
        "2:42 RB021 unknown configuration value 'gama' (did you mean 'gamma'?)",
        "3:10 RB023 the derived number 'a' is made of itself",
        "3:18 RB023 the derived number 'b' is made of itself",
        "3:26 RB021 unknown configuration value or derived number 'x'",
        "4:47 RB021 unknown signal 'y'",
    ]


def test_symptoms_in_a_larger_circle_are_each_named(write: Write, said: Said) -> None:
    body = "symptoms:\n" + "".join(
        f"  {a}: {{title: T, base_rate: rare, not: {{symptom: {b}}}}}\n" for a, b in ("xy", "yz", "zx", "wx")
    )
    assert [s.split(" ", 1)[1] for s in said(write(body))] == [
        f"RB023 the symptom '{name}' is made of itself" for name in "xyz"
    ]


def test_a_symptom_that_has_the_name_of_inline_evidence_is_refused(write: Write, said: Said) -> None:
    body = cause("evidence: [{config: gamma, rising: {low: 0, high: 1}, base_rate: rare, seen: often}]")
    assert said(write(body.replace("  s:", "  c__1:"))) == [
        "4:40 RB026 the name 'c__1' is needed for this evidence (rename that symptom)"
    ]
