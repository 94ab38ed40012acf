"""The JSON contract: valid against its schema, strict, sorted, and the same bytes for the same diagnosis."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from rl_diagnose.report.json_report import to_document, to_json
from rl_diagnose.report.schema import diagnosis_schema_text

from .made import BROKEN, CAUSE, QUIET, RUN, SHORT, SYMPTOM, diagnosis

SCHEMA = json.loads((Path(__file__).parents[2] / "docs/schema/diagnosis-v1.schema.json").read_text("utf-8"))


def strict(text: str) -> Any:
    def refuse(word: str) -> Any:
        raise AssertionError(f"not JSON: {word}")

    return json.loads(text, parse_constant=refuse)


def test_every_verdict_is_valid_against_the_published_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(strict(to_json(diagnosis(RUN, QUIET, SHORT, BROKEN))), SCHEMA)


def test_the_schema_refuses_a_field_that_it_does_not_know() -> None:
    document = to_document(diagnosis())
    document["runs"][0]["mood"] = "good"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, SCHEMA)


def test_the_fields_of_the_contract_are_there() -> None:
    document = to_document(diagnosis())
    assert document["schema"] == "rl-diagnose/diagnosis/v1"
    assert document["rulebooks"][0].keys() == {"id", "version", "sha256"}
    run = document["runs"][0]
    assert {
        "id",
        "path",
        "framework",
        "algorithm",
        "verdict",
        "verdict_reason",
        "primary_symptom",
        "causes",
    } <= run.keys()
    assert {"not_checked", "log_issues"} <= run.keys()
    cause = run["causes"][0]
    assert {
        "id",
        "title",
        "probability",
        "calibrated",
        "coverage",
        "status",
        "kind",
        "evidence",
        "remedies",
    } <= cause.keys()
    assert cause["remedies"][0]["values"] == {"decay": 0.999995}
    assert cause["remedies"][0]["expect"][0]["target"] == 0.03


def test_a_cause_that_cannot_be_assessed_has_a_null_probability() -> None:
    causes = to_document(diagnosis())["runs"][0]["causes"]
    assert {c["id"]: c["probability"] for c in causes}["critic"] is None


def test_non_finite_numbers_become_null() -> None:
    symptom = replace(SYMPTOM, value=float("nan"), max_value=float("inf"))
    document = strict(to_json(diagnosis(replace(RUN, primary_symptom=symptom))))
    assert document["runs"][0]["primary_symptom"]["value"] is None
    assert document["runs"][0]["primary_symptom"]["max_value"] is None


def test_numpy_numbers_are_written_like_python_ones() -> None:
    cause = replace(CAUSE, probability=np.float64(0.25))
    assert strict(to_json(diagnosis(replace(RUN, causes=(cause,)))))["runs"][0]["causes"][0]["probability"] == 0.25


def test_the_same_diagnosis_gives_the_same_bytes() -> None:
    first, second = diagnosis(), replace(diagnosis(), created="another time")
    assert to_json(first) == to_json(diagnosis())
    assert to_json(first).splitlines()[3:] == to_json(second).splitlines()[3:]


def test_a_last_bit_of_a_float_does_not_change_the_bytes() -> None:
    causes = (replace(CAUSE, probability=0.1 + 0.2), replace(CAUSE, probability=0.3))
    texts = {to_json(diagnosis(replace(RUN, causes=(cause,)))) for cause in causes}
    assert len(texts) == 1


def test_a_file_name_that_is_not_text_does_not_break_the_document() -> None:
    text = to_json(diagnosis(replace(RUN, path="runs/\udcff")))
    assert strict(text.encode("utf-8").decode("utf-8"))["runs"][0]["path"] == "runs/?"


def test_the_schema_in_the_package_is_the_published_one() -> None:
    assert json.loads(diagnosis_schema_text()) == SCHEMA
