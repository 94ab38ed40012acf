"""Another tool's output is scored like the product's own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from accuracy import main
from labelled.acceptable import Row
from labelled.corpus import Label
from labelled.metrics import Share, evaluate
from labelled.predictions import judge_predictions, read_predictions

from rl_diagnose.errors import UsageError

HEADER = "run,cause,probability\n"
ROWS = [Row("rate_high", ("rate", "too_fast"), "the same in either tool's words")]
LABELS = [
    Label("r1", "sb3", "PPO", "rate_high", "", "yes", "A"),
    Label("r2", "sb3", "PPO", "rate_high", "", "yes", "A"),
    Label("r3", "sb3", "PPO", "healthy", "", "no", "B"),
    Label("r4", "sb3", "PPO", "healthy", "", "no", "B"),
]


def predictions(folder: Path, text: str) -> Path:
    path = folder / "other.csv"
    path.write_text(HEADER + text, "utf-8")
    return path


def test_hits_alarms_and_silence_are_counted_as_for_the_product(tmp_path: Path) -> None:
    path = predictions(tmp_path, "r1,bonus,0.3\nr1,too_fast,0.9\nr2,bonus,0.8\nr3,bonus,0.6\nr4,,\n")
    result = evaluate(judge_predictions(read_predictions(path), LABELS, ROWS, path))

    assert (result.top1, result.top3) == (Share(1, 2), Share(1, 2))
    assert result.alarms == Share(1, 2)
    assert result.precision == Share(1, 3)
    assert (result.runs, result.unreadable) == (4, 0)
    assert dict(result.verdicts) == {"finding": 3, "nothing_found": 1}


def test_a_run_that_the_file_does_not_name_has_no_answer(tmp_path: Path) -> None:
    path = predictions(tmp_path, "r1,rate,0.9\nr3,,\n")
    result = evaluate(judge_predictions(read_predictions(path), LABELS, ROWS, path))

    assert result.unreadable == 2
    assert result.top1 == Share(1, 2)


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("r1,rate,high\n", "'high' is no probability"),
        ("r1,rate,1.5\n", "'1.5' is no probability"),
        ("r1,rate,nan\n", "'nan' is no probability"),
        ("r1,rate\n", "'' is no probability"),
        (",rate,0.5\n", "the run is empty"),
        ("r1,rate,0.5\nr1,rate,0.6\n", "'rate' is said twice of r1"),
    ],
)
def test_a_row_that_cannot_be_meant_is_an_error_with_its_line(tmp_path: Path, text: str, fact: str) -> None:
    with pytest.raises(UsageError, match=fact) as caught:
        read_predictions(predictions(tmp_path, text))

    assert "other.csv:" in (caught.value.place or "")


def test_a_file_without_the_columns_or_with_strange_runs_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "bare.csv").write_text("run,cause\nr1,rate\n", "utf-8")
    with pytest.raises(UsageError, match="columns are missing: probability"):
        read_predictions(tmp_path / "bare.csv")
    with pytest.raises(UsageError, match="cannot be read"):
        read_predictions(tmp_path / "nowhere.csv")
    path = predictions(tmp_path, "r9,rate,0.9\n")
    with pytest.raises(UsageError, match="no label: r9"):
        judge_predictions(read_predictions(path), LABELS, ROWS, path)


def test_one_command_scores_them_and_reads_no_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "labels.csv").write_text(
        "run_id,framework,algorithm,env,injected_fault,fault_details,harmed\n"
        "r1,sb3,PPO,A,learning_rate_too_high,,yes\nr2,sb3,PPO,A,healthy,,no\n",
        "utf-8",
    )
    path = predictions(tmp_path, "r1,update_too_large,0.7\nr2,,\n")

    assert main(["--corpus", str(tmp_path), "--predictions", str(path)]) == 0
    text = capsys.readouterr().out
    assert "predictions of" in text
    assert re.search(r"acceptable cause first \(harmed=yes\) +100\.0 %  \(1 of 1\)", text)
