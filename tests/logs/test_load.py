"""From a path to a run: ids, several runs, and what is said when there is none."""

from __future__ import annotations

import dataclasses
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rl_diagnose.adapters.sb3 import ADAPTER
from rl_diagnose.errors import LogError, NoReadableRunError, UsageError
from rl_diagnose.logs import load
from rl_diagnose.logs.adapter import Folder, ReadOptions, RunSource, Sniff
from rl_diagnose.logs.load import find_runs, load_run, load_source
from rl_diagnose.logs.registry import PluginProblem
from rl_diagnose.signals.run import Run, Semantics, Series

DATA = Path(__file__).resolve().parents[1] / "data" / "sb3"


@pytest.fixture(autouse=True)
def _sb3_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """These tests are about the search, not about which adapters are installed."""
    install(monkeypatch, ADAPTER)


def install(monkeypatch: pytest.MonkeyPatch, *adapters: Any, problems: tuple[PluginProblem, ...] = ()) -> None:
    monkeypatch.setattr(load, "adapters", lambda: adapters)
    monkeypatch.setattr(load, "plugin_problems", lambda: problems)


def place(source: str, target: Path) -> Path:
    return Path(shutil.copytree(DATA / source, target))


class Fake:
    """An adapter that answers the same for every folder."""

    def __init__(self, name: str, score: float, *, fail: type[Exception] | None = None) -> None:
        self.name, self.title, self.score, self.fail = name, f"the logs of {name}", score, fail

    def sniff(self, folder: Folder) -> Sniff:
        return Sniff(self.score, f"because {self.name}", (RunSource(folder.path, folder.files),))

    def read(self, source: RunSource, options: ReadOptions) -> Run:  # noqa: ARG002 - the protocol's name
        if self.fail is not None:
            raise self.fail("broken inside")
        return Run(id="?", path=str(source.path), framework=self.name, series={})


def test_the_one_run_of_a_folder_is_read_under_the_folders_name(tmp_path: Path) -> None:
    run = load_run(place("ppo_gaussian", tmp_path / "PPO_1"))
    assert (run.id, run.framework, run.adapter) == ("PPO_1", "sb3", "sb3")
    assert "Stable-Baselines3's keys" in run.adapter_reason
    assert "ppo" in run.adapter_reason


def test_a_run_further_down_is_named_by_its_path(tmp_path: Path) -> None:
    place("ppo_gaussian", tmp_path / "logs" / "CartPole" / "PPO_1")
    run = load_run(tmp_path / "logs")
    assert run.id == "CartPole/PPO_1"
    assert Path(run.path) == tmp_path / "logs" / "CartPole" / "PPO_1"


def test_a_file_is_a_run_under_its_name(tmp_path: Path) -> None:
    folder = place("trpo_csv", tmp_path / "run")
    assert load_run(folder / "progress.csv").id == "progress.csv"


def test_paths_may_be_text_and_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place("trpo_csv", tmp_path / "TRPO_1"))
    assert load_run(".").id == "TRPO_1"
    assert load_run("progress.csv").id == "progress.csv"


def test_sibling_runs_are_never_merged(tmp_path: Path) -> None:
    for k in (2, 1, 10):
        place("ppo_gaussian", tmp_path / f"PPO_{k}")
    found = find_runs(tmp_path)
    assert [source.id for source in found.sources] == ["PPO_1", "PPO_10", "PPO_2"]
    assert {len(load_source(source).series["reward.train"]) for source in found.sources} == {49}


def test_several_runs_where_one_is_wanted_are_listed(tmp_path: Path) -> None:
    for k in range(15):
        place("trpo_csv", tmp_path / f"TRPO_{k:02d}")
    with pytest.raises(UsageError, match=r"15 runs are below this path: TRPO_00, TRPO_01, .* and 3 more") as caught:
        load_run(tmp_path)
    assert caught.value.hint == "give the path of one of them"


def test_options_reach_the_adapter(tmp_path: Path) -> None:
    folder = place("trpo_csv", tmp_path / "TRPO_1")
    run = load_run(folder, ReadOptions(mapping={"time/time_elapsed": "reward.eval"}))
    assert run.series["reward.eval"].semantics.source_key == "time/time_elapsed"


def test_the_surest_adapter_gets_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x").write_text("x", "utf-8")
    install(monkeypatch, Fake("unsure", 0.3), Fake("sure", 0.8), Fake("no", 0.0))
    run = load_run(tmp_path)
    assert (run.adapter, run.adapter_reason) == ("sure", "because sure")


@pytest.mark.parametrize("near", ["PPO_1", None])
def test_a_path_that_does_not_exist_says_so_and_guesses(tmp_path: Path, near: str | None) -> None:
    if near:
        (tmp_path / near).mkdir()
    with pytest.raises(UsageError, match="there is no such file or folder") as caught:
        load_run(tmp_path / "PPO_l")
    assert caught.value.hint == (f"did you mean {tmp_path / near}?" if near else "check the path")


def test_an_empty_folder_says_so(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    with pytest.raises(NoReadableRunError, match="there are no files here") as caught:
        load_run(tmp_path)
    assert "Stable-Baselines3" in str(caught.value)


def test_a_folder_without_logs_lists_what_was_seen_and_what_is_read(tmp_path: Path) -> None:
    for name in ("notes.txt", "params.json", "plot.png"):
        (tmp_path / name).write_text("{}", "utf-8")
    with pytest.raises(NoReadableRunError) as caught:
        load_run(tmp_path)
    assert caught.value.fact == "3 files, but no training log among them: notes.txt, params.json, plot.png"
    assert caught.value.hint == f"formats which are read: {ADAPTER.title}"
    assert caught.value.exit_code == 4


def test_a_file_that_is_no_log_says_so(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("hello", "utf-8")
    with pytest.raises(NoReadableRunError, match="this file is no training log that is known"):
        load_run(path)


def test_a_folder_whose_only_log_cannot_be_read_says_why(tmp_path: Path) -> None:
    (tmp_path / "events.out.tfevents.1.host").write_bytes(b"rubbish" * 20)
    with pytest.raises(LogError, match="not a TensorBoard event file"):
        load_run(tmp_path)


def test_a_folder_with_something_recognised_that_is_no_run_says_what(tmp_path: Path) -> None:
    shutil.copy(DATA / "zoo" / "CartPole-v1_1" / "CartPole-v1.zip", tmp_path)
    with pytest.raises(NoReadableRunError, match=r"CartPole-v1\.zip: a saved model, but no log beside it"):
        load_run(tmp_path)


def test_what_is_no_run_is_noted_beside_the_runs(tmp_path: Path) -> None:
    place("trpo_csv", tmp_path / "TRPO_1")
    (tmp_path / "eval").mkdir()
    shutil.copy(DATA / "monitors" / "train.monitor.csv", tmp_path / "eval" / "0.monitor.csv")
    found = find_runs(tmp_path)
    assert [source.id for source in found.sources] == ["TRPO_1"]
    (problem,) = found.problems
    assert Path(problem.path) == tmp_path / "eval"
    assert "evaluation episodes only" in problem.fact


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pipe")
def test_a_pipe_is_neither_folder_nor_file(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(NoReadableRunError):
        load_run(path)


def test_an_adapter_that_breaks_while_looking_is_named_and_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken(Fake):
        def sniff(self, folder: Folder) -> Sniff:  # noqa: ARG002 - the protocol's name
            raise ZeroDivisionError("oops")

    place("trpo_csv", tmp_path / "TRPO_1")
    install(monkeypatch, Broken("bad", 1.0), ADAPTER)
    assert load_run(tmp_path / "TRPO_1").adapter == "sb3"
    install(monkeypatch, Broken("bad", 1.0))
    with pytest.raises(NoReadableRunError, match=r"the adapter 'bad' failed \(ZeroDivisionError: oops\)"):
        load_run(tmp_path)


def test_an_adapter_that_breaks_while_reading_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x").write_text("x", "utf-8")
    install(monkeypatch, Fake("bad", 1.0, fail=KeyError))
    with pytest.raises(LogError, match=r"the adapter 'bad' failed \(KeyError"):
        load_run(tmp_path)
    monkeypatch.setenv("RL_DIAGNOSE_DEBUG", "1")
    with pytest.raises(KeyError):
        load_run(tmp_path)


def test_broken_plug_ins_are_among_the_problems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place("trpo_csv", tmp_path / "TRPO_1")
    problem = PluginProblem("bad", "pkg:X", "ImportError: no")
    install(monkeypatch, ADAPTER, problems=(problem,))
    assert [str(p) for p in find_runs(tmp_path).problems] == [f"pkg:X: {problem}"]
    install(monkeypatch, problems=(problem,))
    with pytest.raises(UsageError, match="no log can be read: adapter 'bad'"):
        load_run(tmp_path)


@pytest.mark.parametrize(
    ("step", "value", "said"),
    [
        ([0.0, 2.0, 1.0], [1.0, 2.0, 3.0], "steps out of order for 'reward.train'"),
        ([0.0, np.nan, 1.0], [1.0, 2.0, 3.0], "steps out of order"),
        ([0.0, 1.0, np.nan], [1.0, 2.0, 3.0], "steps out of order"),
        ([0.0, 1.0], [1.0, 2.0, 3.0], "columns of unequal length for 'reward.train'"),
    ],
)
def test_an_adapter_that_breaks_the_schema_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: list[float], value: list[float], said: str
) -> None:
    class Careless(Fake):
        def read(self, source: RunSource, options: ReadOptions) -> Run:
            unknown = np.full(len(value), np.nan)
            one = Series("reward.train", np.array(step), np.array(value), unknown, unknown, Semantics("score"))
            return dataclasses.replace(super().read(source, options), series={one.signal: one})

    place("ppo_gaussian", tmp_path / "PPO_1")
    install(monkeypatch, Careless("house", 0.9))
    with pytest.raises(LogError, match="the adapter 'house' gave") as error:
        load_run(tmp_path / "PPO_1")
    assert said in str(error.value)
