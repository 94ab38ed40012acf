"""JUnit, SARIF and GitHub annotations: what passes, what fails, and that names from logs cannot break the format."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import jsonschema
import pytest

from rl_diagnose.diagnosis.model import Diagnosis
from rl_diagnose.report.findings_sarif import to_sarif
from rl_diagnose.report.github import to_annotations
from rl_diagnose.report.junit import to_junit

from .made import BROKEN, CAUSE, QUIET, RUN, SHORT, diagnosis
from .test_problems_sarif import EXCERPT

WEAK = replace(QUIET, causes=(replace(CAUSE, probability=0.3),))
ALL = diagnosis(RUN, WEAK, SHORT, BROKEN)
HOSTILE = diagnosis(
    replace(
        RUN,
        id='a"]]><x>&%\r\n::error::b\x1b[31m\x00\ud800\uffff',
        path="logs/a,b:c%\n::error::x",
        files=(),
        causes=(replace(CAUSE, title="50 % <b>,\n::warning::c"), *RUN.causes[1:]),
    )
)


def _parsed(text: str) -> ET.Element:
    return ET.fromstring(text)  # noqa: S314 - written by this program


def cases(result: Diagnosis, fail_at: float | None = None) -> dict[str, str]:
    """What each run's test case came out as."""
    (suite,) = _parsed(to_junit(result, fail_at))
    assert int(suite.attrib["tests"]) == len(suite)
    found = {case.attrib["name"]: case[0].tag for case in suite}
    tags = list(found.values())
    counts = [int(suite.attrib[name]) for name in ("failures", "errors", "skipped")]
    assert counts == [tags.count(tag) for tag in ("failure", "error", "skipped")]
    return found


@pytest.mark.parametrize(
    ("fail_at", "expected"),
    [
        (None, {"PPO_3": "failure", "PPO_4": "system-out", "PPO_5": "skipped", "PPO_6": "error"}),
        (0.95, {"PPO_3": "system-out", "PPO_4": "system-out", "PPO_5": "skipped", "PPO_6": "error"}),
        (0.25, {"PPO_3": "failure", "PPO_4": "failure", "PPO_5": "skipped", "PPO_6": "error"}),
    ],
)
def test_junit_fails_the_runs_that_reach_the_bound(fail_at: float | None, expected: dict[str, str]) -> None:
    assert cases(ALL, fail_at) == expected


def test_what_cannot_be_judged_fails_only_at_a_bound_of_the_users() -> None:
    """The most probable fault may stand above one half where the verdict is that nothing can be told."""
    unsure = diagnosis(replace(SHORT, causes=(CAUSE,)))
    assert cases(unsure) == {"PPO_5": "skipped"}
    assert cases(unsure, 0.95) == {"PPO_5": "skipped"}
    assert cases(unsure, 0.9) == {"PPO_5": "failure"}


def test_a_junit_failure_says_cause_evidence_and_fix() -> None:
    case = _parsed(to_junit(ALL))[0][0]
    assert case.attrib["file"] == (RUN.files[0])
    failure = case[0]
    assert failure.attrib == {"type": CAUSE.id, "message": "Entropy bonus too weak or decaying too fast (92 %)"}
    told = (failure.text or "").splitlines()
    assert told[0].startswith("First symptom: Policy entropy collapsed. ")
    assert any(line.startswith("+9.8 dB Policy entropy collapsed: ") for line in told)
    assert not any("optim.grad_norm" in line for line in told), "missing evidence weighs nothing"
    assert "entropy_coef: 0.01 (from config.json ent_coef) → 0.03" in told


@pytest.mark.parametrize(("fail_at", "level"), [(None, "warning"), (0.9, "error"), (0.95, "warning")])
def test_sarif_has_a_result_for_each_finding(fail_at: float | None, level: str) -> None:
    log = json.loads(to_sarif(ALL, fail_at))
    (run,) = log["runs"]
    (result,) = run["results"]
    assert result["level"] == level
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == f"ppo/{CAUSE.id}"
    (notification,) = run["invocations"][0]["toolExecutionNotifications"]
    assert notification["message"]["text"] == "PPO_6: the file is cut off before the first row"


def test_sarif_follows_the_standard_where_it_has_results() -> None:
    log = json.loads(to_sarif(ALL))
    del log["runs"][0]["invocations"]
    for result in log["runs"][0]["results"]:
        assert 0.0 <= result.pop("rank") <= 100.0
        assert list(result.pop("partialFingerprints")) == ["runAndCause/v1"]
    jsonschema.validate(log, EXCERPT)


def test_an_alert_keeps_its_fingerprint_while_its_numbers_move() -> None:
    def prints(result: Diagnosis) -> list[str]:
        results = json.loads(to_sarif(result))["runs"][0]["results"]
        return [result["partialFingerprints"]["runAndCause/v1"] for result in results]

    moved = replace(RUN, causes=(replace(CAUSE, probability=0.8), *RUN.causes[1:]))
    assert prints(diagnosis(moved)) == prints(diagnosis(RUN))
    other = replace(RUN, id="other")
    assert prints(diagnosis(other)) != prints(diagnosis(RUN))


@pytest.mark.parametrize(
    ("fail_at", "levels"),
    [
        (None, ["warning", "error", "notice"]),
        (0.9, ["error", "error", "notice"]),
        (0.25, ["error", "error", "notice", "error"]),
    ],
)
def test_annotations_are_sorted_worst_first(fail_at: float | None, levels: list[str]) -> None:
    *lines, total = to_annotations(ALL, fail_at).splitlines()
    assert [line.split("::")[1].split(" ")[0] for line in lines] == levels
    assert total.startswith("4 runs: ")


def test_an_annotation_is_pinned_to_a_file_below_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = replace(RUN, files=(str(tmp_path / "logs" / "progress.csv"),))
    assert to_annotations(diagnosis(run)).startswith("::warning file=logs/progress.csv,title=Entropy bonus")


def test_names_from_a_log_cannot_forge_a_line_or_a_field() -> None:
    first, total, *rest = to_annotations(HOSTILE).splitlines()
    assert rest == []
    head, _, _ = first.removeprefix("::").partition("::")
    assert head.count(",") == 1
    assert head.count(":") == 0
    assert "\x1b" not in first
    assert total.startswith("1 run")
    assert cases(HOSTILE, 0.99), "still well-formed XML"
    (run,) = json.loads(to_sarif(HOSTILE))["runs"]
    assert "\x1b" not in run["results"][0]["message"]["text"]
