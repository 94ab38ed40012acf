"""The reference of the fields is what the model says, and says something about each of them."""

from __future__ import annotations

import re
from pathlib import Path

from pydantic import BaseModel

from rl_diagnose.rules import model
from rl_diagnose.rules.model_reference import reference_markdown

PAGE = Path(__file__).parents[2] / "docs" / "rulebook-reference.md"
ROW = re.compile(r"^\| `(\w+)` \| (.*?) \| (.*?) \| (.*?) \|$", re.MULTILINE)


def test_the_page_is_what_the_model_says() -> None:
    command = "python -m rl_diagnose.rules.model_reference > docs/rulebook-reference.md"
    assert PAGE.read_text("utf-8") == reference_markdown(), f"run: {command}"


def test_every_field_of_every_model_is_there_and_explained() -> None:
    models = [m for m in vars(model).values() if isinstance(m, type) and issubclass(m, BaseModel)]
    fields = {field.alias or name for one in models for name, field in one.model_fields.items()}
    rows = ROW.findall(PAGE.read_text("utf-8"))
    assert fields == {row[0] for row in rows}
    assert not [row for row in rows if not row[3]]


def test_links_lead_to_sections() -> None:
    text = PAGE.read_text("utf-8")
    sections = {title.lower().replace(" ", "-") for title in re.findall(r"^## (.*)$", text, re.MULTILINE)}
    targets = set(re.findall(r"\]\(#(.*?)\)", text))
    assert targets
    assert targets <= sections
