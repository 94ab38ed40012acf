"""SARIF 2.1.0: the parts of the standard's schema that these logs use, and paths that a scanner can place."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from rl_diagnose.report.problems_sarif import sarif_document, to_sarif
from rl_diagnose.rules.problems import CODES, Problem

# An excerpt of sarif-schema-2.1.0.json (OASIS): the objects that occur here with their required fields and types.
TEXT = {
    "type": "object",
    "required": ["text"],
    "properties": {"text": {"type": "string"}},
    "additionalProperties": False,
}
LEVEL = {"enum": ["none", "note", "warning", "error"]}
COUNT = {"type": "integer", "minimum": 1}
EXCERPT = {
    "type": "object",
    "required": ["version", "runs"],
    "additionalProperties": False,
    "properties": {
        "$schema": {"type": "string", "format": "uri"},
        "properties": {"type": "object"},
        "version": {"enum": ["2.1.0"]},
        "runs": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/run"}},
    },
    "$defs": {
        "run": {
            "type": "object",
            "required": ["tool"],
            "additionalProperties": False,
            "properties": {
                "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                "results": {"type": "array", "items": {"$ref": "#/$defs/result"}},
                "tool": {
                    "type": "object",
                    "required": ["driver"],
                    "additionalProperties": False,
                    "properties": {
                        "driver": {
                            "type": "object",
                            "required": ["name"],
                            "additionalProperties": False,
                            "properties": {
                                "name": {"type": "string"},
                                "version": {"type": "string"},
                                "rules": {"type": "array", "uniqueItems": True, "items": {"$ref": "#/$defs/rule"}},
                            },
                        }
                    },
                },
            },
        },
        "rule": {
            "type": "object",
            "required": ["id"],
            "additionalProperties": False,
            "properties": {
                "id": {"type": "string"},
                "shortDescription": TEXT,
                "help": TEXT,
                "defaultConfiguration": {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {"level": LEVEL},
                },
            },
        },
        "result": {
            "type": "object",
            "required": ["message"],
            "additionalProperties": False,
            "properties": {
                "ruleId": {"type": "string"},
                "ruleIndex": {"type": "integer", "minimum": -1},
                "level": LEVEL,
                "message": TEXT,
                "locations": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "additionalProperties": False,
                        "properties": {
                            "physicalLocation": {
                                "type": "object",
                                "required": ["artifactLocation"],
                                "additionalProperties": False,
                                "properties": {
                                    "artifactLocation": {
                                        "type": "object",
                                        "additionalProperties": False,
                                        "properties": {"uri": {"type": "string", "format": "uri-reference"}},
                                    },
                                    "region": {
                                        "type": "object",
                                        "additionalProperties": False,
                                        "properties": {"startLine": COUNT, "startColumn": COUNT, "snippet": TEXT},
                                    },
                                },
                            }
                        },
                    },
                },
            },
        },
    },
}

ERROR = Problem("RB021", "unknown symptom 'x'", "rules/my house.yaml", 12, 7, "  - {symptom: x}", "did you mean 'y'?")
WARNING = Problem("RB100", "the symptom 'z' is never used", "rules/my house.yaml", 4, 3, severity="warning")
WHOLE = Problem("RB001", "the file cannot be read", "gone.yaml")


@pytest.mark.parametrize("problems", [[], [ERROR], [ERROR, WARNING, WHOLE, ERROR]])
def test_the_log_has_the_structure_of_the_standard(problems: list[Problem]) -> None:
    jsonschema.Draft202012Validator.check_schema(EXCERPT)
    jsonschema.validate(json.loads(to_sarif(problems)), EXCERPT)


def test_a_result_has_its_rule_level_place_and_way_out() -> None:
    (run,) = sarif_document([WARNING, ERROR])["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["RB021", "RB100"]
    assert [rule["defaultConfiguration"]["level"] for rule in rules] == ["error", "warning"]
    assert rules[0]["help"]["text"] == CODES["RB021"].remedy
    warning, error = run["results"]
    assert (warning["level"], error["level"]) == ("warning", "error")
    assert rules[error["ruleIndex"]]["id"] == error["ruleId"] == "RB021"
    assert error["message"]["text"] == "unknown symptom 'x'\ndid you mean 'y'?"
    (place,) = error["locations"]
    assert place["physicalLocation"]["region"] == {
        "startLine": 12,
        "startColumn": 7,
        "snippet": {"text": "  - {symptom: x}"},
    }


def test_a_problem_of_a_whole_file_has_no_region() -> None:
    (result,) = sarif_document([WHOLE])["runs"][0]["results"]
    assert "region" not in result["locations"][0]["physicalLocation"]


def test_paths_below_the_working_folder_are_relative_and_others_are_file_uris(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")

    def uri(file: str) -> str:
        result = sarif_document([Problem("RB001", "m", file)])["runs"][0]["results"][0]
        return str(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"])

    assert uri("rules/my häuser.yaml") == "rules/my%20h%C3%A4user.yaml"
    assert uri(str(tmp_path / "here" / "a.yaml")) == "a.yaml"
    assert uri(str(tmp_path / "there.yaml")) == (tmp_path / "there.yaml").as_uri()
