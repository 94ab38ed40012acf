"""Rulebooks are taken from the command line, else the environment, else the project file; nothing is mixed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rl_diagnose.errors import UsageError
from rl_diagnose.project import Project
from rl_diagnose.rules.choice import VARIABLE, chosen_books

PROJECT = Project(file=Path("rl-diagnose.toml"), rules=("dqn",))


@pytest.mark.parametrize(
    ("asked", "variable", "project", "books"),
    [
        (["ppo"], "core", PROJECT, ["ppo"]),
        ([], "core", PROJECT, ["core"]),
        ([], os.pathsep.join([" core ", "", "ppo@1"]), PROJECT, ["core", "ppo@1"]),
        ([], "", PROJECT, ["dqn"]),
        ([], os.pathsep, PROJECT, ["dqn"]),
        ([], None, PROJECT, ["dqn"]),
        ([], None, Project(), None),
    ],
)
def test_the_first_source_that_names_a_book_counts(
    asked: list[str], variable: str | None, project: Project, books: list[str] | None
) -> None:
    assert chosen_books(asked, project, {} if variable is None else {VARIABLE: variable}) == books


@pytest.mark.parametrize(
    ("variable", "project", "place"),
    [("pbo", Project(), VARIABLE), ("", Project(file=Path("there.toml"), rules=("pbo",)), "there.toml")],
)
def test_a_book_that_is_none_is_reported_with_its_source(variable: str, project: Project, place: str) -> None:
    with pytest.raises(UsageError, match="no rulebook 'pbo'") as caught:
        chosen_books([], project, {VARIABLE: variable})
    assert caught.value.place == place
    assert "known are" in str(caught.value.hint)
