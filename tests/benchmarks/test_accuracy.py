"""The benchmark from end to end on a corpus of three runs, two of them real."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from accuracy import main

if TYPE_CHECKING:
    from collections.abc import Callable

REAL = Path(__file__).resolve().parents[1] / "data" / "sb3"
HEADER = "run_id,framework,algorithm,injected_fault,fault_details,harmed\n"


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Two real runs and one that cannot be read."""
    folder = tmp_path / "corpus"
    for name, source in (("r1", "ppo_gaussian"), ("r2", "ppo_eval")):
        shutil.copytree(REAL / source, folder / "runs" / name)
    (folder / "runs" / "r3").mkdir()
    (folder / "runs" / "r3" / "progress.csv").write_bytes(b"\x00\x01\x02")
    rows = "r1,sb3,PPO,healthy,,no\nr2,sb3,PPO,learning_rate_too_high,learning_rate=0.03,yes\nr3,sb3,PPO,healthy,,no\n"
    (folder / "labels.csv").write_text(HEADER + rows, encoding="utf-8")
    return folder


@pytest.fixture
def score(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run the benchmark: exit code, output, errors."""

    def run(*arguments: str | Path) -> tuple[int, str, str]:
        code = main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


def test_the_table_is_printed_and_the_document_written(
    corpus: Path, tmp_path: Path, score: Callable[..., tuple[int, str, str]]
) -> None:
    out = tmp_path / "out.json"
    code, text, _ = score("--corpus", corpus, "--rules", "golden_five", "--json", out)

    assert code == 0
    assert "3 runs, 1 unreadable" in text
    assert "sb3 PPO" in text
    document = json.loads(out.read_text(encoding="utf-8"))
    assert [run["run_id"] for run in document["runs"]] == ["r1", "r2", "r3"]
    assert document["runs"][2]["verdict"] == "unreadable"
    assert {"learning_rate_too_high", "update_too_large"} <= set(document["runs"][1]["acceptable"])
    assert document["runs"][0]["said"]
    assert document["result"]["top1"]["of"] == 1


def test_unknown_does_not_read_the_hyper_parameters_and_known_does(
    corpus: Path, score: Callable[..., tuple[int, str, str]]
) -> None:
    (corpus / "meta").mkdir()
    for name in ("r1", "r2", "r3"):
        (corpus / "meta" / f"{name}.json").write_text("no JSON", encoding="utf-8")

    assert score("--corpus", corpus, "--rules", "golden_five")[0] == 0
    code, _, error = score("--corpus", corpus, "--rules", "golden_five", "--config", "known")
    assert code == 2
    assert "r1.json: not JSON" in error


def test_the_same_corpus_gives_the_same_document_twice(
    corpus: Path, tmp_path: Path, score: Callable[..., tuple[int, str, str]]
) -> None:
    documents = []
    for name in ("a.json", "b.json"):
        score("--corpus", corpus, "--rules", "golden_five", "--json", tmp_path / name)
        documents.append(json.loads((tmp_path / name).read_text(encoding="utf-8")))

    for document in documents:
        del document["seconds"]
    assert documents[0] == documents[1]


@pytest.mark.parametrize(
    ("break_it", "said"),
    [
        (lambda c: (c / "labels.csv").unlink(), "there is no labels.csv"),
        (lambda c: (c / "labels.csv").write_text("run_id,env\n", "utf-8"), "columns are missing"),
        (lambda c: (c / "labels.csv").write_text(HEADER + "r1,sb3,PPO,f,,maybe\n", "utf-8"), "harmed is 'maybe'"),
        (lambda c: (c / "labels.csv").write_text(HEADER + 2 * "r1,sb3,PPO,f,,no\n", "utf-8"), "labelled twice: r1"),
        (lambda c: shutil.rmtree(c / "runs"), "there is no runs/"),
        (lambda c: shutil.rmtree(c / "runs" / "r1"), "r1"),
    ],
)
def test_a_corpus_that_cannot_be_used_is_said_in_one_line(
    corpus: Path, score: Callable[..., tuple[int, str, str]], break_it: Callable[[Path], object], said: str
) -> None:
    break_it(corpus)
    code, text, error = score("--corpus", corpus, "--rules", "golden_five")

    assert code == 2
    assert not text
    assert said in error
    assert "Traceback" not in error


def test_an_unknown_rulebook_is_said_with_the_known_ones(
    corpus: Path, score: Callable[..., tuple[int, str, str]]
) -> None:
    code, _, error = score("--corpus", corpus, "--rules", "golden_six")

    assert code == 2
    assert "golden_five" in error


def test_several_corpora_are_scored_together_and_no_run_may_be_in_two(
    corpus: Path, tmp_path: Path, score: Callable[..., tuple[int, str, str]]
) -> None:
    other = tmp_path / "other"
    shutil.copytree(corpus, other)
    code, _, error = score("--corpus", corpus, other, "--rules", "golden_five")
    assert code == 2
    assert "in two of the corpora: r1, r2, r3" in error

    labels = other / "labels.csv"
    labels.write_text(labels.read_text("utf-8").replace("\nr", "\nq"), "utf-8")
    for name in ("1", "2", "3"):
        (other / "runs" / f"r{name}").rename(other / "runs" / f"q{name}")
    code, text, _ = score("--corpus", corpus, other, "--rules", "golden_five")
    assert code == 0
    assert "6 runs, 2 unreadable" in text


def test_left_out_says_for_whom_it_was_fitted_and_needs_environments(
    corpus: Path, score: Callable[..., tuple[int, str, str]]
) -> None:
    options = ("--corpus", corpus, "--rules", "ppo", "--calibration", "left-out")
    code, _, error = score(*options)
    assert code == 2
    assert "names no env" in error

    labels = corpus / "labels.csv"
    head, *rows = labels.read_text("utf-8").splitlines()
    labels.write_text("\n".join([f"{head},env", *(f"{row},CartPole-v1" for row in rows)]) + "\n", "utf-8")
    code, text, _ = score(*options)
    assert code == 0
    assert "calibration left-out" in text
    assert "ppo without CartPole-v1: in only 0 runs" in text
