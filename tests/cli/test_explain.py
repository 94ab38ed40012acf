"""`explain` prints all it takes to work a probability out by hand; these tests do just that from what it prints."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Done

Command = Callable[..., Done]
LINE = re.compile(
    r"([-+][\d.]+) dB .*: there ([\d.]+), seen with it ([\d.]+), without ([\d.]+)"
    r"(; its absence)?.*; now ([\d.e-]+)"
)
ENTRY = re.compile(r" ?\d+\. ")
RAMP = re.compile(r"([01]) at (-?[\d.e+-]+)")
RELIABILITY = re.compile(r"which a reliability of ([\d.e-]+) makes")
PARTS: dict[str, Callable[[list[float]], float]] = {
    "lowest of": min,
    "highest of": max,
    "mean of those that are known": lambda parts: sum(parts) / len(parts),
}
CAUSES = ["learning_rate_jumped", "entropy_bonus_too_weak", "learning_rate_too_high", "critic_underfit"]


def probability(decibans: float) -> float:
    return 1 / (1 + 10 ** (-decibans / 10))


def value_of(text: str) -> float:
    return float(text.replace(",", ""))


def along(value: float, ends: list[tuple[int, float]], logarithmic: bool) -> float:
    """The height at `value` of the line through the points of `ends` (height, place)."""
    x = math.log(max(value, 1e-300)) if logarithmic else value
    points = [(math.log(at) if logarithmic else at, height) for height, at in ends]
    if x <= points[0][0]:
        return float(points[0][1])
    for (left, low), (right, high) in itertools.pairwise(points):
        if x <= right:
            return low + (high - low) * (x - left) / (right - left)
    return float(points[-1][1])


def membership_by_hand(lines: list[str]) -> tuple[float, float]:
    """What the first line says, worked out from the lines below it: from and to; 0 and 1 for what is missing."""
    head, rest = lines[0], lines[1:]
    depth = len(head) - len(head.lstrip())
    if ": missing (" in head:
        return 0.0, 1.0
    if " = " in head:
        value = value_of(re.findall(r" = (-?[\d.,]+(?:e[-+]?\d+)?)", head)[0])
        ends = [(int(height), float(at)) for height, at in RAMP.findall(head)]
        there = along(value, ends, ", logarithmic" in head)
        reliability = RELIABILITY.findall(head)
        there = 0.5 + float(reliability[0]) * (there - 0.5) if reliability else there
        return there, there
    starts = [i for i, line in enumerate(rest) if len(line) - len(line.lstrip()) == depth + 2]
    parts = [membership_by_hand(rest[a:b]) for a, b in zip(starts, [*starts[1:], len(rest)], strict=True)]
    word = head.strip().rpartition(":")[0]
    if word == "1 less":
        return 1 - parts[0][1], 1 - parts[0][0]
    if word.startswith("the symptom "):
        return parts[0]
    known = [part for part in parts if part != (0.0, 1.0)] or [(0.0, 1.0)]
    if word == "first that is known of":
        return known[0]
    lows, highs = zip(*(known if word == "mean of those that are known" else parts), strict=True)
    return PARTS[word](list(lows)), PARTS[word](list(highs))


@pytest.mark.parametrize("cause", CAUSES)
def test_the_result_can_be_worked_out_with_a_pocket_calculator(command: Command, example: Path, cause: str) -> None:
    done = command("explain", example, cause, "--width", "1000")
    assert done.code == 0
    prior = float(re.findall(r"Before any evidence: ([\d.]+)", done.out)[0])
    total = 10 * math.log10(prior / (1 - prior))
    lines = LINE.findall(done.out)
    assert lines
    for shown, there, seen, base, ignored, now in lines:
        m, s, b = float(there), float(seen), float(base)
        weight = 10 * math.log10((m * s + (1 - m) * (1 - s)) / (m * b + (1 - m) * (1 - b)))
        weight = 0.0 if ignored else weight
        assert weight == pytest.approx(float(shown), abs=0.02)
        total += weight
        assert probability(total) == pytest.approx(float(now), rel=0.02, abs=1e-4)
    competition = float(re.findall(r"Other causes: ([-+][\d.]+) dB", done.out)[0])
    raw = float(re.findall(r"Before calibration: ([\d.e-]+)", done.out)[0])
    assert probability(total + competition) == pytest.approx(raw, rel=0.02, abs=1e-4)
    fitted = re.findall(r"exp\(-\(([-\d.e]+) x ln\(p/\(1-p\)\) \+ ([-\d.e]+)\)\)", done.out)
    if fitted:
        a, b = (float(number) for number in fitted[0])
        raw = 1 / (1 + math.exp(-(a * math.log(raw / (1 - raw)) + b)))
    end = float(re.findall(r"In the end: ([\d.e-]+)", done.out)[0])
    assert end == pytest.approx(raw, rel=0.03, abs=2e-4)


@pytest.mark.parametrize("cause", CAUSES)
def test_how_far_a_symptom_is_there_can_be_worked_out_too(command: Command, example: Path, cause: str) -> None:
    lines = command("explain", example, cause, "--width", "1000").out.splitlines()
    starts = [i for i, line in enumerate(lines) if ENTRY.match(line)]
    assert starts
    for start in starts:
        below = [line.rstrip() for line in lines[start + 1 :]]
        work = below[: next(i for i, line in enumerate(below) if not line.startswith("      "))]
        shown = LINE.search(lines[start])
        found = membership_by_hand(work)
        if shown is None:
            assert ". missing  " in lines[start]
            assert found == (0.0, 1.0)
        else:
            assert sum(found) / 2 == pytest.approx(float(shown[2]), abs=2e-3)


def test_missing_evidence_says_how_much_it_could_matter(command: Command, example: Path) -> None:
    (event,) = example.glob("events*")
    event.unlink()
    table = example / "progress.csv"
    table.write_text(table.read_text("utf-8").replace("train/approx_kl", "nothing"), "utf-8")
    done = command("explain", example, "learning_rate_jumped", "--width", "1000")
    found = re.search(
        r"missing  KL spiked far beyond the clip range: seen with it ([\d.]+), without ([\d.]+); "
        r"it could weigh ([-+][\d.]+) to ([-+][\d.]+) dB",
        done.out,
    )
    assert found
    seen, base, least, most = (float(number) for number in found.groups())
    assert most == pytest.approx(10 * math.log10(seen / base), abs=0.01)
    assert least == pytest.approx(10 * math.log10((1 - seen) / (1 - base)), abs=0.01)
    assert re.search(r"with all that is missing it could be [\d.]+ to [\d.]+", done.out)


def test_a_cause_that_cannot_be_assessed_says_why(command: Command, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("step,reward\n" + "".join(f"{i},{i}\n" for i in range(1, 40)), "utf-8")
    done = command("explain", tmp_path / "x.csv", "entropy_bonus_too_weak", "--rules", "ppo", "--width", "120")
    assert done.code == 0
    assert "it cannot be assessed without policy.entropy, which the log does not have" in done.out
    assert "In the end: no probability" in done.out
    assert "What to turn: " in done.out


def test_a_cause_about_other_runs_says_so(command: Command, example: Path, tmp_path: Path) -> None:
    book = tmp_path / "house.yaml"
    text = "schema: rulebook/v1\nid: house\nversion: '1.0.0'\ntitle: House\ncauses:\n"
    text += "  other: {title: Other, prior: 0.1, applies_to: {algorithm: [sac, td3]}}\n"
    text += "  older: {title: Older, prior: 0.1, status: deprecated, replaced_by: other}\n"
    book.write_text(text, "utf-8")
    other = command("explain", example, "other", "--rules", book, "--width", "120")
    assert other.code == 0
    assert "it is about the algorithm sac or td3, and this run's is ppo" in other.out
    older = command("explain", example, "older", "--rules", book, "--width", "120")
    assert "deprecated and not scored any more; it is replaced by other" in older.out


def test_a_suppressed_cause_is_named_as_such(
    command: Command, example: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = '[[suppress]]\ncause = "learning_rate_jumped"\nruns = "*"\nreason = "a planned restart"\n'
    (tmp_path / "rl-diagnose.toml").write_text(project, "utf-8")
    monkeypatch.chdir(tmp_path)
    done = command("explain", example, "learning_rate_jumped")
    assert "suppressed by the project file: a planned restart" in done.out


def test_an_unknown_cause_is_answered_with_what_may_be_meant(command: Command, example: Path) -> None:
    done = command("explain", example, "learning_rate_jump")
    assert done.code == 2
    assert "did you mean 'learning_rate_jumped'?" in done.err


def test_the_log_may_be_read_under_other_names(command: Command, tmp_path: Path) -> None:
    log = tmp_path / "x.csv"
    log.write_text("step,marks\n" + "".join(f"{i * 1000},{i if i < 30 else 1}\n" for i in range(1, 60)), "utf-8")
    words = ("explain", log, "environment_changed", "--rules", "core", "--width", "1000")
    assert "no verdict rests on it: too little of its evidence" in command(*words).out
    assert "reward.below_best.late.median = " in command(*words, "--map", "marks=reward.train").out


def test_the_json_holds_the_same(command: Command, example: Path) -> None:
    document = json.loads(command("explain", example, "learning_rate_jumped", "--format", "json").out)
    assert document["schema"] == "rl-diagnose/explanation/v1"
    assert document["lines"][0]["seen"] == 0.95
    assert document["lines"][0]["work"][1]["bounds"] == [2, 8]
    assert document["plan"]["knob"] == "learning_rate"
    assert document["probability"] > 0.9
    assert document["rivals"]
