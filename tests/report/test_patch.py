"""The script of a remedy: runnable code, everything else commented out, whatever the log and the rulebook say."""

from __future__ import annotations

import ast
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from rl_diagnose.diagnosis.model import Diagnosis, RemedyPlan
from rl_diagnose.report.patch import to_script

from .made import diagnosis

PLAN = RemedyPlan(
    knob="entropy_coef",
    summary="Raise the entropy bonus",
    current=0.01,
    current_origin="config.yml",
    proposed=0.03,
    values=(),
    relative="by about 3",
    before="model.ent_coef = 0.01",
    after="model.ent_coef = 0.03",
    framework="sb3",
    clamped=None,
    expected=("policy.entropy rises to 0.1",),
)


def with_plans(*plans: RemedyPlan, path: str = "runs/one") -> Diagnosis:
    made = diagnosis()
    run = next(run for run in made.runs if run.top is not None)
    causes = tuple(replace(c, remedies=plans) if c is run.top else c for c in run.causes)
    return replace(made, runs=(replace(run, causes=causes, path=path),))


def script(result: Diagnosis) -> str:
    text, _ = to_script(result)
    assert text is not None
    return text


def test_the_code_after_is_live_and_everything_else_is_commented_out() -> None:
    text = script(with_plans(PLAN))
    assert [ast.unparse(node) for node in ast.parse(text).body] == ["model.ent_coef = 0.03"]
    said = ("# model.ent_coef = 0.01", "# entropy_coef: 0.01 (from config.yml) → 0.03", "# Expected: policy.entropy")
    assert all(words in text for words in said)


def test_code_of_several_lines_keeps_its_shape() -> None:
    loop = "for i in range(3):\n    model.steps.append(i)\n\nmodel.done = True"
    text = script(with_plans(replace(PLAN, after=loop, before=loop)))
    assert ast.unparse(ast.parse(text)) == ast.unparse(ast.parse(loop))


def test_no_text_of_a_log_becomes_code() -> None:
    evil = "run\nimport os\r\x85os.abort()\u2028x = 1"
    text = script(with_plans(replace(PLAN, summary=evil, relative=evil, clamped=evil, note=evil), path=evil))
    assert [ast.unparse(node) for node in ast.parse(text).body] == ["model.ent_coef = 0.03"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs sh")
@pytest.mark.parametrize(
    ("code", "options"),
    [
        ("--ent-coef 0.03", ["--ent-coef", "0.03"]),
        ("--learning-rate 0.001  # or --lr", ["--learning-rate", "0.001"]),
        ("actor.use_kl_loss=True actor.kl_loss_coef=0.003", ["actor.use_kl_loss=True", "actor.kl_loss_coef=0.003"]),
    ],
)
def test_options_are_put_behind_the_command_that_is_given(tmp_path: Path, code: str, options: list[str]) -> None:
    path = tmp_path / "fix.sh"
    path.write_text(script(with_plans(replace(PLAN, after=code, before=None))), "utf-8")
    command = [sys.executable, "-c", "import sys; print(sys.argv[1:])", "--seed", "1 2"]
    done = subprocess.run(["sh", path, *command], capture_output=True, text=True, check=True)  # noqa: S603, S607
    assert ast.literal_eval(done.stdout) == ["--seed", "1 2", *options]


def test_the_first_remedy_with_code_is_taken() -> None:
    assert "model.ent_coef = 0.03" in script(with_plans(replace(PLAN, after=None, before=None), PLAN))


def test_code_for_another_framework_is_said_to_be_an_example() -> None:
    assert "# Note: code for Stable-Baselines3" in script(
        with_plans(replace(PLAN, note="code for Stable-Baselines3 as an example"))
    )


def test_without_code_or_finding_the_reason_is_given() -> None:
    assert to_script(with_plans(replace(PLAN, after=None)))[0] is None
    assert "entropy_coef: 0.01" in to_script(with_plans(replace(PLAN, after=None)))[1]
    none = with_plans(PLAN)
    nothing = replace(none, runs=(replace(none.runs[0], verdict="nothing_found"),))
    assert to_script(nothing) == (None, "no run has a finding, so there is nothing to change")
