"""`inspect` shows adapter, mapping, ranges, action space, unknown keys and issues."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rl_diagnose.report.inspection import to_json
from rl_diagnose.signals.run import Run, Semantics, Series

from .conftest import Done

Command = Callable[..., Done]


def test_each_key_is_shown_with_signal_transform_and_steps(command: Command, example: Path) -> None:
    done = command("inspect", example, "--width", "120")
    assert done.code == 0
    for words in ("sb3: ", "policy.entropy", "train/entropy_loss as -x", "2,048–80,896", "discrete of 2 (inferred"):
        assert words in done.out


@pytest.mark.parametrize("width", ["60", "80", "160"])
def test_it_fits_the_width(command: Command, example: Path, width: str) -> None:
    assert max(map(len, command("inspect", example, "--width", width).out.splitlines())) <= int(width)


def test_json_holds_the_same(command: Command, example: Path) -> None:
    document = json.loads(command("inspect", example, "--format", "json").out)
    assert document["schema"] == "rl-diagnose/inspect/v1"
    run = document["runs"][0]
    entropy = next(s for s in run["signals"] if s["signal"] == "policy.entropy")
    assert (entropy["key"], entropy["transform"], entropy["points"]) == ("train/entropy_loss", "-x", 78)
    assert run["action_space"]["origin"] == "inferred"


def test_an_unknown_key_is_shown_with_a_suggestion_that_can_be_pasted(command: Command, example: Path) -> None:
    csv = example / "progress.csv"
    csv.write_text(csv.read_text("utf-8").replace("train/entropy_loss", "train/entropy_los"), "utf-8")
    (event,) = example.glob("events*")
    event.unlink()
    done = command("inspect", example, "--width", "160")
    assert "1 key not understood" in done.out
    assert "--map train/entropy_los=policy.entropy" in done.out
    mapped = command("inspect", example, "--width", "160", "--map", "train/entropy_los=policy.entropy")
    assert "not understood" not in mapped.out


def test_one_unreadable_run_does_not_hide_the_others(command: Command, several: Path) -> None:
    document = json.loads(command("inspect", several, "--format", "json").out)
    assert [run["id"] for run in document["runs"]] == ["first", "second"]
    assert "torn" in json.dumps(document["unreadable"] + document["notes"])


def test_non_finite_and_empty_series_are_strict_json() -> None:
    steps = np.array([0.0, 1.0])
    nan = Series("policy.kl", steps, np.array([np.nan, np.nan]), steps, steps, Semantics("kl"))
    none = Series("value.loss", steps[:0], steps[:0], steps[:0], steps[:0], Semantics("vl"))
    text = to_json("p", [Run("r", "r", "sb3", {"policy.kl": nan, "value.loss": none})], [])
    signals = json.loads(text, parse_constant=pytest.fail)["runs"][0]["signals"]
    assert [s["last_value"] for s in signals] == [None, None]
    assert signals[1]["first_step"] is None


def test_the_map_that_is_written_reads_the_same_log_in_the_same_way(
    command: Command, example: Path, tmp_path: Path
) -> None:
    target = tmp_path / "our.yaml"
    assert command("inspect", example, "--write-map", target).code == 0
    plain, mapped = (
        json.loads(command("inspect", example, "--format", "json", *words).out)["runs"][0]
        for words in ((), ("--tag-map", target))
    )
    assert mapped["adapter"] == "tag map our.yaml"
    kept = ("signal", "key", "transform", "points", "first_step", "last_step")
    assert [{k: s.get(k) for k in kept} for s in mapped["signals"]] == [
        {k: s.get(k) for k in kept} for s in plain["signals"]
    ]


def test_a_map_is_written_for_one_run_and_over_nothing_of_the_users(
    command: Command, several: Path, example: Path, tmp_path: Path
) -> None:
    assert "is written for one run" in command("inspect", several, "--write-map", tmp_path / "x.yaml").err
    precious = tmp_path / "precious.yaml"
    precious.write_text("mine: 1\n", "utf-8")
    assert command("inspect", example, "--write-map", precious).code == 2
    assert precious.read_text("utf-8") == "mine: 1\n"
    mended = tmp_path / "mended.yaml"
    assert command("inspect", example, "--write-map", mended).code == 0
    text = mended.read_text("utf-8") + "# a rule of my own\n"
    mended.write_text(text, "utf-8")
    assert command("inspect", example, "--write-map", mended).code == 2
    assert mended.read_text("utf-8") == text


def test_a_tag_map_that_is_not_there_or_wrong_is_named(command: Command, example: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("- 1\n", "utf-8")
    for path in (wrong, tmp_path / "absent.yaml", tmp_path):
        done = command("inspect", example, "--tag-map", path)
        assert done.code == 2, done.err
        assert str(path) in done.err
        assert "internal error" not in done.err
