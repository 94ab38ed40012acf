"""Standard input is a log like any other, and is named as what it is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "collapsed-ppo" / "progress.csv"
PRINTED = "".join(f"[Step {i}00] Reward: {i}.5, Entropy: 0.6, KL: 0.01\n" for i in range(1, 40))


def run(content: bytes, *words: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "rl_diagnose", *words]
    return subprocess.run(command, input=content, capture_output=True, check=False)  # noqa: S603 - our own program


def test_a_table_from_a_pipe_is_diagnosed_as_the_file_is() -> None:
    piped, named = run(EXAMPLE.read_bytes(), "-"), run(b"", str(EXAMPLE))
    assert piped.returncode == 0
    assert b"standard input" in piped.stdout
    assert b"rl-diagnose-" not in piped.stdout
    finding = next(line for line in named.stdout.splitlines() if b"FINDING" in line)
    assert finding in piped.stdout


def test_printed_lines_from_a_pipe_are_read() -> None:
    done = run(PRINTED.encode(), "inspect", "-")
    text = done.stdout.decode()
    assert done.returncode == 0
    assert all(signal in text for signal in ("reward.train", "policy.entropy", "policy.kl"))
    assert "100–3,900" in text


@pytest.mark.parametrize(
    ("content", "fact"),
    [
        (b"", "standard input: it is empty"),
        (b"\x89PNG\r\n\x1a\n\0\0", "standard input"),
        (b"hello\n", "standard input"),
    ],
)
def test_what_is_no_log_is_refused_by_its_name(content: bytes, fact: str) -> None:
    done = run(content, "-")
    assert done.returncode == 4
    assert fact in done.stderr.decode()
    assert "Traceback" not in done.stderr.decode()
    assert "/tmp" not in done.stderr.decode()  # noqa: S108 - the place of the spooled copy is not shown
