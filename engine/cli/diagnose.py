"""`rl-diagnose PATH`: read, diagnose, report."""

from __future__ import annotations

import sys

from .parser import COMMANDS, Parser, add_common, add_paths, add_reading, number_of_jobs, probability

TYPE_CHECKING = False  # importing `typing` costs as much as parsing the command line
if TYPE_CHECKING:
    import argparse

    from ..diagnosis.model import Diagnosis
    from ..errors import NoReadableRunError

__all__ = ["FORMATS", "parser", "run"]

FORMATS = ("rich", "markdown", "html", "json", "junit", "sarif", "github")
FINDING = 1
NOT_ATTACHED = 2
TEXT_WIDTH = 100

_DESCRIPTION = """\
Read the logs of reinforcement-learning runs and say what went wrong first, which cause is most probable, and which
knob to turn. PATH is a log file, the folder of a run, or a folder of many runs; - reads standard input.
"""

_EXAMPLES = """\
examples:
  rl-diagnose runs/PPO_3                          one run: a summary
  rl-diagnose runs/                               many runs: a table, worst first
  rl-diagnose sweep/ --jobs 4                     thousands of runs, shared by 4 processes
  rl-diagnose --logdir runs/PPO_3 --output report.html   curves to zoom into, one file, no network
  rl-diagnose results.csv --map score=reward.train
  tail -n 2000 train.log | rl-diagnose -          what a training script printed
  rl-diagnose runs/ --format json --fail-at 0.8   for scripts: exit code 1 when a cause reaches 0.8
  rl-diagnose runs/ --format github --fail-at 0.8   annotations of a pull request; also sarif, junit
  rl-diagnose runs/PPO_9 --baseline runs/PPO_3    against a run that is known to be good
  rl-diagnose wandb/ --attach                     each run gets its report, in W&B
  rl-diagnose inspect runs/PPO_3                  what was read, and how each key was understood

other commands (rl-diagnose COMMAND --help):
{commands}

exit codes:
  0  nothing at or above --fail-at      3  a rulebook is invalid
  1  a finding at or above --fail-at    4  no readable run
  2  usage or internal error
"""


def parser() -> Parser:
    """Options of `rl-diagnose` and `rl-diagnose diagnose`."""
    others = "\n".join(f"  {name:<11} {text}" for name, text in COMMANDS.items() if name != "diagnose")
    options = Parser(prog="rl-diagnose", description=_DESCRIPTION, epilog=_EXAMPLES.format(commands=others))
    add_paths(options)
    add_reading(options)
    options.add_argument(
        "-r", "--rules", action="append", default=[], metavar="BOOK",
        help="a rulebook: id (ppo), id with version (ppo@1.0.0) or path; may be repeated; default: by algorithm",
    )  # fmt: skip
    options.add_argument(
        "--baseline", metavar="RUN_OR_DIR",
        help="a run that is known to be good, or a folder of such runs: returns and settings are compared with it",
    )  # fmt: skip
    options.add_argument(
        "-j", "--jobs", type=number_of_jobs, metavar="N",
        help="processes that share the runs; auto: one a core (default: as many as pay for this many runs)",
    )  # fmt: skip
    options.add_argument("--format", choices=FORMATS, help="default: rich, or what the name of --output says")
    options.add_argument(
        "-o", "--output", metavar="FILE",
        help="write to FILE (.html, .md, .json, .txt, .sarif or .xml for JUnit) instead of the terminal",
    )  # fmt: skip
    options.add_argument(
        "--patch-file", metavar="FILE",
        help="write the change that the most probable finding asks for to FILE, as a script for the run's framework",
    )  # fmt: skip
    options.add_argument(
        "--tensorboard", metavar="DIR",
        help="write the verdict of each run as a text into an event file in DIR, for TensorBoard to show",
    )  # fmt: skip
    options.add_argument(
        "--attach", action="store_true",
        help="attach its report to each run that is kept by W&B or MLflow (needs their package)",
    )  # fmt: skip
    options.add_argument(
        "--fail-at", type=probability, metavar="P",
        help="exit with 1 when a cause has at least this probability, above 0 and up to 1",
    )  # fmt: skip
    options.add_argument("-v", "--verbose", action="store_true", help="all evidence, causes, remedies and remarks")
    add_common(options)
    return options


def run(options: argparse.Namespace) -> int:
    """Diagnose what the command line asks for, print or write the report, return the exit code."""
    from ..diagnosis.pipeline import diagnose
    from ..project import load_project
    from ..rules.choice import chosen_books
    from . import output
    from .options import paths, progress_bar

    where = paths(options)
    project = load_project()
    to_stdout = options.output in {None, "-"}
    target_format = (options.format or "rich") if to_stdout else output.format_for(options.output, options.format)
    if not to_stdout:
        output.check_target(options.output)
    if options.patch_file is not None:
        _check_patch_file(options)
    if options.tensorboard is not None:
        output.check_folder(options.tensorboard)
    with progress_bar("Reading runs") as progress:
        result = diagnose(
            where,
            chosen_books(options.rules, project),
            mapping=dict(options.map),
            action_space=options.action_space or project.action_space,
            house=dict(project.mapping),
            tag_maps=[*options.tag_map, *project.tag_maps],
            suppressions=project.suppressions,
            baseline=options.baseline,
            jobs=options.jobs,
            progress=progress,
        )
    if options.fail_at is None:
        options.fail_at = project.fail_at
    nothing = _nothing_readable(result)
    if nothing is not None and to_stdout and target_format == "rich":
        raise nothing
    if to_stdout:
        _print(result, target_format, options)
    else:
        _write(result, target_format, options)
    if nothing is not None:
        raise nothing
    if options.patch_file is not None:
        _write_patch(result, options.patch_file)
    if options.tensorboard is not None:
        _write_events(result, options.tensorboard)
    if options.attach and not _attach(result):
        return NOT_ATTACHED
    return _exit_code(result, options.fail_at)


def _text(result: Diagnosis, target_format: str, options: argparse.Namespace) -> str:
    if target_format == "json":
        from ..report.json_report import to_json

        return to_json(result)
    if target_format == "html":
        from ..report.html import to_html

        return to_html(result)
    if target_format == "markdown":
        from ..report.markdown import to_markdown

        return to_markdown(result)
    if target_format == "junit":
        from ..report.junit import to_junit

        return to_junit(result, options.fail_at)
    if target_format == "sarif":
        from ..report.findings_sarif import to_sarif

        return to_sarif(result, options.fail_at)
    if target_format == "github":
        from ..report.github import to_annotations

        return to_annotations(result, options.fail_at)
    from ..report.terminal import TEXT_HEADER, to_text

    body = to_text(result, width=options.width or TEXT_WIDTH, verbose=options.verbose)
    return f"{TEXT_HEADER}, {result.created}\n\n{body}"


def _print(result: Diagnosis, target_format: str, options: argparse.Namespace) -> None:
    if target_format != "rich":
        from .output import print_bytes

        print_bytes(_text(result, target_format, options))
        return
    from rich.console import Console

    from ..report.terminal import renderable

    Console(file=sys.stdout, width=options.width).print(renderable(result, verbose=options.verbose))


def _check_patch_file(options: argparse.Namespace) -> None:
    """Raises `UsageError` where the script has no file of its own, before anything is read."""
    from pathlib import Path

    from ..errors import UsageError
    from .output import check_target

    if options.patch_file == "-":
        raise UsageError("the script needs a file", place="--patch-file", hint="name one: --patch-file fix.py")
    target = check_target(options.patch_file)
    if options.output is not None and target == Path(options.output).resolve():
        raise UsageError("report and script have the same file", place=options.patch_file, hint="choose another name")


def _write_patch(result: Diagnosis, name: str) -> None:
    """Write the script, or say why there is none and leave the file as it is."""
    from ..report.patch import to_script
    from . import output

    script, words = to_script(result)
    if script is None:
        sys.stderr.write(f"{name} is not written: {words}\n")
        return
    output.write_file(output.check_target(name, _read(result)), script)
    sys.stderr.write(f"{name}: {words}\n")


def _write_events(result: Diagnosis, folder: str) -> None:
    from ..report.tensorboard import file_name, to_events
    from . import output

    target = output.check_folder(folder, _read(result)) / file_name(result)
    output.make_folder(target.parent)
    output.write_bytes(target, to_events(result))
    sys.stderr.write(f"{target}: tensorboard --logdir {folder} shows it under Text\n")


def _attach(result: Diagnosis) -> bool:
    """Whether every report could be attached; a line for each run."""
    from ..attaching.report import attach_all

    outcomes = []
    for words, done in attach_all(result):
        sys.stderr.write(f"{words}\n")
        outcomes.append(done)
    return all(outcomes)


def _read(result: Diagnosis) -> list[str]:
    return [file for run in result.runs for file in (*run.files, run.path)]


def _write(result: Diagnosis, target_format: str, options: argparse.Namespace) -> None:
    from ..report.words import summary
    from . import output

    target = output.check_target(options.output, _read(result))
    output.write_file(target, _text(result, target_format, options))
    sys.stderr.write(f"{options.output}: {summary(result)}\n")


def _nothing_readable(result: Diagnosis) -> NoReadableRunError | None:
    """The error to end with when no run could be read at all; one run's reason is told in full."""
    if any(run.verdict != "unreadable" for run in result.runs):
        return None
    from ..errors import NoReadableRunError

    first = result.runs[0]
    more = len(result.runs) - 1
    fact = first.verdict_reason + (f" (and {more} more runs that cannot be read)" if more else "")
    return NoReadableRunError(fact, place=first.path, hint="rl-diagnose inspect shows what was seen in it")


def _exit_code(result: Diagnosis, fail_at: float | None) -> int:
    if fail_at is None:
        return 0
    from ..report.outcome import outcome

    reached = [run for run in result.runs if outcome(run, fail_at) == "failed"]
    if reached:
        many = "1 run has" if len(reached) == 1 else f"{len(reached)} runs have"
        sys.stderr.write(f"rl-diagnose: {many} a cause at or above --fail-at {fail_at:g}\n")
    return FINDING if reached else 0
