"""Settings in each form that frameworks leave them, and nothing is run to read them."""

from __future__ import annotations

from pathlib import Path

import pytest

from rl_diagnose.adapters.settings import settings_file, settings_text
from rl_diagnose.errors import LogError

TABLE = "|param|value|\n|-|-|\n|learning_rate|0.0003|\n|anneal_lr|True|\n|env_id|Pong-v5|"
NAMESPACE = "Namespace(lr=0.001, task='CartPole-v1', hidden_sizes=[64, 64], f={f})"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (TABLE, {"learning_rate": 0.0003, "anneal_lr": True, "env_id": "Pong-v5"}),
        ('{"beta": 0.04, "model": {"name": "m"}, "stop": null}', {"beta": 0.04, "model/name": "m", "stop": None}),
        (NAMESPACE.format(f="<function f>"), {}),
        (NAMESPACE.format(f="len"), {"lr": 0.001, "task": "CartPole-v1", "hidden_sizes": [64, 64]}),
        ("lr: 1e-3\ngamma: 0.99\nenv: Ant", {"lr": 0.001, "gamma": 0.99, "env": "Ant"}),
        ("a run of mine\nwith a note", {}),
        ("", {}),
        ("{" * 3000, {}),
        ("f(" * 3000, {}),
    ],
)
def test_a_logged_text_is_read_in_its_own_form(text: str, wanted: dict[str, object]) -> None:
    assert settings_text(text) == wanted


def test_files_are_read_by_their_ending(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"gamma": 0.99, "ac": {"sizes": [4]}}', "utf-8")
    (tmp_path / "agent.yaml").write_text("algorithm:\n  desired_kl: 0.01\nshape: !!python/tuple [1, 2]\n", "utf-8")
    assert settings_file(tmp_path / "config.json") == {"gamma": 0.99, "ac/sizes": [4]}
    assert settings_file(tmp_path / "agent.yaml") == {"algorithm/desired_kl": 0.01, "shape": [1, 2]}


@pytest.mark.parametrize(
    ("name", "content"), [("a.json", "{"), ("a.json", "[1]"), ("a.yaml", "a: [b"), ("a.yaml", "- a"), ("a.json", "")]
)
def test_what_holds_no_settings_is_refused_by_name(tmp_path: Path, name: str, content: str) -> None:
    path = tmp_path / name
    path.write_text(content, "utf-8")
    with pytest.raises(LogError) as caught:
        settings_file(path)
    assert name in str(caught.value)
