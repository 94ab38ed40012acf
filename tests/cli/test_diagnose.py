"""The command line from end to end on a real log: outputs, files, exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from .conftest import ROOT, Done

SCHEMA = json.loads((ROOT / "docs/schema/diagnosis-v1.schema.json").read_text("utf-8"))
Command = Callable[..., Done]


def test_a_path_alone_gives_the_summary(command: Command, example: Path) -> None:
    done = command(example)
    assert (done.code, done.err) == (0, "")
    assert "FINDING" in done.out
    assert "Training return" in done.out
    assert "Rulebooks: ppo" in done.out


@pytest.mark.parametrize("spelling", [[], ["diagnose"]])
def test_the_spellings_of_the_command_are_the_same_job(command: Command, example: Path, spelling: list[str]) -> None:
    assert command(*spelling, example).out == command("--logdir", example).out


def test_the_report_of_the_method(command: Command, example: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.md"
    done = command("--logdir", example, "--output", report)
    assert (done.code, done.out) == (0, "")
    assert done.err == f"{report}: 1 run: 1 with a finding\n"
    text = report.read_text("utf-8")
    assert text.startswith("# rl-diagnose report\n")
    assert "### Recommended action" in text


def test_a_report_can_be_written_again(command: Command, example: Path, tmp_path: Path) -> None:
    for name in ("a.md", "a.json", "a.txt"):
        for _ in range(2):
            assert command(example, "-o", tmp_path / name).code == 0


def test_json_is_strict_valid_and_the_same_each_time(command: Command, example: Path) -> None:
    first, second = (json.loads(command(example, "--format", "json").out) for _ in range(2))
    jsonschema.validate(first, SCHEMA)
    assert first.pop("created")
    second.pop("created")
    assert first == second
    assert first["runs"][0]["verdict"] == "finding"


def test_output_to_a_dash_is_stdout(command: Command, example: Path) -> None:
    assert json.loads(command(example, "--format", "json", "-o", "-").out)["schema"] == "rl-diagnose/diagnosis/v1"


def test_many_runs_give_a_table_and_unreadable_ones_do_not_stop_the_others(command: Command, several: Path) -> None:
    done = command(several)
    assert done.code == 0
    assert "first" in done.out
    assert "second" in done.out
    assert "2 with a finding" in done.out


def test_several_paths_may_be_given_and_one_without_a_log_is_a_note(command: Command, several: Path) -> None:
    done = command(several / "first", several / "second", ROOT / "docs")
    assert done.code == 0
    assert "2 runs: 2 with a finding" in done.out
    assert "no training log" in done.out


@pytest.mark.parametrize(("threshold", "code"), [("0.05", 1), ("1", 0)])
def test_fail_at_sets_the_exit_code(command: Command, example: Path, threshold: str, code: int) -> None:
    done = command(example, "--fail-at", threshold)
    assert done.code == code
    assert ("--fail-at 0.05" in done.err) == (code == 1)


def test_a_book_can_be_asked_for_by_id_version_and_path(command: Command, example: Path) -> None:
    for book in ("core", "core@1", ROOT / "rulebooks" / "core" / "1.0.0.yaml"):
        document = json.loads(command(example, "-r", book, "--format", "json").out)
        assert [b["id"] for b in document["rulebooks"]] == ["core"]


def test_a_cause_that_two_books_share_is_counted_once(command: Command, example: Path) -> None:
    document = json.loads(command(example, "-r", "core", "-r", "ppo", "--format", "json").out)
    causes = [c["id"] for c in document["runs"][0]["causes"]]
    assert len(causes) == len(set(causes))
    assert {b["id"] for b in document["rulebooks"]} == {"core", "ppo"}
    assert {c["book"] for c in document["runs"][0]["causes"]} == {"ppo"}


def test_the_action_space_can_be_said(command: Command, example: Path) -> None:
    document = json.loads(command(example, "--action-space", "discrete:4", "--format", "json").out)
    space = document["runs"][0]["action_space"]
    assert (space["size"], space["origin"], space["max_entropy"]) == (4, "user", pytest.approx(1.3862943))


def test_width_is_obeyed(command: Command, example: Path) -> None:
    wide, narrow = (command(example, "--width", n).out for n in ("160", "60"))
    assert max(map(len, narrow.splitlines())) <= 60
    assert 100 < max(map(len, wide.splitlines())) <= 160


def test_the_log_is_never_written_to(command: Command, example: Path) -> None:
    before = {p.name: (p.stat().st_size, p.stat().st_mtime_ns) for p in example.iterdir()}
    csv = example / "progress.csv"
    assert command(example, "-o", csv, "--format", "json").code == 2
    assert command(example, "-o", example, "--format", "json").code == 2
    assert {p.name: (p.stat().st_size, p.stat().st_mtime_ns) for p in example.iterdir()} == before


def shell(*words: str | Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    program = [sys.executable, "-m", "rl_diagnose", *map(str, words)]
    return subprocess.run(program, capture_output=True, env={**os.environ, **environment}, check=False)  # noqa: S603 - our own program


def test_a_pipe_gets_no_colour_and_an_ascii_stdout_gets_ascii(example: Path) -> None:
    done = shell(example, PYTHONIOENCODING="ascii", COLUMNS="80")
    assert done.returncode == 0
    assert done.stdout.isascii()
    assert b"\x1b" not in done.stdout
    assert b"FINDING" in done.stdout


def test_json_is_utf_8_whatever_the_terminal_speaks(example: Path) -> None:
    done = shell(example, "--format", "json", PYTHONIOENCODING="ascii")
    assert json.loads(done.stdout.decode("utf-8"))["runs"]
    assert b"\r\n" not in done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX pipes and signals")
def test_a_reader_that_goes_away_is_no_error(example: Path) -> None:
    with subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-m", "rl_diagnose", str(example), "--format", "json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as program:
        assert program.stdout is not None
        program.stdout.close()
        assert program.stderr is not None
        assert program.stderr.read() == b""
    assert program.returncode == 141


def test_several_processes_say_the_same(command: Command, several: Path) -> None:
    reports = [
        json.loads(command(several, "--format", "json", *words).out) for words in ((), ("--jobs", "2"), ("-j", "auto"))
    ]
    for report in reports:
        del report["created"]
    assert reports[0] == reports[1] == reports[2]


@pytest.mark.parametrize(("number", "fact"), [("-1", "number of processes"), ("two", "auto"), ("1000", "say 1 to 256")])
def test_a_number_of_processes_that_cannot_be_meant_is_named(
    command: Command, several: Path, number: str, fact: str
) -> None:
    done = command(several, f"--jobs={number}")
    assert done.code == 2
    assert fact in done.err


def test_interrupting_is_quiet(command: Command, example: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("rl_diagnose.diagnosis.pipeline.diagnose", interrupt)
    assert command(example) == Done(130, "", "")


def test_an_internal_error_is_one_message_without_a_traceback(
    command: Command, example: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("oh no")

    monkeypatch.setattr("rl_diagnose.diagnosis.pipeline.diagnose", fail)
    done = command(example)
    assert done.code == 2
    assert "internal error (ZeroDivisionError: oh no)" in done.err
    assert "RL_DIAGNOSE_DEBUG=1" in done.err
    assert "Traceback" not in done.err
    monkeypatch.setenv("RL_DIAGNOSE_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        command(example)


def test_formats_for_builds_follow_the_bound_of_the_command_line(command: Command, several: Path) -> None:
    weak = command(several, "--format", "github").out.splitlines()
    assert [line.split(" ")[0] for line in weak] == ["::warning", "::warning", "::error", "3"]
    failing = command(several, "--format", "github", "--fail-at", "0.5")
    assert failing.code == 1
    assert [line.split(" ")[0] for line in failing.out.splitlines()] == ["::error", "::error", "::error", "3"]
    suite = command(several, "--format", "junit").out
    assert 'tests="3" failures="2" errors="1" skipped="0"' in suite
    levels = [
        result["level"]
        for words in ((), ("--fail-at", "0.5"))
        for result in json.loads(command(several, "--format", "sarif", *words).out)["runs"][0]["results"]
    ]
    assert levels == ["warning"] * 2 + ["error"] * 2


def test_the_project_file_sets_the_bound_for_builds(
    command: Command, several: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (several / "rl-diagnose.toml").write_text("fail-at = 0.5\n", "utf-8")
    monkeypatch.chdir(several)
    assert command("first", "--format", "github").out.startswith("::error ")


def test_reports_for_builds_are_written_by_their_names_and_replaced(command: Command, several: Path) -> None:
    for name, head in (("runs.xml", "<?xml"), ("runs.sarif", "{")):
        for _ in range(2):
            assert command(several, "-o", several / name).code == 0
            assert (several / name).read_text("utf-8").startswith(head)


def test_verdicts_for_tensorboard_are_written_apart_and_never_read_as_logs(command: Command, several: Path) -> None:
    folder = several / "verdicts"
    before = json.loads(command(several, "--format", "json").out)["runs"]
    for count, path in enumerate((several / "first", several), 1):
        done = command(path, "--format", "json", "--tensorboard", folder)
        assert done.code == 0
        assert f"tensorboard --logdir {folder}" in done.err
        assert len(list(folder.glob("events.out.tfevents.*.rl-diagnose"))) == count
    assert json.loads(done.out)["runs"] == before
    refused = command(several / "first", "--tensorboard", several / "first")
    assert refused.code == 2
    assert "holds logs" in refused.err
    assert not list((several / "first").glob("*.rl-diagnose"))
