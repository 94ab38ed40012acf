"""`rules list`, `show`, `check` and `schema` as a user meets them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from rl_diagnose.rules.library import load_book

from .conftest import ROOT, Done

Command = Callable[..., Done]
HEAD = 'schema: rulebook/v1\nid: house\nversion: "1.0.0"\ntitle: House\n'
WRONG = HEAD + "causes:\n  a: {title: A, prior: 0.1, evidence: [{symptom: nope, seen: often}], excludes: [b]}\n"
ODD = HEAD + "symptoms:\n  s: {title: S, base_rate: rare, config: gamma, rising: {low: 0, high: 1}}\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder: `wrong.yaml` has two errors, `odd.yaml` a warning, `good/fine.yaml` none."""
    (tmp_path / "wrong.yaml").write_text(WRONG, "utf-8")
    (tmp_path / "odd.yaml").write_text(ODD, "utf-8")
    (tmp_path / "good").mkdir()
    (tmp_path / "good" / "fine.yaml").write_text(HEAD + "extends: [ppo]\n", "utf-8")
    (tmp_path / "good" / "fine.test.yaml").write_text("no rulebook\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


# -- check -------------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("folder")
def test_every_problem_is_shown_with_its_line_and_the_exit_code_is_3(command: Command) -> None:
    done = command("rules", "check", "wrong.yaml")
    assert done.code == 3
    assert "wrong.yaml:6:50: error[RB021]: unknown symptom 'nope'" in done.out
    assert "wrong.yaml:6:82: error[RB021]: unknown cause 'b'" in done.out
    assert done.out.count("^") == 2
    caret = next(i for i, line in enumerate(done.out.splitlines()) if line.strip() == "^")
    source, mark = done.out.splitlines()[caret - 1 : caret + 1]
    assert source[mark.index("^") :].startswith("nope")
    assert done.out.splitlines()[-1] == "wrong.yaml: 2 errors"


@pytest.mark.usefixtures("folder")
def test_a_narrow_terminal_does_not_move_the_caret(command: Command) -> None:
    assert command("rules", "check", "wrong.yaml", "--width", "20").out == command("rules", "check", "wrong.yaml").out


@pytest.mark.usefixtures("folder")
def test_warnings_fail_only_where_it_is_strict(command: Command) -> None:
    done = command("rules", "check", "odd.yaml")
    assert done.code == 0
    assert "warning[RB100]" in done.out
    assert command("rules", "check", "odd.yaml", "--strict").code == 3
    assert command("rules", "check", "good/fine.yaml", "--strict").code == 0


@pytest.mark.usefixtures("folder")
def test_a_folder_is_every_book_below_it(command: Command) -> None:
    done = command("rules", "check", ".")
    assert done.code == 3
    assert [
        line.split(":")[0] for line in done.out.splitlines() if line.endswith((" errors", " warning", " report"))
    ] == [
        str(Path("good/fine.yaml")),
        "odd.yaml",
        "wrong.yaml",
    ]
    assert command("rules", "check", "good").code == 0


@pytest.mark.usefixtures("folder")
def test_json_holds_every_problem(command: Command) -> None:
    done = command("rules", "check", "wrong.yaml", "odd.yaml", "ppo", "--format", "json")
    document = json.loads(done.out)
    assert done.code == 3
    assert (document["schema"], document["errors"], document["warnings"]) == ("rl-diagnose/rules-check/v1", 2, 1)
    assert [book["book"] for book in document["books"]] == ["wrong.yaml", "odd.yaml", "ppo"]
    first = document["books"][0]["problems"][0]
    assert first == {
        "code": "RB021",
        "severity": "error",
        "message": "unknown symptom 'nope'",
        "file": "wrong.yaml",
        "line": 6,
        "column": 50,
        "snippet": WRONG.splitlines()[5],
        "hint": None,
    }
    assert document["books"][2]["problems"] == []


@pytest.mark.usefixtures("folder")
def test_sarif_names_each_problem_once(command: Command) -> None:
    done = command("rules", "check", "wrong.yaml", "wrong.yaml", "odd.yaml", "--format", "sarif")
    results = json.loads(done.out)["runs"][0]["results"]
    assert [result["ruleId"] for result in results] == ["RB021", "RB021", "RB100"]


@pytest.mark.parametrize("book", ["nope", "gone.yaml", "empty"])
def test_what_is_no_book_is_said(command: Command, folder: Path, book: str) -> None:
    (folder / "empty").mkdir()
    done = command("rules", "check", book)
    assert done.code == (3 if book == "gone.yaml" else 2)
    assert book in done.out + done.err
    assert "Traceback" not in done.err


def test_a_book_cannot_steer_the_terminal(command: Command, folder: Path) -> None:
    (folder / "evil.yaml").write_text(HEAD + 'causes: {a: {title: "\\e[31mred", prior: 2, x\u202ey: 1}}\n', "utf-8")
    done = command("rules", "check", "evil.yaml")
    assert done.code == 3
    assert "\x1b" not in done.out
    assert "\u202e" not in done.out


# -- list --------------------------------------------------------------------------------------------------------------


def test_the_list_names_each_book_with_version_origin_and_status(command: Command) -> None:
    done = command("rules", "list")
    assert done.code == 0
    line = next(line for line in done.out.splitlines() if line.startswith("ppo "))
    assert line.split()[:4] == ["ppo", "1.0.0", "built-in", "stable"]
    assert str(len(load_book("ppo").causes)) in line.split()


def test_the_list_as_json_reproduces_a_verdict(command: Command) -> None:
    books = {book["id"]: book for book in json.loads(command("rules", "list", "--format", "json").out)["books"]}
    assert books["ppo"]["sha256"] == load_book("ppo").sha256
    assert books["ppo"]["versions"] == ["1.0.0"]
    assert books["ppo"]["problems"] == []


# -- show --------------------------------------------------------------------------------------------------------------


def test_show_prints_the_file(command: Command, folder: Path) -> None:
    assert command("rules", "show", "odd.yaml").out == ODD
    (folder / "fancy.yaml").write_text(HEAD + "# \u202e[red]no markup[/red]\n", "utf-8")
    assert command("rules", "show", "fancy.yaml").out == HEAD + "# [red]no markup[/red]\n"


def test_show_resolved_names_version_and_hash_and_is_a_book(command: Command, folder: Path) -> None:
    done = command("rules", "show", "good/fine.yaml", "--resolved")
    assert done.code == 0
    assert done.out.startswith(f"# house 1.0.0, sha256 {load_book('good/fine.yaml').sha256}\n")
    (folder / "resolved.yaml").write_text(done.out, "utf-8")
    assert command("rules", "check", "resolved.yaml", "--strict").code == 0


def test_show_one_cause(command: Command) -> None:
    done = command("rules", "show", "ppo@1.0.0", "--cause", "learning_rate_too_high")
    assert done.code == 0
    assert "  learning_rate_too_high:" in done.out
    assert "  entropy_bonus_too_weak:" not in done.out
    assert " dB where seen, " in done.out
    unknown = command("rules", "show", "ppo", "--cause", "learning_rate_to_high")
    assert unknown.code == 2
    assert "did you mean 'learning_rate_too_high'?" in unknown.err


@pytest.mark.usefixtures("folder")
def test_show_refuses_an_invalid_book_with_its_problems(command: Command) -> None:
    done = command("rules", "show", "wrong.yaml", "--resolved")
    assert done.code == 3
    assert "wrong.yaml:6:50: error[RB021]" in done.err


# -- schema ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("words", "file"), [((), "rulebook"), (("book",), "rulebook"), (("diagnosis",), "diagnosis")])
def test_the_schema_is_the_published_one(command: Command, words: tuple[str, ...], file: str) -> None:
    published = (ROOT / "docs" / "schema" / f"{file}-v1.schema.json").read_text("utf-8")
    assert command("rules", "schema", *words).out == published


# -- new ---------------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("folder")
def test_a_new_book_says_what_was_written_and_what_comes_next(command: Command, example: Path) -> None:
    done = command("rules", "new", "acme", "--dir", "my rules", "--extends", "ppo")
    book = Path("my rules") / "acme.yaml"
    assert done.code == 0
    assert book.is_file()
    assert f'  rl-diagnose rules check "{book}"\n' in done.out
    assert command("rules", "check", book, "--strict").code == 0
    assert command(example, "--rules", book).code == 0
    again = command("rules", "new", "acme", "--dir", "my rules")
    assert again.code == 2
    assert "exists already" in again.err
