"""Mistakes that an author could make in a real book: each one alone is reported at its line, with its code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rl_diagnose.rules.check import check_book
from rl_diagnose.rules.library import list_books

PPO = next(book.latest for book in list_books() if book.id == "ppo").read_text("utf-8")

# (what stands there: the first match counts, what the author writes instead, the code that must be reported)
MISTAKES = [
    (r"schema: rulebook/v1", "schema: rulebook/v2", "RB012"),
    (r'version: "[0-9.]+"', "version: 1.0", "RB012"),
    (r"title: PPO", "titel: PPO", "RB011"),
    (r'engine: ">=[0-9.]+"', 'engine: ">=99"', "RB033"),
    (r'engine: ">=', 'engine: "newer than ', "RB012"),
    (r"extends: \[core\]", "extends: [coer]", "RB030"),
    (r"\[discrete|algorithm: \[ppo,", "algorithm: [PPO,", "RB012"),
    (r"applies_to: \{algorithm:", "applies_to: {algorithms:", "RB011"),
    (r"optim\.learning_rate\.mid\.median /", "optim.learning_rat.mid.median /", "RB020"),
    (r"optim\.learning_rate\.max\"", 'optim.learning_rate.maximum"', "RB020"),
    (r"policy\.kl\.median, 1\.0e-5\)", "policy.kl.midle.median, 1.0e-5)", "RB020"),
    (r"max\(policy\.kl\.median", "maximum(policy.kl.median", "RB022"),
    (r"n_steps \* n_envs", "n_steps ** n_envs", "RB022"),
    (r"n_steps \* n_envs", "n_stepps * n_envs", "RB021"),
    (r"rising: \{low: 2\.0e-3, high: 2\.0e-2\}", "rising: {low: 2.0e-2, high: 2.0e-3}", "RB024"),
    (r"falling: \{low: 3\.0e-6", "falling: {low: -3.0e-6", "RB024"),
    (r"falling: \{low: 3\.0e-6, high: 3\.0e-5\}", "falling: {low: 3.0e-6}", "RB010"),
    (r"falling: \{low: 3\.0e-3", "faling: {low: 3.0e-3", "RB011"),
    (r"falling: \{low: 3\.0e-3", "falling: {low: .inf", "RB006"),
    (r"scale: log\}", "scale: logarithmic}", "RB012"),
    (r"base_rate: 0\.04", "base_rate: 4", "RB012"),
    (r"base_rate: 0\.04", "base_rate: seldom", "RB012"),
    (r"derived: learning_rate_mid_share", "derived: learning_rate_mid_shared", "RB021"),
    (r"config: learning_rate,", "config: lerning_rate,", "RB021"),
    (r"onset: \{signal: optim\.learning_rate", "onset: {signal: optim.learning_rates", "RB021"),
    (r"prior: 0\.05\n", "prior: true\n", "RB012"),
    (r"excludes: \[learning_rate_too_low", "excludes: [learning_rate_to_low", "RB021"),
    (r"\{symptom: learning_rate_large, seen:", "{symptom: learning_rate_larg, seen:", "RB021"),
    (r"seen: usually\}", "seen: usualy}", "RB012"),
    (r"absence: ignore\}", "absence: ignored}", "RB012"),
    (r"- \{symptom: return_poor, seen: 0\.98\}", "- {symptom: learning_rate_large, seen: 0.98}", "RB025"),
    (r"knob: learning_rate\n", "knob: learning_rte\n", "RB021"),
    (r'set: "min\(learning_rate / 3', 'set: "min(learning_rate // 3', "RB022"),
    (r"expect: \[\{feature: policy\.kl_scaled\.median", "expect: [{feature: policy.kl_scaled.medain", "RB020"),
    (r"falls_to: 1\.0", "falls_too: 1.0", "RB011"),
    (r"step_limit: 100", "step_limit: 0.5", "RB012"),
    (r"requires: \[policy\.", "requires: [polcy.", "RB021"),
    (r"    environment_changed:", "    environment_changd:", "RB032"),
    (r"      prior: \{replace: 0\.05\}", "      prior: {replaced: 0.05}", "RB011"),
    (r"      prior: \{replace: 0\.05\}", "      prior: {append: [0.05]}", "RB032"),
    (r"      prior: \{replace: 0\.05\}", "      prior: {replace: 5}", "RB012"),
    (r"- \{symptom: kl_spiked, seen: 0\.012\}", "- {symptom: kl_spikd, seen: 0.012}", "RB021"),
    (r"title: Learning rate too high\n", "title: Learning rate: too high\n", "RB003"),
    (r"prior: 0\.05\n", "prior: 0.05\n    prior: 0.06\n", "RB004"),
    (r"excludes: \[learning_rate_too_low", "excludes: &these [learning_rate_too_low", "RB005"),
]


@pytest.mark.parametrize(("old", "new", "code"), MISTAKES, ids=[f"{new.strip()} {code}" for _, new, code in MISTAKES])
def test_each_mistake_is_reported_at_its_line(tmp_path: Path, old: str, new: str, code: str) -> None:
    match = re.search(old, PPO)
    assert match is not None, "the book has changed: choose another place"
    line = PPO.count("\n", 0, match.start()) + 1
    if code == "RB004":
        line += 1  # the second of the two is the one too many
    path = tmp_path / "ppo.yaml"
    path.write_text(PPO[: match.start()] + new + PPO[match.end() :], "utf-8")
    found = check_book(path)
    assert (code, line) in [(problem.code, problem.line) for problem in found], [problem.render() for problem in found]
    # A mistake in one place is not reported all over the book.
    assert len(found) <= 2, [problem.render() for problem in found]


def test_a_bracket_that_is_never_closed_shows_late_but_the_line_is_named(tmp_path: Path) -> None:
    broken = PPO.replace("title: Learning rate far above", "title: [Learning rate far above", 1)
    line = broken.count("\n", 0, broken.index("title: [")) + 1
    path = tmp_path / "ppo.yaml"
    path.write_text(broken, "utf-8")
    (problem,) = check_book(path)
    assert (problem.code, problem.line) == ("RB003", line + 1)
    assert problem.hint == f"look at line {line}, too: what begins there is not ended"


def test_there_are_enough_of_them_and_the_book_itself_has_none(tmp_path: Path) -> None:
    assert len(MISTAKES) >= 30
    path = tmp_path / "ppo.yaml"
    path.write_text(PPO, "utf-8")
    assert check_book(path) == ()
