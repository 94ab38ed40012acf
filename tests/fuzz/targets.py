"""Everything that reads bytes of strangers, in one shape: seeds to start from, a run over any bytes, accepted errors.

A target holds when `run` returns or raises one of `errors`. Everything else is a bug: another exception, a warning, an
invariant that is broken, an input of less than 64 KiB that takes longer than two seconds.
"""

from __future__ import annotations

import atexit
import json
import math
import shutil
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from rl_diagnose import diagnose, load_run
from rl_diagnose.adapters.assemble import event_source, table_source
from rl_diagnose.adapters.readers.console import read_console_file
from rl_diagnose.adapters.readers.csv_table import read_table
from rl_diagnose.adapters.readers.evaluations import read_evaluations
from rl_diagnose.adapters.readers.event_files import read_event_file
from rl_diagnose.adapters.readers.event_framing import peek_tags
from rl_diagnose.adapters.readers.json_lines import read_json_lines
from rl_diagnose.adapters.readers.mlflow_store import read_mlflow_run
from rl_diagnose.adapters.readers.monitor import read_monitor
from rl_diagnose.adapters.readers.points import EventFile, Table
from rl_diagnose.adapters.readers.trainer_state import read_trainer_state
from rl_diagnose.adapters.readers.wandb_file import read_wandb_file
from rl_diagnose.adapters.sb3 import tag_map
from rl_diagnose.adapters.sb3_context import read_context
from rl_diagnose.adapters.sb3_files import Sb3Files
from rl_diagnose.adapters.tagmap import load_tag_map
from rl_diagnose.errors import LogError, NoReadableRunError, RulebookError, UsageError
from rl_diagnose.features.grammar import FeatureNameError, parse_feature
from rl_diagnose.project import read_project
from rl_diagnose.rules.check import check_book
from rl_diagnose.rules.expressions import ExpressionError, compile_expression
from rl_diagnose.rules.library import load_book
from rl_diagnose.rules.yaml_loader import parse_yaml
from rl_diagnose.testing.notation import NotationError, parse_curve
from rl_diagnose.testing.read import read_tests

from .framing import event_file, event_parts, pack, unpack, wandb_file, wandb_parts, zip_file
from .invariants import (
    check_evaluations,
    check_events,
    check_monitor,
    check_series,
    check_source,
    check_table,
    same_table,
)
from .seeds import heads, members, whole

__all__ = ["TARGETS", "Target"]

_STEP_KEYS = ("step", "global_step", "time/total_timesteps", "timesteps_total", "iteration")
_TEXT = 1500  # bytes of a text that are a seed: its first rows
_BINARY = 3000


@dataclass(frozen=True, slots=True)
class Target:
    """One reader: `seeds` gives inputs that it accepts, `run` gives it any bytes, `errors` are those it may raise."""

    name: str
    seeds: Callable[[], list[bytes]]
    run: Callable[[bytes], None]
    errors: tuple[type[Exception], ...] = ()

    def holds(self, data: bytes) -> bool:
        """Whether the bytes are accepted (True) or refused as they may be (False); raises everything else."""
        try:
            self.run(data)
        except self.errors as error:
            if not str(error).strip():
                raise AssertionError("whoever sees the error learns nothing") from error
            return False
        return True


@cache
def _folder() -> Path:
    """A folder of this process, in memory where there is such a place."""
    memory = Path("/dev/shm")  # noqa: S108 - only asked whether it is there
    folder = Path(tempfile.mkdtemp(prefix="rl-diagnose-fuzz-", dir=memory if memory.is_dir() else None))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _written(name: str, data: bytes) -> Path:
    """A file of that name with these bytes."""
    path = _folder() / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def _check_table(table: Table) -> None:
    """A table, and what adapters make of it."""
    check_table(table)
    check_source(table_source(table, _STEP_KEYS)[0])


def _check_events(events: EventFile) -> None:
    """Points of an event file or of MLflow's store, and what adapters make of them."""
    check_events(events)
    check_source(event_source(events))


# -- event files -------------------------------------------------------------------------------------------------------


def _events(data: bytes) -> None:
    path = _written("events.out.tfevents.1.host.0", data)
    tags = peek_tags(path)
    assert all(isinstance(tag, str) for tag in tags)
    _check_events(read_event_file(path))


def _event_seeds() -> list[bytes]:
    return heads("*tfevents*", _BINARY, 24)


def _event_records(data: bytes) -> None:
    _events(event_file(unpack(data)))


def _event_record_seeds() -> list[bytes]:
    return [pack(event_parts(file, _BINARY)) for file in heads("*tfevents*", 1 << 16, 24)]


# -- texts -------------------------------------------------------------------------------------------------------------


def _csv(data: bytes) -> None:
    path = _written("progress.csv", data)
    check_table(read_table(path, head=512))
    _check_table(read_table(path))


def _csv_seeds() -> list[bytes]:
    odd = [b"sep=;\na;b\n1,5;2\n", b"# step loss\n1 2\n3 4\n", b'a,b\n"1",nan\n2,"x ""y"""\n', b"a|b|a\n1|2|3\n4|5"]
    return [*odd, *heads("*.csv", _TEXT, 16), *heads("progress.txt", _TEXT, 4)]


def _csv_engines(data: bytes) -> None:
    """The csv module and polars read the same."""
    path = _written("progress.csv", data)
    tables: list[object] = []
    for engine in ("csv", "polars"):
        try:
            tables.append(read_table(path, engine=engine))  # type: ignore[arg-type]  # a loop loses the literal
        except LogError as error:
            tables.append(str(error))
    one, other = tables
    if isinstance(one, str) or isinstance(other, str):
        assert one == other
        raise LogError(str(one))
    same_table(one, other)  # type: ignore[arg-type]  # neither is a message


def _json_lines(data: bytes) -> None:
    path = _written("result.jsonl", data)
    check_table(read_json_lines(path, head=512))
    _check_table(read_json_lines(path))


def _json_seeds() -> list[bytes]:
    odd = [b'{"step": 1, "a": {"b": NaN}, "config": {"lr": 1e-3}}\n{"step": 2, "a": {"b": "inf"}}\n', b'[{"a": 1}]']
    return [*odd, *heads("progress.json", _TEXT, 6), *heads("result.json", _TEXT, 6), *heads("*.jsonl", _TEXT, 6)]


def _trainer_state(data: bytes) -> None:
    path = _written("trainer_state.json", data)
    _check_table(read_trainer_state(path))


def _trainer_state_seeds() -> list[bytes]:
    odd = b'{"max_steps": 3, "log_history": [{"step": 1, "loss": 0.5, "kl": {"a": "nan"}}, {"step": 2, "loss": null}]}'
    return [odd, *whole("trainer_state.json", 1 << 14, 4)]


def _console(data: bytes) -> None:
    path = _written("train.log", data)
    check_table(read_console_file(path, head=512))
    _check_table(read_console_file(path))


def _console_seeds() -> list[bytes]:
    box = (
        b"----------------------------\n| rollout/           |     |\n|    ep_rew_mean     | 1.5 |\n"
        b"| time/              |     |\n|    total_timesteps | 2e3 |\n----------------------------\n"
    )
    lines = [
        b"step:12 - actor/lr:0.000 - critic/loss:np.float64(1.5)\nstep:13 - actor/lr:0.1 - critic/loss:nan\n",
        b"{'loss': 0.1, 'reward': 2.0, 'kl': nan}\n{'loss': 0.2, 'reward': inf}\n",
        b"Learning iteration 3/100\n    Mean reward: 1.2\n    Value function loss: 0.5\nLearning iteration 4/100\n",
        b"\x1b[36m(Runner pid=12)\x1b[0m [Step 100] Reward: 1.2, KL: 0.01\r(a pid=1) epoch 3 loss=1e-3 acc = 0.5\n",
    ]
    return [box, *lines, *heads("*.log", _TEXT, 6), *heads("*.txt", _TEXT, 4)]


def _monitor(data: bytes) -> None:
    check_monitor(read_monitor(_written("monitor.csv", data)))


def _monitor_seeds() -> list[bytes]:
    odd = b'#{"t_start": 1.5, "env_id": "CartPole-v1"}\nr,l,t,is_success\n9.0,9,0.1,True\nnan,8,0.2,False\n'
    return [odd, *heads("*monitor.csv", _TEXT, 12)]


def _mlflow(data: bytes) -> None:
    metric, *params = data.split(b"\0", 1)
    _written("run/metrics/train/loss", metric)
    _written("run/params/lr", b"".join(params))
    meta = _written("run/meta.yaml", b"run_id: a\n")
    _check_events(read_mlflow_run(meta.parent))


def _mlflow_seeds() -> list[bytes]:
    return [
        b"1700000000000 0.5 1\n1700000000100 nan 2\n\x001e-3",
        b"1 2\n3 4 5 digest name\n",
        b"1 inf 3\n1 2 2\n\x00True",
    ]


# -- whole runs --------------------------------------------------------------------------------------------------------


def _run_csv(data: bytes) -> None:
    """From a table to a diagnosis, by the adapter that claims it."""
    path = _written("PPO_1/progress.csv", data)
    check_series(load_run(path).series)
    diagnosis = diagnose(path)
    assert json.dumps(diagnosis.to_dict(), allow_nan=False)


def _run_csv_seeds() -> list[bytes]:
    sb3 = b"time/iterations,rollout/ep_rew_mean,train/approx_kl,time/total_timesteps,train/entropy_loss\n"
    rows = b"".join(b"%d,%d.5,0.0%d,%d,-0.%d\n" % (i, i, i, 2048 * i, 9 - i) for i in range(1, 9))
    return [
        sb3 + rows,
        b"step,reward,loss\n" + b"".join(b"%d,%d,1e-%d\n" % (i, i, i) for i in range(30)),
        *_csv_seeds()[:8],
    ]


# -- archives ----------------------------------------------------------------------------------------------------------


def _evaluations(data: bytes) -> None:
    check_evaluations(read_evaluations(_written("evaluations.npz", data)))


def _evaluation_seeds() -> list[bytes]:
    made = {f"{name}.npy": _npy(np.ones((9, 3))) for name in _ARRAYS}
    return [*(zip_file(made, packed) for packed in _COMPRESSIONS), *whole("evaluations.npz", 1 << 15, 8)]


_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
_ARRAYS = ("timesteps", "results", "ep_lengths", "successes")


def _npy(array: np.ndarray) -> bytes:
    path = _written("array.npy", b"")
    np.save(path, array)
    return path.read_bytes()


def _evaluation_arrays(data: bytes) -> None:
    stored = zip(_ARRAYS, unpack(data), strict=False)
    _evaluations(zip_file({f"{name}.npy": array for name, array in stored}))


def _evaluation_array_seeds() -> list[bytes]:
    small = [np.array([100, 200]), np.array([[1.0], [2.0]]), np.array([[5], [6]]), np.array([[True], [False]])]
    halves = [np.array([1.0, 2.0], np.float16), np.asfortranarray(np.arange(6.0).reshape(2, 3)), np.array([], ">i4")]
    real = [pack(members(archive, ".npy")[:4]) for archive in whole("evaluations.npz", 1 << 12, 4)]
    return [pack(map(_npy, small)), pack(map(_npy, halves)), *real]


def _model_zip(data: bytes) -> None:
    """A saved model is passed over where it cannot be read: what surrounds a run never raises."""
    path = _written("model.zip", data)
    read_context(Sb3Files(models=(path,)), path.parent, frozenset(), tag_map())


_MODEL = (
    b'{"gamma": 0.99, "n_steps": 128, "n_epochs": 10, "learning_rate": 3e-4, "seed": null, "_stats_window_size": 100,'
    b' "clip_range": {":type:": "FloatSchedule", "value_schedule": "ConstantSchedule(val=0.2)", ":serialized:": "gA"},'
    b' "policy_class": {"__module__": "stable_baselines3.common.policies"}, "vf_coef": 0.5,'
    b' "action_space": {":type:": "<class \'gym.spaces.box.Box\'>", "_shape": [2], "low": "[-1. -2.]", "high": "[1.]"},'
    b' "policy_kwargs": {"net_arch": {"pi": [32], "vf": [64]}}}'
)
_SPACES = (
    b'{"action_space": {":type:": "<class \'gymnasium.spaces.discrete.Discrete\'>", "n": "2"}}',
    b'{"action_space": {":type:": "<class \'gymnasium.spaces.multi_discrete.MultiDiscrete\'>", "nvec": "[3 5]"}}',
    b'{"action_space": {":type:": "<class \'gym.spaces.multi_binary.MultiBinary\'>", "n": 6}, "policy_delay": 2}',
)


def _model_zip_seeds() -> list[bytes]:
    made = [{"data": data, "_stable_baselines3_version": b"2.3.0"} for data in (_MODEL, *_SPACES)]
    return [zip_file(files, packed) for files, packed in zip(made, _COMPRESSIONS, strict=True)]


def _model_data(data: bytes) -> None:
    _model_zip(zip_file({"data": data, "_stable_baselines3_version": data[:9]}))


def _model_data_seeds() -> list[bytes]:
    return [_MODEL, *_SPACES]


def _settings(data: bytes) -> None:
    path = _written("config.yml", data)
    read_context(Sb3Files(settings=(path,)), path.parent, frozenset(), tag_map())


def _settings_seeds() -> list[bytes]:
    tagged = (
        b"!!python/object/apply:collections.OrderedDict\n- - - gamma\n    - 0.9\n  - - policy_kwargs\n"
        b"    - dict(net_arch=[64, 32], activation_fn=nn.ReLU)\n  - - normalize\n    - '{''norm_obs'': True}'\n"
    )
    odd = (
        b"learning_rate: lin_3e-4\nclip_range: &a lin_0.2\nseed: 1\nn_steps: *a\nt: 2020-01-01\nb: !!binary AA==\n"
        b"c: !!int '1'\nd: !!bool on\n"
    )
    return [tagged, odd, *heads("config.y*ml", _TEXT, 6), *heads("args.y*ml", _TEXT, 4)]


# -- Weights & Biases --------------------------------------------------------------------------------------------------


def _wandb(data: bytes) -> None:
    path = _written("run-fuzz.wandb", data)
    _check_table(read_wandb_file(path).history)


def _wandb_seeds() -> list[bytes]:
    return heads("run-*.wandb", _BINARY, 8)


def _wandb_records(data: bytes) -> None:
    _wandb(wandb_file(unpack(data)))


def _wandb_record_seeds() -> list[bytes]:
    return [pack(wandb_parts(file, _BINARY)) for file in heads("run-*.wandb", 1 << 15, 8)]


# -- rulebooks ---------------------------------------------------------------------------------------------------------

_BOOK = (
    b'schema: rulebook/v1\nid: house\nversion: "1.0.0"\ntitle: House\napplies_to: {algorithm: [ppo]}\n'
    b'derive: {x: "policy.kl.late.median / max(n_steps, 1)"}\nwindows: {w: {fraction: {from: 0.1, to: 0.5}}}\n'
    b"symptoms:\n  s: {title: s, base_rate: common, derived: x, rising: {low: 0, high: 1}}\n"
    b"  t: {title: t, base_rate: rare, feature: reward.train.w.slope,\n"
    b"      band: {low: 0, full_low: 1, full_high: 2, high: 3}}\n"
    b"  u: {title: u, base_rate: 0.2, all: [{symptom: s}, {not: {symptom: t}}]}\n"
    b"causes:\n  c: {title: c, prior: 0.1, evidence: [{symptom: u, seen: often}]}\n"
)


def _rulebook(data: bytes) -> None:
    path = _written("book.yaml", data)
    for problem in check_book(path):
        assert problem.render()
        assert problem.line >= 0
    load_book(path)


def _rulebook_seeds() -> list[bytes]:
    return [_BOOK, *heads("[0-9].[0-9].[0-9].yaml", _TEXT, 4)]


def _rulebook_tests(data: bytes) -> None:
    read_tests(_written("book.test.yaml", data), load_book("core"))


def _rulebook_test_seeds() -> list[bytes]:
    made = (
        b'tests:\n  - name: the return becomes infinite\n    series: {reward.train: "20+2.4x75 infx5 noise:2"}\n'
        b"    expect: [{cause: non_finite_values, at_least: 0.8}]\n"
        b"    reject: [{cause: reward_never_seen, at_most: 0.1}]\n"
    )
    return [made, *heads("[0-9].[0-9].[0-9].test.yaml", _TEXT, 4)]


def _yaml(data: bytes) -> None:
    document, problems = parse_yaml(data, "book.yaml")
    assert document is not None or problems
    for problem in problems:
        assert problem.render()
        assert problem.line >= 0
        assert problem.column >= 0


def _yaml_seeds() -> list[bytes]:
    odd = b"a: &x [1, 0x10, .inf, 1e999]\nb: *x\nc: !t {d: |\n  text\n, e: 'f', \"g\\n\": ~}\na: 1\n? [k]\n: v\n"
    return [odd, *_rulebook_seeds()]


def _expression(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    expression = compile_expression(text)
    assert list(expression.names) == sorted(set(expression.names))
    for name, column in zip(expression.names, expression.columns, strict=True):
        assert text[column - 1] == name[0]
    assert "".join(expression.renamed({}).split()) == "".join(text.split())
    assert expression.evaluate({}).shape == ()
    values = np.array([0.0, -1.5, math.nan, 1e308, 1e-320])
    shape = expression.evaluate(dict.fromkeys(expression.names, values)).shape
    assert shape == (values.shape if expression.names else ())
    assert not np.isinf(expression.evaluate(dict.fromkeys(expression.names, values))).any()


def _expression_seeds() -> list[bytes]:
    texts = [
        "policy.kl.late.median / max(n_steps, 1) >= 3 * learning_rate",
        "correlation(policy.kl, reward.train).late + policy.kl.fraction_above(-1e-3)",
        "not (a < b <= c and -a.b.c != 1.5e3 or clip(x, 0, 1) == log(exp(sqrt(abs(y)))))",
        "a.slope(10000, 2) - min(1, 2, lag_steps(alpha, reward.train))",
        "1 if a else b ** 2 // 3 % f(x)[0]",
    ]
    return [text.encode() for text in texts]


def _feature(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    found = parse_feature(text)
    assert parse_feature(found.text) == found


def _feature_seeds() -> list[bytes]:
    texts = [
        "policy.kl.late.median",
        "value.loss.quantile(0.9)",
        "policy.kl.fraction_above( 1e-3 )",
        "raw.x.y.late.max",
    ]
    return [text.encode() for text in [*texts, "lag_steps(policy.entropy, reward.train).late", "reward.train.slope"]]


def _curve(data: bytes) -> None:
    curve = parse_curve(data.decode("utf-8", "replace"), "policy.kl")
    assert curve.value.shape == curve.logged.shape


def _curve_seeds() -> list[bytes]:
    return [b"20+2x40 250-8x30 _x3 (9.5x4 12)x2 noise:0.5", b"1*0.9x10 nan inf -inf 2-0.5x10 noise:5% seed:7", b"_ 3.5"]


# -- what users configure ----------------------------------------------------------------------------------------------


def _tag_map(data: bytes) -> None:
    path = _written("mine.yaml", data)
    found = load_tag_map(path, own=path)
    for key in ("train/loss", "rollout/ep_rew_mean", "*", *found.bookkeeping, *found.step_keys):
        found.understands(key)
        found.rules_for(key, "ppo")
        found.suggest(found.spelling(key))
    found.algorithms_by_keys(found.fingerprint)


def _tag_map_seeds() -> list[bytes]:
    made = (
        b"framework: f\ntitle: F\nx_axis: env_steps\nstep_keys: [step]\nprefixes: [{prefix: w/, x_axis: iterations}]\n"
        b"lags: {train/: 1}\nbookkeeping: [count/*]\nfingerprint: [train/kl]\nrules:\n"
        b"  - {key: score, aliases: [old], signal: reward.train, window: last 5 episodes, window_episodes: 5}\n"
        b"  - {key: train/*/h, signal: policy.entropy, transform: -x, algorithms: [ppo]}\n"
        b"config_keys: [{key: lr, name: learning_rate}]\nalgorithms: [{id: ppo, names: [ppo], keys: [score]}]\n"
        b"files: [a*.csv]\nsettings: [c.json]\nswitches: {a: b}\n"
    )
    return [made, *heads("maps/*.yaml", 1 << 12, 3)]


def _project(data: bytes) -> None:
    read_project(_written("rl-diagnose.toml", data))


def _project_seeds() -> list[bytes]:
    made = (
        b'rulebooks = ["ppo", "a.yaml"]\nfail-at = 0.5\naction-space = "discrete:4"\n[map]\n"a.b" = "reward.train"\n'
        b'[[suppress]]\ncause = "truncation"\nreason = "r"\nexpires = 2027-03-01\nruns = "s/*"\n'
    )
    return [made, b"", b"fail-at = 1e-1\n"]


# -- targets -----------------------------------------------------------------------------------------------------------

_LOG = (LogError, UsageError)

_ALL = (
    Target("events", _event_seeds, _events, _LOG),
    Target("event_records", _event_record_seeds, _event_records, _LOG),
    Target("csv", _csv_seeds, _csv, _LOG),
    Target("csv_engines", _csv_seeds, _csv_engines, _LOG),
    Target("json_lines", _json_seeds, _json_lines, _LOG),
    Target("trainer_state", _trainer_state_seeds, _trainer_state, _LOG),
    Target("console", _console_seeds, _console, _LOG),
    Target("monitor", _monitor_seeds, _monitor, _LOG),
    Target("mlflow", _mlflow_seeds, _mlflow, _LOG),
    Target("run_csv", _run_csv_seeds, _run_csv, (*_LOG, NoReadableRunError)),
    Target("evaluations", _evaluation_seeds, _evaluations, _LOG),
    Target("evaluation_arrays", _evaluation_array_seeds, _evaluation_arrays, _LOG),
    Target("model_zip", _model_zip_seeds, _model_zip),
    Target("model_data", _model_data_seeds, _model_data),
    Target("settings", _settings_seeds, _settings),
    Target("wandb", _wandb_seeds, _wandb, _LOG),
    Target("wandb_records", _wandb_record_seeds, _wandb_records, _LOG),
    Target("rulebook", _rulebook_seeds, _rulebook, (RulebookError,)),
    Target("rulebook_tests", _rulebook_test_seeds, _rulebook_tests, (RulebookError,)),
    Target("yaml", _yaml_seeds, _yaml),
    Target("expression", _expression_seeds, _expression, (ExpressionError,)),
    Target("feature", _feature_seeds, _feature, (FeatureNameError,)),
    Target("tag_map", _tag_map_seeds, _tag_map, (UsageError,)),
    Target("project", _project_seeds, _project, (UsageError,)),
    Target("curve", _curve_seeds, _curve, (NotationError,)),
)
TARGETS = {target.name: target for target in _ALL}
"""All targets by name."""
