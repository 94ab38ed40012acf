"""Stable-Baselines3 runs as Runs: what is recognised, read, merged, and the pitfalls of SB3's logs."""

from __future__ import annotations

import csv
import json
import math
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rl_diagnose.adapters.sb3 import ADAPTER
from rl_diagnose.errors import LogError, UsageError
from rl_diagnose.logs.adapter import Adapter, Folder, ReadOptions, RunSource, Sniff
from rl_diagnose.signals.run import ActionSpace, Run

Writer = Callable[..., Path]


def sniff(path: Path) -> Sniff:
    files = (path,) if path.is_file() else tuple(sorted(p for p in path.iterdir() if p.is_file()))
    return ADAPTER.sniff(Folder(path, files))


def read(path: Path, options: ReadOptions | None = None) -> Run:
    (source,) = sniff(path).sources
    return ADAPTER.read(source, options or ReadOptions())


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def logged(path: Path, key: str) -> dict[float, float]:
    """Finite values of a column of progress.csv by step: an independent reading."""
    cells = {float(row["time/total_timesteps"]): row[key] for row in rows(path) if row.get(key)}
    return {step: float(cell) for step, cell in cells.items() if math.isfinite(float(cell))}


def finite(run: Run, signal: str) -> dict[float, float]:
    series = run.series[signal]
    good = np.isfinite(series.value)
    return dict(zip(series.step[good].tolist(), series.value[good].tolist(), strict=True))


def codes(run: Run) -> list[str]:
    return [issue.code for issue in run.issues]


def copy(source: Path, target: Path, *patterns: str) -> Path:
    target.mkdir(parents=True, exist_ok=True)
    for pattern in patterns:
        for path in source.glob(pattern):
            shutil.copy(path, target)
    return target


def test_the_adapter_keeps_the_protocol() -> None:
    assert isinstance(ADAPTER, Adapter)


# -- recognising --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("folder", "algorithm"),
    [
        ("ppo_resumed", "ppo"),
        ("ppo_gaussian", "ppo"),
        ("sac_eval", "sac"),
        ("td3_eval", "td3"),
        ("dqn_json", "dqn"),
        ("trpo_csv", "trpo"),
        ("ppo_inf_csv", "ppo"),
        ("imitation", "ppo"),
    ],
)
def test_runs_of_every_kind_are_recognised(sb3_data: Path, folder: str, algorithm: str) -> None:
    answer = sniff(sb3_data / folder)
    assert answer.score >= 0.9
    run = read(sb3_data / folder)
    assert (run.framework, run.algorithm, run.adapter) == ("sb3", algorithm, "sb3")


@pytest.mark.parametrize(
    ("source", "algorithm"), [("ppo_gaussian", "ppo"), ("sac_eval", "sac"), ("td3_eval", "td3"), ("trpo_csv", "trpo")]
)
def test_the_algorithm_is_told_by_keys_alone(sb3_data: Path, tmp_path: Path, source: str, algorithm: str) -> None:
    run = read(copy(sb3_data / source, tmp_path / "nameless" / "run", "*"))
    assert run.algorithm == algorithm
    assert "by its keys" in run.adapter_reason


@pytest.mark.parametrize(
    ("source", "name", "algorithm"),
    [
        ("ppo_gaussian", "RecurrentPPO_1", "recurrent_ppo"),
        ("ppo_gaussian", "ppo_lstm_3", "recurrent_ppo"),
        ("sac_eval", "TQC_2", "tqc"),
        ("sac_eval", "crossq-run", "crossq"),
        ("td3_eval", "DDPG_1", "ddpg"),
        ("dqn_json", "QRDQN_1", "qrdqn"),
        ("ppo_gaussian", "DQN_1", "ppo"),  # keys are stronger than names
    ],
)
def test_a_folder_name_tells_relatives_apart(
    sb3_data: Path, tmp_path: Path, source: str, name: str, algorithm: str
) -> None:
    assert read(copy(sb3_data / source, tmp_path / name, "*")).algorithm == algorithm


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("params.json", "{}"),
        ("stdout.txt", "| rollout/ep_rew_mean | 1 |\n"),
        ("progress.csv", "training_iteration,time_since_restore\n1,2\n"),
        ("progress.csv", "eprewmean,misc/total_timesteps\n1,2\n"),
        ("progress.json", '{"eprewmean": 1}\n'),
        ("progress.json", "not json\n"),
        ("monitor.csv", "r,l,t\n1,2,3\n"),  # not SB3's: no header
        ("evaluations.npz", "not a zip"),
        ("best_model.zip", "not a zip"),
        ("config.yml", "ent_coef: 0\n"),
        ("results.csv", ""),
    ],
)
def test_other_files_are_not_claimed(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content, "utf-8")
    answer = sniff(tmp_path)
    assert answer.score == 0
    assert answer.sources == ()


@pytest.mark.parametrize(
    "tags",
    [
        ("ray/tune/episode_reward_mean", "ray/tune/timesteps_total"),
        ("train/env_step", "train/reward", "update/loss/clip"),
        ("train/loss", "train/learning_rate", "train/epoch"),
        ("charts/episodic_return", "losses/entropy"),
    ],
)
def test_event_files_of_other_frameworks_are_not_claimed(
    tmp_path: Path, write_events: Writer, tags: tuple[str, ...]
) -> None:
    write_events(tmp_path / "events.out.tfevents.1.host", [(tag, 1, 1.0, 1.0) for tag in tags])
    assert sniff(tmp_path).score == 0


def test_a_saved_model_without_a_log_is_no_run_but_worth_a_word(sb3_data: Path, tmp_path: Path) -> None:
    shutil.copy(sb3_data / "zoo" / "CartPole-v1_1" / "CartPole-v1.zip", tmp_path)
    answer = sniff(tmp_path)
    assert (answer.score, answer.sources) == (0, ())
    assert "no log beside it" in answer.reason


def test_single_files_are_runs_too(sb3_data: Path) -> None:
    event = next((sb3_data / "ppo_eval").glob("events*"))
    table = sb3_data / "trpo_csv" / "progress.csv"
    assert read(event).algorithm == "ppo"
    assert read(table).algorithm == "trpo"


def test_progress_files_that_were_renamed_are_a_run_each(sb3_data: Path, tmp_path: Path) -> None:
    shutil.copy(sb3_data / "trpo_csv" / "progress.csv", tmp_path / "trpo_seed1.csv")
    shutil.copy(sb3_data / "ppo_inf_csv" / "progress.csv", tmp_path / "ppo_seed1.csv")
    answer = sniff(tmp_path)
    assert [source.path.name for source in answer.sources] == ["ppo_seed1.csv", "trpo_seed1.csv"]
    runs = [ADAPTER.read(source, ReadOptions()) for source in answer.sources]
    assert [run.algorithm for run in runs] == ["ppo", "trpo"]


# -- signals ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("folder", ["ppo_eval", "ppo_gaussian", "sac_eval", "td3_eval"])
def test_event_files_give_what_progress_csv_holds(sb3_data: Path, tmp_path: Path, folder: str) -> None:
    run = read(copy(sb3_data / folder, tmp_path / folder, "events*"))
    compared = 0
    for signal, series in run.series.items():
        if signal == "time.fps" or signal.startswith("raw."):
            continue
        expected = logged(sb3_data / folder / "progress.csv", series.semantics.source_key)
        sign = -1.0 if series.semantics.transform == "-x" else 1.0
        got = finite(run, signal)
        assert list(got) == list(expected), signal
        np.testing.assert_allclose(list(got.values()), [sign * v for v in expected.values()], rtol=1e-6, err_msg=signal)
        compared += 1
    assert compared >= 8


def test_entropy_is_minus_the_entropy_loss(sb3_data: Path) -> None:
    run = read(sb3_data / "ppo_eval")
    entropy = run.series["policy.entropy"]
    assert (entropy.semantics.source_key, entropy.semantics.transform) == ("train/entropy_loss", "-x")
    assert (entropy.value > 0).all()
    first = next(iter(logged(sb3_data / "ppo_eval" / "progress.csv", "train/entropy_loss").values()))
    assert entropy.value[0] == pytest.approx(-first)


def test_trpo_maximises_its_objective(sb3_data: Path) -> None:
    run = read(sb3_data / "trpo_csv")
    objective = logged(sb3_data / "trpo_csv" / "progress.csv", "train/policy_objective")
    assert list(finite(run, "policy.loss").values()) == [-value for value in objective.values()]
    assert run.series["policy.kl"].semantics.estimator == "exact"
    assert "policy.line_search_success" in run.series


def test_td3_actor_loss_is_minus_mean_q(sb3_data: Path) -> None:
    run = read(sb3_data / "td3_eval")
    np.testing.assert_array_equal(run.series["q.mean"].value, -run.series["actor.loss"].value)
    assert "q.mean" not in read(sb3_data / "sac_eval").series  # there an entropy term is in it


def test_dqn_loss_is_its_critics(sb3_data: Path) -> None:
    run = read(sb3_data / "dqn_json")
    np.testing.assert_array_equal(run.series["critic.loss"].value, run.series["loss.total"].value)
    records = [json.loads(line) for line in (sb3_data / "dqn_json" / "progress.json").read_text("utf-8").splitlines()]
    expected = {r["time/total_timesteps"]: r["rollout/exploration_rate"] for r in records}
    assert finite(run, "exploration.epsilon") == pytest.approx(expected)


def test_the_window_of_the_training_return_is_noted(sb3_data: Path) -> None:
    semantics = read(sb3_data / "ppo_eval").series["reward.train"].semantics
    assert (semantics.window, semantics.window_episodes) == ("last 100 episodes", 100)


def test_old_key_names_with_spaces_are_known(tmp_path: Path) -> None:
    text = "rollout/ep_rew_mean,rollout/exploration rate,rollout/success rate,time/total timesteps,time/fps\n"
    (tmp_path / "progress.csv").write_text(text + "1,0.9,0.0,100,50\n2,0.8,0.5,200,50\n", "utf-8")
    run = read(tmp_path)
    assert run.series["exploration.epsilon"].step.tolist() == [100, 200]
    assert run.series["reward.success_rate"].value.tolist() == [0.0, 0.5]
    assert run.algorithm == "dqn"
    assert run.unmapped == ()


def test_approx_kl_below_zero_is_an_old_estimator(tmp_path: Path) -> None:
    head = "time/total_timesteps,time/fps,train/policy_gradient_loss,train/approx_kl\n"
    (tmp_path / "progress.csv").write_text(head + "100,50,0,0.01\n200,50,0,-0.02\n", "utf-8")
    assert read(tmp_path).series["policy.kl"].semantics.estimator == "k1"


# -- iterations and the lag of train/* ----------------------------------------------------------------------------


def test_the_first_row_has_no_update_and_updates_belong_to_the_iteration_before(sb3_data: Path) -> None:
    run = read(sb3_data / "ppo_gaussian")
    reward, kl = run.series["reward.train"], run.series["policy.kl"]
    assert reward.iteration.tolist() == list(range(len(reward)))
    assert kl.step[0] == reward.step[1]  # the step of the row stays
    assert kl.iteration.tolist() == list(range(len(kl)))  # its update followed the rollout of the row before
    assert "before the row" in (run.series["policy.clip_fraction"].semantics.window or "")


def test_event_files_alone_number_iterations_by_rows_and_say_so(sb3_data: Path, tmp_path: Path) -> None:
    whole = read(sb3_data / "ppo_gaussian")
    alone = read(copy(sb3_data / "ppo_gaussian", tmp_path / "run", "events*"))
    for signal in ("reward.train", "policy.kl"):
        assert alone.series[signal].iteration.tolist() == whole.series[signal].iteration.tolist()
    assert "iterations_assumed" in codes(alone)
    assert "iterations_assumed" not in codes(whole)


def test_rows_of_several_iterations_are_numbered_by_their_count(tmp_path: Path) -> None:
    head = "time/total_timesteps,time/iterations,time/fps,train/policy_loss,train/value_loss\n"
    (tmp_path / "progress.csv").write_text(head + "500,100,50,1,1\n1000,200,50,1,1\n", "utf-8")
    run = read(tmp_path)
    assert run.series["time.fps"].iteration.tolist() == [99, 199]
    assert run.series["policy.loss"].iteration.tolist() == [98, 198]


def test_without_a_count_an_update_in_the_first_row_is_counted_to_its_row(tmp_path: Path) -> None:
    head = "time/total_timesteps,time/fps,train/policy_loss,train/value_loss\n"
    (tmp_path / "progress.csv").write_text(head + "500,50,1,1\n1000,50,1,1\n", "utf-8")
    assert read(tmp_path).series["policy.loss"].iteration.tolist() == [0, 1]


def test_off_policy_runs_have_no_iterations(sb3_data: Path) -> None:
    assert np.isnan(read(sb3_data / "sac_eval").series["critic.loss"].iteration).all()


def test_an_evaluation_takes_train_values_to_its_own_step(sb3_data: Path) -> None:
    """An evaluation's dump empties SB3's logger: pending train/* values stand in the evaluation's row."""
    table = rows(sb3_data / "td3_eval" / "progress.csv")
    stolen = {float(r["time/total_timesteps"]) for r in table if r["train/critic_loss"] and r["eval/mean_reward"]}
    assert stolen
    run = read(sb3_data / "td3_eval")
    critic, reward = run.series["critic.loss"], run.series["reward.train"]
    assert stolen <= set(critic.step.tolist())
    assert not stolen & set(reward.step.tolist())
    assert critic.step.tolist() == [float(r["time/total_timesteps"]) for r in table if r["train/critic_loss"]]


def test_values_that_an_evaluation_took_belong_to_the_last_update(tmp_path: Path) -> None:
    head = "time/total_timesteps,time/iterations,time/fps,train/policy_gradient_loss,eval/mean_reward\n"
    body = "1000,1,50,,\n1500,,,0.1,7\n2000,2,50,,\n3000,3,50,0.3,\n"
    (tmp_path / "progress.csv").write_text(head + body, "utf-8")
    run = read(tmp_path)
    assert run.series["policy.loss"].step.tolist() == [1500, 3000]
    assert run.series["policy.loss"].iteration.tolist() == [0, 1]
    assert run.series["reward.eval"].iteration.tolist() == [1]  # the policy that collects iteration 1


# -- several files ------------------------------------------------------------------------------------------------


def test_a_resumed_run_has_both_parts_from_the_event_files(sb3_data: Path) -> None:
    run = read(sb3_data / "ppo_resumed")
    second = logged(sb3_data / "ppo_resumed" / "progress.csv", "train/approx_kl")
    kl = finite(run, "policy.kl")
    assert min(kl) == 2048
    assert {step: kl[step] for step in second} == pytest.approx(second, rel=1e-6)
    assert len(kl) > 1.8 * len(second)
    assert codes(run).count("csv_overwritten") == 1
    assert codes(run).count("resumed") == 1
    assert "restart" not in codes(run)
    assert run.series["reward.train"].iteration[-1] == 79  # 81 920 steps of 1 024


def test_what_only_the_overwritten_csv_has_is_still_read(sb3_data: Path) -> None:
    updates = read(sb3_data / "ppo_resumed").series["optim.updates"]
    assert updates.semantics.file == "progress.csv"
    assert updates.step[0] > 41_000


def test_after_a_restart_at_zero_the_later_part_counts(sb3_data: Path) -> None:
    run = read(sb3_data / "ppo_restarted")
    expected = logged(sb3_data / "ppo_restarted" / "progress.csv", "train/value_loss")
    assert finite(run, "value.loss") == pytest.approx(expected, rel=1e-6)
    (restart,) = [issue for issue in run.issues if issue.code == "restart"]
    assert restart.step == 1024
    assert restart.source.endswith(".6")
    assert "csv_overwritten" in codes(run)
    assert run.action_space.size == 2  # from the entropy of the first part: the second starts with a trained policy


def test_event_files_win_over_csv_and_csv_over_json(sb3_data: Path, tmp_path: Path) -> None:
    folder = copy(sb3_data / "ppo_gaussian", tmp_path / "PPO_1", "events*")
    head = "time/total_timesteps,time/fps,rollout/ep_rew_mean,rollout/ep_len_mean,custom/only_csv\n"
    (folder / "progress.csv").write_text(head + "1024,1,999,999,5\n", "utf-8")
    line = {"time/total_timesteps": 1024, "time/fps": 1, "custom/only_csv": 6.0, "custom/only_json": 7.0}
    (folder / "progress.json").write_text(json.dumps(line) + "\n", "utf-8")
    run = read(folder)
    assert 999 not in run.series["reward.train"].value
    assert run.series["raw.custom/only_csv"].value.tolist() == [5.0]
    assert run.series["raw.custom/only_json"].value.tolist() == [7.0]
    assert {key.key for key in run.unmapped} == {"custom/only_csv", "custom/only_json"}


def test_a_damaged_event_file_does_not_cost_the_csv(sb3_data: Path, tmp_path: Path) -> None:
    folder = copy(sb3_data / "ppo_gaussian", tmp_path / "PPO_1", "*")
    next(folder.glob("events*")).write_bytes(b"\x18" + b"garbage" * 20)
    run = read(folder)
    assert codes(run).count("unreadable_file") == 1
    assert len(run.series["reward.train"]) == len(logged(folder / "progress.csv", "rollout/ep_rew_mean"))


def test_a_cut_event_file_is_read_as_far_as_it_goes(sb3_data: Path, tmp_path: Path) -> None:
    folder = copy(sb3_data / "ppo_gaussian", tmp_path / "PPO_1", "events*")
    event = next(folder.glob("events*"))
    event.write_bytes(event.read_bytes()[: event.stat().st_size // 2 + 3])
    run = read(folder)
    assert codes(run).count("truncated_tail") == 1
    assert 20 < len(run.series["reward.train"]) < 30


# -- non-finite values --------------------------------------------------------------------------------------------


def test_nan_explained_variance_is_benign(tmp_path: Path) -> None:
    head = "time/total_timesteps,time/fps,train/policy_gradient_loss,train/explained_variance\n"
    (tmp_path / "progress.csv").write_text(head + "1,1,0,nan\n2,1,0,0.5\n", "utf-8")
    run = read(tmp_path)
    assert run.series["value.explained_variance"].non_finite.benign == 1
    assert run.series["value.explained_variance"].non_finite.harmful == 0
    assert "non_finite" not in codes(run)


def test_an_infinite_return_is_kept_as_evidence(sb3_data: Path) -> None:
    run = read(sb3_data / "ppo_inf_csv")
    raw = [
        (float(row["time/total_timesteps"]), float(row["rollout/ep_rew_mean"]))
        for row in rows(sb3_data / "ppo_inf_csv" / "progress.csv")
        if row["rollout/ep_rew_mean"]
    ]
    infinite = [step for step, value in raw if math.isinf(value)]
    reward = run.series["reward.train"]
    assert reward.non_finite.positive_inf == len(infinite) > 0
    assert reward.non_finite.first_step == infinite[0]
    assert len(reward) == len(raw)
    assert any(issue.code == "non_finite" and issue.step == infinite[0] for issue in run.issues)


# -- monitor files and evaluations --------------------------------------------------------------------------------


def test_monitor_files_give_episodes_and_evaluation_files_are_left_out(sb3_data: Path) -> None:
    run = read(sb3_data / "monitors")
    lines = (sb3_data / "monitors" / "train.monitor.csv").read_text("utf-8").splitlines()[2:]
    episodes = [tuple(map(float, line.split(","))) for line in lines]
    reward = run.series["reward.train"]
    assert reward.value.tolist() == [episode[0] for episode in episodes]
    assert reward.step.tolist() == np.cumsum([episode[1] for episode in episodes]).tolist()
    assert (reward.semantics.window_episodes, reward.semantics.source_key) == (1, "r")
    assert run.env == "Ant-v4"
    assert reward.wall_time[0] == pytest.approx(1701555464.0907688 + episodes[0][2])


@pytest.mark.parametrize(
    "place", ["eval.monitor.csv", "test.monitor.csv", "eval/0.monitor.csv", "benchmark/ppo-Env/0.monitor.csv"]
)
def test_evaluation_monitors_alone_are_no_training_run(sb3_data: Path, tmp_path: Path, place: str) -> None:
    path = tmp_path / place
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(sb3_data / "monitors" / "train.monitor.csv", path)
    answer = sniff(path.parent)
    assert answer.sources == ()
    assert "evaluation episodes only" in answer.reason


def test_monitors_do_not_touch_a_logged_training_return(sb3_data: Path, tmp_path: Path) -> None:
    folder = copy(sb3_data / "ppo_gaussian", tmp_path / "PPO_1", "events*")
    copy(sb3_data / "monitors", folder, "train.monitor.csv")
    assert read(folder).series["reward.train"].semantics.source_key == "rollout/ep_rew_mean"


def test_episodes_of_several_environments_are_in_order_of_their_ends(tmp_path: Path) -> None:
    for name, start, text in (("0", 100.0, "1,10,1\n2,10,3\n"), ("1", 100.5, "5,20,1\n6,20,9\n")):
        (tmp_path / f"{name}.monitor.csv").write_text(
            f'#{{"t_start": {start}, "env_id": null}}\nr,l,t\n{text}', "utf-8"
        )
    reward = read(tmp_path).series["reward.train"]
    assert reward.value.tolist() == [1, 5, 2, 6]
    assert reward.step.tolist() == [10, 30, 40, 60]


def test_a_monitor_without_episodes_says_so(sb3_data: Path) -> None:
    with pytest.raises(LogError, match=r"monitor\.csv: no episode finished"):
        read(sb3_data / "monitor_empty")


def test_evaluations_npz_fills_what_the_log_lacks(sb3_data: Path) -> None:
    run = read(sb3_data / "zoo" / "CartPole-v1_1")
    with np.load(sb3_data / "zoo" / "CartPole-v1_1" / "evaluations.npz", allow_pickle=False) as stored:
        steps, results = stored["timesteps"], stored["results"]
    assert finite(run, "reward.eval") == dict(zip(steps.tolist(), results.mean(axis=1).tolist(), strict=True))
    np.testing.assert_allclose(run.series["reward.eval_std"].value, results.std(axis=1))
    assert run.series["reward.eval"].semantics.window_episodes == results.shape[1]


def test_evaluations_npz_adds_the_spread_to_logged_evaluations(sb3_data: Path, tmp_path: Path) -> None:
    folder = copy(sb3_data / "td3_eval", tmp_path / "TD3_1", "events*")
    copy(sb3_data / "zoo" / "CartPole-v1_1", folder, "evaluations.npz")
    run = read(folder)
    assert run.series["reward.eval"].semantics.source_key == "eval/mean_reward"
    assert "reward.eval_std" in run.series


def monitored(folder: Path, rows: str, name: str = "0", start: float = 100.0) -> Path:
    folder.mkdir(exist_ok=True)
    text = f'#{{"t_start": {start}, "env_id": null}}\nr,l,t\n{rows}'
    (folder / f"{name}.monitor.csv").write_text(text, "utf-8")
    return folder


def test_episodes_of_a_later_start_come_behind_those_of_the_first(tmp_path: Path) -> None:
    """SB3 appends to a monitor file without a header, and its clock starts anew."""
    run = read(monitored(tmp_path, "1,10,1\n2,10,2\n3,10,3\n4,10,0.5\n5,10,0.9\n6,10,1.5\n"))
    reward = run.series["reward.train"]
    assert reward.value.tolist() == [1, 2, 3, 4, 5, 6]
    assert reward.step.tolist() == [10, 20, 30, 40, 50, 60]
    np.testing.assert_array_equal(np.isnan(reward.wall_time), [False] * 3 + [True] * 3)
    issue = next(issue for issue in run.issues if issue.code == "monitor_appended")
    assert "episode 4" in issue.message


@pytest.mark.parametrize("times", [[1, 2, 4, 3, 5, 6], [1, 5, 3, 4, 2, 6]])
def test_rows_that_changed_places_are_put_in_order(tmp_path: Path, times: list[int]) -> None:
    run = read(monitored(tmp_path, "".join(f"{t},10,{t}\n" for t in times)))
    assert run.series["reward.train"].value.tolist() == [1, 2, 3, 4, 5, 6]
    assert "monitor_appended" not in codes(run)


def test_an_episode_whose_time_is_unreadable_stays_where_it_is(tmp_path: Path) -> None:
    run = read(monitored(tmp_path, "1,10,1\n2,10,&\n3,10,3\n4,10,4\n5,10,5\n"))
    assert run.series["reward.train"].value.tolist() == [1, 2, 3, 4, 5]


def test_an_episode_without_a_return_moves_no_other(tmp_path: Path) -> None:
    monitored(tmp_path, "1,10,1\n&,10,2\n3,10,5\n4,10,6\n5,10,7\n")
    run = read(monitored(tmp_path, "7,10,3\n8,10,9\n", "1"))
    reward = run.series["reward.train"]
    assert reward.value.tolist() == [1, 7, 3, 4, 5, 8]
    assert reward.step.tolist() == [10, 30, 40, 50, 60, 70]


def test_a_blank_success_is_no_nan(tmp_path: Path) -> None:
    text = '#{"t_start": 1.0, "env_id": null}\nr,l,t,is_success\n1,5,1,1\n2,5,2,\n3,5,3,0\n'
    (tmp_path / "monitor.csv").write_text(text, "utf-8")
    success = read(tmp_path).series["reward.success_rate"]
    assert success.step.tolist() == [5, 15]
    assert success.non_finite.count == 0


@pytest.mark.parametrize("keep", [100, -30])
def test_evaluations_that_are_damaged_are_said_to_be(sb3_data: Path, tmp_path: Path, keep: int) -> None:
    folder = copy(sb3_data / "td3_eval", tmp_path / "TD3_1", "events*")
    whole = (sb3_data / "zoo" / "CartPole-v1_1" / "evaluations.npz").read_bytes()
    (folder / "evaluations.npz").write_bytes(whole[:keep])
    issue = next(issue for issue in read(folder).issues if issue.source == "evaluations.npz")
    assert issue.code == "unreadable_file"


# -- context ------------------------------------------------------------------------------------------------------


def test_a_zoo_folder_gives_its_configuration(sb3_data: Path) -> None:
    run = read(sb3_data / "zoo" / "CartPole-v1_1")
    assert (run.algorithm, run.env, run.framework_version) == ("ppo", "CartPole-v1", "1.0rc0")
    assert {name: value.value for name, value in run.config.items()} == {
        "learning_rate": 0.001,
        "learning_rate_schedule": "linear",
        "n_steps": 32,
        "n_envs": 8,
        "batch_size": 256,
        "n_epochs": 20,
        "gamma": 0.98,
        "gae_lambda": 0.8,
        "entropy_coef": 0.0,
        "value_coef": 0.5,
        "max_grad_norm": 0.5,
        "clip_range": 0.2,
        "total_timesteps": 100000,
        "seed": 1648070233,
    }
    assert run.config["gamma"].origin == "CartPole-v1.zip: gamma"
    assert run.config["learning_rate"].origin == "config.yml: learning_rate"
    assert (run.action_space.kind, run.action_space.size, run.action_space.origin) == ("discrete", 2, "config")


def test_missing_monitor_files_scale_the_steps_and_say_so(sb3_data: Path) -> None:
    run = read(sb3_data / "zoo" / "CartPole-v1_1")
    assert "monitor_incomplete" in codes(run)
    assert run.series["reward.train"].step[-1] == pytest.approx(100_096, rel=0.15)  # as the saved model counted


def test_the_user_may_give_the_action_space(sb3_data: Path) -> None:
    space = ActionSpace("discrete", 7, origin="user")
    assert read(sb3_data / "ppo_eval", ReadOptions(action_space=space)).action_space is space


@pytest.mark.parametrize(
    ("folder", "kind", "size", "origin"),
    [
        ("ppo_resumed", "discrete", 2, "inferred"),
        ("ppo_gaussian", "continuous", 1, "inferred"),
        ("sac_eval", "continuous", None, "log"),
        ("dqn_json", "discrete", None, "log"),
        ("trpo_csv", "discrete", None, "inferred"),
        ("ppo_inf_csv", "discrete", 4, "inferred"),
        ("imitation", "discrete", 2, "inferred"),
    ],
)
def test_the_action_space_is_learned_from_the_log(
    sb3_data: Path, folder: str, kind: str, size: int | None, origin: str
) -> None:
    space = read(sb3_data / folder).action_space
    assert (space.kind, space.size, space.origin) == (kind, size, origin)
    assert space.detail


def test_a_log_that_starts_late_gives_no_number_of_actions(sb3_data: Path, tmp_path: Path) -> None:
    folder = copy(sb3_data / "ppo_resumed", tmp_path / "PPO_1", "progress.csv")
    space = read(folder).action_space
    assert (space.kind, space.size) == ("discrete", None)


def test_imitation_counts_rounds(sb3_data: Path) -> None:
    run = read(sb3_data / "imitation")
    assert run.x_axis == "iterations"
    assert run.series["policy.kl"].semantics.source_key == "mean/gen/train/approx_kl"
    assert run.series["policy.kl"].iteration.tolist() == [0, 1, 2, 3, 4]
    assert run.unmapped == ()


def test_a_user_mapping_reaches_the_signals(sb3_data: Path) -> None:
    options = ReadOptions(mapping={"time/time_elapsed": "reward.eval"})
    assert read(sb3_data / "trpo_csv", options).series["reward.eval"].semantics.source_key == "time/time_elapsed"
    with pytest.raises(UsageError, match="is not a signal"):
        read(sb3_data / "trpo_csv", ReadOptions(mapping={"time/fps": "reward.evil"}))


# -- nothing to read ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "no bytes"),
        (b"version https://git-lfs.github.com/spec/v1\n", "LFS"),
        (b"rubbish" * 9, "not a TensorBoard"),
    ],
)
def test_a_run_folder_whose_event_file_holds_nothing_says_why(tmp_path: Path, content: bytes, reason: str) -> None:
    folder = tmp_path / "PPO_1"
    folder.mkdir()
    (folder / "events.out.tfevents.1.host").write_bytes(content)
    answer = sniff(folder)
    assert 0 < answer.score <= 0.5
    with pytest.raises(LogError, match=reason) as caught:
        read(folder)
    assert caught.value.hint


def test_a_source_made_by_hand_is_read(sb3_data: Path) -> None:
    path = sb3_data / "trpo_csv" / "progress.csv"
    run = ADAPTER.read(RunSource(path.parent, (path,)), ReadOptions())
    assert run.files == (str(path),)
    assert run.id == "trpo_csv"


def test_importing_the_adapter_and_reading_a_small_csv_costs_no_heavy_library(sb3_data: Path) -> None:
    code = (
        "import sys; from rl_diagnose.logs.load import load_run; load_run(sys.argv[1]);"
        "print([m for m in ('pandas', 'polars', 'tbparse', 'tensorboard', 'pydantic', 'rich') if m in sys.modules])"
    )
    command = [sys.executable, "-c", code, str(sb3_data / "trpo_csv")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - our own interpreter
    assert done.stdout.strip() == "[]"
