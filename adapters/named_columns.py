"""Tables without a framework, whose columns are recognised by name. One file is one run.

What kind of file holds the table is the reader's business: CSV, JSON lines, console text and the like share the rest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np

from rl_diagnose.errors import LogError
from rl_diagnose.logs.adapter import RunSource, Sniff
from rl_diagnose.signals.run import ActionSpace, ConfigValue, LogIssue, Run
from rl_diagnose.signals.taxonomy import hyperparameters

from .action_space import infer_action_space
from .assemble import assemble, number_iterations, table_source, with_readable_steps
from .containers import container_of
from .csv_columns import choose_columns, unmapped_columns
from .csv_names import name_map
from .csv_times import wall_times
from .iterations import iteration_clock
from .tagmap import TagMap
from .tracked import tracked_run

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from rl_diagnose.logs.adapter import Folder, ReadOptions
    from rl_diagnose.signals.run import Series

    from .assemble import Assembled
    from .csv_columns import Columns
    from .readers.points import Table

__all__ = ["NamedColumns", "TableReader"]

_HEAD_BYTES = 1 << 16
_LEAST, _PER_SIGNAL, _MOST = 0.1, 0.05, 0.4
_OTHER_NAME = 0.2  # of the score, for a file whose name speaks for another kind
_ROW = "row number"
_MAX_RUNS = 1000
_SHOWN = 8
_NUMERIC_KINDS = ("float", "integer")


class TableReader(Protocol):
    """Reads a file as a table, or with `head` the first so many bytes of it. Raises `LogError`."""

    def __call__(self, path: Path, *, head: int | None = None) -> Table: ...


@dataclass(frozen=True, slots=True)
class NamedColumns:
    """An adapter for tables which no framework's adapter wants, in files that `read_file` reads.

    In a folder it looks at files whose name (in lower case) `file_names` describes, and at any file that was named
    itself. `weight` scales its score there, so that of two kinds of tables in a folder the better one
    counts; `covers` names the folders around a file whose logs repeat it; `quiet` leaves out why files in a folder
    were not taken, for endings which many files have that are no logs.
    """

    name: str
    title: str
    read_file: TableReader
    file_names: re.Pattern[str]
    weight: float = 1.0
    quiet: bool = False
    covers: Callable[[Path], tuple[Path, ...]] = lambda _path: ()
    generic: ClassVar[bool] = True

    def sniff(self, folder: Folder) -> Sniff:
        """Score by how many columns are recognised in the heads of the tables; a file that was named itself needs
        none.
        """
        named = folder.path.is_file()
        sources: list[RunSource] = []
        scores: list[float] = []
        reasons: list[str] = []
        for path in folder.files:
            if not named and not self.file_names.fullmatch(path.name.lower()):
                continue
            score, reason = self._judge(path, named=named)
            if not score and self._is_foreign(path):
                continue  # what its own kind's reader says of it is the reason
            reasons.append(reason if named else f"{path.name}: {reason}")
            if score > 0:
                sources.append(RunSource(path, (path,), self.covers(path)))
                scores.append(score)
        if sources:
            best = scores.index(max(scores))
            reason = next(r for r in reasons if named or r.startswith(f"{sources[best].path.name}: "))
            share = (_OTHER_NAME if self._is_foreign(sources[best].path) else 1.0) if named else self.weight
            score = round(share * scores[best], 3)
            return Sniff(score, reason, tuple(sources))
        return Sniff(0.0, "" if self.quiet and not named else "; ".join(reasons[:3]))

    def read(self, source: RunSource, options: ReadOptions) -> Run:
        """Read one table. Raises `LogError` when it holds no run, or several; `UsageError` for a wrong mapping."""
        table = self.read_file(source.path)
        columns = choose_columns(table, name_map(), options.mapping_for((*table.numbers, *table.texts)))
        _refuse(table, columns, source.path)
        table, odd = with_readable_steps(table, columns.step)
        assembled, steps = _assembled(table, columns)
        issues = [*table.issues, *odd, *columns.issues, *assembled.issues]
        series = _timed(_with_iterations(assembled, table, columns, steps, issues), table, columns, steps)
        algorithm = _word(table, "algorithm")
        algorithm = algorithm if algorithm in name_map().known_algorithms else columns.algorithm
        return Run(
            id=source.path.name,
            path=str(source.path),
            framework=self.name,
            series=series,
            files=(str(source.path),),
            algorithm=algorithm,
            env=_word(table, "env", lower=False),
            config=_config(table, columns),
            action_space=options.action_space or _action_space(series, columns),
            x_axis=columns.x_axis,
            step_key=columns.step,
            unmapped=unmapped_columns(table, columns, name_map()),
            issues=tuple(issues),
            adapter=self.name,
            adapter_reason=f"{algorithm} by its columns" if algorithm else "algorithm unknown",
            tracked=tracked_run([source.path]),
        )

    def _is_foreign(self, path: Path) -> bool:
        """True for a file whose name speaks for another kind of file."""
        return not self.file_names.fullmatch(path.name.lower()) and container_of(path) is not None

    def _judge(self, path: Path, *, named: bool) -> tuple[float, str]:
        """Score and reason for one file; `named` says that the user gave the file itself rather than its folder."""
        try:
            table = self.read_file(path, head=_HEAD_BYTES)
        except LogError as error:
            return 0.0, error.fact
        columns = choose_columns(table, name_map(), {})
        several = _several_runs(table, columns)
        if several is not None:
            return 0.0, several
        recognised = [*([columns.step] if columns.step else []), *(rule.key for rule in columns.rules)]
        rewarding = any(rule.signal.startswith("reward.") for rule in columns.rules)
        listed = _listed([*table.numbers, *table.texts])
        if len(table.numbers) < 2 and not (named and rewarding):
            return 0.0, f"there are not two columns of numbers (columns: {listed})"
        if self.quiet and not named and not columns.rules:
            return 0.0, f"no column is known to be a signal (columns: {listed})"
        if self.quiet and not columns.rules and _stands_still(table, columns.step):
            return 0.0, f"no column is known to be a signal, and {columns.step} never moves (columns: {listed})"
        if columns.step is None and not rewarding:
            return (_LEAST if named else 0.0), f"no column is known to be a step or a reward (columns: {listed})"
        return round(
            min(_MOST, _LEAST + _PER_SIGNAL * len(columns.rules)), 2
        ), f"columns recognised: {_listed(recognised)}"


def _stands_still(table: Table, column: str | None) -> bool:
    """True for a column of steps with one value: a script's count of what it is about to do, and no progress."""
    return column is not None and bool(np.nanmin(table.numbers[column]) == np.nanmax(table.numbers[column]))


def _refuse(table: Table, columns: Columns, path: Path) -> None:
    """Raise `LogError` for a table that holds no run or several."""
    listed = _listed([*table.numbers, *table.texts])
    if not table.rows:
        raise LogError(
            "there is a header, but no row yet", place=path, hint="the run may have died before its first row"
        )
    several = _several_runs(table, columns)
    if several is not None:
        raise LogError(several, place=path, hint="write one file a run (or leave the column out: --map COLUMN=ignore)")
    if columns.step is None and not columns.rules:
        raise LogError(
            f"no column is recognised among {listed}",
            place=path,
            hint="name them, for example --map COLUMN=reward.train --map COLUMN=step",
        )
    if not set(table.numbers) - {columns.step, columns.iteration, columns.wall_time} - columns.ignored:
        raise LogError(f"no column of numbers is left besides the steps (columns: {listed})", place=path)


def _several_runs(table: Table, columns: Columns) -> str | None:
    """What tells that several runs are stacked in one table: a column such as ``seed`` whose values share steps."""
    if columns.step is None:
        return None
    step = table.numbers[columns.step]
    for column in (*table.texts, *table.numbers):
        if column in columns.ignored or name_map().rank_among("runs", name_map().words(column)) is None:
            continue
        labels = np.array(table.texts[column]) if column in table.texts else table.numbers[column]
        found = np.unique(labels[labels != ""] if column in table.texts else labels[np.isfinite(labels)])
        if not 2 <= found.size <= _MAX_RUNS:
            continue
        spans = sorted((np.nanmin(part), np.nanmax(part)) for part in (step[labels == label] for label in found))
        if any(later[0] < max(span[1] for span in spans[: i + 1]) for i, later in enumerate(spans[1:])):
            return f"the table holds {found.size} runs: the column {column} has {found.size} values at the same steps"
    return None


def _assembled(table: Table, columns: Columns) -> tuple[Assembled, NDArray[np.float64]]:
    """The signals, and the step of each row, float64 (rows,)."""
    rows = np.arange(table.rows, dtype=np.float64)
    left_out = (columns.ignored | {columns.iteration, columns.wall_time}) - {columns.step}
    numbers = {column: values for column, values in table.numbers.items() if column not in left_out}
    step = columns.step or _ROW
    source, issues = table_source(replace(table, numbers=numbers | {_ROW: rows}), (step,))
    tracks = dict(source.tracks)
    steps = tracks.pop(_ROW).step if columns.step else rows
    tag_map = TagMap("", columns.x_axis, columns.rules, step_keys=(step,), bookkeeping=tuple(numbers))
    assembled = assemble([[replace(source, tracks=tracks)]], tag_map)
    return replace(assembled, issues=(*issues, *assembled.issues)), steps


def _with_iterations(
    assembled: Assembled, table: Table, columns: Columns, steps: NDArray[np.float64], issues: list[LogIssue]
) -> dict[str, Series]:
    """Iteration numbers from their column, from the count of rows, or for an on-policy run one a row."""
    if columns.iteration is not None:
        counted = table.numbers[columns.iteration]
        first = 1.0 if np.nanmin(counted) >= 1 else 0.0
        return number_iterations(assembled, _at(steps, counted - first), lagged=False)
    if columns.x_axis == "iterations":
        return number_iterations(assembled, _at(steps, np.arange(steps.size, dtype=np.float64)), lagged=False)
    clock = (
        iteration_clock(np.unique(steps)) if columns.family == "on_policy" and columns.x_axis == "env_steps" else None
    )
    if clock is None:
        return assembled.series
    text = "the log does not say how many iterations lie between two rows: one is assumed"
    issues.append(LogIssue("iterations_assumed", text, table.file, severity="info"))
    return number_iterations(assembled, clock, lagged=False)


def _timed(
    series: Mapping[str, Series], table: Table, columns: Columns, steps: NDArray[np.float64]
) -> dict[str, Series]:
    """The series with wall times where the table has them."""
    times = None if columns.wall_time is None else wall_times(table, columns.wall_time)
    if times is None:
        return dict(series)
    at = _at(steps, times)
    return {name: replace(one, wall_time=at(one.step)) for name, one in series.items()}


def _at(
    steps: NDArray[np.float64], values: NDArray[np.float64]
) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    """Looks up the `values` of the rows with given steps; of several rows with one step the last."""
    order = np.argsort(steps, kind="stable")
    sorted_steps, sorted_values = steps[order], values[order]

    def look_up(wanted: NDArray[np.float64]) -> NDArray[np.float64]:
        return sorted_values[np.maximum(np.searchsorted(sorted_steps, wanted, side="right") - 1, 0)]

    return look_up


def _config(table: Table, columns: Columns) -> dict[str, ConfigValue]:
    """Hyper-parameters which are columns with one and the same value in all rows, under their canonical names."""
    names = {name_map().key(name): name for name, known in hyperparameters().items() if known.kind in _NUMERIC_KINDS}
    config: dict[str, ConfigValue] = {}
    for column, values in table.numbers.items():
        name = next((names[key] for key in name_map().words(column).keys if key in names), None)
        finite = values[np.isfinite(values)]
        if name is None or name in config or column == columns.step or not finite.size or finite.min() < finite.max():
            continue
        value = float(finite[0])
        whole = hyperparameters()[name].kind == "integer" and value.is_integer()
        config[name] = ConfigValue(int(value) if whole else value, f"{table.file}: {column}")
    return config


def _action_space(series: Mapping[str, Series], columns: Columns) -> ActionSpace:
    """What the algorithm or the first entropies say about the action space."""
    kind = {"dqn": "discrete", "sac": "continuous"}.get(columns.algorithm or "")
    if kind == "discrete":
        return ActionSpace("discrete", origin="log", detail="dqn has discrete actions only")
    if kind == "continuous":
        return ActionSpace("continuous", origin="log", detail="sac has continuous actions only")
    entropy, std = series.get("policy.entropy"), series.get("policy.std")
    if entropy is None or columns.family == "off_policy":
        return ActionSpace()
    step = entropy.step
    fresh = step.size == 1 or bool(step[0] <= 1.5 * np.median(np.diff(step)))
    return infer_action_space(
        entropy.value, np.empty(0) if std is None else std.value, fresh=fresh, gaussian_logs_std=False
    )


def _word(table: Table, group: str, *, lower: bool = True) -> str | None:
    """The word in a column of a group (``env``, ``algorithm``) when it is the same in all rows."""
    for column, texts in table.texts.items():
        words = {text for text in texts if text}
        if len(words) == 1 and name_map().rank_among(group, name_map().words(column)) is not None:
            word = words.pop()
            return word.lower() if lower else word
    return None


def _listed(names: list[str]) -> str:
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
