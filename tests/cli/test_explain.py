"""`explain` prints all it takes to work a probability out by hand; these tests do just that from what it prints."""

from __future__ import annotations

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


def sigmoid(decibans: float) -> float:
    return 1 / (1 + 10 ** (-decibans / 10))


@pytest.mark.parametrize("cause", ["learning_rate_jumped", "entropy_bonus_too_weak", "learning_rate_too_high"])
def test_the_result_can_be_worked_out_with_a_pocket_calculator(command: Command, example: Path, cause: str) -> None:
    done = command("explain", example, cause, "--width", "300")
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
        assert sigmoid(total) == pytest.approx(float(now), rel=0.02, abs=1e-4)
    competition = float(re.findall(r"Other causes: ([-+][\d.]+) dB", done.out)[0])
    raw = float(re.findall(r"Before calibration: ([\d.e-]+)", done.out)[0])
    assert sigmoid(total + competition) == pytest.approx(raw, rel=0.02, abs=1e-4)
    fitted = re.findall(r"exp\(-\(([-\d.e]+) x logit \+ ([-\d.e]+)\)\)", done.out)
    if fitted:
        a, b = (float(number) for number in fitted[0])
        raw = 1 / (1 + math.exp(-(a * math.log(raw / (1 - raw)) + b)))
    end = float(re.findall(r"In the end: ([\d.e-]+)", done.out)[0])
    assert end == pytest.approx(raw, rel=0.03, abs=2e-4)


def test_missing_evidence_says_how_much_it_could_matter(command: Command, example: Path) -> None:
    (event,) = example.glob("events*")
    event.unlink()
    table = example / "progress.csv"
    table.write_text(table.read_text("utf-8").replace("train/approx_kl", "nothing"), "utf-8")
    done = command("explain", example, "learning_rate_jumped", "--width", "200")
    assert re.search(r"KL spiked far beyond the clip range: missing .*could add \+\d", done.out)


def test_a_cause_that_cannot_be_assessed_says_why(command: Command, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("step,reward\n" + "".join(f"{i},{i}\n" for i in range(1, 40)), "utf-8")
    done = command("explain", tmp_path / "x.csv", "entropy_bonus_too_weak", "--rules", "ppo", "--width", "120")
    assert done.code == 0
    assert "not assessable" in done.out
    assert "needed and missing: policy.entropy" in done.out


def test_an_unknown_cause_is_answered_with_what_may_be_meant(command: Command, example: Path) -> None:
    done = command("explain", example, "learning_rate_jump")
    assert done.code == 2
    assert "did you mean learning_rate_jumped?" in done.err


def test_the_json_holds_the_same(command: Command, example: Path) -> None:
    document = json.loads(command("explain", example, "learning_rate_jumped", "--format", "json").out)
    assert document["schema"] == "rl-diagnose/explanation/v1"
    assert document["lines"][0]["seen"] == 0.95
    assert document["probability"] > 0.9
    assert document["rivals"]
