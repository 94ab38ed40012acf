"""Real runs from end to end: every answer is complete, cited, valid, and independent of the batch."""

from __future__ import annotations

import json
import math
from pathlib import Path

import jsonschema
import pytest

from rl_diagnose import Diagnosis, diagnose

pytestmark = pytest.mark.corpus
SCHEMA = json.loads((Path(__file__).parents[2] / "docs/schema/diagnosis-v1.schema.json").read_text("utf-8"))
EVERY = 9


@pytest.fixture(scope="module")
def result(shared: Path) -> Diagnosis:
    """Every ninth run of the corpus that an adapter can read."""
    return diagnose(sorted((shared / "corpus" / "runs").iterdir())[::EVERY])


def test_every_run_gets_a_verdict_and_a_reason(result: Diagnosis) -> None:
    assert len(result.runs) >= 10
    assert {run.verdict for run in result.runs} <= {"finding", "nothing_found", "cannot_tell", "unreadable"}
    assert all(run.verdict_reason for run in result.runs)


def test_the_document_is_valid_and_finite(result: Diagnosis) -> None:
    document = result.to_dict()
    jsonschema.validate(document, SCHEMA)
    json.dumps(document, allow_nan=False)


def test_a_finding_has_a_symptom_inside_the_run_a_cited_ledger_and_a_way_out(result: Diagnosis) -> None:
    findings = [run for run in result.runs if run.verdict == "finding"]
    assert findings
    for run in findings:
        assert run.top is not None
        assert run.primary_symptom is not None
        assert run.top.probability is not None
        assert run.top.probability >= 0.5
        onset = run.primary_symptom.onset_step
        assert onset is None or (run.last_step is not None and 0 <= onset <= run.last_step)
        assert run.top.remedies or run.top.tell_apart
        cited = [e for e in run.top.evidence if not e.missing]
        assert cited
        assert all(any(c.isdigit() for c in e.statement) for e in cited)


def test_ledgers_add_up(result: Diagnosis) -> None:
    for run in result.runs:
        for cause in run.causes:
            if cause.status != "assessed" or not cause.evidence:
                continue
            odds = (
                math.log(cause.prior / (1 - cause.prior)) + sum(e.decibans for e in cause.evidence) * math.log(10) / 10
            )
            assert cause.evidence[-1].running_probability == pytest.approx(1 / (1 + math.exp(-odds)), abs=1e-9)


def test_causes_are_sorted_and_the_unassessable_have_no_number(result: Diagnosis) -> None:
    for run in result.runs:
        numbers = [cause.probability for cause in run.causes]
        known = [p for p in numbers if p is not None]
        assert known == sorted(known, reverse=True)
        assert numbers[len(known) :] == [None] * (len(numbers) - len(known))
        assert all(c.probability is None for c in run.causes if c.status == "not_assessable")


def test_a_run_gets_the_same_answer_alone(result: Diagnosis) -> None:
    run = next(run for run in result.runs if run.verdict == "finding")
    alone = diagnose(run.path).to_dict()["runs"][0]
    assert alone == next(r for r in result.to_dict()["runs"] if r["path"] == run.path)
