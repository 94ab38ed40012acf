"""A new rulebook works as it stands, on its own or on top of any other, and never replaces a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rl_diagnose.errors import RulebookError, UsageError
from rl_diagnose.rules.check import check_book
from rl_diagnose.rules.create import create_book
from rl_diagnose.rules.library import list_books, load_book
from rl_diagnose.rules.schema import rulebook_schema

from .made import Write


@pytest.mark.parametrize("extends", [None, *(book.id for book in list_books()), "ppo@1.0.0"])
def test_a_new_book_passes_the_check_without_a_warning(tmp_path: Path, extends: str | None) -> None:
    (path, *_) = create_book("house.rules", tmp_path / "some where", extends)
    assert path == tmp_path / "some where" / "house.rules.yaml"
    assert [problem.render() for problem in check_book(path)] == []
    book = load_book(path)
    assert (book.id, book.version) == ("house.rules", "0.1.0")
    assert "house_rules_learning_rate_too_high" in {cause.id for cause in book.causes}
    if extends is not None:
        parent = load_book(extends)
        assert {c.id for c in parent.causes} < {c.id for c in book.causes}
        assert book.applies_to == parent.applies_to


def test_it_can_build_on_a_file_below_its_folder(tmp_path: Path, write: Write) -> None:
    base = write("applies_to: {algorithm: [ppo]}\n", "parts/base.yaml")
    (path, *_) = create_book("house", tmp_path, str(base))
    assert load_book(path).extends == ("parts/base.yaml",)
    with pytest.raises(UsageError, match="below its own folder"):
        create_book("house", tmp_path / "elsewhere", str(base))


def test_the_editor_finds_the_schema_beside_it(tmp_path: Path) -> None:
    (path, *_) = create_book("house", tmp_path)
    first = path.read_text("utf-8").splitlines()[0]
    schema = path.parent / first.removeprefix("# yaml-language-server: $schema=")
    assert json.loads(schema.read_text("utf-8")) == rulebook_schema()


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "house.yaml").write_text("mine", "utf-8")
    (tmp_path / "rulebook-v1.schema.json").write_text("older", "utf-8")
    with pytest.raises(UsageError, match="exists already"):
        create_book("house", tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["house.yaml", "rulebook-v1.schema.json"]
    create_book("other", tmp_path)
    assert (tmp_path / "house.yaml").read_text("utf-8") == "mine"
    assert (tmp_path / "rulebook-v1.schema.json").read_text("utf-8") == "older"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("My-House", "'my_house' would do"),
        ("../evil", "'evil' would do"),
        ("a/b", "'a_b' would do"),
        ("9lives", "begin with a letter, at most 80 characters"),
        ("", "begin with a letter, at most 80 characters"),
        ("x" * 81, "begin with a letter, at most 80 characters"),
        ("ppo", "choose another name; to build on it: rl-diagnose rules new my_ppo --extends ppo"),
    ],
)
def test_what_cannot_be_an_id_is_refused_with_the_way_out(tmp_path: Path, name: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        create_book(name, tmp_path / "new")
    assert caught.value.hint == hint
    assert not (tmp_path / "new").exists()


def test_a_book_that_cannot_be_extended_is_refused_before_anything_is_written(tmp_path: Path, write: Write) -> None:
    with pytest.raises(UsageError, match="no rulebook 'pqo'"):
        create_book("house", tmp_path / "new", "pqo")
    with pytest.raises(RulebookError):
        create_book("house", tmp_path / "new", str(write("causes: 3\n", "wrong.yaml")))
    assert not (tmp_path / "new").exists()


def test_where_nothing_can_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="cannot be written") as caught:
        create_book("house", tmp_path / "file" / "below")
    assert caught.value.hint == "choose another --dir"
