"""Many runs at a glance: a line each, worst first, and how often each cause was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
from rich.console import Group
from rich.table import Table
from rich.text import Text

from ..diagnosis.numbers import count, percent
from . import words
from .text import ascii_only as to_ascii
from .text import clean

if TYPE_CHECKING:
    from ..diagnosis.model import Diagnosis, RunDiagnosis

__all__ = ["row", "runs_table"]

COLUMNS = ("Run", "Framework", "Verdict", "First symptom", "Top cause", "P")
RUN, SYMPTOM, PROBABILITY = 0, 3, 5
GAP = 2
NARROWEST = (10, 6, 13, 12, 18, 5)
# Below this many columns the first symptom is left out.
NARROW = 100
MOST_ASSOCIATIONS = 8
_STYLES = {"finding": "red", "nothing_found": "green", "cannot_tell": "yellow", "unreadable": "magenta"}


def row(run: RunDiagnosis) -> tuple[str, str, str, str, str, str]:
    """The cells of one run, in the order of `COLUMNS`; for runs without a finding the reason stands for the cause."""
    framework = " ".join(part for part in (run.framework, run.algorithm) if part)
    if run.top is None:
        return run.id, framework, words.VERDICTS[run.verdict], "", run.verdict_reason, ""
    symptom = run.primary_symptom.title if run.primary_symptom else ""
    return run.id, framework, words.VERDICTS[run.verdict], symptom, run.top.title, percent(run.top.probability or 0.0)


def runs_table(diagnosis: Diagnosis, *, width: int = 100, ascii_only: bool = False) -> Group:
    """A rich table of all runs, worst first, in `width` columns, and the totals."""

    def plain(text: str) -> str:
        return to_ascii(clean(text)) if ascii_only else clean(text)

    runs = sorted(diagnosis.runs, key=words.severity)
    rows = [tuple(plain(cell) for cell in row(run)) for run in runs]
    widths = _widths([COLUMNS, *rows], width)
    table = Table(box=None, expand=False, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    shown = [i for i, cells in enumerate(widths) if cells]
    for i in shown:
        table.add_column(COLUMNS[i], no_wrap=True, width=widths[i], justify="right" if i == PROBABILITY else "left")
    for run, cells in zip(runs, rows, strict=True):
        texts = [_cut(cells[i], widths[i], front=i == RUN, ascii_only=ascii_only) for i in shown]
        texts[2].stylize(_STYLES[run.verdict])
        table.add_row(*texts)
    lines = [Text(""), Text(plain(words.summary(diagnosis)), style="bold")]
    lines += [Text(plain(f"  {count(n, 'run')}: {title}")) for title, n in words.cause_counts(diagnosis.runs)]
    if diagnosis.associations:
        lines.append(Text(plain(words.ASSOCIATIONS), style="bold"))
        lines += [
            Text(plain(f"  {words.association_words(one)}")) for one in diagnosis.associations[:MOST_ASSOCIATIONS]
        ]
    if diagnosis.rulebooks:
        lines.append(Text(plain(f"Rulebooks: {words.book_words(diagnosis.rulebooks)}"), style="dim"))
    return Group(table, *lines)


def _widths(rows: list[tuple[str, ...]], width: int) -> list[int]:
    """Cells for each column: as much as its longest entry needs, the widest columns cut until the line fits."""
    need = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    if width < NARROW:
        need[SYMPTOM] = 0
    while sum(need) + GAP * sum(n > 0 for n in need) > width:
        cuttable = [i for i, n in enumerate(need) if n > NARROWEST[i]]
        if not cuttable:
            break
        need[max(cuttable, key=need.__getitem__)] -= 1
    return need


def _cut(text: str, cells: int, *, front: bool, ascii_only: bool) -> Text:
    """`text` in at most `cells` cells; run names are cut in front, where they are alike."""
    dots = "..." if ascii_only else "…"
    if cell_len(text) <= cells:
        return Text(text)
    room = cells - len(dots)
    return Text(dots + text[-room:]) if front else Text(set_cell_size(text, room).rstrip() + dots)
