"""What damage may do to a run: cost rows, and say so. No row that was not logged, no loss in silence, no crash.

A bounded slice of ``benchmarks/damage.py``, on the example, small logs of the test data, and samples where they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from damaged.cases import Case, find_cases
from damaged.judge import Outcome, run_case

ROOT = Path(__file__).resolve().parents[2]
SB3 = ROOT / "tests" / "data" / "sb3"
SAMPLES = ("sb3/imitation_gail", "spinningup/ppo_hopper", "trl/grpo_gemma3", "torchrl/td3_2022")
LARGEST = 100_000  # bytes of a log here: the benchmark does the others


def small(folder: Path) -> list[Case]:
    """The logs of a folder, each on its own."""
    return [case for case in find_cases(folder) if case.log.stat().st_size <= LARGEST and "beside" not in case.name]


CASES = [
    case
    for place in (ROOT / "examples" / "collapsed-ppo", SB3 / "monitors", SB3 / "td3_eval")
    for case in small(place)
    if case.log.name != "eval.monitor.csv"  # no training: not a run
]


def hold(found: Sequence[Outcome]) -> None:
    """Nobody crashed, lost rows in silence, made some up, or forgot to say where."""
    for one in found:
        assert one.crash is None, one
        assert not one.silent, one
        assert one.placed, one
        if one.kind != "30 bits flipped":  # so many in a small table may make a row that looks right
            assert not one.false, one


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.log.name)
def test_damage_makes_up_no_rows_and_loses_none_in_silence(case: Case, tmp_path: Path) -> None:
    found = list(run_case(case, tmp_path, every=25, repeats=1))
    assert {one.kind for one in found} >= {"cut", "1 bit flipped", "tail of zeros", "file twice", "restart"}
    hold(found)
    for one in found:
        if one.kind in ("cut", "file twice"):
            assert not one.moved, one
    assert any(one.lost for one in found if one.kind == "cut")


@pytest.mark.parametrize("name", SAMPLES)
def test_damage_to_public_logs(shared: Path, tmp_path: Path, name: str) -> None:
    for case in small(shared / "samples" / name):
        hold(list(run_case(case, tmp_path / case.log.name, every=25, repeats=1)))
