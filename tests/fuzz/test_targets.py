"""Whatever bytes a reader is given, it reads them or says in its own words why it cannot: the bounded slice of fuzzing.

The campaigns that found the kept cases are in `campaign.py`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from .mutations import mutations
from .targets import TARGETS, Target

COUNT = 200
LONGEST = 5.0
"""Seconds of processor time that a kept case may take."""
CRASHES = Path(__file__).parent / "crashes"


def _kept() -> Iterator[tuple[str, str]]:
    for path in sorted(CRASHES.glob("*/*")):
        yield path.parent.name, path.name


@pytest.mark.parametrize("target", TARGETS.values(), ids=list(TARGETS))
def test_seeds_are_there_and_at_least_one_is_accepted(target: Target) -> None:
    seeds = target.seeds()
    assert seeds == target.seeds()
    accepted = [target.holds(seed) for seed in seeds]
    assert any(accepted)


@pytest.mark.parametrize("target", TARGETS.values(), ids=list(TARGETS))
def test_damaged_inputs_are_read_or_refused(target: Target) -> None:
    for number, data in enumerate(mutations(target.seeds(), COUNT, seed=20261207)):
        try:
            target.holds(data)
        except Exception as error:
            error.add_note(f"mutation {number} of {target.name}: {data[:2000]!r}")
            raise


@pytest.mark.parametrize(("target", "case"), list(_kept()))
def test_what_once_broke_a_reader_is_read_or_refused(target: str, case: str) -> None:
    started = time.process_time()
    TARGETS[target].holds((CRASHES / target / case).read_bytes())
    assert time.process_time() - started < LONGEST  # some of them took minutes


def test_kept_cases_are_small_and_belong_to_a_target() -> None:
    for target, case in _kept():
        assert target in TARGETS
        assert (CRASHES / target / case).stat().st_size <= 8192
