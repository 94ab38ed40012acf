"""YAML is read strictly, by 1.2 rules, with the place of everything; hostile files cost little and give problems."""

from __future__ import annotations

import os
import sys
import time
import tracemalloc
from pathlib import Path

import pytest

from rl_diagnose.rules.yaml_loader import MAX_DEPTH, Document, load_yaml, parse_yaml


def read(text: str) -> Document:
    document, problems = parse_yaml(text.encode(), "book.yaml")
    assert problems == []
    assert document is not None
    return document


def refused(source: str | bytes) -> tuple[str, str, int, int]:
    """Code, message, line and column of the only problem."""
    _, problems = parse_yaml(source if isinstance(source, bytes) else source.encode(), "book.yaml")
    assert len(problems) == 1
    return problems[0].code, problems[0].message, problems[0].line, problems[0].column


# -- YAML 1.2 ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-3", 0.001),
        ("1.0e-3", 0.001),
        ("1.5E+2", 150.0),
        (".5", 0.5),
        ("-2.", -2.0),
        ("12", 12),
        ("-0", 0),
        ("+7", 7),
        ("0", 0),
        ("0.10", 0.1),
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("", None),
    ],
)
def test_scalars_are_what_yaml_1_2_says(text: str, value: object) -> None:
    found = read(f"a: {text}").data["a"]
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    "text",
    [
        "on",
        "yes",
        "no",
        "off",
        "y",
        "1:30",
        "2026-12-01",
        "1_000",
        "1.0.0",
        "=",
        "<<",
        ".",
        "-",
        "1e",
        "e3",
        "tRue",
        '"1"',
        "'true'",
    ],
)
def test_what_only_yaml_1_1_takes_for_something_else_is_text(text: str) -> None:
    assert read(f"- {text}" if text != "-" else "- '-'").data == [text.strip("'\"")]


@pytest.mark.parametrize("text", ["017", "-08", "00", "0o17", "0x1F", "0b11"])
def test_numbers_that_readers_take_differently_are_refused(text: str) -> None:
    code, message, line, column = refused(f"a: 1\nb: {text}")
    assert (code, line, column) == ("RB006", 2, 4)
    assert message == f"{text} is read differently by different YAML readers"


@pytest.mark.parametrize("text", [".nan", ".NaN", ".inf", "-.Inf", "+.INF", "1e999", "-1e400"])
def test_numbers_that_are_not_finite_are_refused(text: str) -> None:
    assert refused(f"a: {text}")[0] == "RB006"


def test_every_kind_of_text_is_text() -> None:
    data = read("a: \"1e3\"\nb: |\n  x\n  y\nc: >-\n  x\n  y\nd: 'it''s'").data
    assert data == {"a": "1e3", "b": "x\ny\n", "c": "x y", "d": "it's"}


def test_keys_are_always_text() -> None:
    assert read("1: a\ntrue: b\non: c\n~: d").data == {"1": "a", "true": "b", "on": "c", "~": "d"}


def test_a_byte_order_mark_and_windows_line_ends_are_no_obstacle() -> None:
    document = read("\ufeffa: 1\r\nb:\r\n  c: x\r\n")
    assert document.data == {"a": 1, "b": {"c": "x"}}
    assert document.values["b", "c"] == (3, 6)
    assert document.lines[2] == "  c: x"


# -- places ------------------------------------------------------------------------------------------------------------


def test_every_key_and_value_has_its_place() -> None:
    document = read("a: 1\nb:\n  - {c: x, d: [1, 2]}\n")
    assert document.values == {
        (): (1, 1),
        ("a",): (1, 4),
        ("b",): (3, 3),
        ("b", 0): (3, 5),
        ("b", 0, "c"): (3, 9),
        ("b", 0, "d"): (3, 15),
        ("b", 0, "d", 0): (3, 16),
        ("b", 0, "d", 1): (3, 19),
    }
    assert document.keys["b", 0, "d"] == (3, 12)


def test_a_problem_stands_at_its_value_its_key_or_the_nearest_that_has_a_place() -> None:
    document = read("a:\n  b: policy.kl.late\n")
    assert _place(document, ("a", "b")) == (2, 6)
    assert _place(document, ("a", "b"), key=True) == (2, 3)
    assert _place(document, ("a", "missing")) == (1, 1)
    assert _place(document, ("a", "b", 3, "x")) == (2, 3)


@pytest.mark.parametrize(
    ("text", "column"), [("b: policy.kl.late", 14), ('b: "policy.kl.late"', 15), ("b: 'policy.kl.late'", 15)]
)
def test_a_problem_within_a_text_stands_at_its_character(text: str, column: int) -> None:
    assert _place(read(text), ("b",), column=11) == (1, column)


@pytest.mark.parametrize("text", ["b: >-\n  policy.kl.late", 'b: "policy.kl\\x2Elate"', "b: policy\n  .kl"])
def test_a_text_that_is_not_on_its_line_as_it_is_gets_the_place_where_it_starts(text: str) -> None:
    assert _place(read(text), ("b",), column=11) == (1, 4)


def _place(document: Document, path: tuple[str | int, ...], *, key: bool = False, column: int = 0) -> tuple[int, int]:
    problem = document.problem("RB012", "x", path, key=key, column=column)
    return problem.line, problem.column


# -- refusals ----------------------------------------------------------------------------------------------------------


def test_a_key_that_stands_twice_is_refused_at_the_second() -> None:
    assert refused("a: 1\nb: 2\na: 3") == ("RB004", "the key 'a' appears twice", 3, 1)


def test_keys_that_differ_only_in_how_they_are_written_are_the_same() -> None:
    assert refused("a: 1\n'a': 3")[0] == "RB004"
    assert refused("1: 1\n'1': 3")[0] == "RB004"


def test_the_first_of_two_equal_keys_keeps_its_value_and_place() -> None:
    document, _ = parse_yaml(b"a: {x: 1}\na: {x: 2}", "book.yaml")
    assert document is not None
    assert document.data == {"a": {"x": 1}}
    assert document.values["a", "x"] == (1, 8)


def test_anchors_aliases_and_tags_are_all_named_at_once() -> None:
    _, problems = parse_yaml(b"a: &x 1\nb: *x\nc: !!python/object/apply:os.system [id]\nd: ! e", "book.yaml")
    assert [(p.code, p.line) for p in problems] == [("RB005", 1), ("RB005", 2), ("RB005", 3), ("RB005", 4)]
    assert "python/object/apply:os.system" in problems[2].message


def test_a_key_that_is_no_text_is_refused() -> None:
    assert refused("? [a, b]\n: 1\nc: 2")[:2] == ("RB012", "a key must be plain text")


@pytest.mark.parametrize(
    ("source", "code", "line"),
    [
        ("", "RB003", 1),
        ("# only a comment\n", "RB003", 1),
        ("a: [1, 2", "RB003", 1),
        ("a: [1,\n2\n\n", "RB003", 1),
        ("a: 1\n b: 2\n", "RB003", 2),
        ("a:\n\tb: 1", "RB003", 2),
        ('a: "x', "RB003", 1),
        ("a: b: c", "RB003", 1),
        ("a: 1\n---\nb: 2\n", "RB003", 2),
        ("%YAML 1.1\n---\na: 1\n", "RB003", 1),
        (b"a: 1\nb: \x07", "RB003", 2),
        (b"a: 1\nb: \xff", "RB001", 2),
        ("a: 1".encode("utf-16"), "RB001", 1),
        (bytes(range(256)), "RB001", 2),
        (b"\x00" * 100, "RB003", 1),
    ],
)
def test_what_is_no_single_yaml_document_is_refused_at_its_line(source: str | bytes, code: str, line: int) -> None:
    found = refused(source)
    assert (found[0], found[2]) == (code, line)


def test_nesting_has_a_limit() -> None:
    assert read("[" * MAX_DEPTH + "]" * MAX_DEPTH).data
    assert refused("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1))[0] == "RB002"


HOSTILE = {
    "alias bomb": b"a: &a [x, x]\n"
    + b"".join(b"%c: &%c [%s]\n" % (c + 1, c + 1, b",".join([b"*%c" % c] * 9)) for c in range(97, 117)),
    "many aliases": b"a: &a [1]\nb: [" + b"*a," * 300_000 + b"]",
    "brackets": b"[" * 999_999,
    "braces": b"{a: " * 249_000,
    "dashes": b"- " * 499_000,
    "questions": b"? " * 499_000,
    "colons": b"a: " * 333_000,
    "items": b"- a\n" * 249_000,
    "flow items": b"[" + b"a," * 499_000 + b"]",
    "distinct keys": b"".join(b"k%d: 1\n" % i for i in range(80_000)),
    "equal keys": b"a: 1\n" * 199_000,
    "anchors": b"".join(b"- &a%d x\n" % i for i in range(70_000)),
    "open quote": b'a: "' + b"x\n" * 400_000,
    "long key": b"x" * 900_000 + b": 1",
    "empty lines": b"\n" * 999_999,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_gives_few_problems_in_little_time_and_memory(name: str) -> None:
    source = HOSTILE[name]
    start = time.process_time()
    document, problems = parse_yaml(source, "book.yaml")
    assert time.process_time() - start < 1.5  # a second, and half of one for a machine under load
    assert document is None
    assert 0 < len(problems) <= 100
    assert all(len(p.render()) < 1_000 for p in problems)


@pytest.mark.parametrize("text", ["x" * 900_000, "1" * 900_000, "1." + "0" * 900_000])
def test_one_huge_scalar_is_just_text(text: str) -> None:
    assert read(f"a: {text}").data == {"a": text}


# -- files -------------------------------------------------------------------------------------------------------------


def file_problem(path: Path) -> str:
    document, problems = load_yaml(path, "shown.yaml")
    assert document is None
    assert len(problems) == 1
    assert problems[0].file == "shown.yaml"
    assert problems[0].line == 0
    return f"{problems[0].code} {problems[0].message}"


def test_a_file_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    assert file_problem(tmp_path / "none.yaml").startswith("RB001 the file cannot be read: No such file")
    assert file_problem(tmp_path) == "RB001 the file cannot be read: it is a folder"
    assert file_problem(Path("a\0b.yaml")).startswith("RB001 the file cannot be read")


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "huge.yaml"
    with path.open("wb") as stream:
        stream.truncate(100_000_000)
    tracemalloc.start()
    assert file_problem(path) == "RB002 the file is larger than 1 MB"
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5_000_000


@pytest.mark.skipif(sys.platform == "win32", reason="needs named pipes")
def test_a_pipe_or_a_device_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    assert file_problem(tmp_path / "pipe.yaml") == "RB001 the file cannot be read: it is no regular file"
    assert file_problem(Path("/dev/zero")) == "RB001 the file cannot be read: it is no regular file"


def test_a_file_that_can_be_read_gives_its_data_and_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "Bücher mit Leerzeichen.yaml"
    path.write_bytes("a: ä\n".encode())
    document, problems = load_yaml(path)
    assert problems == []
    assert document is not None
    assert (document.data, document.source, document.file) == ({"a": "ä"}, "a: ä\n".encode(), str(path))
