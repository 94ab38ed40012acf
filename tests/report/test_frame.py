"""The table of a diagnosis: a row a run, nulls where nothing is known."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from rl_diagnose.report.frame import SCHEMA

from .made import BROKEN, CAUSE, QUIET, RUN, SHORT, diagnosis


def test_each_run_is_a_row_in_the_order_of_the_diagnosis() -> None:
    frame = diagnosis(QUIET, RUN, SHORT, BROKEN).to_polars()
    assert frame.schema == pl.Schema(SCHEMA)
    assert frame["run"].to_list() == ["PPO_4", "PPO_3", "PPO_5", "PPO_6"]
    assert frame["verdict"].to_list() == ["nothing_found", "finding", "cannot_tell", "unreadable"]


def test_a_finding_has_its_symptom_cause_and_first_remedy() -> None:
    (row,) = diagnosis(RUN).to_polars().rows(named=True)
    assert (row["symptom"], row["onset_step"]) == ("entropy_collapsed", 12_450.0)
    assert (row["cause"], row["book"], row["probability"]) == (CAUSE.id, "ppo", 0.92)
    assert (row["knob"], row["current"], row["proposed"]) == ("entropy_coef", 0.01, 0.03)


def test_what_is_not_known_is_null() -> None:
    (row,) = diagnosis(BROKEN).to_polars().rows(named=True)
    assert all(row[name] is None for name in ("symptom", "cause", "probability", "knob", "env", "last_step"))


def test_the_most_probable_fault_stands_there_below_the_threshold_too() -> None:
    (row,) = diagnosis(QUIET).to_polars().rows(named=True)
    assert (row["verdict"], row["cause"], row["probability"]) == ("nothing_found", "lr", 0.21)


def test_rows_of_no_text_and_no_runs_are_carried() -> None:
    named = replace(RUN, id="a\udcff", path="b\udcff")
    assert diagnosis(named).to_polars()["run"].to_list() == ["a?"]
    assert replace(diagnosis(), runs=()).to_polars().shape == (0, len(SCHEMA))
