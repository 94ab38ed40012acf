"""The adapter for tables without a framework: what it recognises, what it leaves alone, what it refuses."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rl_diagnose.adapters.raw_csv import ADAPTER
from rl_diagnose.adapters.sb3 import ADAPTER as SB3
from rl_diagnose.errors import LogError, RlDiagnoseError, UsageError
from rl_diagnose.logs.adapter import Adapter, Folder, ReadOptions, RunSource, Sniff
from rl_diagnose.signals.run import ActionSpace, Run

ROWS = 12


def _table(folder: Path, columns: dict[str, list[float | str]], name: str = "log.csv", separator: str = ",") -> Path:
    path = folder / name
    lines = [list(columns), *zip(*columns.values(), strict=True)]
    path.write_text("".join(separator.join(map(str, line)) + "\n" for line in lines), encoding="utf-8")
    return path


def _grid(size: float = 100, rows: int = ROWS) -> list[float | str]:
    return [size * (i + 1) for i in range(rows)]


def _wave(low: float = 0.2, high: float = 0.8, rows: int = ROWS) -> list[float | str]:
    return [low + (high - low) * (i % 5) / 4 for i in range(rows)]


def _read(path: Path, mapping: dict[str, str] | None = None) -> Run:
    return ADAPTER.read(RunSource(path, (path,)), ReadOptions(mapping=mapping or {}))


def _sniff(path: Path) -> Sniff:
    return ADAPTER.sniff(Folder(path, (path,)))


def _sources(run: Run) -> dict[str, str]:
    return {signal: one.semantics.source_key for signal, one in run.series.items() if not signal.startswith("raw.")}


def _codes(run: Run) -> list[str]:
    return [issue.code for issue in run.issues]


def test_it_is_an_adapter() -> None:
    assert isinstance(ADAPTER, Adapter)


# -- names -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "signal"),
    [
        ("reward", "reward.train"),
        ("score", "reward.train"),
        ("ep_rew_mean", "reward.train"),
        ("rollout/ep_rew_mean", "reward.train"),
        ("charts/episodic_return", "reward.train"),
        ("Avg. Episode Reward", "reward.train"),
        ("meanEpisodeReward", "reward.train"),
        ("AverageEpRet", "reward.train"),
        ("eprewmean", "reward.train"),
        ("Reward / Total reward (mean)", "reward.train"),
        ("reward.train", "reward.train"),
        ("reward_std", "reward.train_std"),
        ("eval/mean_reward", "reward.eval"),
        ("test_return", "reward.eval"),
        ("success rate", "reward.success_rate"),
        ("ep_len", "episode.length"),
        ("losses/entropy", "policy.entropy"),
        ("policy_entropy", "policy.entropy"),
        ("approxKL", "policy.kl"),
        ("losses/approx_kl", "policy.kl"),
        ("kl_to_ref", "policy.kl_ref"),
        ("clip_frac", "policy.clip_fraction"),
        ("ClipFrac", "policy.clip_fraction"),
        ("pg_loss", "policy.loss"),
        ("LossPi", "policy.loss"),
        ("vf_loss", "value.loss"),
        ("LossV", "value.loss"),
        ("ev", "value.explained_variance"),
        ("vf_explained_var", "value.explained_variance"),
        ("train/value_mean", "value.mean"),
        ("q_values", "q.mean"),
        ("QVals", "q.mean"),
        ("max_q", "q.max"),
        ("qf_loss", "critic.loss"),
        ("td_error", "critic.td_error"),
        ("epsilon", "exploration.epsilon"),
        ("total_loss", "loss.total"),
        ("lr", "optim.learning_rate"),
        ("grad norm", "optim.grad_norm"),
        ("clip_eps", "optim.clip_range"),
        ("ent_coef", "optim.entropy_coef"),
        ("charts/SPS", "time.fps"),
        ("completions/mean_length", "llm.response_length"),
    ],
)
def test_names_that_are_recognised(column: str, signal: str, tmp_path: Path) -> None:
    run = _read(_table(tmp_path, {"timesteps": _grid(), column: _wave()}))

    assert _sources(run) == {signal: column}
    assert run.series[signal].semantics.file == "log.csv"
    assert run.unmapped == ()


@pytest.mark.parametrize(
    "column",
    [
        "value",
        "clip_ratio",
        "kl_loss",
        "disc/loss",
        "critic/lr",
        "agent_0/reward",
        "best_reward",
        "std",
        "x",
        "reward_2",
        "val_loss",
    ],
)
def test_names_that_may_mean_other_things_stay_raw(column: str, tmp_path: Path) -> None:
    run = _read(_table(tmp_path, {"timesteps": _grid(), "reward": _wave(), column: _wave()}))

    assert _sources(run) == {"reward.train": "reward"}
    assert f"raw.{column}" in run.series
    assert [key.key for key in run.unmapped] == [column]


@pytest.mark.parametrize(
    ("column", "suggestion"),
    [
        ("entrpy", "policy.entropy"),
        ("episode_rewrad", "reward.train"),
        ("clip_ratio", "policy.clip_fraction"),
        ("xyz", None),
    ],
)
def test_what_an_unknown_column_may_be(column: str, suggestion: str | None, tmp_path: Path) -> None:
    [key] = _read(_table(tmp_path, {"timesteps": _grid(), column: _wave()})).unmapped

    assert (key.key, key.suggestion, key.points) == (column, suggestion, ROWS)


def test_of_two_names_for_one_signal_the_more_certain_one_wins(tmp_path: Path) -> None:
    run = _read(_table(tmp_path, {"step": _grid(), "reward": _wave(), "episode_reward": _wave(1, 2)}))

    assert run.series["reward.train"].semantics.source_key == "episode_reward"
    assert [(key.key, key.suggestion) for key in run.unmapped] == [("reward", "reward.train")]


def test_of_two_equal_names_none_is_taken(tmp_path: Path) -> None:
    run = _read(_table(tmp_path, {"step": _grid(), "charts/reward": _wave(), "rollout/reward": _wave(1, 2)}))

    assert _sources(run) == {}
    assert {key.suggestion for key in run.unmapped} == {"reward.train"}
    [issue] = [issue for issue in run.issues if issue.code == "ambiguous_columns"]
    assert "--map charts/reward=reward.train" in issue.message


def test_values_outside_what_a_signal_can_have(tmp_path: Path) -> None:
    run = _read(
        _table(tmp_path, {"step": _grid(), "reward": _wave(), "clip_fraction": _wave(20, 80), "ev": _wave(2, 3)})
    )

    assert _sources(run) == {"reward.train": "reward"}
    assert "values_out_of_range" in _codes(run)
    assert {key.suggestion for key in run.unmapped} == {"policy.clip_fraction", "value.explained_variance"}


def test_wandb_exports_with_one_run(tmp_path: Path) -> None:
    name = "ppo-1 - charts/episodic_return"
    run = _read(
        _table(tmp_path, {"global_step": _grid(), name: _wave(), f"{name}__MIN": _wave(), f"{name}__MAX": _wave()})
    )

    assert _sources(run) == {"reward.train": name}
    assert set(run.series) == {"reward.train"}


# -- signs, windows, families ------------------------------------------------------------------------------------------


def _entropy(tmp_path: Path, column: str, values: list[float | str]) -> Run:
    return _read(_table(tmp_path, {"step": _grid(), "reward": _wave(), column: values}))


def test_an_entropy_loss_below_zero_is_minus_the_entropy(tmp_path: Path) -> None:
    entropy = _entropy(tmp_path, "train/entropy_loss", _wave(-0.7, -0.1)).series["policy.entropy"]

    assert entropy.semantics.transform == "-x"
    assert entropy.value[0] == pytest.approx(0.7)


def test_an_entropy_loss_above_zero_is_the_entropy(tmp_path: Path) -> None:
    entropy = _entropy(tmp_path, "entropy_loss", _wave(0.1, 0.7)).series["policy.entropy"]

    assert entropy.semantics.transform == "x"
    assert entropy.value[0] == pytest.approx(0.1)


def test_the_sign_of_an_entropy_loss_is_that_of_a_new_policy(tmp_path: Path) -> None:
    falling: list[float | str] = [
        -1.4 + 0.5 * i for i in range(ROWS)
    ]  # a Gaussian that becomes narrow: H from 1.4 to −4.1

    entropy = _entropy(tmp_path, "entropy_loss", falling).series["policy.entropy"]

    assert entropy.value[0] == pytest.approx(1.4)
    assert entropy.value[-1] == pytest.approx(-4.1)


def test_an_entropy_may_be_negative(tmp_path: Path) -> None:
    entropy = _entropy(tmp_path, "entropy", _wave(-3, -1)).series["policy.entropy"]

    assert entropy.semantics.transform == "x"
    assert entropy.value[0] == -3


def test_a_kl_below_zero_names_its_estimator(tmp_path: Path) -> None:
    below = _entropy(tmp_path, "approx_kl", _wave(-0.01, 0.02)).series["policy.kl"]
    above = _entropy(tmp_path, "approx_kl", _wave(0.01, 0.02)).series["policy.kl"]

    assert below.semantics.estimator == "k1"
    assert above.semantics.estimator is None


def test_a_window_that_the_name_tells(tmp_path: Path) -> None:
    run = _read(_table(tmp_path, {"step": _grid(), "mean 100 episode reward": _wave()}))

    assert run.series["reward.train"].semantics.window_episodes == 100


def test_one_row_an_episode(tmp_path: Path) -> None:
    run = _read(
        _table(tmp_path, {"episode": _grid(1), "reward": _wave(), "avg_reward": _wave(), "steps": _wave(10, 20)})
    )

    assert run.x_axis == "episodes"
    assert run.series["reward.train"].semantics.source_key == "reward"
    assert run.series["reward.train"].semantics.window_episodes == 1
    assert "step_not_growing" in _codes(run)
    assert ("steps", "episode.length") in [(key.key, key.suggestion) for key in run.unmapped]


ON = {"clip_fraction": _wave(0.05, 0.2)}
OFF = {"alpha": _wave(), "q_value": _wave()}


@pytest.mark.parametrize(
    ("others", "expected", "algorithm"),
    [
        (ON, {"policy.loss": "actor_loss", "value.loss": "critic_loss", "loss.total": "loss"}, "ppo"),
        (OFF, {"actor.loss": "actor_loss", "critic.loss": "critic_loss", "alpha": "alpha"}, "sac"),
        ({"epsilon": _wave()}, {"exploration.epsilon": "epsilon"}, None),
        ({}, {"loss.total": "loss"}, None),
    ],
)
def test_actor_and_critic_losses_depend_on_the_family(
    others: dict[str, list[float | str]], expected: dict[str, str], algorithm: str | None, tmp_path: Path
) -> None:
    losses = {name: _wave() for name in ("actor_loss", "critic_loss", "loss")}

    run = _read(_table(tmp_path, {"step": _grid(), "reward": _wave(), **others, **losses}))

    assert expected.items() <= _sources(run).items()
    assert run.algorithm == algorithm


def test_without_a_family_actor_and_critic_losses_stay_raw(tmp_path: Path) -> None:
    run = _read(_table(tmp_path, {"step": _grid(), "reward": _wave(), "actor_loss": _wave(), "critic_loss": _wave()}))

    assert _sources(run) == {"reward.train": "reward"}
    assert all(key.suggestion is not None for key in run.unmapped)


@pytest.mark.parametrize(
    ("columns", "algorithm"),
    [
        (["clip_frac", "kl"], "ppo"),
        (["epsilon", "loss"], "dqn"),
        (["alpha", "critic_loss"], "sac"),
        (["alpha", "q_loss"], "sac"),
        (["kl", "entropy", "value_loss"], None),
        (["q_value", "actor_loss"], None),
        (["alpha", "epsilon", "q_value"], "dqn"),
        (["alpha"], None),
    ],
)
def test_the_algorithm_is_named_only_where_columns_are_clear(
    columns: list[str], algorithm: str | None, tmp_path: Path
) -> None:
    run = _read(_table(tmp_path, {"step": _grid(), "reward": _wave(), **{column: _wave() for column in columns}}))

    assert run.algorithm == algorithm
    assert run.framework == "csv"


def test_words_that_name_the_algorithm_and_the_environment(tmp_path: Path) -> None:
    run = _read(
        _table(tmp_path, {"step": _grid(), "reward": _wave(), "algo": ["PPO"] * ROWS, "env_id": ["A-v1"] * ROWS})
    )

    assert (run.algorithm, run.env) == ("ppo", "A-v1")


def test_columns_that_never_change_are_hyper_parameters(tmp_path: Path) -> None:
    columns: dict[str, list[float | str]] = {"gamma": [0.99] * ROWS, "batch_size": [64] * ROWS, "lr": _wave(1e-4, 1e-3)}

    run = _read(_table(tmp_path, {"step": _grid(), "reward": _wave(), **columns}))

    assert {name: known.value for name, known in run.config.items()} == {"gamma": 0.99, "batch_size": 64}
    assert run.config["gamma"].origin == "log.csv: gamma"


def test_the_action_space_where_the_columns_tell(tmp_path: Path) -> None:
    two: list[float | str] = [0.69 - 0.01 * i for i in range(ROWS)]
    assert _entropy(tmp_path, "entropy", two).action_space.size == 2
    assert _entropy(tmp_path, "entropy", _wave(-1, 1)).action_space.kind == "continuous"
    assert _entropy(tmp_path, "epsilon", _wave()).action_space.kind == "discrete"
    given = ReadOptions(action_space=ActionSpace("discrete", 5, origin="user"))
    path = _table(tmp_path, {"step": _grid(), "reward": _wave()})
    assert ADAPTER.read(RunSource(path, (path,)), given).action_space.size == 5


# -- the x axis --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "axis"),
    [
        ("step", "env_steps"),
        ("global_step", "env_steps"),
        ("total_timesteps", "env_steps"),
        ("time/total_timesteps", "env_steps"),
        ("TotalEnvInteracts", "env_steps"),
        ("frames", "env_steps"),
        ("training_iteration", "iterations"),
        ("iter", "iterations"),
        ("Epoch", "iterations"),
        ("update", "updates"),
        ("train/global_step", "updates"),
        ("episode", "episodes"),
    ],
)
def test_columns_of_steps(column: str, axis: str, tmp_path: Path) -> None:
    run = _read(_table(tmp_path, {"reward": _wave(), column: _grid(10)}))

    assert run.x_axis == axis
    assert run.series["reward.train"].x_axis == axis
    assert run.series["reward.train"].step.tolist() == _grid(10)
    assert set(run.series) == {"reward.train"}


def test_environment_steps_are_preferred(tmp_path: Path) -> None:
    run = _read(_table(tmp_path, {"iteration": _grid(1), "episode": _grid(3), "step": _grid(50), "reward": _wave()}))

    assert run.x_axis == "env_steps"
    assert run.series["reward.train"].iteration.tolist() == list(range(ROWS))


def test_without_steps_rows_are_counted_and_it_is_said(tmp_path: Path) -> None:
    run = _read(_table(tmp_path, {"reward": _wave(), "entropy": _wave()}))

    assert run.x_axis == "iterations"
    assert run.series["reward.train"].step.tolist() == list(range(ROWS))
    assert run.series["reward.train"].iteration.tolist() == list(range(ROWS))
    [issue] = run.issues
    assert (issue.code, issue.severity) == ("no_step_column", "info")


def test_a_step_column_that_does_not_grow_is_not_used(tmp_path: Path) -> None:
    run = _read(_table(tmp_path, {"steps": _wave(10, 90), "reward": _wave()}))

    assert run.x_axis == "iterations"
    assert "raw.steps" in run.series
    assert [code for code in _codes(run) if code.startswith(("step", "no_step"))] == [
        "step_not_growing",
        "no_step_column",
    ]


def test_a_step_column_that_counts_rows_is_not_called_environment_steps(tmp_path: Path) -> None:
    path = _table(tmp_path, {"step": _grid(1), "reward": _wave()})

    assert _read(path).x_axis == "iterations"
    assert "step_counts_rows" in _codes(_read(path))
    assert _read(path, {"step": "step"}).x_axis == "env_steps"


def test_a_restart_in_the_middle(tmp_path: Path) -> None:
    steps: list[float | str] = [*_grid(100, 8), *_grid(100, 16)[4:]]

    run = _read(_table(tmp_path, {"step": steps, "reward": list(range(len(steps)))}))

    assert run.series["reward.train"].step.tolist() == _grid(100, 16)
    assert run.series["reward.train"].value.tolist() == [0, 1, 2, 3, *range(8, 20)]
    assert "restart" in _codes(run)


def test_rows_without_a_step_take_the_one_before(tmp_path: Path) -> None:
    steps: list[float | str] = [100, 200, "", 400]

    run = _read(_table(tmp_path, {"step": steps, "reward": [1, 2, "", 4], "eval_reward": ["", "", 7, ""]}))

    assert run.series["reward.eval"].step.tolist() == [200]
    assert run.series["reward.train"].step.tolist() == [100, 200, 400]


def test_iterations_of_an_on_policy_run_are_assumed_one_a_row(tmp_path: Path) -> None:
    run = _read(_table(tmp_path, {"step": _grid(2048), "clip_fraction": _wave(), "eval_reward": [1, *[""] * 10, 2]}))

    assert run.series["policy.clip_fraction"].iteration.tolist() == list(range(ROWS))
    assert run.series["reward.eval"].iteration.tolist() == [0, 11]
    assert "iterations_assumed" in _codes(run)


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("timestamp", [1.7e9 + i for i in range(ROWS)]),
        ("wall_time", [(1.7e9 + i) * 1e3 for i in range(ROWS)]),
        ("datetime", [f"2023-11-14T22:13:{20 + i}" for i in range(ROWS)]),
        ("date", [f"2023-11-14 22:13:{20 + i}+00:00" for i in range(ROWS)]),
    ],
)
def test_wall_times(column: str, values: list[float | str], tmp_path: Path) -> None:
    run = _read(_table(tmp_path, {"step": _grid(), "reward": _wave(), column: values}))

    np.testing.assert_allclose(run.series["reward.train"].wall_time, [1.7e9 + i for i in range(ROWS)])
    assert set(run.series) == {"reward.train"}


def test_elapsed_times_are_no_wall_times(tmp_path: Path) -> None:
    run = _read(_table(tmp_path, {"step": _grid(), "reward": _wave(), "time": _grid(0.5)}))

    assert np.isnan(run.series["reward.train"].wall_time).all()
    assert "raw.time" in run.series
    assert run.unmapped == ()


def test_non_finite_values_are_counted(tmp_path: Path) -> None:
    values: list[float | str] = [1, "nan", "inf", "", *[2] * (ROWS - 4)]

    run = _read(_table(tmp_path, {"step": _grid(), "reward": values, "ev": ["nan", *[0.5] * (ROWS - 1)]}))

    reward = run.series["reward.train"]
    assert (reward.non_finite.nan, reward.non_finite.positive_inf, reward.non_finite.first_step) == (1, 1, 200)
    assert len(reward) == ROWS - 1
    assert run.series["value.explained_variance"].non_finite.harmful == 0
    assert [issue.message.split(" ")[0] for issue in run.issues if issue.code == "non_finite"] == ["reward.train"]


# -- --map -------------------------------------------------------------------------------------------------------------


def test_a_mapping_wins_over_names(tmp_path: Path) -> None:
    path = _table(tmp_path, {"t": _grid(), "reward": _wave(), "R": _wave(5, 6), "kl": _wave(), "n": _grid(1)})

    run = _read(path, {"t": "step", "R": "reward.train", "kl": "policy.kl_ref", "n": "iteration", "reward": "ignore"})

    assert _sources(run) == {"reward.train": "R", "policy.kl_ref": "kl"}
    assert run.x_axis == "env_steps"
    assert run.series["reward.train"].iteration.tolist() == list(range(ROWS))
    assert "raw.reward" not in run.series
    assert run.unmapped == ()


def test_a_column_can_be_mapped_to_a_raw_name_and_to_wall_time(tmp_path: Path) -> None:
    path = _table(tmp_path, {"step": _grid(), "a": _wave(), "when": [1.7e9 + i for i in range(ROWS)]})

    run = _read(path, {"a": "raw.mine", "when": "wall_time"})

    assert set(run.series) == {"raw.mine"}
    assert run.series["raw.mine"].wall_time[0] == 1.7e9


def test_a_mapped_entropy_loss_is_signed_like_an_unmapped_one(tmp_path: Path) -> None:
    path = _table(tmp_path, {"step": _grid(), "neg_entropy": _wave(-0.7, -0.1), "minus_h": _wave(-0.7, -0.1)})

    assert _read(path, {"neg_entropy": "policy.entropy"}).series["policy.entropy"].semantics.transform == "-x"
    assert _read(path, {"minus_h": "policy.entropy"}).series["policy.entropy"].semantics.transform == "x"


@pytest.mark.parametrize(
    ("mapping", "fact", "hint"),
    [
        ({"rewad": "reward.train"}, "no column 'rewad'", "did you mean reward?"),
        ({"zzz": "reward.train"}, "no column 'zzz'", "its columns are step, reward, other, note"),
        ({"reward": "reward.trian"}, "'reward.trian' is not a signal", "did you mean reward.train?"),
        ({"reward": "reward"}, "'reward' is not a signal", "did you mean reward.train?"),
        ({"reward": "stepp"}, "'stepp' is not a signal", "did you mean step?"),
        ({"reward": "zzz"}, "'zzz' is not a signal", "step, iteration, wall_time, ignore"),
        ({"reward": "raw."}, "'raw.' is not a signal", ""),
        (
            {"reward": "reward.train", "other": "reward.train"},
            "two columns are mapped to reward.train: reward and other",
            "",
        ),
        ({"reward": "step", "other": "step"}, "two columns are mapped to step", ""),
        ({"reward": "policy.kl_scaled"}, "policy.kl_scaled is computed, not read", "map policy.kl instead"),
        ({"note": "reward.train"}, "the column 'note' holds words ('warm up'), not numbers", ""),
    ],
)
def test_mappings_that_cannot_be_meant(mapping: dict[str, str], fact: str, hint: str, tmp_path: Path) -> None:
    note: list[float | str] = ["warm up"] * ROWS
    columns = {"step": _grid(), "reward": _wave(), "other": _wave(), "note": note}

    with pytest.raises(UsageError) as raised:
        _read(_table(tmp_path, columns), mapping)

    assert fact in str(raised.value)
    assert hint in (raised.value.hint or "")


def test_several_columns_can_be_ignored(tmp_path: Path) -> None:
    run = _read(
        _table(tmp_path, {"step": _grid(), "reward": _wave(), "a": _wave(), "b": _wave()}),
        {"a": "ignore", "b": "ignore"},
    )

    assert set(run.series) == {"reward.train"}


# -- sniffing ----------------------------------------------------------------------------------------------------------


def test_more_recognised_columns_make_a_higher_score_below_any_framework(tmp_path: Path) -> None:
    few = _sniff(_table(tmp_path, {"step": _grid(), "reward": _wave()}))
    names = ["reward", "entropy", "kl", "clip_fraction", "value_loss", "policy_loss", "lr", "ev"]
    many = _sniff(_table(tmp_path, {"step": _grid(), **{name: _wave() for name in names}}))

    assert 0.1 <= few.score < many.score <= 0.4
    assert "step, reward" in many.reason


@pytest.mark.parametrize(
    "content",
    [
        "name,city\nAnn,Rome\nBob,Oslo\n",
        "price,area\n1.5,20\n2.5,30\n",
        "reward\n1\n2\n",
        "",
        "\0\0\0\0",
        "step\n1\n2\n",
        "just some text\nwithout any table\n",
    ],
)
def test_files_in_a_folder_that_are_no_logs(content: str, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(content, encoding="utf-8")

    sniff = ADAPTER.sniff(Folder(tmp_path, (path,)))

    assert sniff.score == 0
    assert sniff.sources == ()
    assert sniff.reason.startswith("table.csv: ")


def test_a_file_that_was_named_itself_needs_no_known_columns(tmp_path: Path) -> None:
    path = _table(tmp_path, {"a": _grid(), "b": _wave()}, name="mine.dat")

    assert _sniff(path).score == pytest.approx(0.1)
    assert _read(path, {"a": "step", "b": "reward.train"}).series["reward.train"].step.tolist() == _grid()
    with pytest.raises(LogError, match="no column is recognised among a, b") as raised:
        _read(path)
    assert "--map" in (raised.value.hint or "")


def test_each_table_of_a_folder_is_a_run(tmp_path: Path) -> None:
    columns = {"step": _grid(), "reward": _wave()}
    paths = [_table(tmp_path, columns, name) for name in ("a.csv", "b.tsv", "notes.txt", "progress.txt", "readme.csv")]
    paths[-1].write_text("nothing\n", encoding="utf-8")

    sniff = ADAPTER.sniff(Folder(tmp_path, tuple(paths)))

    assert [source.path.name for source in sniff.sources] == ["a.csv", "b.tsv", "progress.txt"]
    assert all(source.files == (source.path,) for source in sniff.sources)


def test_files_that_vanish_or_cannot_be_opened_are_no_logs(tmp_path: Path) -> None:
    assert ADAPTER.sniff(Folder(tmp_path, (tmp_path / "gone.csv",))).score == 0
    (tmp_path / "folder.csv").mkdir()
    assert ADAPTER.sniff(Folder(tmp_path, (tmp_path / "folder.csv",))).score == 0


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=400) | st.text('stepreward,0123456789.\n\t;#"nai-', max_size=300).map(str.encode))
def test_no_file_whatever_it_holds_breaks_the_adapter(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_bytes(content)

    sniff = _sniff(path)
    try:
        run = _read(path)
    except RlDiagnoseError:
        return
    assert sniff.score > 0 or len(run.series) > 0


# -- refusals ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "fact"),
    [
        ("step,reward\n", "there is a header, but no row yet"),
        ("step,reward\na,b\n", "no column is recognised"),
        ("step\n1\n2\n", "no column of numbers is left besides the steps"),
        ("", "empty"),
    ],
)
def test_tables_without_a_run_are_refused(content: str, fact: str, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(content, encoding="utf-8")

    with pytest.raises(LogError, match=fact):
        _read(path)


@pytest.mark.parametrize("stacked", [True, False])
def test_several_runs_in_one_table_are_refused(stacked: bool, tmp_path: Path) -> None:
    rows = [(seed, 100 * (i + 1), i) for seed in (1, 2, 3) for i in range(ROWS)]
    rows.sort(key=(lambda row: (row[0], row[1])) if stacked else (lambda row: (row[1], row[0])))
    columns: dict[str, list[float | str]] = {
        name: [row[i] for row in rows] for i, name in enumerate(("seed", "step", "reward"))
    }
    path = _table(tmp_path, columns)

    assert _sniff(path).score == 0
    with pytest.raises(LogError, match="holds 3 runs: the column seed has 3 values"):
        _read(path)
    assert len(_read(path, {"seed": "ignore"}).series["reward.train"]) == ROWS


def test_a_label_that_changes_along_the_run_is_no_second_run(tmp_path: Path) -> None:
    task: list[float | str] = [*["easy"] * 6, *["hard"] * 6]

    run = _read(_table(tmp_path, {"step": _grid(), "reward": _wave(), "task": task}))

    assert len(run.series["reward.train"]) == ROWS


# -- real tables -------------------------------------------------------------------------------------------------------


def test_a_spinning_up_table(data: Path) -> None:
    path = data / "csv" / "spinningup_ppo.txt"

    run = _read(path)

    assert run.algorithm == "ppo"
    assert run.x_axis == "env_steps"
    assert run.last_step == 28000
    assert run.action_space.size == 2
    assert _sources(run)["policy.entropy"] == "Entropy"
    assert run.series["policy.kl"].iteration.tolist() == list(range(7))


@pytest.mark.parametrize("name", ["ppo_eval", "ppo_gaussian", "ppo_inf_csv", "sac_eval", "td3_eval", "trpo_csv"])
def test_names_agree_with_the_adapter_that_knows_the_framework(name: str, sb3_data: Path) -> None:
    path = sb3_data / name / "progress.csv"
    by_names, by_framework = _read(path), SB3.read(RunSource(path, (path,)), ReadOptions())

    shared = {s for s in by_names.series.keys() & by_framework.series.keys() if not s.startswith("raw.")}
    wrong = {
        signal
        for signal in {s for s in by_names.series if not s.startswith("raw.")} - shared
        if signal not in ("optim.entropy_coef",)  # SB3's fixed ent_coef without a critic: cannot be told by names
    }

    assert "reward.train" in shared
    assert wrong == set()
    for signal in shared:
        np.testing.assert_array_equal(by_names.series[signal].step, by_framework.series[signal].step)
        np.testing.assert_array_equal(by_names.series[signal].value, by_framework.series[signal].value)


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("name", "algorithm", "least"),
    [
        ("spinningup/ppo_hopper/progress.txt", "ppo", 11),
        ("spinningup/td3_humanoid/progress.txt", None, 11),
        ("rllib/ray0.6_impala_pong/progress.csv", None, 4),
        ("rllib/ray0.7_ppo_ring/progress.csv", None, 12),
    ],
)
def test_public_tables(name: str, algorithm: str | None, least: int, shared: Path) -> None:
    run = _read(shared / "samples" / name)

    assert run.x_axis == "env_steps"
    assert run.algorithm == algorithm
    assert len(_sources(run)) >= least


def test_a_small_table_needs_no_polars_and_no_pandas(data: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from rl_diagnose.logs.adapter import ReadOptions, RunSource\n"
        "from rl_diagnose.adapters.raw_csv import ADAPTER\n"
        f"path = Path({str(data / 'csv' / 'spinningup_ppo.txt')!r})\n"
        "ADAPTER.read(RunSource(path, (path,)), ReadOptions())\n"
        "print(sorted({'polars', 'pandas', 'pydantic', 'rich', 'tbparse'} & set(sys.modules)))"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603

    assert done.stdout.strip() == "[]"
