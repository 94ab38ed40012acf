"""Targets that read logs: event files, tables, records, printed text, and a whole run."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Literal

import polars as pl

from rl_diagnose import diagnose, load_run
from rl_diagnose.adapters.assemble import event_source, table_source
from rl_diagnose.adapters.readers.console import read_console_file
from rl_diagnose.adapters.readers.csv_table import read_table
from rl_diagnose.adapters.readers.event_files import read_event_file
from rl_diagnose.adapters.readers.event_framing import peek_tags
from rl_diagnose.adapters.readers.json_lines import read_json_lines
from rl_diagnose.adapters.readers.mlflow_store import read_mlflow_run
from rl_diagnose.adapters.readers.monitor import read_monitor
from rl_diagnose.adapters.readers.parquet import read_parquet
from rl_diagnose.adapters.readers.points import EventFile, Table
from rl_diagnose.adapters.readers.trainer_state import read_trainer_state
from rl_diagnose.adapters.readers.wandb_file import read_wandb_file
from rl_diagnose.errors import LogError, NoReadableRunError, UsageError

from .framing import event_file, event_parts, pack, unpack, wandb_file, wandb_parts
from .invariants import (
    check_events,
    check_monitor,
    check_series,
    check_source,
    check_table,
    same_table,
)
from .seeds import heads, whole
from .target import BINARY, TEXT, Target, written

__all__ = ["LOGS"]

_LOG = (LogError, UsageError)
_COMPRESSIONS: tuple[Literal["uncompressed", "snappy", "zstd", "gzip"], ...] = (
    "uncompressed",
    "snappy",
    "zstd",
    "gzip",
)
_STEP_KEYS = ("step", "global_step", "time/total_timesteps", "timesteps_total", "iteration")


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
    path = written("events.out.tfevents.1.host.0", data)
    tags = peek_tags(path)
    assert all(isinstance(tag, str) for tag in tags)
    _check_events(read_event_file(path))


def _event_seeds() -> list[bytes]:
    return heads("*tfevents*", BINARY, 24)


def _event_records(data: bytes) -> None:
    _events(event_file(unpack(data)))


def _event_record_seeds() -> list[bytes]:
    return [pack(event_parts(file, BINARY)) for file in heads("*tfevents*", 1 << 16, 24)]


# -- texts -------------------------------------------------------------------------------------------------------------


def _csv(data: bytes) -> None:
    path = written("progress.csv", data)
    check_table(read_table(path, head=512))
    _check_table(read_table(path))


def _csv_seeds() -> list[bytes]:
    odd = [b"sep=;\na;b\n1,5;2\n", b"# step loss\n1 2\n3 4\n", b'a,b\n"1",nan\n2,"x ""y"""\n', b"a|b|a\n1|2|3\n4|5"]
    return [*odd, *heads("*.csv", TEXT, 16), *heads("progress.txt", TEXT, 4)]


def _csv_engines(data: bytes) -> None:
    """The csv module and polars read the same, or refuse it by the same words."""
    path = written("progress.csv", data)
    one, other = _read_by(path, "csv"), _read_by(path, "polars")
    if isinstance(one, Table) and isinstance(other, Table):
        same_table(one, other)
        return
    assert str(one) == str(other)
    raise LogError(str(one))


def _read_by(path: Path, engine: Literal["csv", "polars"]) -> Table | LogError:
    try:
        return read_table(path, engine=engine)
    except LogError as error:
        return error


def _json_lines(data: bytes) -> None:
    path = written("result.jsonl", data)
    check_table(read_json_lines(path, head=512))
    _check_table(read_json_lines(path))


def _json_seeds() -> list[bytes]:
    odd = [b'{"step": 1, "a": {"b": NaN}, "config": {"lr": 1e-3}}\n{"step": 2, "a": {"b": "inf"}}\n', b'[{"a": 1}]']
    return [*odd, *heads("progress.json", TEXT, 6), *heads("result.json", TEXT, 6), *heads("*.jsonl", TEXT, 6)]


def _trainer_state(data: bytes) -> None:
    path = written("trainer_state.json", data)
    _check_table(read_trainer_state(path))


def _trainer_state_seeds() -> list[bytes]:
    odd = b'{"max_steps": 3, "log_history": [{"step": 1, "loss": 0.5, "kl": {"a": "nan"}}, {"step": 2, "loss": null}]}'
    return [odd, *whole("trainer_state.json", 1 << 14, 4)]


def _console(data: bytes) -> None:
    path = written("train.log", data)
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
    return [box, *lines, *heads("*.log", TEXT, 6), *heads("*.txt", TEXT, 4)]


def _monitor(data: bytes) -> None:
    check_monitor(read_monitor(written("monitor.csv", data)))


def _monitor_seeds() -> list[bytes]:
    odd = b'#{"t_start": 1.5, "env_id": "CartPole-v1"}\nr,l,t,is_success\n9.0,9,0.1,True\nnan,8,0.2,False\n'
    return [odd, *heads("*monitor.csv", TEXT, 12)]


def _mlflow(data: bytes) -> None:
    metric, *params = data.split(b"\0", 1)
    written("run/metrics/train/loss", metric)
    written("run/params/lr", b"".join(params))
    meta = written("run/meta.yaml", b"run_id: a\n")
    _check_events(read_mlflow_run(meta.parent))


def _mlflow_seeds() -> list[bytes]:
    return [
        b"1700000000000 0.5 1\n1700000000100 nan 2\n\x001e-3",
        b"1 2\n3 4 5 digest name\n",
        b"1 inf 3\n1 2 2\n\x00True",
    ]


def _parquet(data: bytes) -> None:
    _check_table(read_parquet(written("log.parquet", data)))


def _parquet_seeds() -> list[bytes]:
    cells = {"step": [1, 2, 3], "a": [1.0, None, float("nan")], "s": ["x", "y", None], "l": [[1], [2], []]}
    packed = []
    for compression in _COMPRESSIONS:
        stream = io.BytesIO()
        pl.DataFrame(cells).write_parquet(stream, compression=compression)
        packed.append(stream.getvalue())
    return packed


# -- Weights & Biases --------------------------------------------------------------------------------------------------


def _wandb(data: bytes) -> None:
    path = written("run-fuzz.wandb", data)
    _check_table(read_wandb_file(path).history)


def _wandb_seeds() -> list[bytes]:
    return heads("run-*.wandb", BINARY, 8)


def _wandb_records(data: bytes) -> None:
    _wandb(wandb_file(unpack(data)))


def _wandb_record_seeds() -> list[bytes]:
    return [pack(wandb_parts(file, BINARY)) for file in heads("run-*.wandb", 1 << 15, 8)]


# -- whole runs --------------------------------------------------------------------------------------------------------


def _run_csv(data: bytes) -> None:
    """From a table to a diagnosis, by the adapter that claims it."""
    path = written("PPO_1/progress.csv", data)
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


# -- all ---------------------------------------------------------------------------------------------------------------

LOGS = (
    Target("events", _event_seeds, _events, _LOG),
    Target("event_records", _event_record_seeds, _event_records, _LOG),
    Target("csv", _csv_seeds, _csv, _LOG),
    Target("csv_engines", _csv_seeds, _csv_engines, _LOG),
    Target("json_lines", _json_seeds, _json_lines, _LOG),
    Target("trainer_state", _trainer_state_seeds, _trainer_state, _LOG),
    Target("console", _console_seeds, _console, _LOG),
    Target("monitor", _monitor_seeds, _monitor, _LOG),
    Target("mlflow", _mlflow_seeds, _mlflow, _LOG),
    Target("parquet", _parquet_seeds, _parquet, _LOG),
    Target("wandb", _wandb_seeds, _wandb, _LOG),
    Target("wandb_records", _wandb_record_seeds, _wandb_records, _LOG),
    Target("run_csv", _run_csv_seeds, _run_csv, (*_LOG, NoReadableRunError)),
)
