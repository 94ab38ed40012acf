"""What `inspect` says, in the terminal."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ..diagnosis.numbers import count, number, steps
from .inspection import is_raw, last_value
from .text import ascii_only, clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

    from ..signals.run import Run, Series

__all__ = ["InspectReport"]

# Below this many columns the table says nothing about how a value is computed.
NARROW = 100
LONGEST_CELL = 300


class InspectReport:
    """Runs as rich prints them, at any width."""

    def __init__(
        self, runs: Sequence[Run], unreadable: Sequence[tuple[str, str]] = (), notes: Sequence[str] = ()
    ) -> None:
        self.runs = runs
        self.unreadable = unreadable
        self.notes = notes

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        page = _Page(to_ascii=options.ascii_only, width=options.max_width)
        for run in self.runs:
            yield from page.run(run)
        for where, reason in self.unreadable:
            yield page.text(f"{where}: not readable: {reason}", "magenta")
        for note in self.notes:
            yield page.text(note, "dim")


class _Page:
    def __init__(self, *, to_ascii: bool, width: int) -> None:
        self.to_ascii = to_ascii
        self.width = width

    def text(self, text: str, style: str = "") -> Text:
        safe = clean(text)
        return Text(ascii_only(safe) if self.to_ascii else safe, style=style)

    def run(self, run: Run) -> Iterator[RenderableType]:
        yield self.text(run.path, "bold cyan")
        yield self._facts(run)
        yield Text("")
        yield self._signals(run)
        if run.unmapped:
            yield Text("")
            yield self.text(f"{count(len(run.unmapped), 'key')} not understood, kept as raw.<key>", "bold yellow")
            rows = [(k.key, f"{k.points:,}", _suggestion(k.key, k.suggestion)) for k in run.unmapped]
            yield self._table(("key", "points", ""), rows, right={1})
        if run.issues:
            yield Text("")
            yield self.text("The log itself", "bold yellow")
            for issue in run.issues:
                where = f" (step {steps(issue.step)})" if issue.step is not None else ""
                yield Padding(self.text(f"{issue.code}: {issue.message}{where}"), (0, 0, 0, 2))
        yield Text("")

    def _facts(self, run: Run) -> Table:
        space = run.action_space
        size = f" of {space.size}" if space.size else ""
        origin = f" ({space.origin}{f': {space.detail}' if space.detail else ''})"
        lines = [
            ("adapter", f"{run.adapter}: {run.adapter_reason}" if run.adapter_reason else run.adapter),
            ("framework", " ".join(p for p in (run.framework, run.framework_version, run.algorithm, run.env) if p)),
            ("files", ", ".join(_short(file, run.path) for file in run.files)),
            ("actions", "unknown" if space.kind == "unknown" else f"{space.kind.replace('_', ' ')}{size}{origin}"),
            ("x-axis", run.x_axis.replace("_", " ") + (f" ({run.step_key})" if run.step_key else "")),
            ("config", ", ".join(f"{name} = {v.value} ({v.origin})" for name, v in sorted(run.config.items()))),
        ]
        grid = Table.grid(padding=(0, 2, 0, 0))
        grid.add_column(style="bold", no_wrap=True)
        grid.add_column(overflow="fold")
        for name, text in lines:
            if text:
                grid.add_row(name, self.text(text))
        return grid

    def _signals(self, run: Run) -> RenderableType:
        wide = self.width >= NARROW
        head = ("signal", "key in the log", "points", "steps", "last", *(("how it is computed",) if wide else ()))
        rows = [
            (*_row(series), *((_computed(series),) if wide else ()))
            for _, series in sorted(run.series.items())
            if not is_raw(series)
        ]
        return self._table(head, rows, right={2, 3, 4})

    def _table(self, head: Sequence[str], rows: Iterable[Sequence[str]], right: set[int]) -> RenderableType:
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
        for i, name in enumerate(head):
            table.add_column(name, justify="right" if i in right else "left", overflow="fold", no_wrap=i in right)
        for row in rows:
            table.add_row(*(self.text(_cut(cell)) for cell in row))
        return Padding(table, (0, 0, 0, 2))


def _cut(cell: str) -> str:
    """A name of thousands of characters tells nobody more than its beginning and its length."""
    if len(cell) <= LONGEST_CELL:
        return cell
    return f"{cell[:LONGEST_CELL]}… ({len(cell):,} characters)"


def _row(series: Series) -> tuple[str, str, str, str, str]:
    semantics = series.semantics
    key = semantics.source_key + ("" if semantics.transform == "x" else f" as {semantics.transform}")
    span = f"{steps(float(series.step[0]))}–{steps(float(series.step[-1]))}" if len(series) else ""
    end = last_value(series)
    return series.signal, key, f"{len(series):,}", span, "" if end is None else number(end)


def _computed(series: Series) -> str:
    return ", ".join(part for part in (series.semantics.estimator, series.semantics.window) if part)


def _suggestion(key: str, suggestion: str | None) -> str:
    return f"did you mean {suggestion}? --map {key}={suggestion}" if suggestion else ""


def _short(file: str, folder: str) -> str:
    """The part of `file` below the run's folder."""
    path = Path(file)
    return str(path.relative_to(folder)) if path.is_relative_to(folder) and file != folder else os.fspath(path)
