"""Finding folders that may hold logs."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from rl_diagnose.logs.find import find_folders

posix = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX file types and permissions")


def touch(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("x", "utf-8")
    return path


def found(root: Path) -> list[str]:
    return [folder.path.relative_to(root).as_posix() for folder in find_folders(root)]


def reports(root: Path) -> list[str]:
    told: list[str] = []
    list(find_folders(root, lambda place, fact: told.append(f"{place.name}: {fact}")))
    return told


def test_folders_come_parents_first_and_by_name(tmp_path: Path) -> None:
    for name in ("b/x", "a/x", "a/c/x", "x", "empty/deeper/x"):
        touch(tmp_path / name)
    (tmp_path / "nothing").mkdir()
    assert found(tmp_path) == [".", "a", "a/c", "b", "empty/deeper"]


def test_files_are_those_directly_in_the_folder_by_name(tmp_path: Path) -> None:
    for name in ("z", "a", "sub/other"):
        touch(tmp_path / name)
    folder = next(find_folders(tmp_path))
    assert [path.name for path in folder.files] == ["a", "z"]


def test_a_file_stands_for_itself(tmp_path: Path) -> None:
    path = touch(tmp_path / "progress.csv")
    touch(tmp_path / "other.csv")
    (folder,) = find_folders(path)
    assert (folder.path, folder.files) == (path, (path,))


@pytest.mark.parametrize("name", [".git", ".hidden", "node_modules", "venv", "__pycache__"])
def test_some_folders_are_not_looked_into(tmp_path: Path, name: str) -> None:
    touch(tmp_path / name / "progress.csv")
    assert found(tmp_path) == []
    assert found(tmp_path / name) == ["."]  # unless they were asked for


@posix
def test_a_link_to_an_ancestor_ends(tmp_path: Path) -> None:
    touch(tmp_path / "a" / "x")
    (tmp_path / "a" / "loop").symlink_to(tmp_path, target_is_directory=True)
    assert found(tmp_path) == ["a"]


@posix
def test_a_folder_is_entered_once_under_its_own_name(tmp_path: Path) -> None:
    touch(tmp_path / "z_real" / "x")
    (tmp_path / "a_link").symlink_to(tmp_path / "z_real", target_is_directory=True)
    (tmp_path / "b_link").symlink_to(tmp_path / "z_real", target_is_directory=True)
    assert found(tmp_path) == ["z_real"]


@posix
def test_links_out_are_followed_once(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    touch(outside / "run" / "x")
    touch(root / "y")
    (root / "one").symlink_to(outside, target_is_directory=True)
    (root / "two").symlink_to(outside, target_is_directory=True)
    assert found(root) == [".", "one/run"]


@posix
def test_links_that_lead_nowhere_are_reported(tmp_path: Path) -> None:
    (tmp_path / "self").symlink_to(tmp_path / "self")
    (tmp_path / "gone").symlink_to(tmp_path / "nothing")
    assert found(tmp_path) == []
    assert sorted(reports(tmp_path)) == [
        "gone: a link that leads nowhere or to itself",
        "self: a link that leads nowhere or to itself",
    ]


@posix
def test_pipes_sockets_and_devices_are_left_alone(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "events.out.tfevents.pipe")
    (tmp_path / "progress.csv").symlink_to("/dev/zero")
    assert found(tmp_path) == []


@posix
@pytest.mark.skipif(sys.platform != "win32" and os.geteuid() == 0, reason="root may open everything")
def test_a_folder_that_cannot_be_opened_is_reported(tmp_path: Path) -> None:
    touch(tmp_path / "open" / "x")
    closed = touch(tmp_path / "closed" / "x").parent
    closed.chmod(0)
    try:
        assert found(tmp_path) == ["open"]
        assert reports(tmp_path) == ["closed: cannot be opened: Permission denied"]
    finally:
        closed.chmod(0o700)


def test_a_folder_that_vanishes_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    touch(tmp_path / "a" / "x")
    touch(tmp_path / "b" / "x")
    original = os.scandir

    def scandir(path: Path) -> object:
        if Path(path).name == "a":
            raise FileNotFoundError(2, "No such file or directory")
        return original(path)

    monkeypatch.setattr(os, "scandir", scandir)
    assert found(tmp_path) == ["b"]
    assert reports(tmp_path) == ["a: cannot be opened: No such file or directory"]


def test_a_hidden_folder_that_a_framework_logs_into_is_looked_into(tmp_path: Path) -> None:
    touch(tmp_path / "exp" / ".summary" / "0" / "events")
    assert found(tmp_path) == ["exp/.summary/0"]


@pytest.mark.parametrize(
    ("original", "copy"),
    [
        ("progress.csv", "progress (1).csv"),
        ("progress.csv", "progress - Copy.csv"),
        ("progress.csv", "progress copy 2.csv"),
        ("progress.csv", "progress.csv.bak"),
        ("events.out.tfevents.1.host", "events.out.tfevents.1.host (1)"),
        ("events.out.tfevents.1.host", "events.out.tfevents.1.host - Copy"),
    ],
)
def test_a_copy_of_a_file_beside_it_is_left_out_and_reported(tmp_path: Path, original: str, copy: str) -> None:
    touch(tmp_path / original)
    touch(tmp_path / copy)
    assert [file.name for folder in find_folders(tmp_path) for file in folder.files] == [original]
    assert reports(tmp_path) == [f"{copy}: a copy of {original}, which is read instead"]


@pytest.mark.parametrize("other", ["progress (1).csv", "run2.csv"])
def test_what_is_no_copy_stays(tmp_path: Path, other: str) -> None:
    """Another name with the same content, or the name of a copy with another content."""
    touch(tmp_path / "progress.csv")
    touch(tmp_path / other).write_text("x" if other == "run2.csv" else "y", "utf-8")
    assert len([file for folder in find_folders(tmp_path) for file in folder.files]) == 2
    assert reports(tmp_path) == []
