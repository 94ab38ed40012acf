"""`--help` and `--version` import nothing that costs time; commands import only what they use."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

HEAVY = {"numpy", "polars", "pydantic", "rich", "yaml", "pandas", "tbparse", "typing", "dataclasses", "inspect"}


def imported(*words: str) -> set[str]:
    """Top-level names of the modules that the program imports when it is called with `words`."""
    command = [sys.executable, "-X", "importtime", "-m", "rl_diagnose", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - our own program
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines() if "|" in line}


@pytest.fixture(scope="module")
def baseline() -> set[str]:
    """What the interpreter itself imports here, editable installs and coverage included."""
    command = [sys.executable, "-X", "importtime", "-c", "import runpy"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - the interpreter
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines() if "|" in line}


@pytest.mark.parametrize("words", [("--help",), ("inspect", "--help"), ("completion", "--help")])
def test_help_imports_nothing_heavy(words: tuple[str, ...], baseline: set[str]) -> None:
    assert not (imported(*words) - baseline) & HEAVY


def test_version_imports_nothing_heavy(baseline: set[str]) -> None:
    assert not (imported("--version") - baseline) & {"numpy", "polars", "pydantic", "rich", "yaml", "pandas", "tbparse"}


def test_help_is_plain_ascii_so_that_every_terminal_can_show_it() -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "rl_diagnose", "--help"]
    done = subprocess.run(command, capture_output=True, check=True, env=environment)  # noqa: S603 - our own program
    assert b"examples:" in done.stdout
    assert done.stdout.isascii()


def test_a_small_table_is_diagnosed_without_polars_pandas_or_tensorboard() -> None:
    table = "examples/collapsed-ppo/progress.csv"
    assert not imported(table, "--format", "json") & {"polars", "pandas", "tbparse", "tensorboard"}
    assert "rich" not in imported(table, "--format", "json")


def test_blas_threads_are_limited_before_numpy_is_imported_unless_the_user_says_otherwise() -> None:
    code = (
        "import sys, os; from rl_diagnose.cli import main; assert 'numpy' not in sys.modules; "
        "main(['completion', 'bash']); print(os.environ['OPENBLAS_NUM_THREADS'])"
    )
    for given, threads in ((None, "1"), ("3", "3")):
        environment = {k: v for k, v in os.environ.items() if k != "OPENBLAS_NUM_THREADS"}
        environment |= {"OPENBLAS_NUM_THREADS": given} if given else {}
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)  # noqa: S603 - our own program
        assert done.stdout.splitlines()[-1] == threads
