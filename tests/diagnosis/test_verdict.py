"""The verdict never calls a run fine, tells silence from blindness, and says what could not be checked and how to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from rl_diagnose.diagnosis.model import CauseFinding, Evidence, Measurement, SymptomFinding
from rl_diagnose.diagnosis.verdict import gaps, judge, remarks
from rl_diagnose.signals.run import ActionSpace, Run, Semantics, Series, UnmappedKey

FAULT = CauseFinding("fault", "book", "A fault", "fault", 0.7, True, 1.0, "assessed", 0.1, ())
BENIGN = replace(FAULT, id="solved", title="Task solved", kind="benign", description="Return is at its best.")
BLIND = replace(FAULT, id="short", title="Too short to tell", kind="insufficient")


def series(signal: str, n: int) -> Series:
    steps = np.arange(n, dtype=float)
    return Series(signal, steps, np.ones(n), steps, steps, Semantics(signal))


def run(n: int = 100, *names: str, space: ActionSpace | None = None, unmapped: tuple[UnmappedKey, ...] = ()) -> Run:
    signals = {name: series(name, n) for name in names or ("reward.train",)}
    return Run("r", "runs/r", "sb3", signals, action_space=space or ActionSpace(), unmapped=unmapped)


@pytest.mark.parametrize(
    ("causes", "points", "verdict", "words"),
    [
        ((FAULT,), 100, "finding", "A fault (70 %)"),
        (
            (replace(FAULT, probability=0.4),),
            100,
            "nothing_found",
            "1 fault checked, none reached 50 %; the most probable",
        ),
        ((replace(FAULT, status="insufficient_data"),), 100, "cannot_tell", "no cause could be assessed"),
        (
            (replace(FAULT, probability=None, status="not_assessable"),),
            100,
            "cannot_tell",
            "no cause could be assessed",
        ),
        ((replace(FAULT, experimental=True),), 100, "cannot_tell", "no cause could be assessed"),
        ((FAULT, replace(BLIND, probability=0.8)), 100, "cannot_tell", "Too short to tell (80 %)"),
        ((FAULT, replace(BLIND, probability=0.6)), 100, "finding", "A fault (70 %)"),
        ((replace(FAULT, probability=0.1), replace(BLIND, probability=0.4)), 100, "nothing_found", "1 fault"),
        ((FAULT,), 3, "finding", "A fault (70 %)"),
        ((replace(FAULT, probability=0.1),), 3, "cannot_tell", "3 points in the log"),
        ((BENIGN, replace(FAULT, probability=0.1)), 100, "nothing_found", "1 fault"),
        ((), 100, "cannot_tell", "no cause could be assessed"),
    ],
)
def test_the_verdict_follows_from_what_could_be_assessed(
    causes: tuple[CauseFinding, ...], points: int, verdict: str, words: str
) -> None:
    said, reason = judge(run(points), causes)
    assert said == verdict
    assert words in reason


def test_without_a_return_nothing_is_said_about_how_the_run_did() -> None:
    verdict, reason = judge(run(100, "policy.kl"), (replace(FAULT, probability=0.1),))
    assert verdict == "cannot_tell"
    assert "no return" in reason


def symptom(name: str, membership: float, *signals: str) -> SymptomFinding:
    numbers = tuple(Measurement(f"{s}.median", None, "", 1.0, None, "", s) for s in signals)
    return SymptomFinding(name, name.title(), membership, None, None, None, None, f"{name} is 3", numbers)


def evidence(name: str, decibans: float, *, missing: bool = False) -> Evidence:
    return Evidence(name, name, None if missing else 1.0, decibans, 0.5, "", missing=missing)


def test_a_benign_explanation_becomes_a_remark() -> None:
    said = remarks(run(2000), "nothing_found", [BENIGN], [])
    assert said == ("Task solved (70 %): not a fault. Return is at its best.",)


def test_an_experimental_cause_is_mentioned_but_counts_for_nothing() -> None:
    assert "experimental" in remarks(run(2000), "nothing_found", [replace(FAULT, experimental=True)], [])[0]


def test_few_points_are_said_and_enough_are_not() -> None:
    assert "80 points a curve are fewer than the 1,000" in remarks(run(80), "finding", [], [])[0]
    assert remarks(run(1000), "finding", [], []) == ()


def test_an_unknown_algorithm_is_said_when_only_general_rules_were_applied() -> None:
    (said,) = remarks(run(1000), "nothing_found", [], [], named_algorithm=False)
    assert "does not tell the algorithm" in said
    known = replace(run(1000), algorithm="es")
    assert remarks(known, "nothing_found", [], [], named_algorithm=False) == ()


def test_clear_signs_without_a_cause_are_named_and_good_signs_are_not() -> None:
    fault = replace(FAULT, probability=0.3, evidence=(evidence("kl_high", 5.0), evidence("reward_rose", -3.0)))
    said = remarks(run(2000), "nothing_found", [fault], [symptom("kl_high", 0.9), symptom("reward_rose", 1.0)])
    assert said == ("Seen, but not enough for a cause: Kl_High: kl_high is 3",)


def test_inferred_action_spaces_and_unknown_keys_are_said() -> None:
    space = ActionSpace("discrete", 2, origin="inferred", detail="first entropy is ln 2")
    key = UnmappedKey("train/entrpy", "progress.csv", 9, "policy.entropy")
    said = remarks(run(2000, space=space, unmapped=(key,)), "finding", [], [])
    assert said[0] == "The action space was inferred: first entropy is ln 2"
    assert "train/entrpy (did you mean policy.entropy?)" in said[1]


def unassessed(name: str, *missing: str) -> CauseFinding:
    return replace(FAULT, id=name, title=name, probability=None, status="not_assessable", missing=missing)


def closed(
    where: Run, *causes: CauseFinding, symptoms: Mapping[str, SymptomFinding] | None = None
) -> list[tuple[str, str, str]]:
    return [(g.what, g.reason, g.remedy) for g in gaps(where, causes, symptoms or {}, frozenset(where.series))]


def test_causes_that_lack_the_same_signal_are_one_gap_with_the_way_to_close_it() -> None:
    rows = closed(run(), unassessed("A", "policy.kl"), unassessed("B", "policy.kl"), unassessed("C", "value.loss"))
    assert [row[0] for row in rows] == ["A; B", "C"]
    assert rows[0][1] == "policy.kl not in the log"
    assert "log policy.kl (KL(old ‖ new))" in rows[0][2]
    assert "--map KEY=policy.kl" in rows[0][2]


def test_a_computed_signal_asks_for_what_it_is_made_of() -> None:
    row = closed(run(), unassessed("A", "policy.entropy_ratio"))[0]
    assert row[1] == "policy.entropy not in the log"


def test_a_computed_signal_without_action_space_asks_for_the_action_space() -> None:
    row = closed(run(100, "policy.entropy"), unassessed("A", "policy.entropy_ratio"))[0]
    assert "action space unknown" in row[1]
    assert "--action-space" in row[2]


def test_too_little_evidence_is_said_with_its_share() -> None:
    cause = replace(FAULT, status="insufficient_data", coverage=0.2, evidence=(evidence("kl", 0.0, missing=True),))
    row = closed(run(), cause, symptoms={"kl": symptom("kl", 0.5, "policy.kl")})[0]
    assert "only 20 % of its evidence" in row[1]
    assert "policy.kl not in the log" in row[1]


def test_signals_that_only_weaken_a_cause_are_counted_once_each() -> None:
    signs = {"kl": symptom("kl", 0.5, "policy.kl"), "seen": symptom("seen", 0.9, "reward.train")}
    links = (evidence("kl", 0.0, missing=True), evidence("seen", 3.0))
    rows = closed(run(), replace(FAULT, evidence=links), replace(FAULT, id="f2", evidence=links), symptoms=signs)
    assert [row[:2] for row in rows] == [("Part of the evidence on 2 faults", "policy.kl not in the log")]


def test_nothing_missing_is_no_gap() -> None:
    assert closed(run(), FAULT) == []


@pytest.mark.parametrize(
    ("algorithm", "kind", "signal", "wanted"),
    [
        ("dqn", "discrete", "policy.kl", False),
        ("dqn", "discrete", "q.mean", True),
        ("sac", "continuous", "policy.entropy", True),
        ("ppo", "discrete", "policy.sigma_ratio", False),
        ("ppo", "continuous", "policy.entropy_ratio", False),
        ("ppo", "discrete", "policy.entropy_ratio", True),
        ("maskable_ppo", "discrete", "policy.clip_fraction", True),
        ("a2c", "discrete", "policy.clip_fraction", False),
        (None, "unknown", "policy.kl", True),
        ("unheard_of", "unknown", "policy.kl", True),
    ],
)
def test_signals_that_the_algorithm_does_not_have_are_no_gap(
    algorithm: str | None, kind: str, signal: str, *, wanted: bool
) -> None:
    cause = replace(FAULT, evidence=(evidence("sign", 0.0, missing=True),))
    where = replace(run(space=ActionSpace(kind, 2)), algorithm=algorithm)  # type: ignore[arg-type]
    rows = gaps(where, [cause], {"sign": symptom("sign", 0.5, signal)}, frozenset(where.series))
    assert bool(rows) == wanted
