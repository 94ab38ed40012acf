"""Running the command in this process, and real logs to run it on."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from rl_diagnose.cli import main

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "collapsed-ppo"


@dataclass(frozen=True)
class Done:
    """Exit code and what was printed."""

    code: int
    out: str
    err: str


@pytest.fixture
def command(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Done]:
    """`command("inspect", path)` runs the program and gives its exit code and output."""
    monkeypatch.delenv("RL_DIAGNOSE_DEBUG", raising=False)
    monkeypatch.delenv("RL_DIAGNOSE_RULES", raising=False)
    monkeypatch.setenv("COLUMNS", "100")

    def run(*words: str | Path) -> Done:
        try:
            code = main([str(word) for word in words])
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 1
        captured = capfd.readouterr()
        return Done(code, captured.out, captured.err)

    return run


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """A copy of the example run, in a folder with a space in its name."""
    folder = tmp_path / "my runs" / "collapsed ppo"
    shutil.copytree(EXAMPLE, folder)
    return folder


@pytest.fixture
def several(tmp_path: Path) -> Path:
    """A folder with two copies of the example run and one that cannot be read."""
    folder = tmp_path / "several"
    shutil.copytree(EXAMPLE, folder / "first")
    shutil.copytree(EXAMPLE, folder / "second")
    (folder / "torn").mkdir()
    (folder / "torn" / "progress.csv").write_text("time/total_timesteps,rollout/ep_rew_mean\n", "utf-8")
    return folder
