"""Hugging Face trainer_state.json."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rl_diagnose.adapters.readers.trainer_state import read_trainer_state
from rl_diagnose.errors import LogError


def test_the_history_becomes_rows_and_late_keys_columns(tmp_path: Path) -> None:
    path = tmp_path / "trainer_state.json"
    path.write_text(
        '{"log_history": [{"step": 1, "loss": 0.5}, {"step": 2, "loss": NaN, "kl": 0.1}]}', encoding="utf-8"
    )
    table = read_trainer_state(path)
    assert table.numbers["step"].tolist() == [1.0, 2.0]
    assert str(table.non_finite["loss"][1]) == "nan"
    assert str(table.numbers["kl"][0]) == "nan"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not a JSON"),
        ("[]", "no log history"),
        ('{"log_history": []}', "no log history"),
        ("[" * 100_000, "not a JSON"),
    ],
)
def test_what_is_no_trainer_state_is_refused_with_a_reason(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "trainer_state.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(LogError, match=message):
        read_trainer_state(path)


@pytest.mark.corpus
def test_a_real_grpo_run_has_all_its_rows(shared: Path) -> None:
    path = shared / "samples" / "trl" / "grpo_unsloth_llama" / "trainer_state.json"
    history = json.loads(path.read_text())["log_history"]
    assert read_trainer_state(path).numbers["kl"].tolist() == [row["kl"] for row in history]
