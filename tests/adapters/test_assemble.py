"""From tables and points to series: names, signs, non-finite values, unknown keys, user mappings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rl_diagnose.adapters.assemble import Assembled, assemble, number_iterations, table_source
from rl_diagnose.adapters.readers.points import Table
from rl_diagnose.adapters.sessions import LogSource
from rl_diagnose.adapters.tagmap import MAX_SUGGESTIONS, TagMap, load_tag_map
from rl_diagnose.errors import UsageError
from rl_diagnose.logs.adapter import ReadOptions

Cells = Sequence[float | None]
MAP = """
framework: f
x_axis: env_steps
step_keys: [step, old step]
prefixes: [{prefix: wrapped/, x_axis: iterations}]
lags: {train/: 1}
bookkeeping: [count/*]
rules:
  - {key: score, aliases: [old score], signal: reward.train, window: last 5 episodes, window_episodes: 5}
  - {key: other_score, signal: reward.train}
  - {key: train/neg_entropy, signal: policy.entropy, transform: -x}
  - {key: train/kl, signal: policy.kl, estimator: k3, negative_estimator: k1}
  - {key: train/ev, signal: value.explained_variance, benign: true}
"""


@pytest.fixture(scope="module")
def tag_map(tmp_path_factory: pytest.TempPathFactory) -> TagMap:
    path: Path = tmp_path_factory.mktemp("maps") / "f.yaml"
    path.write_text(MAP, "utf-8")
    return load_tag_map(path)


def table(file: str = "t.csv", /, **columns: Cells) -> Table:
    """A table as the CSV reader gives it: None is a blank cell, a NaN or an infinity was written."""
    numbers, non_finite = {}, {}
    for key, cells in columns.items():
        blank = np.array([cell is None for cell in cells], bool)
        raw = np.array([np.nan if cell is None else cell for cell in cells], float)
        odd = ~np.isfinite(raw) & ~blank
        numbers[key] = np.where(np.isfinite(raw), raw, np.nan)
        if odd.any():
            non_finite[key] = np.where(odd, raw, 0.0)
    return Table(file, len(next(iter(columns.values()))), numbers, non_finite)


def read(
    tag_map: TagMap, *tables: Table, mapping: dict[str, str] | None = None, house: dict[str, str] | None = None
) -> Assembled:
    layers: list[list[LogSource]] = [[table_source(t, tag_map.step_keys)[0]] for t in tables]
    return assemble(layers, tag_map, options=ReadOptions(mapping=mapping or {}, house=house or {}))


def columns(**extra: Cells) -> Table:
    return table("t.csv", step=[10.0, 20.0, 30.0], **extra)


def test_a_known_key_becomes_its_signal_with_its_meaning(tag_map: TagMap) -> None:
    got = read(tag_map, columns(**{"train/neg_entropy": [-1.0, -0.5, None]})).series["policy.entropy"]
    assert got.step.tolist() == [10, 20]
    assert got.value.tolist() == [1.0, 0.5]
    assert (got.semantics.source_key, got.semantics.transform, got.semantics.file) == (
        "train/neg_entropy",
        "-x",
        "t.csv",
    )
    assert got.x_axis == "env_steps"
    assert np.isnan(got.iteration).all()
    assert np.isnan(got.wall_time).all()


def test_an_unknown_key_is_kept_raw_with_a_suggestion(tag_map: TagMap) -> None:
    got = read(tag_map, columns(scoer=[1.0, 2.0, 3.0]))
    assert got.series["raw.scoer"].value.tolist() == [1, 2, 3]
    (unmapped,) = got.unmapped
    assert (unmapped.key, unmapped.file, unmapped.points, unmapped.suggestion) == ("scoer", "t.csv", 3, "reward.train")


def test_bookkeeping_is_kept_raw_without_a_word(tag_map: TagMap) -> None:
    got = read(tag_map, columns(**{"count/rows": [1.0, 2.0, 3.0]}))
    assert set(got.series) == {"raw.count/rows"}
    assert got.unmapped == ()


def test_the_x_axis_is_no_signal(tag_map: TagMap) -> None:
    assert set(read(tag_map, columns(score=[1.0, 2.0, 3.0])).series) == {"reward.train"}


def test_of_two_keys_for_a_signal_the_first_in_the_map_wins(tag_map: TagMap) -> None:
    got = read(tag_map, columns(other_score=[7.0, 7.0, 7.0], score=[1.0, 2.0, 3.0]))
    assert got.series["reward.train"].semantics.source_key == "score"
    assert got.series["raw.other_score"].value.tolist() == [7, 7, 7]
    assert got.unmapped == ()


def test_a_later_layer_only_fills_what_is_missing(tag_map: TagMap) -> None:
    first = table("first", step=[10.0], score=[1.0])
    second = table("second", step=[10.0, 20.0], score=[5.0, 6.0], **{"train/kl": [0.1, 0.2]})
    got = read(tag_map, first, second).series
    assert got["reward.train"].value.tolist() == [1.0]
    assert got["policy.kl"].semantics.file == "second"


def test_spellings_of_a_key_are_one_series(tag_map: TagMap) -> None:
    sources = [table_source(t, tag_map.step_keys)[0] for t in (table("a", step=[1.0], **{"old score": [1.0]}),)]
    sources.append(table_source(table("b", step=[2.0], score=[2.0]), tag_map.step_keys)[0])
    got = assemble([sources], tag_map).series
    assert got["reward.train"].value.tolist() == [1.0, 2.0]


def test_non_finite_values_become_nan_and_are_counted(tag_map: TagMap) -> None:
    got = read(tag_map, columns(score=[np.nan, np.inf, 1.0], **{"train/neg_entropy": [1.0, np.inf, None]}))
    score = got.series["reward.train"]
    np.testing.assert_array_equal(score.value, [np.nan, np.nan, 1.0])
    assert (score.non_finite.nan, score.non_finite.positive_inf, score.non_finite.first_step) == (1, 1, 10)
    assert got.series["policy.entropy"].non_finite.negative_inf == 1  # the sign is turned
    assert [(issue.code, issue.step) for issue in got.issues] == [("non_finite", 10), ("non_finite", 20)]


def test_a_benign_nan_is_no_issue_but_an_infinity_is(tag_map: TagMap) -> None:
    benign = read(tag_map, columns(**{"train/ev": [np.nan, 0.1, 0.2]}))
    assert benign.issues == ()
    assert benign.series["value.explained_variance"].non_finite.harmful == 0
    assert benign.series["value.explained_variance"].non_finite.count == 1
    harmful = read(tag_map, columns(**{"train/ev": [-np.inf, 0.1, 0.2]}))
    assert [issue.code for issue in harmful.issues] == ["non_finite"]


@pytest.mark.parametrize(
    ("values", "harmful"),
    [
        ([np.nan, np.nan, 1.0, 2.0], 0),  # no episode had finished yet
        ([1.0, np.nan, 2.0, 3.0], 0),  # none finished in between
        ([np.nan, np.nan, np.nan], 0),  # none finished at all
        ([1.0, 2.0, np.nan, np.nan], 2),  # numbers, and then none any more
        ([np.nan, np.inf, 1.0], 1),  # an infinity is no empty window
    ],
)
def test_means_over_no_episode_are_no_divergence(tag_map: TagMap, values: list[float], harmful: int) -> None:
    got = read(tag_map, table("t.csv", step=[10.0 * (i + 1) for i in range(len(values))], score=values))
    assert got.series["reward.train"].non_finite.harmful == harmful
    assert bool(got.issues) == bool(harmful)


def test_negative_values_give_an_estimator_away(tag_map: TagMap) -> None:
    positive = read(tag_map, columns(**{"train/kl": [0.01, 0.02, -1e-9]}))
    assert positive.series["policy.kl"].semantics.estimator == "k3"
    negative = read(tag_map, columns(**{"train/kl": [0.01, -0.02, 0.01]}))
    assert negative.series["policy.kl"].semantics.estimator == "k1"


def test_a_wrapped_key_has_the_axis_of_its_wrapper_and_yields_to_a_plain_one(tag_map: TagMap) -> None:
    alone = read(tag_map, columns(**{"wrapped/score": [1.0, 2.0, 3.0]})).series["reward.train"]
    assert (alone.x_axis, alone.semantics.source_key) == ("iterations", "wrapped/score")
    both = read(tag_map, columns(score=[4.0, 5.0, 6.0], **{"wrapped/score": [1.0, 2.0, 3.0]}))
    assert both.series["reward.train"].semantics.source_key == "score"
    assert "raw.wrapped/score" in both.series
    assert both.unmapped == ()


def test_a_user_mapping_wins_over_the_map(tag_map: TagMap) -> None:
    got = read(tag_map, columns(score=[1.0, 2.0, 3.0], mine=[7.0, 8.0, 9.0]), mapping={"mine": "reward.train"})
    assert got.series["reward.train"].value.tolist() == [7, 8, 9]
    assert got.series["raw.score"].value.tolist() == [1, 2, 3]
    assert got.unmapped == ()


def test_a_user_mapping_may_use_an_old_spelling(tag_map: TagMap) -> None:
    got = read(tag_map, columns(**{"old score": [1.0, 2.0, 3.0]}), mapping={"old score": "reward.eval"})
    assert set(got.series) == {"reward.eval"}


def test_a_mapped_key_that_is_not_logged_is_reported(tag_map: TagMap) -> None:
    got = read(tag_map, columns(score=[1.0, 2.0, 3.0]), mapping={"absent": "reward.eval"})
    assert [issue.code for issue in got.issues] == ["mapping_unused"]


def test_a_mapping_to_an_unknown_signal_is_refused(tag_map: TagMap) -> None:
    with pytest.raises(UsageError, match=r"'reward\.trian' is not a signal") as caught:
        read(tag_map, columns(score=[1.0, 2.0, 3.0]), mapping={"score": "reward.trian"})
    assert caught.value.hint == "did you mean reward.train?"


def test_a_row_without_a_step_takes_the_one_before(tag_map: TagMap) -> None:
    source, issues = table_source(table(step=[None, 10.0, None, 30.0], score=[1.0, 2.0, 3.0, 4.0]), tag_map.step_keys)
    assert source.tracks["score"].step.tolist() == [0, 10, 10, 30]
    assert [(issue.code, issue.severity) for issue in issues] == [("rows_without_step", "info")]


def test_a_row_whose_step_is_unreadable_is_left_out(tag_map: TagMap) -> None:
    damaged = replace(
        table(step=[10.0, None, 30.0], score=[1.0, 2.0, 3.0]), unreadable={"step": np.array([False, True, False])}
    )
    source, issues = table_source(damaged, tag_map.step_keys)
    assert source.tracks["score"].step.tolist() == [10, 30]
    assert source.tracks["score"].value.tolist() == [1, 3]
    assert [issue.code for issue in issues] == ["unreadable_steps"]
    assert "row 2" in issues[0].message


def test_a_single_row_without_a_step_does_not_replace_the_row_before(tag_map: TagMap) -> None:
    """It lost its step, where all others have one; a row of other keys is an addition."""
    steps: list[float | None] = [float(i) for i in range(20)]
    scores: list[float | None] = [float(i) for i in range(20)]
    kls: list[float | None] = [None] * 20
    steps[5] = steps[9] = None
    scores[9], kls[9] = None, 0.5
    source, issues = table_source(table(step=steps, score=scores, kl=kls), tag_map.step_keys)
    assert source.tracks["score"].step.tolist() == [i for i in range(20) if i not in (5, 9)]
    assert source.tracks["score"].value.tolist() == source.tracks["score"].step.tolist()
    assert source.tracks["kl"].step.tolist() == [8]
    assert "1 have keys" in issues[0].message


def test_a_first_row_that_lost_its_step_is_not_put_at_step_0(tag_map: TagMap) -> None:
    steps: list[float | None] = [None, *(float(i) for i in range(1, 20))]
    scores: list[float | None] = [float(i) for i in range(20)]
    source, _ = table_source(table(step=steps, score=scores), tag_map.step_keys)
    assert source.tracks["score"].step.tolist() == list(range(1, 20))


def test_without_a_step_column_rows_are_counted_and_the_axis_says_so(tag_map: TagMap) -> None:
    rows = table(score=[1.0, 2.0])
    assert [issue.code for issue in table_source(rows, tag_map.step_keys)[1]] == ["no_step_column"]
    got = read(tag_map, rows).series["reward.train"]
    assert got.step.tolist() == [0, 1]
    assert got.x_axis == "iterations"


def test_a_table_without_rows_gives_nothing(tag_map: TagMap) -> None:
    assert read(tag_map, table(step=[], score=[])).series == {}


def test_values_with_a_lag_belong_to_the_iteration_before(tag_map: TagMap) -> None:
    got = read(tag_map, columns(score=[1.0, 2.0, 3.0], **{"train/kl": [None, 0.1, 0.2]}))
    numbered = number_iterations(got, lambda steps: steps / 10.0 - 1.0)
    assert numbered["reward.train"].iteration.tolist() == [0, 1, 2]
    assert numbered["policy.kl"].iteration.tolist() == [0, 1]
    assert numbered["policy.kl"].step.tolist() == [20, 30]  # steps stay as logged
    unlagged = number_iterations(got, lambda steps: steps / 10.0 - 1.0, lagged=False)
    assert unlagged["policy.kl"].iteration.tolist() == [1, 2]


def test_a_mapping_for_all_logs_of_a_project_counts_where_the_key_is_and_yields_to_that_for_this_log(
    tag_map: TagMap,
) -> None:
    table = columns(mine=[7.0, 8.0, 9.0], other=[1.0, 2.0, 3.0])
    house = {"mine": "reward.train", "absent": "reward.eval"}
    got = read(tag_map, table, house=house)
    assert got.series["reward.train"].value.tolist() == [7, 8, 9]
    assert not got.issues
    got = read(tag_map, table, house=house, mapping={"other": "reward.train"})
    assert got.series["reward.train"].value.tolist() == [1, 2, 3]


def test_values_beyond_all_floats_of_training_are_infinite(tag_map: TagMap) -> None:
    numbers = {"step": np.arange(3.0), "score": np.array([1.0, 1e308, -1e90])}
    source, _ = table_source(Table("t", 3, numbers), tag_map.step_keys)
    series = assemble([[source]], tag_map).series["reward.train"]
    np.testing.assert_array_equal(series.value, [1.0, np.nan, np.nan])
    assert (series.non_finite.positive_inf, series.non_finite.negative_inf) == (1, 1)
    assert series.non_finite.first_step == 1.0


def test_of_thousands_of_unknown_keys_the_first_are_told_what_they_may_be(tag_map: TagMap) -> None:
    keys = [f"train/neg_entropy{i:04}" for i in range(3000)]
    found = read(tag_map, columns(**dict.fromkeys(keys, (1.0, 2.0, 3.0))))
    assert [key.key for key in found.unmapped] == keys
    assert [key.suggestion is not None for key in found.unmapped] == [i < MAX_SUGGESTIONS for i in range(3000)]
