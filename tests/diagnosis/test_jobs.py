"""A sweep shared by processes: the same answer, whoever reads, whatever dies."""

from __future__ import annotations

import datetime as dt
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import rl_diagnose
from rl_diagnose import Diagnosis, RulebookError, RunDiagnosis, UsageError, diagnose
from rl_diagnose.diagnosis import jobs as choice
from rl_diagnose.diagnosis import processes
from rl_diagnose.diagnosis.messages import Answer, pack_answer, unpack
from rl_diagnose.logs.adapter import RunSource, Sniff
from rl_diagnose.logs.load import FoundRun
from rl_diagnose.logs.registry import adapters
from rl_diagnose.project import Suppression
from rl_diagnose.report.json_report import to_json
from rl_diagnose.rules.problems import Problem

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "collapsed-ppo"
DATA = ROOT / "tests" / "data"
posix = pytest.mark.skipif(os.name == "nt", reason="this system has no such signals")

MAP = """\
framework: ours
title: Our trainer
x_axis: env_steps
step_keys: [our/steps]
fingerprint: [our/episode_return, our/kl, our/steps]
rules:
  - {key: our/episode_return, signal: reward.train}
  - {key: our/kl, signal: policy.kl}
"""


def said(result: Diagnosis) -> str:
    """The JSON of a diagnosis, but for when it was made."""
    document = json.loads(to_json(result))
    del document["created"]
    return json.dumps(document)


def alive(process: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def eventually(condition: Callable[[], bool], seconds: float = 60.0) -> bool:
    """Whether a condition comes true within the time that a busy machine is granted."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return condition()


def told(run: RunDiagnosis) -> tuple[str, str, str]:
    return run.id.removesuffix(".house"), run.verdict, run.verdict_reason


@pytest.fixture(scope="module")
def alone() -> Diagnosis:
    """What one process says of the example and of the logs that tests read."""
    return diagnose([EXAMPLE, DATA])


@pytest.mark.parametrize("jobs", [2, 3])
def test_the_answer_is_the_same_for_any_number_of_jobs(jobs: int, alone: Diagnosis) -> None:
    shared = diagnose([EXAMPLE, DATA], jobs=jobs)
    assert len(alone.runs) > 10
    assert said(shared) == said(alone)
    assert str(shared) == str(alone)


@pytest.mark.corpus
def test_the_answer_for_the_corpus_is_the_same_with_several_jobs(shared: Path) -> None:
    runs = sorted((shared / "corpus" / "runs").iterdir())[::5]
    assert said(diagnose(runs, jobs=2)) == said(diagnose(runs))


def test_what_the_user_brings_counts_in_every_process(tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    for number in range(6):
        (folder / f"ours-{number}").mkdir(parents=True)
        rows = [f"{i * 100},{i + number},{0.01 * i},{i % 3}" for i in range(60)]
        lines = ["our/steps,our/episode_return,our/kl,our/entropy", *rows]
        (folder / f"ours-{number}" / "log.csv").write_text("\n".join(lines) + "\n", "utf-8")
        shutil.copytree(EXAMPLE, folder / f"sb3-{number}")
    (tmp_path / "ours.yaml").write_text(MAP, "utf-8")
    book = tmp_path / "books" / "core.yaml"
    book.parent.mkdir()
    text = (ROOT / "rulebooks" / "ppo").glob("*.yaml")
    shutil.copy(max(text), book)
    asked: dict[str, Any] = {
        "rulebooks": [book, "core"],
        "tag_maps": [tmp_path / "ours.yaml"],
        "house": {"our/entropy": "policy.entropy"},
        "baseline": folder / "sb3-0",
        "action_space": "discrete:4",
        "suppressions": [Suppression("learning_rate_jump", "on purpose", "sb3-[12]", dt.date(2999, 1, 1))],
    }
    alone, shared = diagnose(folder, **asked), diagnose(folder, jobs=3, **asked)
    assert {run.framework for run in alone.runs} == {"ours", "sb3"}
    assert any(issue.code == "baseline" for run in alone.runs for issue in run.log_issues)
    assert said(shared) == said(alone)


def test_a_tag_map_need_not_be_there_any_more(tmp_path: Path) -> None:
    folder, ours = tmp_path / "runs", tmp_path / "ours.yaml"
    folder.mkdir()
    for number in range(3):
        rows = "".join(f"{i},{i},0.1\n" for i in range(20))
        (folder / f"{number}.csv").write_text("our/steps,our/episode_return,our/kl\n" + rows, "utf-8")
    ours.write_text(MAP, "utf-8")
    seen: list[int] = []

    def progress(done: int, _total: int) -> None:
        seen.append(done)
        ours.unlink(missing_ok=True)

    result = diagnose(folder, tag_maps=[ours], jobs=2, progress=progress)
    assert [run.framework for run in result.runs] == ["ours"] * 3
    assert seen == [1, 2, 3]


def test_an_installed_adapter_reads_in_every_process_with_one_thread_and_may_print(
    house: Path, logs: Callable[..., Path], capfd: pytest.CaptureFixture[str]
) -> None:
    assert house.is_dir()
    seen: list[tuple[int, int]] = []
    result = diagnose(logs(good=5, print=2), jobs=2, progress=lambda *numbers: seen.append(numbers))
    assert [run.framework for run in result.runs] == ["house"] * 7
    assert {run.env for run in result.runs} == {"1"}
    assert seen == [(done, 7) for done in range(1, 8)]
    captured = capfd.readouterr()
    assert captured.out == ""
    assert captured.err.count("by the house's adapter") == 4


def test_the_error_is_that_of_the_first_run_in_order(house: Path, logs: Callable[..., Path]) -> None:
    assert house.is_dir()
    folder = logs(good=5, usage=3)
    with pytest.raises(UsageError) as alone:
        diagnose(folder)
    with pytest.raises(UsageError) as shared:
        diagnose(folder, jobs=3)
    assert str(shared.value) == str(alone.value)
    assert str(folder / "usage-0.house") in str(shared.value)
    assert "house_reader.py" in shared.value.__notes__[0]


def test_an_error_that_cannot_be_sent_is_told_in_words(house: Path, logs: Callable[..., Path]) -> None:
    assert house.is_dir()
    with pytest.raises(RuntimeError, match="StrangeError: this and that"):
        diagnose(logs(strange=2), jobs=2)


@posix
def test_a_run_that_kills_its_process_twice_is_one_line_and_no_other_is_lost(
    house: Path, logs: Callable[..., Path], tmp_path: Path
) -> None:
    assert house.is_dir()
    seen: list[int] = []
    folder = logs(good=30, kill=2, kill_once=1, exit=1)
    result = diagnose(folder, jobs=2, progress=lambda done, _total: seen.append(done))
    assert result.notes == ()
    runs = {name: (verdict, reason) for name, verdict, reason in map(told, result.runs)}
    assert len(result.runs) == len(runs) == 34
    assert list(runs) == sorted(runs)
    dead = ("unreadable", "its reader process died (signal 9; out of memory?)")
    assert [runs["kill-0"], runs["kill-1"]] == [dead, dead]
    assert runs["exit-0"] == ("unreadable", "its reader process died (exit code 3)")
    assert {reason for name, (_, reason) in runs.items() if name.startswith(("good", "kill_once"))} == {
        runs["good-0"][1]
    }
    assert runs["good-0"][0] == "nothing_found"
    assert seen == list(range(1, 35))
    tries = {trace.name: len(list(trace.iterdir())) for trace in (tmp_path / "traces").iterdir()}
    assert tries["kill_once-0"] == 2
    assert max(tries.values()) == 3


@posix
def test_a_process_that_is_killed_from_outside_loses_nothing(
    house: Path, logs: Callable[..., Path], tmp_path: Path
) -> None:
    assert house.is_dir()
    folder = logs(good=40)
    killed: set[int] = set()

    def kill_the_first(_done: int, _total: int) -> None:
        if not killed:
            (trace,) = (tmp_path / "traces" / "good-0").iterdir()
            killed.add(int(trace.name.partition("-")[0]))
            os.kill(min(killed), signal.SIGKILL)

    result = diagnose(folder, jobs=2, progress=kill_the_first)
    assert killed
    assert len({run.id for run in result.runs}) == len(result.runs) == 40
    assert {run.framework for run in result.runs} == {"house"}


def run_a_sleeper(house: Path, folder: Path, tmp_path: Path) -> tuple[subprocess.Popen[str], list[int]]:
    """The command on logs whose readers sleep, and the numbers of the processes that do."""
    program = subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-m", "rl_diagnose", str(folder), "--jobs", "2"],
        env={**os.environ, "PYTHONPATH": str(house)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    traces = tmp_path / "traces"
    assert eventually(lambda: len(list(traces.glob("sleep-*/*"))) == 2), program.stderr
    return program, [int(trace.name.partition("-")[0]) for trace in traces.glob("sleep-*/*")]


@posix
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL, signal.SIGTERM])
def test_no_process_is_left_when_the_program_is_interrupted_or_killed(
    house: Path, logs: Callable[..., Path], tmp_path: Path, number: signal.Signals
) -> None:
    program, workers = run_a_sleeper(house, logs(sleep=2), tmp_path)
    assert len(set(workers)) == 2
    assert all(map(alive, workers))
    os.killpg(program.pid, number)
    out, err = program.communicate(timeout=60)
    assert program.returncode == (130 if number == signal.SIGINT else -number)
    assert (out, err) == ("", "")
    assert eventually(lambda: not any(map(alive, workers)))


@posix
def test_ctrl_c_ends_no_process_by_itself(house: Path, logs: Callable[..., Path], tmp_path: Path) -> None:
    program, workers = run_a_sleeper(house, logs(sleep=2), tmp_path)
    for worker in workers:
        os.kill(worker, signal.SIGINT)
    time.sleep(0.3)
    assert all(map(alive, workers))
    program.kill()
    program.communicate(timeout=60)
    assert eventually(lambda: not any(map(alive, workers)))


def test_a_script_needs_no_guard(tmp_path: Path, alone: Diagnosis) -> None:
    script = tmp_path / "script.py"
    code = "import rl_diagnose\nprint('once')\nprint(len(rl_diagnose.diagnose({!r}, jobs=2).runs))\n"
    script.write_text(code.format([str(EXAMPLE), str(DATA)]), "utf-8")
    for command in ([str(script)], ["-c", script.read_text("utf-8")]):
        done = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=True)  # noqa: S603 - our own program
        assert done.stdout.split() == ["once", str(len(alone.runs))]
        assert done.stderr == ""


def test_what_lies_in_the_working_folder_is_no_module_of_a_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, alone: Diagnosis
) -> None:
    for name in ("json", "random", "pickle", "numpy"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit(7)\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    assert said(diagnose([EXAMPLE, DATA], jobs=2)) == said(alone)


@pytest.mark.parametrize(
    ("executable", "why"), [("/no/such/program", "cannot be started"), ("", "no interpreter"), ("false", "exit code 1")]
)
def test_where_no_process_can_be_started_this_one_reads(
    monkeypatch: pytest.MonkeyPatch, alone: Diagnosis, executable: str, why: str
) -> None:
    if executable == "false":
        executable = shutil.which(executable) or pytest.skip("there is no such program")
    monkeypatch.setattr(sys, "executable", executable)
    seen: list[int] = []
    result = diagnose([EXAMPLE, DATA], jobs=2, progress=lambda done, _total: seen.append(done))
    (remark,) = (note for note in result.notes if note not in alone.notes)
    assert why in remark
    assert [*map(told, result.runs)] == [*map(told, alone.runs)]
    assert seen == list(range(1, len(alone.runs) + 1))


def test_a_program_that_is_no_interpreter_is_not_started_again(
    monkeypatch: pytest.MonkeyPatch, alone: Diagnosis
) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(processes, "Process", None)
    assert [*map(told, diagnose([EXAMPLE, DATA], jobs=2).runs)] == [*map(told, alone.runs)]


class Unsendable(dict[str, str]):
    def __reduce__(self) -> str:
        raise TypeError("stays here")


def test_what_cannot_be_sent_is_used_here(alone: Diagnosis) -> None:
    book = rl_diagnose.load_rulebook("core")
    object.__setattr__(book, "description", Unsendable())
    result = diagnose([EXAMPLE, DATA], [book], jobs=2)
    assert len(result.runs) == len(alone.runs)
    assert "stays here" in result.notes[-1]


def test_errors_of_ours_are_the_same_on_the_other_side() -> None:
    for error in (
        UsageError("no", place="here", hint="go"),
        RulebookError([Problem("RB001", "wrong", "book.yaml", 1, 2)]),
    ):
        again = unpack(pack_answer(Answer(error=error))).error
        assert type(again) is type(error)
        assert (str(again), again.args) == (str(error), error.args)


def found(number: int, file: Path | None = None) -> list[FoundRun]:
    place = file or Path("log")
    run = FoundRun("run", adapters()[0], RunSource(place, (place,) if file else ()), Sniff(1.0, ""))
    return [run] * number


def test_one_process_reads_where_more_would_not_pay(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(choice, "_cores", lambda: 64)
    assert choice.processes_for(None, found(249)) == 1
    assert choice.processes_for(None, found(250)) == 5
    assert choice.processes_for(None, found(10_000)) == 8
    table = tmp_path / "log.csv"
    table.write_bytes(bytes(50_000_000))
    assert choice.processes_for(None, found(1, table)) == 1
    assert choice.processes_for(None, [*found(1, table), *found(3)]) == 4
    assert choice.processes_for("auto", found(10_000)) == choice.processes_for(0, found(10_000)) == 64
    assert choice.processes_for(3, found(2)) == 2
    monkeypatch.setattr(choice, "_cores", lambda: 1)
    assert choice.processes_for(None, found(10_000)) == 1


@pytest.mark.parametrize("jobs", [-1, 257, 1.5, True, False, "many"])
def test_a_number_of_jobs_that_cannot_be_meant_is_refused(jobs: Any) -> None:
    with pytest.raises(UsageError, match="number of processes"):
        diagnose(EXAMPLE, jobs=jobs)


def test_slices_are_small_enough_to_be_shared_out_evenly() -> None:
    assert [choice.slice_size(runs, 4) for runs in (1, 4, 40, 10_000)] == [1, 1, 2, 16]
