"""A report file is replaced whole, and nothing that is not a report of this program is ever overwritten."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from rl_diagnose.cli.output import check_folder, check_target, format_for, write_file
from rl_diagnose.errors import UsageError
from rl_diagnose.report.findings_sarif import to_sarif
from rl_diagnose.report.json_report import to_json
from rl_diagnose.report.junit import to_junit
from rl_diagnose.report.markdown import to_markdown
from rl_diagnose.report.terminal import TEXT_HEADER

from ..report.made import diagnosis


@pytest.mark.parametrize(
    ("name", "asked", "meant"),
    [
        ("r.md", None, "markdown"),
        ("R.JSON", None, "json"),
        ("r.txt", None, "rich"),
        ("r", "json", "json"),
        ("r.md", "json", "json"),
        ("r.xml", None, "junit"),
        ("r.sarif", None, "sarif"),
    ],
)
def test_the_name_says_the_format_unless_one_is_asked_for(name: str, asked: str | None, meant: str) -> None:
    assert format_for(name, asked) == meant


def test_a_name_that_says_nothing_is_refused_with_the_way_out() -> None:
    with pytest.raises(UsageError, match="format") as error:
        format_for("report.pdf", None)
    assert "--format" in str(error.value)


def test_annotations_are_for_the_output_of_a_step() -> None:
    with pytest.raises(UsageError, match="output of a step") as error:
        format_for("notes.txt", "github")
    assert ".sarif" in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        to_json(diagnosis()),
        to_markdown(diagnosis()),
        to_junit(diagnosis()),
        to_sarif(diagnosis()),
        TEXT_HEADER + "\n",
        "",
    ],
    ids=["json", "markdown", "junit", "sarif", "text", "empty"],
)
def test_an_earlier_report_or_an_empty_file_may_be_replaced(tmp_path: Path, text: str) -> None:
    old = tmp_path / "report.md"
    old.write_text(text, "utf-8")
    write_file(check_target(str(old)), "new")
    assert old.read_text("utf-8") == "new"


@pytest.mark.parametrize("content", [b"step,reward\n1,2\n", b"\x18\x00\x00\x00", b'{"training_iteration": 1}\n'])
def test_a_file_that_is_no_report_is_never_replaced(tmp_path: Path, content: bytes) -> None:
    log = tmp_path / "result.json"
    log.write_bytes(content)
    with pytest.raises(UsageError, match="not a report"):
        check_target(str(log))
    assert log.read_bytes() == content


def test_a_log_file_that_was_read_is_never_replaced_even_when_empty(tmp_path: Path) -> None:
    log = tmp_path / "progress.json"
    log.touch()
    with pytest.raises(UsageError, match="log file"):
        check_target(str(log), [str(log)])


def test_a_folder_and_a_missing_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="folder"):
        check_target(str(tmp_path))
    with pytest.raises(UsageError, match="does not exist"):
        check_target(str(tmp_path / "no" / "report.md"))


def test_a_failed_write_leaves_the_old_report_and_no_scraps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = tmp_path / "report.md"
    old.write_text("# rl-diagnose report", "utf-8")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(UsageError, match="No space left"):
        write_file(old, "new")
    assert [p.name for p in tmp_path.iterdir()] == ["report.md"]
    assert old.read_text("utf-8") == "# rl-diagnose report"


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions, links and devices")
def test_permissions_links_and_devices_are_respected(tmp_path: Path) -> None:
    target = tmp_path / "real.md"
    target.write_text("", "utf-8")
    target.chmod(0o600)
    link = tmp_path / "link.md"
    link.symlink_to(target)
    write_file(check_target(str(link)), "new")
    assert link.is_symlink()
    assert target.read_text("utf-8") == "new"
    assert target.stat().st_mode & 0o777 == 0o600
    write_file(check_target(os.devnull), "new")
    assert not Path(os.devnull).is_file()


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions")
def test_a_new_file_gets_the_usual_permissions(tmp_path: Path) -> None:
    mask = os.umask(0o022)
    try:
        write_file(tmp_path / "report.md", "new")
    finally:
        os.umask(mask)
    assert (tmp_path / "report.md").stat().st_mode & 0o777 == 0o644


def test_a_folder_to_write_into_may_be_new_but_holds_no_logs(tmp_path: Path) -> None:
    log = tmp_path / "run" / "progress.csv"
    log.parent.mkdir()
    log.touch()
    assert check_folder(str(tmp_path / "new"), [str(log)]) == tmp_path.resolve() / "new"
    assert not (tmp_path / "new").exists()
    for wrong, said in ((log.parent, "holds logs"), (log, "not a folder"), (tmp_path / "a" / "b", "above it")):
        with pytest.raises(UsageError, match=said):
            check_folder(str(wrong), [str(log)])
