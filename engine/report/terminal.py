"""The terminal summary of one run, and of many; built from rich renderables.

Everything that came from a log is cleaned of escape sequences and never read as markup. Where the terminal's
encoding cannot carry block characters the same layout is drawn in ASCII; without colour the marker line under the
curves still shows the bad interval.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.box import ASCII, ROUNDED
from rich.console import Console, Group
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from ..diagnosis.numbers import number, percent, share, steps
from . import words
from .spark import marked_cells, spark
from .table import runs_table
from .text import ascii_only, clean

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import ConsoleOptions, RenderableType, RenderResult

    from ..diagnosis.model import CauseFinding, Curve, Diagnosis, Evidence, RemedyPlan, RunDiagnosis, SymptomFinding

__all__ = ["TEXT_HEADER", "TerminalReport", "renderable", "to_text"]

TEXT_HEADER = "rl-diagnose report"
LEDGER_LINES = 3
LIST_LINES = 4
FULL_COVERAGE = 0.75
TITLE_CELLS = 22
RANGE_CELLS = 30
WIDEST_SPARK = 90

_STYLES = {
    "finding": "bold red",
    "nothing_found": "bold green",
    "cannot_tell": "bold yellow",
    "unreadable": "bold magenta",
}


@dataclass(frozen=True)
class TerminalReport:
    """A `Diagnosis` that rich can print at any width."""

    diagnosis: Diagnosis
    verbose: bool = False

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        look = _Look(ascii=options.ascii_only, verbose=self.verbose, width=options.max_width)
        runs = self.diagnosis.runs
        if len(runs) == 1:
            yield _run(runs[0], look)
            if self.diagnosis.suppressed:
                yield look.text(f"{words.suppressed_words(self.diagnosis)} (see Remarks)", "yellow")
        else:
            yield runs_table(self.diagnosis, width=look.width, ascii_only=look.ascii)
            if self.verbose:
                for run in sorted((r for r in runs if r.verdict == "finding"), key=words.severity):
                    yield Text("")
                    yield _run(run, look)
        for note in self.diagnosis.notes:
            yield look.text(note, "dim")


def renderable(diagnosis: Diagnosis, *, verbose: bool = False) -> TerminalReport:
    """What rich prints for `diagnosis`: one run in full, many as a table."""
    return TerminalReport(diagnosis, verbose)


def to_text(diagnosis: Diagnosis, *, width: int = 100, verbose: bool = False, ascii_only: bool = False) -> str:
    """The terminal summary as plain text of at most `width` columns, without colour."""
    buffer = io.StringIO()
    console = Console(file=buffer, width=width, color_system=None, force_terminal=False, legacy_windows=False)
    options = console.options.update(width=width)
    options.encoding = "ascii" if ascii_only else "utf-8"
    for segment in console.render(TerminalReport(diagnosis, verbose), options):
        buffer.write(segment.text)
    return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines()) + "\n"


@dataclass(frozen=True)
class _Look:
    """How this terminal is written to."""

    ascii: bool
    verbose: bool
    width: int

    def plain(self, text: str) -> str:
        safe = clean(text)
        return ascii_only(safe) if self.ascii else safe

    def text(self, text: str, style: str = "") -> Text:
        return Text(self.plain(text), style=style)

    def head(self, text: str, aside: str = "") -> Text:
        title = Text(self.plain(text), style="bold cyan")
        return title.append(self.plain(f"  {aside}"), style="dim") if aside else title

    def indent(self, item: RenderableType, by: int = 2) -> Padding:
        return Padding(item, (0, 0, 0, by))

    def bullets(self, lines: Iterable[str], style: str = "") -> Table:
        grid = Table.grid(padding=(0, 1, 0, 0))
        grid.add_column(width=1)
        grid.add_column(overflow="fold")
        for line in lines:
            grid.add_row("-" if self.ascii else "•", self.text(line, style))
        return grid


def _run(run: RunDiagnosis, look: _Look) -> RenderableType:
    blocks: list[RenderableType] = [_panel(run, look)]
    if run.curves:
        blocks += [look.head("Curves", _curves_aside(run)), look.indent(_curves(run, look)), Text("")]
    causes = words.main_causes(run, every=look.verbose)
    if causes:
        blocks += [look.head("Causes", words.calibration_words(run)), look.indent(_causes(run, causes, look)), Text("")]
    explained = words.main_causes(run) if look.verbose else [run.top] if run.top else []
    for cause in explained:
        blocks += [look.head(f"Why: {cause.title}"), look.indent(_ledger(cause, run, look)), Text("")]
    if run.top is not None:
        blocks += _remedies(run.top, look)
    if run.verdict == "nothing_found" and words.checked_titles(run):
        titles = "; ".join(words.checked_titles(run))
        blocks += [look.head("Checked, but below 50 %"), look.indent(look.text(titles)), Text("")]
    blocks += _lists(run, look)
    if run.rulebooks:
        blocks.append(look.text(f"Rulebooks: {words.book_words(run.rulebooks)}", "dim"))
    return Group(*blocks)


def _panel(run: RunDiagnosis, look: _Look) -> Panel:
    verdict = look.text(f"{words.VERDICTS[run.verdict].upper()}", _STYLES[run.verdict])
    verdict.append(look.plain(f": {run.verdict_reason}"), style="bold" if run.verdict == "finding" else "")
    lines: list[RenderableType] = [verdict]
    if run.primary_symptom is not None:
        lines += [_primary(run.primary_symptom, run, look)]
    known = " · ".join(words.facts(run))
    if known:
        lines.append(look.text(known, "dim"))
    title = look.text(run.path or run.id, "bold")
    title.truncate(max(look.width - 8, 8), overflow="ellipsis")
    if look.ascii:
        title = Text(ascii_only(title.plain), style="bold")
    return Panel(Group(*lines), title=title, title_align="left", box=ASCII if look.ascii else ROUNDED)


def _primary(symptom: SymptomFinding, run: RunDiagnosis, look: _Look) -> Text:
    line = look.text("First symptom: ", "bold")
    onset = f" from {words.axis_words(run)[:-1]} {steps(symptom.onset_step)}" if symptom.onset_step is not None else ""
    line.append(look.plain(f"{symptom.title}{onset}, {percent(symptom.membership)} sure. {symptom.statement}"))
    return line


def _span(curves: Iterable[Curve]) -> tuple[float, float]:
    ends = [(float(c.step[0]), float(c.step[-1])) for c in curves if c.step.size]
    return (min(e[0] for e in ends), max(e[1] for e in ends)) if ends else (0.0, 1.0)


def _curves_aside(run: RunDiagnosis) -> str:
    first, last = _span(run.curves)
    return f"{steps(first)} to {steps(last)} {words.axis_words(run)}"


def _curves(run: RunDiagnosis, look: _Look) -> Table:
    first, last = _span(run.curves)
    width = max(10, min(WIDEST_SPARK, look.width - TITLE_CELLS - RANGE_CELLS - 4))
    bad = next((c.bad for c in run.curves if c.bad is not None), None)
    cells = marked_cells(bad, first, last, width) if bad is not None else None
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(width=TITLE_CELLS, no_wrap=True, overflow="ellipsis" if not look.ascii else "crop")
    grid.add_column(width=width, no_wrap=True)
    grid.add_column(width=RANGE_CELLS, no_wrap=True, overflow="crop")
    for curve in run.curves:
        line = spark(curve, first, last, width, ascii_only=look.ascii)
        text = Text(line.cells, style="blue")
        if cells is not None:
            text.stylize("bold red", *cells)
        title = f"{curve.title} (log)" if line.log else curve.title
        grid.add_row(look.text(title), text, look.text(_range(curve), "dim"))
    if cells is not None and bad is not None:
        mark = " " * cells[0] + ("~" if look.ascii else "▔") * (cells[1] - cells[0])
        grid.add_row("", Text(mark, style="bold red"), look.text(words.interval_words(bad), "red"))
    return grid


def _range(curve: Curve) -> str:
    finite = curve.value[curve.value == curve.value]
    if not finite.size:
        return "no finite value"
    low, high, end = (number(float(x)) for x in (finite.min(), finite.max(), finite[-1]))
    if low == high:
        return f"constant {low}"
    return f"{low} … {high}, end {end}"


def _causes(run: RunDiagnosis, causes: list[CauseFinding], look: _Look) -> RenderableType:
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(width=10, no_wrap=True)
    grid.add_column(width=5, justify="right", no_wrap=True)
    grid.add_column(overflow="fold")
    for cause in causes:
        probability = cause.probability or 0.0
        full = round(10 * probability)
        bar = Text(("#" if look.ascii else "█") * full, style="red" if cause.kind == "fault" else "cyan")
        bar.append(("." if look.ascii else "░") * (10 - full), style="dim")
        title = look.text(cause.title, "bold" if cause is run.top else "")
        aside = [a for a in (_kind_words(cause), _coverage_words(cause)) if a]
        if aside:
            title.append(look.plain(f" ({'; '.join(aside)})"), style="dim")
        grid.add_row(bar, look.text(percent(probability)), title)
    hidden = 0 if look.verbose else words.hidden_causes(run)
    if hidden:
        grid.add_row("", "", look.text(f"and {hidden} less probable (all with --verbose)", "dim"))
    return grid


def _kind_words(cause: CauseFinding) -> str:
    kinds = {"benign": "explains it without a fault", "insufficient": "too little to tell"}
    marks = ("experimental" if cause.experimental else "", "suppressed" if cause.suppressed else "")
    return ", ".join(p for p in (kinds.get(cause.kind, ""), *marks) if p)


def _coverage_words(cause: CauseFinding) -> str:
    return f"{share(cause.coverage)} of its evidence available" if cause.coverage < FULL_COVERAGE else ""


def _ledger(cause: CauseFinding, run: RunDiagnosis, look: _Look) -> RenderableType:
    lines = cause.evidence if look.verbose else _strongest(cause)
    behind = {s.id: s.measurements for s in run.symptoms} if look.verbose else {}
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(width=8, justify="right", no_wrap=True)
    grid.add_column(overflow="fold")
    for line in lines:
        weight = "missing" if line.missing else f"{line.decibans:+.1f} dB"
        style = "dim" if line.missing else "red" if line.decibans > 0 else "green"
        numbers = behind.get(line.symptom, ())
        if not numbers:
            grid.add_row(look.text(weight, style), look.text(f"{words.sign_words(line)}: {line.statement}"))
            continue
        grid.add_row(look.text(weight, style), look.text(words.sign_words(line)))
        for number_behind in numbers:
            grid.add_row("", look.text(words.measurement_words(number_behind), "dim"))
    grid.add_row("", look.text(words.prior_words(cause), "dim"))
    if look.verbose and cause.tell_apart:
        grid.add_row("", look.text(f"To tell it apart: {cause.tell_apart}"))
    return grid


def _strongest(cause: CauseFinding) -> list[Evidence]:
    return sorted((e for e in cause.evidence if not e.missing), key=lambda e: -abs(e.decibans))[:LEDGER_LINES]


def _remedies(cause: CauseFinding, look: _Look) -> list[RenderableType]:
    plans = cause.remedies if look.verbose else cause.remedies[:1]
    blocks: list[RenderableType] = []
    for i, plan in enumerate(plans):
        more = len(cause.remedies) - len(plans)
        aside = f"{more} more with --verbose" if more else ""
        blocks += [look.head("Fix" if i == 0 else "Or", aside), look.indent(_plan(plan, look)), Text("")]
    return blocks


def _plan(plan: RemedyPlan, look: _Look) -> Group:
    lines: list[RenderableType] = [look.text(plan.summary, "bold"), look.text(words.knob_words(plan))]
    code = Table.grid(padding=(0, 1, 0, 0))
    code.add_column(width=6, no_wrap=True)
    code.add_column(overflow="fold")
    for name, source, style in (("before", plan.before, "red"), ("after", plan.after, "green")):
        for i, line in enumerate((source or "").splitlines()):
            code.add_row(
                name if i == 0 else "", Text(look.plain(line) if line.strip() == line else _code(line, look), style)
            )
    if code.row_count:
        lines.append(code)
    lines += [look.text(text, "dim") for text in (plan.note, plan.clamped) if text]
    lines += [look.text(f"Expect: {promise}") for promise in plan.expected]
    return Group(*lines)


def _code(line: str, look: _Look) -> str:
    """A line of code with its indentation kept."""
    return line[: len(line) - len(line.lstrip())] + look.plain(line.lstrip())


def _lists(run: RunDiagnosis, look: _Look) -> list[RenderableType]:
    gaps = [words.gap_words(gap) for gap in run.not_checked]
    issues = [words.issue_words(i) for i in run.log_issues if look.verbose or i.severity == "warning"]
    blocks: list[RenderableType] = []
    for title, lines in (("Remarks", list(run.remarks)), ("Could not be checked", gaps), ("The log itself", issues)):
        if not lines:
            continue
        shown = lines if look.verbose or title == "Remarks" else lines[:LIST_LINES]
        hidden = len(lines) - len(shown)
        aside = f"{hidden} more with --verbose" if hidden else ""
        blocks += [look.head(title, aside), look.indent(look.bullets(shown)), Text("")]
    return blocks
