"""`rl-diagnose PATH`: read, diagnose, report."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ..diagnosis.pipeline import diagnose
from ..errors import NoReadableRunError
from . import output
from .options import paths, progress_bar

if TYPE_CHECKING:
    import argparse

    from ..diagnosis.model import Diagnosis

__all__ = ["run"]

FINDING = 1
TEXT_WIDTH = 100


def run(options: argparse.Namespace) -> int:
    """Diagnose what the command line asks for, print or write the report, return the exit code."""
    where = paths(options)
    to_stdout = options.output in {None, "-"}
    target_format = (options.format or "rich") if to_stdout else output.format_for(options.output, options.format)
    if not to_stdout:
        output.check_target(options.output)
    with progress_bar("Reading runs") as progress:
        result = diagnose(
            where,
            options.rules or None,
            mapping=dict(options.map),
            action_space=options.action_space,
            progress=progress,
        )
    nothing = _nothing_readable(result)
    if nothing is not None and to_stdout and target_format == "rich":
        raise nothing
    if to_stdout:
        _print(result, target_format, options)
    else:
        _write(result, target_format, options)
    if nothing is not None:
        raise nothing
    return _exit_code(result, options.fail_at)


def _text(result: Diagnosis, target_format: str, options: argparse.Namespace) -> str:
    if target_format == "json":
        from ..report.json_report import to_json

        return to_json(result)
    if target_format == "markdown":
        from ..report.markdown import to_markdown

        return to_markdown(result)
    from ..report.terminal import TEXT_HEADER, to_text

    body = to_text(result, width=options.width or TEXT_WIDTH, verbose=options.verbose)
    return f"{TEXT_HEADER}, {result.created}\n\n{body}"


def _print(result: Diagnosis, target_format: str, options: argparse.Namespace) -> None:
    if target_format != "rich":
        output.print_bytes(_text(result, target_format, options))
        return
    from rich.console import Console

    from ..report.terminal import renderable

    Console(file=sys.stdout, width=options.width).print(renderable(result, verbose=options.verbose))


def _write(result: Diagnosis, target_format: str, options: argparse.Namespace) -> None:
    from ..report.words import summary

    read = [file for run in result.runs for file in (*run.files, run.path)]
    target = output.check_target(options.output, read)
    output.write_file(target, _text(result, target_format, options))
    sys.stderr.write(f"{options.output}: {summary(result)}\n")


def _nothing_readable(result: Diagnosis) -> NoReadableRunError | None:
    """The error to end with when no run could be read at all; one run's reason is told in full."""
    if any(run.verdict != "unreadable" for run in result.runs):
        return None
    first = result.runs[0]
    more = len(result.runs) - 1
    fact = first.verdict_reason + (f" (and {more} more runs that cannot be read)" if more else "")
    return NoReadableRunError(fact, place=first.path, hint="rl-diagnose inspect shows what was seen in it")


def _exit_code(result: Diagnosis, fail_at: float | None) -> int:
    if fail_at is None:
        return 0
    reached = [run for run in result.runs if run.findings and (run.findings[0].probability or 0.0) >= fail_at]
    if reached:
        many = "1 run has" if len(reached) == 1 else f"{len(reached)} runs have"
        sys.stderr.write(f"rl-diagnose: {many} a cause at or above --fail-at {fail_at:g}\n")
    return FINDING if reached else 0
