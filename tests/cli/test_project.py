"""The project file is found from the working folder and yields to the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Done

Command = Callable[..., Done]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a table of odd names and a project file that names them."""
    rows = "".join(f"{i * 100},{i},{1 / (i + 1)}\n" for i in range(30))
    (tmp_path / "odd.csv").write_text(f"step,zeta,omega\n{rows}", "utf-8")
    (tmp_path / "rl-diagnose.toml").write_text(
        "fail-at = 0.01\n[map]\nzeta = 'reward.train'\nomega = 'policy.entropy'\nabsent = 'policy.kl'\n", "utf-8"
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("project")
def test_the_keys_it_names_are_read_as_it_says(command: Command) -> None:
    done = command("inspect", "odd.csv")
    assert done.code == 0
    assert "reward.train" in done.out
    assert "policy.entropy" in done.out
    assert "policy.kl" not in done.out


@pytest.mark.usefixtures("project")
def test_the_command_line_goes_before_it(command: Command) -> None:
    done = command("inspect", "odd.csv", "--map", "omega=reward.train")
    assert [line.split()[:2] for line in done.out.splitlines() if "reward.train" in line] == [["reward.train", "omega"]]


@pytest.mark.usefixtures("project")
def test_its_threshold_counts_where_none_is_given(command: Command) -> None:
    reached = command("odd.csv")
    assert "at or above --fail-at 0.01" in reached.err or reached.code == 0
    assert reached.code == command("odd.csv", "--fail-at", "0.01").code
    assert command("odd.csv", "--fail-at", "1").code == 0


def test_a_wrong_one_is_named(command: Command, project: Path) -> None:
    (project / "rl-diagnose.toml").write_text("fail_at = 0.5\n", "utf-8")
    done = command("odd.csv")
    assert done.code == 2
    assert "did you mean 'fail-at'?" in done.err
