"""MLflow's file store."""

from __future__ import annotations

from pathlib import Path

import pytest

from rl_diagnose.adapters.readers.mlflow_store import read_mlflow_run
from rl_diagnose.errors import LogError


def metric(folder: Path, key: str, text: str) -> None:
    path = folder / "metrics" / key
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_metrics_and_params_are_read_with_nested_keys(tmp_path: Path) -> None:
    metric(tmp_path, "train/loss", "1000 0.5 0\n2000 nan 10\n3000 0.25 20\n")
    (tmp_path / "params").mkdir()
    (tmp_path / "params" / "lr").write_text("3e-4", encoding="utf-8")
    (tmp_path / "params" / "norm").write_text("True", encoding="utf-8")
    run = read_mlflow_run(tmp_path)
    points = run.scalars["train/loss"]
    assert points.step.tolist() == [0.0, 10.0, 20.0]
    assert points.wall_time.tolist() == [1.0, 2.0, 3.0]
    assert [str(v) for v in points.value] == ["0.5", "nan", "0.25"]
    assert run.hparams == {"lr": 3e-4, "norm": True}


def test_the_step_of_lines_with_a_dataset_is_their_third_field(tmp_path: Path) -> None:
    metric(tmp_path, "a", "1000 0.5 7 data abc\n")
    assert read_mlflow_run(tmp_path).scalars["a"].step.tolist() == [7.0]


def test_old_lines_without_a_step_use_their_index_and_say_so(tmp_path: Path) -> None:
    metric(tmp_path, "a", "1000 0.5\n2000 0.6\n")
    run = read_mlflow_run(tmp_path)
    assert run.scalars["a"].step.tolist() == [0.0, 1.0]
    assert [i.code for i in run.issues] == ["no_step"]


def test_half_written_and_foreign_lines_are_left_out_and_reported(tmp_path: Path) -> None:
    metric(tmp_path, "a", "1000 0.5 1\nhello\n2000 0.6")
    run = read_mlflow_run(tmp_path)
    assert run.scalars["a"].value.tolist() == [0.5]
    assert sorted(i.code for i in run.issues) == ["bad_lines", "partial_last_line"]


def test_a_folder_without_metrics_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="no readable metric"):
        read_mlflow_run(tmp_path)
