"""The page that describes the format is true: its example loads, its words and limits are those of the program."""

from __future__ import annotations

import re
from pathlib import Path

from rl_diagnose.rules.check import check_book
from rl_diagnose.rules.expressions import FUNCTIONS, MAX_LENGTH, MAX_NODES
from rl_diagnose.rules.library import load_book
from rl_diagnose.rules.model import RATES, SEEN, AuthoredBook, AuthoredCause, AuthoredSymptom, RemedyModel
from rl_diagnose.rules.yaml_loader import MAX_BYTES, MAX_DEPTH, MAX_VALUES

PAGE = (Path(__file__).parents[2] / "docs/rulebook-format.md").read_text("utf-8")
EXAMPLE = PAGE.split("```yaml\n")[1].split("```")[0]


def test_the_example_is_a_book_without_problems(tmp_path: Path) -> None:
    path = tmp_path / "house.yaml"
    path.write_text(EXAMPLE, encoding="utf-8")
    assert [problem.render() for problem in check_book(path)] == []
    book = load_book(path)
    assert "reward_loophole" not in {cause.id for cause in book.causes}
    assert next(c for c in book.causes if c.id == "learning_rate_too_high").prior == 0.2


def test_the_example_uses_every_field() -> None:
    for model in (AuthoredBook, AuthoredCause, AuthoredSymptom, RemedyModel):
        for name, field in model.model_fields.items():
            assert re.search(rf"\b{field.alias or name}:", PAGE), f"{model.__name__}.{name}"


def test_words_and_limits_are_the_ones_of_the_program() -> None:
    for word, value in {**SEEN, **RATES}.items():
        assert f"{word} {value:.2f}".replace(" 0.", " .") in PAGE
    assert f"`{' '.join(FUNCTIONS)}`" in PAGE
    assert f"{MAX_LENGTH} characters and {MAX_NODES} terms" in PAGE
    limits = f"{MAX_BYTES // 1_000_000} MB, {MAX_VALUES:,} values and {MAX_DEPTH} levels"
    assert limits in " ".join(PAGE.split())
