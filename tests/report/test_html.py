"""The HTML report: self-contained, inert, complete; and in a real browser without an error where one is installed."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from rl_diagnose.diagnosis.model import Association, Diagnosis, Setting
from rl_diagnose.diagnosis.sweep import associations
from rl_diagnose.report.html import HEAD, to_html

BROWSER = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\x1b[31m&\"'"


def test_it_needs_nothing_from_elsewhere(one: Diagnosis) -> None:
    page = to_html(one)
    assert page.startswith(HEAD)
    assert not re.search(r"""(?:src|href)=["']?(?:https?:)?//""", page)
    assert "default-src 'none'" in page
    assert len(page) < 400_000


def test_it_says_what_the_other_reports_say(one: Diagnosis) -> None:
    page = to_html(one)
    (run,) = one.runs
    assert run.primary_symptom is not None
    for words in (
        run.verdict_reason.split("(")[0],
        run.primary_symptom.title,
        "model.lr_schedule",
        "What to do",
        "41,984",
    ):
        assert words in page
    assert page.count('class="chart"') == len(run.curves) == 5
    for cause in run.causes:
        if cause.status == "assessed":
            assert page.count(f"Evidence on: {cause.title.replace('&', '&amp;')}") >= 1 or "&" in cause.title


def test_the_curves_are_strict_json_with_the_values_of_the_log(one: Diagnosis) -> None:
    found = re.search(r'id="data">(.*?)</script>', to_html(one), re.DOTALL)
    assert found is not None
    curves = json.loads(found[1])["run0"]
    assert [curve["signal"] for curve in curves] == [curve.signal for curve in one.runs[0].curves]
    assert curves[0]["x"][0] == 1024


def test_text_from_logs_is_inert(one: Diagnosis) -> None:
    (run,) = one.runs
    curve = dataclasses.replace(run.curves[0], title=HOSTILE, signal=HOSTILE, unit=HOSTILE)
    bad = dataclasses.replace(
        run, id=HOSTILE, path=HOSTILE, verdict_reason=HOSTILE, remarks=(HOSTILE,), env=HOSTILE, curves=(curve,)
    )
    page = to_html(dataclasses.replace(one, path=HOSTILE, runs=(bad, run), notes=(HOSTILE,)))
    assert page.count("<script") == to_html(one).count("<script")
    assert "<img" not in page
    assert "\x1b" not in page


def test_many_runs_get_a_table_with_links_and_small_curves(many: Diagnosis) -> None:
    page = to_html(many)
    assert page.count('class="small"') == 3
    assert all(f'href="#run{i}"' in page and f'id="run{i}"' in page for i in range(3))
    assert "3 runs: 2 with a finding, 1 with nothing found" in page


def test_an_empty_diagnosis_is_a_page_too(one: Diagnosis) -> None:
    assert to_html(dataclasses.replace(one, runs=(), rulebooks=())).endswith("</html>\n")


@pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
@pytest.mark.parametrize("pages", ["one", "many"])
def test_a_browser_draws_every_curve_without_an_error(
    pages: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    diagnosis: Diagnosis = request.getfixturevalue(pages)
    page = tmp_path / "report.html"
    page.write_text(to_html(diagnosis), "utf-8")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--virtual-time-budget=4000"]
    command = [str(BROWSER), *flags, f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)  # noqa: S603 - the browser found above
    assert done.stdout.count("<canvas") == sum(len(run.curves) for run in diagnosis.runs)
    assert "CONSOLE" not in done.stderr
    if pages == "many":
        assert done.stdout.count('<th scope="col"><button') >= 6


def test_settings_that_go_with_a_cause_come_with_a_table_of_all_frequent_causes(one: Diagnosis) -> None:
    (run,) = one.runs
    assert run.top is not None
    quiet = dataclasses.replace(run, verdict="nothing_found", causes=())
    runs = [
        dataclasses.replace(run, id=f"bad{i}", settings=(Setting("learning_rate", 0.03, HOSTILE),)) for i in range(9)
    ] + [dataclasses.replace(quiet, id=f"good{i}", settings=(Setting("learning_rate", 3e-4, "log"),)) for i in range(9)]
    page = to_html(dataclasses.replace(one, runs=tuple(runs), associations=associations(runs)))
    assert "9 of 9 runs with learning_rate ≥ 0.03, 0 of 9 others" in page
    assert "Runs with each cause, by learning_rate" in page
    assert '<td>0.0003</td><td>9</td><td><span class="meter small"><span style="width:0%">' in page
    assert '<td>0.03</td><td>9</td><td><span class="meter small"><span style="width:100%">' in page


def test_names_of_settings_are_inert(many: Diagnosis) -> None:
    odd = Association(HOSTILE, "is", HOSTILE, "c", HOSTILE, 2, 2, 0, 2, 0.01)
    page = to_html(dataclasses.replace(many, associations=(odd,)))
    assert page.count("<script") == to_html(many).count("<script")
    assert "<img" not in page


def test_the_parts_of_the_run_that_rules_speak_of_are_marked(one: Diagnosis) -> None:
    found = re.search(r'id="data">(.*?)</script>', to_html(one), re.DOTALL)
    assert found is not None
    curves = json.loads(found[1])["run0"]
    first, last = 1024, 80_896
    at = [first + part * (last - first) for part in (0, 0.25, 0.75, 1)]
    for curve in curves:
        assert curve["phases"] == [["early", at[0], at[1]], ["mid", at[1], at[2]], ["late", at[2], at[3]]]
