"""Reports attached to runs that the trackers' own clients wrote: offline runs of W&B, a file store of MLflow."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import pytest

from rl_diagnose import diagnose
from rl_diagnose.cli import main

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "collapsed-ppo" / "progress.csv"


def rows() -> list[dict[str, float]]:
    with EXAMPLE.open(encoding="utf-8", newline="") as file:
        return [{key: float(cell) for key, cell in row.items() if cell} for row in csv.DictReader(file)]


def diagnosed(*words: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own: the clients leave threads and hooks behind."""
    command = [sys.executable, "-m", "rl_diagnose", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)  # noqa: S603 - our own command


def test_an_offline_run_of_wandb_gets_its_report_and_stays_one_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wandb = pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_SILENT", "true")
    run = wandb.init(project="project", entity="entity", dir=str(tmp_path), mode="offline")
    for row in rows():
        run.log(row, step=int(row["time/total_timesteps"]))
    run.finish()
    (before,) = tmp_path.glob("wandb/offline-run-*")
    done = diagnosed(str(tmp_path), "--attach")
    assert done.returncode == 0, done.stderr
    assert f"W&B run {run.id}: wandb sync" in done.stderr
    (added,) = set(tmp_path.glob("wandb/offline-run-*")) - {before}
    assert "Learning rate jumped" in (added / "files" / "rl-diagnose.html").read_text("utf-8")
    (record,) = (path.read_bytes() for path in added.glob("*.wandb"))
    for part in (b"project", b"entity", b"rl-diagnose.html", b"rl_diagnose", b"finding: Learning rate jumped"):
        assert part in record
    (again,) = diagnose(tmp_path).runs
    assert again.verdict == "finding"
    assert again.tracked is not None
    assert (again.tracked.id, again.tracked.project, again.tracked.entity) == (run.id, "project", "entity")


def test_a_run_in_a_file_store_of_mlflow_gets_its_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    store = tmp_path / "my runs"
    client = mlflow.MlflowClient(tracking_uri=store.as_uri())
    run = client.create_run(client.create_experiment("e")).info.run_id
    for row in rows():
        for key, value in row.items():
            client.log_metric(run, key, value, step=int(row["time/total_timesteps"]))
    done = diagnosed(str(store), "--attach")
    assert done.returncode == 0, done.stderr
    (report,) = store.rglob("rl-diagnose.html")
    assert report.parent.name == "artifacts"
    assert "Learning rate jumped" in report.read_text("utf-8")
    assert client.get_run(run).data.tags["rl_diagnose.verdict"].startswith("finding: Learning rate jumped")


def test_runs_of_no_tracker_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(EXAMPLE), "--attach"]) == 2
    assert "W&B or MLflow" in capsys.readouterr().err
