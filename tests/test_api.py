"""The Python interface: lazy, complete, and the same answers as the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import rl_diagnose
from rl_diagnose import (
    Book,
    Diagnosis,
    LogError,
    NoReadableRunError,
    RlDiagnoseError,
    Run,
    UsageError,
    diagnose,
    diagnose_run,
    load_rulebook,
    load_run,
)

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "collapsed-ppo"


def test_every_public_name_can_be_had_and_is_listed() -> None:
    for name in rl_diagnose.__all__:
        assert getattr(rl_diagnose, name) is not None
    assert set(rl_diagnose.__all__) <= set(dir(rl_diagnose))
    with pytest.raises(AttributeError, match="nonsense"):
        _ = rl_diagnose.nonsense


def test_importing_the_package_imports_nothing_else() -> None:
    code = "import sys; before = set(sys.modules); import rl_diagnose; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603 - the interpreter
    assert done.stdout.split() == ["rl_diagnose"]


def test_a_diagnosis_answers_and_shows_itself() -> None:
    result = diagnose(EXAMPLE)
    assert isinstance(result, Diagnosis)
    (run,) = result.runs
    assert run.verdict == "finding"
    assert run.top is not None
    assert run.primary_symptom is not None
    assert run.top.title in str(result)
    assert run.top.title in result._repr_html_()
    assert json.loads(json.dumps(result.to_dict(), allow_nan=False))["runs"][0]["causes"][0]["id"] == run.top.id


def test_a_run_can_be_read_and_diagnosed_apart() -> None:
    run = load_run(EXAMPLE)
    assert isinstance(run, Run)
    alone, together = diagnose_run(run), diagnose(EXAMPLE).runs[0]
    assert (alone.verdict, alone.verdict_reason) == (together.verdict, together.verdict_reason)


def test_the_answer_for_a_run_does_not_depend_on_its_company() -> None:
    alone = diagnose(EXAMPLE).to_dict()["runs"][0]
    both = diagnose([EXAMPLE, EXAMPLE]).to_dict()["runs"]
    assert both == [alone, alone]


@pytest.mark.parametrize("as_list", [True, False])
def test_books_are_given_by_name_path_or_value(*, as_list: bool) -> None:
    book = load_rulebook("core")
    assert isinstance(book, Book)
    for asked in ("core", Path(book.path), book):
        result = diagnose(EXAMPLE, [asked] if as_list or not isinstance(asked, str) else asked)
        assert [b.id for b in result.rulebooks] == ["core"]


def test_what_the_user_says_about_the_log_wins() -> None:
    result = diagnose(EXAMPLE, action_space="discrete:4")
    assert result.runs[0].action_space is not None
    assert result.runs[0].action_space.size == 4


def test_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    diagnose([EXAMPLE, EXAMPLE], progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 2), (2, 2)]


def test_errors_are_of_one_family(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        diagnose(tmp_path / "nowhere")
    with pytest.raises(NoReadableRunError):
        diagnose(tmp_path)
    with pytest.raises(UsageError, match="no rulebook"):
        load_rulebook("nobook")
    assert issubclass(LogError, RlDiagnoseError)


def test_a_run_that_cannot_be_read_is_an_answer(tmp_path: Path) -> None:
    (tmp_path / "progress.csv").write_text("time/total_timesteps,rollout/ep_rew_mean\n", "utf-8")
    try:
        result = diagnose([EXAMPLE, tmp_path])
    except NoReadableRunError:
        pytest.fail("one unreadable run must not stop the others")
    unread = [run for run in result.runs if run.verdict == "unreadable"]
    assert unread or result.notes


def test_an_adapter_that_fails_does_not_stop_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    from rl_diagnose.diagnosis import reading
    from rl_diagnose.logs.load import load_source

    real, calls = load_source, []

    def fail_once(*arguments: object) -> Run:
        calls.append(arguments)
        if len(calls) == 1:
            raise ZeroDivisionError("oh no")
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(reading, "load_source", fail_once)
    monkeypatch.delenv("RL_DIAGNOSE_DEBUG", raising=False)
    first, second = diagnose([EXAMPLE, EXAMPLE]).runs
    assert first.verdict == "unreadable"
    assert "the adapter 'sb3' failed (ZeroDivisionError: oh no)" in first.verdict_reason
    assert second.verdict == "finding"
