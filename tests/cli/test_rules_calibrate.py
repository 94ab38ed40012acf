"""`rules calibrate` as a user meets it: a house book, sixty small logs, a file that gets a block."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from rl_diagnose.rules.library import book_file, load_book

from .conftest import Done

Command = Callable[..., Done]
# The author thinks that low returns prove the cause. In half of the runs where it is not they are there, too.
BOOK = """\
# The house's own rules.
schema: rulebook/v1
id: house
version: "1.0.0"
title: House

symptoms:
  low_return: {title: Low return, base_rate: rare, feature: reward.train.late.mean, falling: {low: 0, high: 100}}
  long_episodes:
    title: Long episodes
    base_rate: uncommon
    feature: episode.length.late.mean
    rising: {low: 50, high: 60}
causes:
  wrapper_bug:   # ours
    title: The reward wrapper is wrong
    prior: 0.3
    evidence: [{symptom: low_return, seen: always}, {symptom: long_episodes, seen: usually}]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder: `house.yaml` and `labelled/` with 60 runs of three environments."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "house.yaml").write_text(BOOK, "utf-8")
    draw = random.Random(3)  # noqa: S311 - no secret, a made corpus
    lines = ["run_id,env,cause,harmed"]
    for i in range(60):
        harmed = i % 2 == 0
        low, long_ = draw.random() < (0.7 if harmed else 0.3), draw.random() < (0.5 if harmed else 0.3)
        run = tmp_path / "labelled" / "runs" / f"r{i}"
        run.mkdir(parents=True)
        rows = [
            f"{step},{(-5 if low else 105) + draw.random()},{(70 if long_ else 40) + draw.random()}"
            for step in range(1000, 61000, 1000)
        ]
        (run / "progress.csv").write_text(
            "\n".join(["time/total_timesteps,rollout/ep_rew_mean,rollout/ep_len_mean", *rows]) + "\n", "utf-8"
        )
        lines.append(f"r{i},{'ABC'[i % 3]},{'wrapper_bug,yes' if harmed else 'healthy,no'}")
    (tmp_path / "labelled" / "labels.csv").write_text("\n".join(lines) + "\n", "utf-8")
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_the_table_and_the_block_are_printed_and_nothing_is_written(command: Command) -> None:
    done = command("rules", "calibrate", "house.yaml", "--corpus", "labelled")

    assert done.code == 0, done.out
    assert "house 1.0.0: 60 runs that a label speaks about" in done.out
    assert "30 harmed by a cause of this book" in done.out
    assert "left out in turn, env: A, B, C" in done.out
    assert "90–100 %" in done.out
    assert "calibration:" in done.out
    assert Path("house.yaml").read_text("utf-8") == BOOK


@pytest.mark.usefixtures("folder")
def test_write_puts_the_block_into_the_file_and_leaves_the_rest_alone(command: Command) -> None:
    done = command("rules", "calibrate", "house.yaml", "--corpus", "labelled", "--write")

    assert done.code == 0, done.out
    text = Path("house.yaml").read_text("utf-8")
    assert text.startswith(BOOK + "\ncalibration:\n  a: ")
    block = load_book(Path("house.yaml")).calibration
    assert block is not None
    assert (block.n, block.positives) == (60, 30)
    assert block.a < 1
    assert "Written to house.yaml" in done.out
    assert [path.name for path in Path().iterdir() if path.name.startswith(".")] == []

    again = command("rules", "calibrate", "house.yaml", "--corpus", "labelled", "--write")
    assert again.code == 0
    assert Path("house.yaml").read_text("utf-8") == text


@pytest.mark.usefixtures("folder")
def test_words_are_fitted_on_request(command: Command) -> None:
    done = command("rules", "calibrate", "house.yaml", "--corpus", "labelled", "--words")

    assert done.code == 0, done.out
    rows = {line.split()[0]: line.split()[1:] for line in done.out.splitlines() if line.startswith("  rare")}
    assert rows["rare"][0] == "0.03"
    assert float(rows["rare"][1]) > 0.05
    assert int(rows["rare"][2]) == 30


@pytest.mark.usefixtures("folder")
def test_json_has_every_number(command: Command) -> None:
    done = command("rules", "calibrate", "house.yaml", "--corpus", "labelled", "--format", "json")

    document = json.loads(done.out)
    assert document["schema"] == "rl-diagnose/calibration/v1"
    (book,) = document["books"]
    assert [candidate["kind"] for candidate in book["candidates"]] == ["none", "platt"]
    assert book["positives"] == 30
    assert book["block"].startswith("calibration:\n")


@pytest.mark.usefixtures("folder")
def test_an_installed_book_is_not_written_unless_its_path_is_given(command: Command) -> None:
    before = book_file("core").read_bytes()
    done = command("rules", "calibrate", "core", "--corpus", "labelled", "--write")

    assert done.code == 2
    assert "installed rulebook" in done.err
    assert str(book_file("core")) in done.err.replace("\n", "")
    assert book_file("core").read_bytes() == before


def test_too_few_harmed_runs_are_refused_and_nothing_is_written(folder: Path, command: Command) -> None:
    labels = folder / "labelled" / "labels.csv"
    labels.write_text(labels.read_text("utf-8").replace("wrapper_bug,yes", "wrapper_bug,no", 15), "utf-8")
    done = command("rules", "calibrate", "house.yaml", "--corpus", "labelled", "--write")

    assert done.code == 2
    assert "in only 15 runs" in done.err
    assert (folder / "house.yaml").read_text("utf-8") == BOOK


def test_faults_that_the_book_does_not_know_are_named(folder: Path, command: Command) -> None:
    labels = folder / "labelled" / "labels.csv"
    labels.write_text(labels.read_text("utf-8").replace("wrapper_bug,yes", "odd_gamma,yes", 3), "utf-8")
    done = command("rules", "calibrate", "house.yaml", "--corpus", "labelled")

    assert "odd_gamma (3)" in done.out


def test_acceptable_causes_beside_the_labels_count(folder: Path, command: Command) -> None:
    labels = folder / "labelled" / "labels.csv"
    labels.write_text(labels.read_text("utf-8").replace("wrapper_bug,yes", "scaled_twice,yes"), "utf-8")
    assert command("rules", "calibrate", "house.yaml", "--corpus", "labelled").code == 2

    rows = "- {fault: scaled_twice, causes: [wrapper_bug], why: the wrapper scales}\n"
    (folder / "labelled" / "acceptable.yaml").write_text(rows, "utf-8")
    assert command("rules", "calibrate", "house.yaml", "--corpus", "labelled").code == 0


def test_runs_that_cannot_be_read_are_named_and_left_out(folder: Path, command: Command) -> None:
    (folder / "labelled" / "runs" / "r7" / "progress.csv").write_bytes(b"\x00\x01\x02")
    done = command("rules", "calibrate", "house.yaml", "--corpus", "labelled")

    assert done.code == 0
    assert "1 run unreadable: r7" in done.out
    assert "59 runs" in done.out


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--corpus", "nowhere"), "the labels cannot be read"),
        (("--corpus", "labelled", "--by", "team"), "there is no column team"),
        (("--corpus", "labelled", "--corpus", "labelled"), "runs are in two of the corpora"),
        (("--corpus", "labelled", "--acceptable", "none.yaml"), "none.yaml"),
        ((), "--corpus"),
    ],
)
def test_what_cannot_be_meant_is_said(command: Command, words: tuple[str, ...], said: str) -> None:
    done = command("rules", "calibrate", "house.yaml", *words)

    assert done.code == 2
    assert said in done.err
    assert "Traceback" not in done.err


@pytest.mark.usefixtures("folder")
def test_an_invalid_book_is_shown_with_its_line(command: Command) -> None:
    Path("bad.yaml").write_text(BOOK.replace("prior: 0.3", "prior: 3"), "utf-8")
    done = command("rules", "calibrate", "bad.yaml", "--corpus", "labelled")

    assert done.code == 3
    assert "bad.yaml:17" in done.err
