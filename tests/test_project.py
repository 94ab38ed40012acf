"""The project file is found upwards, read strictly, and wrong ones are named by file and key."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from rl_diagnose.errors import UsageError
from rl_diagnose.project import Project, Suppression, load_project

FULL = """
rules = ["ppo", "house/ppo.yaml"]
fail-at = 0.8
action-space = "discrete:4"
tag-maps = ["maps/our.yaml"]

[map]
score = "reward.train"
"a.b" = "policy.kl"

[[suppress]]
cause = "critic_underfit"
runs = "sweep-3/*"
reason = "on purpose"
expires = 2027-03-01

[[suppress]]
cause = "plateau"
reason = "known"
"""


def test_everything_is_read_and_relative_paths_start_at_the_file(tmp_path: Path) -> None:
    (tmp_path / "rl-diagnose.toml").write_text(FULL, encoding="utf-8")
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    assert load_project(below) == Project(
        tmp_path / "rl-diagnose.toml",
        ("ppo", str(tmp_path / "house" / "ppo.yaml")),
        (("score", "reward.train"), ("a.b", "policy.kl")),
        (tmp_path / "maps" / "our.yaml",),
        (
            Suppression("critic_underfit", "on purpose", "sweep-3/*", dt.date(2027, 3, 1)),
            Suppression("plateau", "known"),
        ),
        0.8,
        "discrete:4",
    )


def test_the_table_of_pyproject_counts_and_one_without_it_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.rl-diagnose]\nfail-at = 0.5\n", encoding="utf-8")
    below = tmp_path / "package"
    below.mkdir()
    (below / "pyproject.toml").write_text("[project]\nname = 'x'\n", encoding="utf-8")
    assert load_project(below).fail_at == 0.5


def test_the_nearest_file_counts_and_its_own_name_before_pyproject(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.rl-diagnose]\nfail-at = 0.5\n", encoding="utf-8")
    (tmp_path / "rl-diagnose.toml").write_text("fail-at = 0.7\n", encoding="utf-8")
    assert load_project(tmp_path).fail_at == 0.7


def test_no_file_is_an_empty_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rl_diagnose.project._upwards", lambda folder: [folder])
    assert load_project(tmp_path) == Project()


@pytest.mark.parametrize(
    ("text", "fact", "hint"),
    [
        ("rule = ['ppo']", "unknown key 'rule'", "did you mean 'rules'?"),
        ("rules = 'ppo'", "rules is no list of texts", ""),
        ("fail-at = 2", "fail-at 2 is not above 0 and up to 1", ""),
        ("fail-at = true", "fail-at is no number", ""),
        ("action-space = 4", "action-space is no text", "discrete:4"),
        ("map = ['a']", "map is no table of texts", "keys with dots in quotes"),
        ("[map]\na.b = 'policy.kl'", "map is no table of texts", "keys with dots in quotes"),
        ("[suppress]\ncause = 'x'", "suppress is no list", "[[suppress]]"),
        ("[[suppress]]\ncause = 'x'", "suppress (entry 1) has no 'reason'", "add reason"),
        ("[[suppress]]\ncause = 'x'\nreason = 'y'\nexpires = '2027-01-01'", "'expires' is no date", "without quotes"),
        (
            "[[suppress]]\ncause = 'x'\nreason = 'y'\nuntil = 3",
            "unknown key 'until' in suppress (entry 1)",
            "known are",
        ),
        ("rules = [", "is no TOML", ""),
    ],
)
def test_a_file_that_cannot_be_meant_is_named(tmp_path: Path, text: str, fact: str, hint: str) -> None:
    file = tmp_path / "rl-diagnose.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        load_project(tmp_path)
    assert fact in caught.value.fact
    assert hint in (caught.value.hint or "")
    assert caught.value.place == str(file)


def test_a_file_of_another_encoding_is_refused(tmp_path: Path) -> None:
    (tmp_path / "rl-diagnose.toml").write_bytes("map = {a = 'ü'}".encode("utf-16"))
    with pytest.raises(UsageError, match="not UTF-8"):
        load_project(tmp_path)
