"""What `inspect` shows: which adapter read a run and why, and how each key of the log was understood."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from ..signals.taxonomy import is_known_signal, signal
from .text import ascii_only, clean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

    from ..signals.run import Run, Series

__all__ = ["SCHEMA", "InspectReport", "to_document", "to_json"]

SCHEMA = "rl-diagnose/inspect/v1"


def to_document(
    path: str, runs: Sequence[Run], unreadable: Sequence[tuple[str, str]], notes: Sequence[str] = ()
) -> dict[str, Any]:
    """All runs as dicts and lists; `unreadable` holds (path, reason) pairs, `notes` what else was met."""
    return {
        "schema": SCHEMA,
        "path": path,
        "runs": [_run(run) for run in runs],
        "unreadable": [{"path": where, "reason": reason} for where, reason in unreadable],
        "notes": list(notes),
    }


def to_json(path: str, runs: Sequence[Run], unreadable: Sequence[tuple[str, str]], notes: Sequence[str] = ()) -> str:
    """The document as strict JSON text with a final newline."""
    document = to_document(path, runs, unreadable, notes)
    text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    return text.encode("utf-8", "replace").decode("utf-8")


def _run(run: Run) -> dict[str, Any]:
    return {
        "id": run.id,
        "path": run.path,
        "adapter": run.adapter,
        "adapter_reason": run.adapter_reason,
        "framework": run.framework,
        "framework_version": run.framework_version,
        "algorithm": run.algorithm,
        "env": run.env,
        "x_axis": run.x_axis,
        "files": list(run.files),
        "action_space": {**asdict(run.action_space), "max_entropy": run.action_space.max_entropy},
        "config": {name: {"value": v.value, "origin": v.origin} for name, v in sorted(run.config.items())},
        "signals": [_signal(series) for _, series in sorted(run.series.items()) if not _is_raw(series)],
        "unmapped": [asdict(key) for key in run.unmapped],
        "issues": [asdict(issue) for issue in run.issues],
    }


def _signal(series: Series) -> dict[str, Any]:
    return {
        "signal": series.signal,
        "key": series.semantics.source_key,
        "file": series.semantics.file,
        "transform": series.semantics.transform,
        "estimator": series.semantics.estimator,
        "window": series.semantics.window,
        "points": len(series),
        "first_step": float(series.step[0]) if len(series) else None,
        "last_step": float(series.step[-1]) if len(series) else None,
        "last_value": _last(series),
        "unit": signal(series.signal).unit if is_known_signal(series.signal) else None,
        "non_finite": series.non_finite.count,
    }


def _last(series: Series) -> float | None:
    finite = series.value[np.isfinite(series.value)]
    return float(finite[-1]) if finite.size else None


def _is_raw(series: Series) -> bool:
    return series.signal.startswith("raw.")


class InspectReport:
    """Runs as rich prints them, at any width."""

    def __init__(
        self, runs: Sequence[Run], unreadable: Sequence[tuple[str, str]] = (), notes: Sequence[str] = ()
    ) -> None:
        self.runs = runs
        self.unreadable = unreadable
        self.notes = notes

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.text import Text

        plain = _plainer(options.ascii_only)
        for run in self.runs:
            yield from _blocks(run, ascii_only=options.ascii_only)
        for where, reason in self.unreadable:
            yield Text(plain(f"{where}: not readable: {reason}"), style="magenta")
        for note in self.notes:
            yield Text(plain(note), style="dim")


def _plainer(to_ascii: bool) -> Any:
    return (lambda text: ascii_only(clean(text))) if to_ascii else clean


def _blocks(run: Run, *, ascii_only: bool) -> list[RenderableType]:
    from rich.padding import Padding
    from rich.text import Text

    from ..diagnosis.numbers import count, number, steps

    plain = _plainer(ascii_only)

    def line(name: str, text: str) -> Text:
        return Text(f"{name:<13}", style="bold").append(plain(text), style="not bold")

    framework = " ".join(p for p in (run.framework, run.framework_version, run.algorithm, run.env) if p)
    space = run.action_space
    size = f" of {space.size}" if space.size else ""
    origin = f" ({space.origin}{f': {space.detail}' if space.detail else ''})"
    blocks: list[RenderableType] = [
        Text(plain(run.path), style="bold cyan"),
        line("adapter", f"{run.adapter}: {run.adapter_reason}" if run.adapter_reason else run.adapter),
        line("framework", framework),
        line("files", ", ".join(run.files)),
        line("actions", "unknown" if space.kind == "unknown" else f"{space.kind.replace('_', ' ')}{size}{origin}"),
        line("x-axis", run.x_axis.replace("_", " ")),
    ]
    if run.config:
        values = ", ".join(f"{name} = {v.value} ({v.origin})" for name, v in sorted(run.config.items()))
        blocks.append(line("config", values))
    rows = [
        (
            s.signal,
            s.semantics.source_key + ("" if s.semantics.transform == "x" else f" as {s.semantics.transform}"),
            ", ".join(p for p in (s.semantics.estimator, s.semantics.window) if p),
            f"{len(s):,}",
            f"{steps(float(s.step[0]))}–{steps(float(s.step[-1]))}" if len(s) else "",
            "" if (end := _last(s)) is None else number(end),
        )
        for _, s in sorted(run.series.items())
        if not _is_raw(s)
    ]
    head = ("signal", "key in the log", "how it is computed", "points", "steps", "last")
    blocks += [Text(""), _grid(head, [tuple(plain(c) for c in r) for r in rows], right=(3, 4, 5))]
    if run.unmapped:
        keys = [
            (
                plain(k.key),
                f"{k.points:,}",
                plain(f"did you mean {k.suggestion}? --map {k.key}={k.suggestion}" if k.suggestion else ""),
            )
            for k in run.unmapped
        ]
        title = f"{count(len(keys), 'key')} not understood; kept as raw.<key>"
        blocks += [Text(""), Text(title, style="bold yellow"), _grid(("key", "points", ""), keys, right=(1,))]
    if run.issues:
        blocks += [Text(""), Text("The log itself", style="bold yellow")]
        blocks += [
            Padding(
                Text(plain(f"{i.code}: {i.message}{f' (step {steps(i.step)})' if i.step is not None else ''}")),
                (0, 0, 0, 2),
            )
            for i in run.issues
        ]
    return [*blocks, Text("")]


def _grid(head: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[int]) -> RenderableType:
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for i, name in enumerate(head):
        table.add_column(name, justify="right" if i in right else "left", overflow="fold", no_wrap=i in right)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return Padding(table, (0, 0, 0, 2))
