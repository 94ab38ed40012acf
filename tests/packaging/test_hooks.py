"""The hooks for pre-commit: what they would run exists, and they take the files that they are meant for."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from rl_diagnose.cli import main

ROOT = Path(__file__).resolve().parents[2]
HOOKS: list[dict[str, Any]] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
BOOKS = ROOT / "examples" / "team-rulebook" / "acme_rl_rules"


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook["id"])
def test_a_hook_passes_sound_books_and_stops_broken_ones(
    hook: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "rulebooks" / "acme_ppo"
    folder.mkdir(parents=True)
    for file in (BOOKS / "acme_ppo").glob("*.yaml"):
        (folder / file.name).write_bytes(file.read_bytes())
    monkeypatch.chdir(tmp_path)
    program, *words = shlex.split(hook["entry"])
    assert program == "rl-diagnose"
    names = [path.relative_to(tmp_path).as_posix() for path in sorted(folder.glob("*.yaml"))]
    taken = [n for n in names if re.search(hook["files"], n) and not re.search(hook.get("exclude", "$^"), n)]
    assert taken
    words += hook.get("args", []) + (taken if hook.get("pass_filenames", True) else [])
    assert main(words) == 0
    book = folder / "1.0.0.yaml"
    book.write_text(book.read_text("utf-8").replace("version:", "versio:", 1), "utf-8")
    assert main(words) == 3
