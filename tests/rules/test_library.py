"""Books are found by id, version or path; what cannot be found or used says so."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from rl_diagnose.errors import RulebookError, UsageError
from rl_diagnose.rules import library
from rl_diagnose.rules.library import (
    BookInfo,
    default_books_for,
    library_problems,
    list_books,
    load_book,
    read_book,
)

from .made import Said, Write

HEAD = 'schema: rulebook/v1\nid: {}\nversion: "{}"\ntitle: T\n'


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An installed package of rulebooks, `house_rules`, registered under the entry point group; nothing is cached."""
    folder = tmp_path / "site" / "house_rules"
    for name, versions in {"house": ("1.0.0", "1.2.0", "1.10.0", "2.0.1"), "core": ("9.9.9",)}.items():
        (folder / name).mkdir(parents=True)
        for version in versions:
            (folder / name / f"{version}.yaml").write_text(HEAD.format(name, version), encoding="utf-8")
    (folder / "__init__.py").touch()
    (folder / "house" / "notes.yaml").touch()
    (folder / "tests").mkdir()
    monkeypatch.syspath_prepend(str(folder.parent))
    points = [EntryPoint("house", "house_rules", library.GROUP), EntryPoint("broken", "no_such_package", library.GROUP)]
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: points if group == library.GROUP else [])
    _forget()
    yield folder
    _forget()
    sys.modules.pop("house_rules", None)


def _forget() -> None:
    for cached in (library._library, library._defaults, library._trouble, library._load_installed):  # noqa: SLF001 - no other way to look again
        cached.cache_clear()


# -- by id -------------------------------------------------------------------------------------------------------------


def test_the_built_in_books_have_ids() -> None:
    books = {book.id: book for book in list_books()}
    assert {"core", "ppo", "dqn", "actor_critic"} <= set(books)
    assert all(books[name].origin == "built-in" for name in ("core", "ppo"))
    assert [book.id for book in list_books()] == sorted(books)


@pytest.mark.parametrize("book", list_books(), ids=lambda book: book.id)
def test_every_version_of_every_built_in_book_loads(book: BookInfo) -> None:
    for version in book.versions:
        loaded = load_book(f"{book.id}@{version}")
        assert (loaded.id, loaded.version) == (book.id, version)
        assert loaded.causes


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize(
    ("reference", "version"),
    [
        ("house", "2.0.1"),
        ("house@1", "1.10.0"),
        ("house@1.1", None),
        ("house@1.2", "1.2.0"),
        ("house@1.10.0", "1.10.0"),
        ("house@2", "2.0.1"),
        ("house@3", None),
    ],
)
def test_a_reference_takes_the_newest_version_that_fits(reference: str, version: str | None) -> None:
    if version is None:
        with pytest.raises(UsageError, match=r"no version .* of the rulebook 'house'") as caught:
            load_book(reference)
        assert caught.value.hint == "there are 1.0.0, 1.2.0, 1.10.0, 2.0.1"
    else:
        assert load_book(reference).version == version


@pytest.mark.usefixtures("package")
def test_a_package_adds_its_books_and_cannot_take_the_id_of_another() -> None:
    books = {book.id: book for book in list_books()}
    assert books["house"].versions == ("1.0.0", "1.2.0", "1.10.0", "2.0.1")
    assert books["house"].origin == "package house"
    assert "9.9.9" not in books["core"].versions
    assert "tests" not in books


@pytest.mark.usefixtures("package")
def test_a_package_that_cannot_be_used_is_named_and_does_no_harm() -> None:
    broken, taken = library_problems()
    assert broken.code == taken.code == "RB035"
    assert broken.message.startswith("package broken cannot be used: ModuleNotFoundError: No module named 'no_such")
    assert taken.message == "the book 'core' of package house is left out: there is one from built-in"
    assert load_book("core").version != "9.9.9"


def test_a_book_must_be_the_one_that_its_place_says(package: Path) -> None:
    (package / "house" / "2.0.1.yaml").write_text(HEAD.format("home", "2.0.0"), encoding="utf-8")
    with pytest.raises(RulebookError) as caught:
        load_book("house")
    assert [(p.code, p.message) for p in caught.value.problems] == [
        ("RB034", "id is 'home', its place says 'house'"),
        ("RB034", "version is '2.0.0', its place says '2.0.1'"),
    ]


@pytest.mark.parametrize("reference", ["nope", "PPO", "ppo@x", "ppo@1.0.0.0", "", "ppo ", "ppo@"])
def test_what_is_no_id_is_refused_with_the_ids_that_are(reference: str) -> None:
    with pytest.raises(UsageError, match="no rulebook") as caught:
        load_book(reference)
    assert "ppo" in str(caught.value.hint)


# -- by path -----------------------------------------------------------------------------------------------------------


def test_a_path_is_loaded_as_it_is_now(write: Write) -> None:
    path = write("causes: {c: {title: C, prior: 0.1}}\n")
    assert load_book(path).causes[0].prior == 0.1
    write("causes: {c: {title: C, prior: 0.2}}\n")
    assert load_book(str(path)).causes[0].prior == 0.2


def test_a_path_may_have_blanks_and_is_shown_as_it_was_given(
    tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("", "my rules/häuser.yaml")
    (tmp_path / "my rules" / "häuser.yaml").write_text(HEAD.format("x", "1.0.0"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert load_book("my rules/häuser.yaml").path == "my rules/häuser.yaml"


def test_a_path_that_does_not_exist_or_is_a_folder_is_a_problem(tmp_path: Path) -> None:
    for reference in (tmp_path / "none.yaml", tmp_path, "a/b\0c.yaml"):
        with pytest.raises((RulebookError, UsageError)) as caught:
            load_book(reference)
        assert str(caught.value)


def test_the_fingerprint_is_that_of_all_files(write: Write) -> None:
    base = write("causes: {c: {title: C, prior: 0.1}}\n", "base.yaml")
    house = write("extends: [base.yaml]\n")
    before = load_book(house).sha256
    assert load_book(house).sha256 == before
    base.write_text(base.read_text("utf-8") + "# a comment\n", encoding="utf-8")
    assert load_book(house).sha256 != before


# -- extends -----------------------------------------------------------------------------------------------------------


def test_a_file_may_extend_a_built_in_book(write: Write) -> None:
    book = load_book(write("extends: [core@1]\n"))
    assert {c.id for c in book.causes} == {c.id for c in load_book("core@1").causes}


@pytest.mark.parametrize(
    "name",
    [
        "../outside.yaml",
        "/etc/passwd.yaml",
        "none.yaml",
        "nope",
        "core@9",
        "https://example.org/a.yaml",
        "a\\b",
        "a/b",
        "link.yaml",
    ],
)
def test_a_book_outside_the_folder_or_missing_is_not_read(tmp_path: Path, write: Write, said: Said, name: str) -> None:
    write("", "outside.yaml")
    (tmp_path / "inside").mkdir()
    if name == "link.yaml":
        try:
            (tmp_path / "inside" / name).symlink_to(tmp_path / "outside.yaml")
        except OSError:
            pytest.skip("this system makes no symbolic links")
    (found,) = said(write(f"extends: ['{name}']\n", "inside/house.yaml"))
    assert found.startswith(f"1:11 RB030 cannot find the book '{name}' (known are ")


def test_a_name_that_no_file_can_have_is_no_crash(write: Write, said: Said) -> None:
    (found,) = said(write('extends: ["a\\0.yaml"]\n'))
    assert "RB030" in found


def test_a_folder_below_may_be_extended_and_its_books_may_extend_upwards_within_it(write: Write) -> None:
    write("causes: {a: {title: A, prior: 0.1}}\n", "base.yaml")
    write("extends: [../base.yaml]\ncauses: {b: {title: B, prior: 0.1}}\n", "deep/middle.yaml")
    assert [c.id for c in load_book(write("extends: [deep/middle.yaml]\n")).causes] == ["a", "b"]


def test_circles_are_refused(write: Write, said: Said) -> None:
    write("extends: [b.yaml]\n", "a.yaml")
    path = write("extends: [a.yaml]\n", "b.yaml")
    (found,) = said(path)
    assert "RB031 books extend one another: " in found
    assert found.count("b.yaml") == 2
    (own,) = said(write("extends: [house.yaml]\n"))
    assert "RB031" in own


def test_many_books_that_extend_one_another_are_each_read_once(write: Write) -> None:
    """Without that, 12 layers of 2 books would be 4,096 readings."""
    write("causes: {a: {title: A, prior: 0.1}}\n", "l0a.yaml")
    write("", "l0b.yaml")
    for layer in range(1, 12):
        for side in "ab":
            write(f"extends: [l{layer - 1}a.yaml, l{layer - 1}b.yaml]\n", f"l{layer}{side}.yaml")
    assert [c.id for c in load_book(write("extends: [l11a.yaml, l11b.yaml]\n")).causes] == ["a"]


def test_the_number_of_books_has_a_limit(write: Write, said: Said) -> None:
    write("", "l0.yaml")
    for layer in range(1, 40):
        write(f"extends: [l{layer - 1}.yaml]\n", f"l{layer}.yaml")
    (found,) = said(write("extends: [l39.yaml]\n"))
    assert "RB002 more than 32 books extend one another" in found


# -- requirements ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wanted", [">=0.1", ">=0.1, <99", "> 0.0.1", "<=99.0.0", ">=0.1.0,<99"])
def test_versions_that_fit_are_accepted(write: Write, wanted: str) -> None:
    assert load_book(write(f'requires: {{engine: "{wanted}", signals: ">=1.0"}}\n')).id == "house"


@pytest.mark.parametrize(
    ("requires", "expected"),
    [
        ('engine: ">=99"', "1:20 RB033 the book needs rl-diagnose >=99, this is "),
        ('engine: ">=0.1, <0.1"', "1:20 RB033 the book needs rl-diagnose >=0.1, <0.1, this is "),
        ('signals: "==0.9.1"', "1:21 RB033 the book needs the signal taxonomy ==0.9.1, this is "),
        ('engine: "latest"', "1:20 RB012 'latest' is not of the form \">=1.2\""),
        ('engine: "~=1.0"', "1:20 RB012 '~=1.0' is not of the form \">=1.2\""),
    ],
)
def test_versions_that_do_not_fit_are_refused(write: Write, said: Said, requires: str, expected: str) -> None:
    (found,) = said(write(f"requires: {{{requires}}}\n"))
    assert found.startswith(expected)


# -- what is used when nothing is asked for ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("algorithm", "book"),
    [
        ("ppo", "ppo"),
        ("a2c", "ppo"),
        ("dqn", "dqn"),
        ("sac", "actor_critic"),
        ("td3", "actor_critic"),
        (None, "core"),
        ("muzero", "core"),
    ],
)
def test_a_run_gets_the_book_for_its_algorithm_else_the_general_one(algorithm: str | None, book: str) -> None:
    assert default_books_for(algorithm, "sb3", "discrete") == (book,)


def test_the_most_specific_book_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    found = (
        ("built-in", {"algorithm": ["ppo", "a2c", "trpo"]}, "general"),
        ("built-in", {"algorithm": ["ppo", "a2c"]}, "narrow"),
        ("built-in", {"algorithm": ["ppo", "a2c"], "framework": ["rllib", "sb3"]}, "narrower"),
    )
    monkeypatch.setattr(library, "_defaults", lambda: found)
    assert default_books_for("trpo", "sb3", None) == ("general",)
    assert default_books_for("ppo", "cleanrl", None) == ("narrow",)
    assert default_books_for("ppo", "sb3", None) == ("narrower",)


def house(package: Path, body: str) -> None:
    """The newest version of the package's book gets this body."""
    (package / "house" / "2.0.1.yaml").write_text(HEAD.format("house", "2.0.1") + body, encoding="utf-8")
    _forget()


def test_the_book_of_a_package_goes_before_a_built_in_one(package: Path) -> None:
    house(package, "applies_to: {algorithm: [ppo]}\n")
    assert default_books_for("ppo", "sb3", "discrete") == ("house",)
    assert default_books_for("dqn", "sb3", "discrete") == ("dqn",)


@pytest.mark.parametrize(
    "body",
    [
        "extends: [ppo]\n",
        "applies_to: {algorithm: [ppo]}\ndefault: false\n",
        "applies_to: {algorithm: [ppo]}\nstatus: deprecated\n",
        "applies_to: nonsense\n",
        "applies_to: {algorithm: ppo}\n",
        "applies_to: {planet: [ppo]}\n",
        "- no book\n",
    ],
)
def test_a_packages_book_that_names_no_runs_or_is_not_for_all_is_not_used_unasked(package: Path, body: str) -> None:
    house(package, body)
    assert default_books_for("ppo", "sb3", "discrete") == ("ppo",)


def test_an_invalid_book_of_a_package_is_named_and_the_built_in_one_used(package: Path) -> None:
    house(package, "applies_to: {algorithm: [ppo]}\ncausess: {}\n")
    assert default_books_for("ppo", "sb3", "discrete") == ("ppo",)
    (said,) = [p for p in library_problems() if "'house'" in p.message]
    assert said.severity == "warning"
    assert "package house cannot be used" in said.message
    assert said.message.endswith("2.0.1.yaml:6:1: unknown field 'causess'")
    assert said.hint == "rl-diagnose rules check house shows everything that is wrong with it"


@pytest.mark.parametrize("code", ["raise SystemExit(3)", "1/0", "import no_such_module_at_all", "syntax error here"])
def test_a_package_that_fails_on_import_does_not_stop_the_others(package: Path, code: str) -> None:
    (package / "__init__.py").write_text(code, encoding="utf-8")
    assert "house" not in {book.id for book in list_books()}
    assert any(p.message.startswith("package house cannot be used: ") for p in library_problems())
    assert load_book("ppo").id == "ppo"


def test_a_deprecated_book_works_when_it_is_asked_for(package: Path) -> None:
    house(package, "status: deprecated\nreplaced_by: ppo\n")
    book = load_book("house")
    assert (book.status, book.replaced_by) == ("deprecated", "ppo")


def test_a_book_with_default_false_is_not_chosen(tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, default in (("quiet", "false"), ("loud", "true")):
        write(f"applies_to: {{algorithm: [{name}]}}\ndefault: {default}\n", f"{name}/1.0.0.yaml")
    books = tuple(BookInfo(name, ("1.0.0",), "built-in", tmp_path / name) for name in ("core", "loud", "quiet"))
    monkeypatch.setattr(library, "list_books", lambda: books)
    library._defaults.cache_clear()  # noqa: SLF001 - no other way to look again
    try:
        assert default_books_for("loud", None, None) == ("loud",)
        assert default_books_for("quiet", None, None) == ("core",)
    finally:
        library._defaults.cache_clear()  # noqa: SLF001 - as above


# -- as authored -------------------------------------------------------------------------------------------------------


def test_a_book_can_be_read_as_authored_with_the_origin_of_every_entry(write: Write) -> None:
    base = write("causes: {a: {title: A, prior: 0.1}}\n", "base.yaml")
    merged, problems = read_book(write("extends: [base.yaml]\ncauses: {b: {title: B, prior: 0.1}}\n"))
    assert problems == []
    assert merged is not None
    assert {name: Path(item.document.file).name for name, item in merged.causes.items()} == {
        "a": base.name,
        "b": "house.yaml",
    }


def test_nothing_is_written_beside_the_book(tmp_path: Path, write: Write) -> None:
    load_book(write(""))
    assert [p.name for p in tmp_path.iterdir()] == ["house.yaml"]
