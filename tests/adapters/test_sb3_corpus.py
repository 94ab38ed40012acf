"""All Stable-Baselines3 runs of the labelled corpus: read, named and compared with their progress.csv."""

from __future__ import annotations

import csv
import math
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from rl_diagnose.adapters.sb3 import ADAPTER
from rl_diagnose.logs.adapter import Folder, ReadOptions
from rl_diagnose.signals.run import Run

pytestmark = pytest.mark.corpus

SB3 = ("stable-baselines3", "sb3-contrib")


def labelled(shared: Path) -> Iterator[tuple[Path, dict[str, str]]]:
    with (shared / "corpus" / "labels.csv").open(encoding="utf-8", newline="") as file:
        for label in csv.DictReader(file):
            yield shared / "corpus" / "runs" / label["run_id"], label


def folder(path: Path) -> Folder:
    return Folder(path, tuple(sorted(p for p in path.iterdir() if p.is_file())))


@pytest.fixture(scope="module")
def runs(shared: Path) -> list[tuple[Run, dict[str, str]]]:
    read = []
    for path, label in labelled(shared):
        if label["framework"] in SB3:
            (source,) = ADAPTER.sniff(folder(path)).sources
            read.append((ADAPTER.read(source, ReadOptions()), label))
    return read


def size_of(space: str) -> tuple[str, int]:
    """Kind and size of a label's action space; a MultiDiscrete one counts its joint actions."""
    numbers = [int(n) for n in re.findall(r"\d+", space.partition("(")[2] if "Discrete" in space else space[-5:])]
    return ("continuous" if space.startswith("Box") else "discrete"), math.prod(numbers)


def test_every_run_is_read_with_its_algorithm(runs: list[tuple[Run, dict[str, str]]]) -> None:
    assert len(runs) > 100
    # RecurrentPPO logs what PPO logs; without a telling folder name they cannot be told apart.
    wrong = [
        (run.id, run.algorithm, label["algorithm"])
        for run, label in runs
        if (run.algorithm or "") != label["algorithm"].lower().replace("recurrentppo", "ppo")
    ]
    assert wrong == []


def test_the_action_space_is_right_or_unknown(runs: list[tuple[Run, dict[str, str]]]) -> None:
    sizes = Counter[str]()
    for run, label in runs:
        kind, size = size_of(label["action_space"])
        assert run.action_space.kind == kind, run.id
        assert run.action_space.size in (None, size), run.id
        sizes["known" if run.action_space.size else "unknown"] += 1
    assert sizes["known"] > 2 * sizes["unknown"]


def test_nothing_is_left_unmapped(runs: list[tuple[Run, dict[str, str]]]) -> None:
    assert [(run.id, run.unmapped) for run, _ in runs if run.unmapped] == []


def test_signals_equal_progress_csv(shared: Path, runs: list[tuple[Run, dict[str, str]]]) -> None:
    compared = Counter[str]()
    for run, label in runs:
        table = shared / "corpus" / "runs" / label["run_id"] / "progress.csv"
        if not table.is_file() or label["event_files"] != "1":
            continue
        with table.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        for signal, series in run.series.items():
            key = series.semantics.source_key
            if signal.startswith("raw.") or key not in rows[0]:
                continue
            cells = {float(row["time/total_timesteps"]): float(row[key]) for row in rows if row[key]}
            expected = np.array([value if math.isfinite(value) else math.nan for value in cells.values()])
            if series.semantics.transform == "-x":
                expected = -expected
            assert series.step.tolist() == list(cells), (run.id, signal)
            np.testing.assert_allclose(series.value, expected, rtol=2e-6, atol=1e-12, err_msg=f"{run.id} {signal}")
            compared[signal] += 1
    assert compared["reward.train"] > 100
    assert compared["policy.kl"] > 80


def test_other_frameworks_are_not_claimed(shared: Path) -> None:
    others = [path for path, label in labelled(shared) if label["framework"] not in SB3]
    samples = [path for path in (shared / "samples").rglob("*") if path.is_dir() and "sb3" not in path.parts]
    silent = {"unitree_empty", "isaaclab_params", "empty40", "keras_tb_custom"}  # event files without readable keys
    for path in [*others, *samples]:
        limit = 0.1 if path.name in silent else 0.0
        assert ADAPTER.sniff(folder(path)).score <= limit, path
    assert len(others) > 10


def test_every_public_sample_is_read(shared: Path) -> None:
    read = {}
    for path in sorted((shared / "samples" / "sb3").iterdir()):
        answer = ADAPTER.sniff(folder(path))
        assert answer.score >= 0.9, path
        if path.name != "monitor_empty":
            read[path.name] = ADAPTER.read(answer.sources[0], ReadOptions())
    assert {name: run.algorithm for name, run in read.items()} == {
        "a2c_cartpole": "a2c",
        "imitation_gail": "ppo",
        "imitation_gail_raw": "ppo",
        "monitor_plain": None,
        "pidail_dqn_cartpole": "dqn",
        "pidail_sac_ant": "sac",
        "pidail_td3_ant": "td3",
        "rl-trained-agents_ppo_CartPole": "ppo",
        "rl-trained-agents_sac_Pendulum": "sac",
        "rl-trained-agents_tqc_FetchReach": "tqc",
        "rl-zoo-benchmark_a2c-Breakout": "a2c",
    }
    assert read["a2c_cartpole"].series["value.explained_variance"].non_finite.benign == 31
