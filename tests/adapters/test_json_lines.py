"""JSON lines as loggers write them, whole and damaged."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rl_diagnose.adapters.readers.json_lines import read_json_lines
from rl_diagnose.errors import LogError


def _write(folder: Path, content: str | bytes, name: str = "result.json") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_keys_are_joined_and_lists_left_out(tmp_path: Path) -> None:
    rows = [{"a": 1, "info": {"learner": {"kl": 0.1}}, "hist": [1, 2], "done": False}, {"a": 2, "late": 7}]

    table = read_json_lines(_write(tmp_path, "\n".join(map(json.dumps, rows)) + "\n"))

    assert table.rows == 2
    assert table.numbers["a"].tolist() == [1, 2]
    assert table.numbers["done"][0] == 0
    np.testing.assert_array_equal(table.numbers["info/learner/kl"], [0.1, np.nan])
    np.testing.assert_array_equal(table.numbers["late"], [np.nan, 7])
    assert "hist" not in {**table.numbers, **table.texts}
    assert table.issues == ()


@pytest.mark.parametrize("value", ["NaN", '"nan"', '"null"', "Infinity", "-Infinity", '"inf"'])
def test_non_finite_numbers_in_every_spelling(value: str, tmp_path: Path) -> None:
    table = read_json_lines(_write(tmp_path, f'{{"x": {value}, "y": null}}\n{{"x": 1, "y": 2}}\n'))

    np.testing.assert_array_equal(table.numbers["x"], [np.nan, 1])
    assert not np.isfinite(table.non_finite["x"][0])
    assert table.non_finite["x"][1] == 0
    np.testing.assert_array_equal(table.numbers["y"], [np.nan, 2])
    assert "y" not in table.non_finite


def test_settings_that_are_repeated_in_each_line_are_no_columns(tmp_path: Path) -> None:
    lines = [{"x": i, "config": {"lr": i / 10, "model": {"fcnet_hiddens": [64]}}} for i in range(3)]

    table = read_json_lines(_write(tmp_path, "\n".join(map(json.dumps, lines))))

    assert list(table.numbers) == ["x"]
    assert table.config == {"lr": 0.2, "model": {"fcnet_hiddens": [64]}}


def test_bad_lines_are_counted_and_named(tmp_path: Path) -> None:
    table = read_json_lines(_write(tmp_path, '{"x": 1}\n{"x": 2\nTraceback\n[1]\n{"x": 3}\n'))

    assert table.numbers["x"].tolist() == [1, 3]
    [issue] = table.issues
    assert issue.code == "bad_lines"
    assert "3 lines" in issue.message
    assert "line 2" in issue.message


def test_a_last_line_that_was_cut_is_left_out(tmp_path: Path) -> None:
    table = read_json_lines(_write(tmp_path, '{"x": 1}\n{"x": 2, "y": 0.12'))

    assert table.numbers["x"].tolist() == [1]
    assert [issue.code for issue in table.issues] == ["partial_last_line"]


def test_a_whole_last_object_needs_no_line_end(tmp_path: Path) -> None:
    table = read_json_lines(_write(tmp_path, '{"x": 1}\n\n{"x": 2}'))

    assert table.numbers["x"].tolist() == [1, 2]
    assert table.issues == ()


def test_objects_whose_line_end_got_lost(tmp_path: Path) -> None:
    assert read_json_lines(_write(tmp_path, '{"x": 1}{"x": 2}\n')).numbers["x"].tolist() == [1, 2]


def test_a_list_of_objects_is_read_as_rows(tmp_path: Path) -> None:
    assert read_json_lines(_write(tmp_path, '[{"x": 1},\n {"x": 2}]')).numbers["x"].tolist() == [1, 2]


def test_packed_and_with_a_byte_order_mark(tmp_path: Path) -> None:
    packed = read_json_lines(_write(tmp_path, gzip.compress('\ufeff{"x": 1}\n'.encode()), "result.json.gz"))

    assert packed.numbers["x"].tolist() == [1]


def test_the_head_alone(tmp_path: Path) -> None:
    path = _write(tmp_path, "".join(f'{{"x": {i}}}\n' for i in range(1000)))

    table = read_json_lines(path, head=200)

    assert 10 < table.rows < 30
    assert table.issues == ()


@pytest.mark.parametrize(
    ("content", "fact"),
    [
        ("", "empty"),
        ("\n\n", "empty"),
        ("not json\nat all\n", "no line is a JSON object"),
        ('{\n  "a": 1\n}\n', "one JSON document"),
        ("[1, 2]", "not one of objects"),
        ("[1, 2", "neither JSON lines nor a JSON list"),
        ('{"a": ' + "9" * 5000 + "}\n", "no line is a JSON object"),
        ("[" * 100_000, "neither JSON lines nor a JSON list"),
        ('{"a":' * 100_000, "no line is a JSON object"),
        (b"\x80\x04\x95\0\0\0", "a pickle"),
    ],
)
def test_what_is_no_log_is_refused(content: str | bytes, fact: str, tmp_path: Path) -> None:
    with pytest.raises(LogError, match=fact):
        read_json_lines(_write(tmp_path, content))


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(
        st.dictionaries(st.sampled_from(["a", "b/c", "d"]), st.none() | st.floats() | st.integers(-(2**70), 2**70)),
        min_size=1,
    ),
    cut=st.integers(0, 30),
)
def test_any_prefix_of_a_log_is_read_up_to_its_last_whole_line(
    rows: list[dict[str, float | None]], cut: int, tmp_path: Path
) -> None:
    content = "".join(json.dumps(row) + "\n" for row in rows).encode()
    kept = content[: max(len(content) - cut, 1)]
    whole = kept.count(b"\n") + (kept.split(b"\n")[-1].endswith(b"}"))

    try:
        table = read_json_lines(_write(tmp_path, kept))
    except LogError:
        assert whole == 0
    else:
        assert table.rows == whole
        for name, values in table.numbers.items():
            for row, value in zip(rows, values.tolist(), strict=False):
                logged = row.get(name)
                assert np.isnan(value) or value == float(logged if logged is not None else np.nan)


def test_stable_baselines_json(sb3_data: Path) -> None:
    table = read_json_lines(sb3_data / "dqn_json" / "progress.json")

    assert table.rows == 80
    assert table.issues == ()
    assert np.isfinite(table.numbers["time/total_timesteps"]).all()


@pytest.mark.corpus
def test_ray_results_with_nan_and_settings(shared: Path) -> None:
    table = read_json_lines(shared / "samples" / "rllib" / "ray0.6_impala_pong" / "result.json")

    assert table.rows == 23
    assert np.isnan(table.non_finite["episode_reward_mean"][0])
    assert table.config["num_workers"] == 128
    assert not any(key.startswith("config") for key in table.numbers)


def test_a_line_that_is_no_utf8_is_damage(tmp_path: Path) -> None:
    """JSON is UTF-8: a flipped bit in a key would otherwise make a key nobody logged."""
    path = tmp_path / "log.json"
    path.write_bytes('{"x": 1, "env": "Größe"}\n'.encode() + b'{"\xf8": 2}\n{"x": 3}\n')
    table = read_json_lines(path)

    assert list(table.numbers) == ["x"]
    assert table.numbers["x"][[0, -1]].tolist() == [1, 3]
    assert table.texts["env"][0] == "Größe"
    assert [issue.code for issue in table.issues] == ["encoding", "bad_lines"]
    assert "byte 29" in table.issues[0].message


def test_a_control_character_in_a_line_is_damage(tmp_path: Path) -> None:
    table = read_json_lines(_write(tmp_path, '{"x": 1}\n{"x\x7f": 2}\n{"x": 3}\n'))

    assert table.numbers["x"].tolist() == [1, 3]
    assert [issue.code for issue in table.issues] == ["bad_lines"]
