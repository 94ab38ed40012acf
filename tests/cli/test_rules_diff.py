"""`rules diff` as a user meets it."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from rl_diagnose.rules.library import book_file, load_book

from .conftest import EXAMPLE, Done

Command = Callable[..., Done]


@pytest.fixture
def changed(tmp_path: Path) -> Path:
    """ppo in which the prior of a jumped learning rate is next to nothing and one cause has another id."""
    text = book_file("ppo").read_text("utf-8")
    text, count = re.subn(r"(\n  learning_rate_jumped:\n(?:    .*\n)*?    prior: )[0-9.]+", r"\g<1>1.0e-6", text)
    assert count == 1
    path = tmp_path / "house.yaml"
    path.write_text(text.replace("\n  gae_lambda_unsuited:\n", "\n  gae_lambda_wrong:\n"), "utf-8")
    return path


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """One labelled run: the example, whose learning rate jumped."""
    shutil.copytree(EXAMPLE, tmp_path / "corpus" / "runs" / "r1")
    (tmp_path / "corpus" / "labels.csv").write_text("run_id,injected_fault\nr1,midrun_lr_jump\n", "utf-8")
    return tmp_path / "corpus"


def test_the_difference_names_changes_and_the_version(command: Command, changed: Path) -> None:
    done = command("rules", "diff", "ppo", changed)
    assert done.code == 0
    lines = [line.strip() for line in done.out.splitlines()]
    assert "~ learning_rate_jumped, prior  [minor]" in lines
    assert "- gae_lambda_unsuited  [major]" in lines
    assert "+ gae_lambda_wrong  [minor]" in lines
    assert "Version: a major change, so at least 2.0.0" in lines
    assert "1.0.0 is too low" in lines


def test_strict_fails_where_the_version_is_too_low(command: Command, changed: Path) -> None:
    assert command("rules", "diff", "ppo", changed, "--strict").code == 1
    changed.write_text(changed.read_text("utf-8").replace('version: "1.0.0"', 'version: "2.0.0"'), "utf-8")
    assert command("rules", "diff", "ppo", changed, "--strict").code == 0
    assert command("rules", "diff", "ppo", "ppo@1", "--strict").code == 0


def test_a_corpus_shows_the_verdicts_that_flip(command: Command, changed: Path, corpus: Path) -> None:
    done = command("rules", "diff", "ppo", changed, "--corpus", corpus)
    assert done.code == 0
    assert "Corpus: 1 run scored by both, 1 verdict flips" in done.out
    assert "r1 (midrun_lr_jump)" in done.out
    assert "was finding: learning_rate_jumped" in done.out


def test_the_json_has_books_changes_advice_and_flips(command: Command, changed: Path, corpus: Path) -> None:
    done = command("rules", "diff", "ppo", changed, "--corpus", corpus, "--format", "json")
    document = json.loads(done.out)
    assert document["schema"] == "rl-diagnose/rules-diff/v1"
    assert document["old"]["sha256"] == load_book("ppo").sha256
    assert document["new"]["sha256"] == load_book(changed).sha256
    assert document["advice"] == {
        "bump": "major",
        "version": "2.0.0",
        "enough": False,
        "reasons": ["a cause is gone that others may name"],
    }
    prior = next(change for change in document["changes"] if change["field"] == "prior")
    assert prior == {
        "kind": "cause",
        "name": "learning_rate_jumped",
        "field": "prior",
        "old": prior["old"],
        "new": "1e-06 (-60.0 dB)",
        "bump": "minor",
        "reason": "a prior changed",
    }
    (flip,) = document["corpus"]["flips"]
    assert flip["old"]["cause"] == "learning_rate_jumped"
    assert flip["old"] != flip["new"]
    assert document["corpus"]["moved"].keys() == {"run", "cause", "old", "new"}
    assert json.loads(command("rules", "diff", "ppo", "ppo", "--format", "json").out)["corpus"] is None


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("ppo", "gone.yaml"), 3, "gone.yaml"),
        (("ppo", "nope"), 2, "no rulebook 'nope'"),
        (("ppo", "ppo", "--corpus", "nowhere"), 2, "labels.csv"),
        (("ppo",), 2, "NEW"),
    ],
)
def test_what_cannot_be_compared_is_said(command: Command, words: tuple[str, ...], code: int, said: str) -> None:
    done = command("rules", "diff", *words)
    assert done.code == code
    assert said in done.err
    assert "Traceback" not in done.err


def test_a_book_cannot_steer_the_terminal(command: Command, tmp_path: Path) -> None:
    head = 'schema: rulebook/v1\nid: house\nversion: "1.0.0"\n'
    (tmp_path / "old.yaml").write_text(head + "title: House\n", "utf-8")
    (tmp_path / "new.yaml").write_text(head + 'title: "\\e[31mred [bold]\\u202e"\n', "utf-8")
    done = command("rules", "diff", tmp_path / "old.yaml", tmp_path / "new.yaml")
    assert done.code == 0
    assert "red [bold]" in done.out
    assert "\x1b" not in done.out
    assert "\u202e" not in done.out
