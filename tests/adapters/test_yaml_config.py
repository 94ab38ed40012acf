"""YAML settings with Python's tags become plain data, and nothing is ever run."""

from __future__ import annotations

from pathlib import Path

import pytest

from rl_diagnose.adapters.readers.yaml_config import read_yaml_config
from rl_diagnose.errors import LogError


def _write(folder: Path, content: str) -> Path:
    path = folder / "config.yml"
    path.write_text(content, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("content", "plain"),
    [
        ("a: 1\nb: [x, 2.5, null, true]\n", {"a": 1, "b": ["x", 2.5, None, True]}),
        (
            "!!python/object/apply:collections.OrderedDict\n- - - a\n    - 1\n  - - b\n    - lin_0.2\n",
            {"a": 1, "b": "lin_0.2"},
        ),
        ("a: !!python/object/apply:collections.OrderedDict [[[x, 1]]]\n", {"a": {"x": 1}}),
        ("!!python/object/apply:collections.OrderedDict []\n", {}),
        ("eye: !!python/tuple\n- 7.5\n- 1\n", {"eye": [7.5, 1]}),
        ("f: !!python/name:torch.nn.modules.activation.ReLU ''\n", {"f": "torch.nn.modules.activation.ReLU"}),
        ("f: !!python/name:torch.nn.ReLU\n", {"f": "torch.nn.ReLU"}),
        ("m: !!python/module:os ''\n", {"m": "os"}),
        ("s: !!python/object/apply:builtins.slice [0, 10, null]\n", {"s": [0, 10, None]}),
        ("s: !!python/object:mod.Config {lr: 0.1, net: {w: 64}}\n", {"s": {"lr": 0.1, "net": {"w": 64}}}),
        ("s: !!python/object/new:mod.Config {state: {lr: 0.1}}\n", {"s": {"lr": 0.1}}),
        ("s: !!python/object/apply:mod.f {args: [1, 2], kwds: {a: 3}}\n", {"s": [1, 2]}),
        ("s: !!python/unicode 'x'\ni: !!python/long '3'\nb: !!python/bool 'yes'\n", {"s": "x", "i": 3, "b": True}),
        ("n: !!python/none ''\nf: !!python/float '2.5'\nt: !!python/str '3'\n", {"n": None, "f": 2.5, "t": "3"}),
        ("c: !!python/complex 1+2j\n", {"c": "1+2j"}),
        ("a: !custom {x: 1}\nb: !env HOME\nc: !list [1]\n", {"a": {"x": 1}, "b": "HOME", "c": [1]}),
        ("a: !<tag:example.com,2020:thing> 5\n", {"a": "5"}),
        ("day: 2024-01-31\nkey: !!binary aGVsbG8=\n", {"day": "2024-01-31", "key": "aGVsbG8="}),
        ("a: &x {b: 1}\nc: *x\nd:\n  <<: *x\n  e: 2\n", {"a": {"b": 1}, "c": {"b": 1}, "d": {"b": 1, "e": 2}}),
        ("a: 1\n---\nb: 2\n", {"a": 1}),
        ("", None),
        ("# nothing\n", None),
        ("text", "text"),
    ],
)
def test_settings_become_plain_data(content: str, plain: object, tmp_path: Path) -> None:
    assert read_yaml_config(_write(tmp_path, content)) == plain


@pytest.mark.parametrize(
    "call",
    [
        "!!python/object/apply:pathlib.Path.touch [{trace}]",
        "!!python/object/apply:os.system ['touch {trace}']",
        "!!python/object/new:os.system ['touch {trace}']",
        "!!python/object/apply:subprocess.check_output {{args: [['touch', '{trace}']]}}",
        "!!python/module:antigravity ''",
    ],
)
def test_nothing_is_called(call: str, tmp_path: Path) -> None:
    trace = tmp_path / "trace"

    read_yaml_config(_write(tmp_path, "a: " + call.format(trace=trace) + "\n"))

    assert not trace.exists()


@pytest.mark.parametrize(
    ("content", "fact", "place"),
    [
        ("a: 1\nb: [1, 2\n", "not valid YAML", ":3:1"),
        ("a: *gone\n", "undefined alias", ":1:4"),
        ("a: 1\n\tb: 2\n", "not valid YAML", ":2:1"),
        ("? [a, b]\n: 1\n", "unhashable", ":1:3"),
        ("a: " + "9" * 5000 + "\n", "digits", ""),
        ("a: !!int x\n", "not valid YAML", ""),
        ("a: 1\nb: !!int ''\n", "'' is no int", ":2:4"),
        ("a: !!bool x\n", "'x' is no bool", ":1:4"),
        ("a: !!python/bool x\n", "'x' is no bool", ":1:4"),
        ("a: " + "1:" * 300 + "1.5\n", "is no float", ":1:4"),
        ("a: \x07\n", "not valid YAML", ""),
        ("[" * 100 + "]" * 100, "deeper than 64", ""),
        ("[" * 900, "deeper than 64", ""),
        ("a: &a [*a]\n", "contains itself", ""),
        (
            "a: &a [1,1,1,1,1,1,1,1,1,1]\n"
            + "".join(f"{b}: &{b} [{','.join([f'*{a}'] * 10)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)),
            "more than 200000 values",
            "",
        ),
    ],
)
def test_what_cannot_be_read_is_refused(content: str, fact: str, place: str, tmp_path: Path) -> None:
    path = _write(tmp_path, content)

    with pytest.raises(LogError, match=fact) as raised:
        read_yaml_config(path)

    assert raised.value.place == f"{path}{place}"


def test_brackets_without_end_are_refused(tmp_path: Path) -> None:
    with pytest.raises(LogError):
        read_yaml_config(_write(tmp_path, "[" * 100_000))


def test_binary_and_large_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "config.yml"
    path.write_bytes(b"\x80\x04\0\0")
    with pytest.raises(LogError, match="pickle"):
        read_yaml_config(path)
    path.write_bytes(b"a: 1\n" * 1_000_000)
    with pytest.raises(LogError, match="larger than 4 MiB"):
        read_yaml_config(path)


def test_settings_of_rl_zoo(sb3_data: Path) -> None:
    folder = sb3_data / "zoo" / "CartPole-v1_1" / "CartPole-v1"

    config = read_yaml_config(folder / "config.yml")
    arguments = read_yaml_config(folder / "args.yml")

    assert isinstance(config, dict)
    assert config["clip_range"] == "lin_0.2"
    assert config["n_envs"] == 8
    assert isinstance(arguments, dict)
    assert arguments["algo"] == "ppo"


@pytest.mark.corpus
def test_settings_of_isaac_lab(shared: Path) -> None:
    env = read_yaml_config(shared / "samples" / "rsl_rl" / "isaaclab_params" / "env.yaml")
    agent = read_yaml_config(shared / "samples" / "rsl_rl" / "isaaclab_params" / "agent.yaml")

    assert isinstance(env, dict)
    assert env["viewer"]["eye"] == [7.5, 7.5, 7.5]
    assert isinstance(agent, dict)
    assert agent["algorithm"]["clip_param"] == 0.2
