"""Completion scripts know every command and option, and the shells accept them."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from rl_diagnose.cli.completion import SHELLS, script
from rl_diagnose.cli.parser import COMMANDS, parsers

OPTIONS = {
    string
    for parser in parsers().values()
    for action in parser._actions  # noqa: SLF001 - argparse has no public list
    for string in action.option_strings
    if string.startswith("--")
}


@pytest.mark.parametrize("shell", SHELLS)
def test_every_command_and_option_is_offered(shell: str) -> None:
    text = script(shell)
    assert all(command in text for command in COMMANDS)
    assert all((f"-l {option[2:]}" if shell == "fish" else option) in text for option in OPTIONS)


@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_accepts_its_script(shell: str) -> None:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    subprocess.run([program, "-n"], input=script(shell), text=True, check=True, capture_output=True)  # noqa: S603 - a shell found by which


@pytest.mark.parametrize(
    ("words", "wanted", "unwanted"),
    [
        (["rl-diagnose", "ins"], {"inspect"}, {"--map"}),
        (["rl-diagnose", "--fo"], {"--format"}, {"inspect"}),
        (["rl-diagnose", "--format", ""], {"rich", "markdown", "json"}, {"--map"}),
        (["rl-diagnose", "inspect", "--"], {"--map"}, {"--fail-at"}),
        (["rl-diagnose", "completion", ""], {"bash", "zsh", "fish"}, {"--map"}),
    ],
)
def test_bash_offers_what_fits(words: list[str], wanted: set[str], unwanted: set[str]) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("bash is not installed")
    quoted = " ".join(f"'{word}'" for word in words)
    ask = f"COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _rl_diagnose; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    done = subprocess.run([bash, "-c", script("bash") + ask], text=True, check=True, capture_output=True)  # noqa: S603 - same
    offered = set(done.stdout.split())
    assert wanted <= offered
    assert not unwanted & offered
