"""What `rules calibrate` says: for people, and as JSON (``rl-diagnose/calibration/v1``)."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from rich.text import Text

from ..diagnosis.numbers import count
from .ledger import plain as strict
from .text import ascii_only, clean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..calibrating.fit import Bin, Candidate, Figures, Fit
    from ..calibrating.measure import Measured
    from ..rules.book import Book

__all__ = ["SCHEMA", "Calibrated", "calibration_text", "to_json"]

SCHEMA = "rl-diagnose/calibration/v1"
_KINDS = {
    "none": "as it is",
    "platt": "Platt (a, b)",
    "words": "words",
    "words_platt": "words, then Platt",
}
# Runs that are named before "and so on".
NAMED = 5


@dataclass(frozen=True, slots=True)
class Calibrated:
    """A book with its fit. `by` is the column that was left out value by value, `unknown` faults that no cause of the
    book answers with their harmed runs, `block` the text for the file (None: rejected)."""

    book: Book
    measured: Measured
    fit: Fit
    by: str
    unknown: Mapping[str, int]
    block: str | None


def calibration_text(done: Sequence[Calibrated], written: Sequence[str], *, plain: bool = False) -> Text:
    """For each book: what it was held to, the candidates, the reliability table, the decision and the block.

    `written` are ids of books whose file has the block now. `plain`: ASCII only.
    """
    text = Text()
    for one in done:
        for line, style in _lines(one, written=one.book.id in written):
            safe = clean(line.lstrip(" "))
            indent = line[: len(line) - len(line.lstrip(" "))]
            text.append(indent + (ascii_only(safe) if plain else safe) + "\n", style)
    return text


def to_json(done: Sequence[Calibrated]) -> str:
    """The same as JSON text."""
    books = [
        {
            "book": one.book.id,
            "version": one.book.version,
            "sha256": one.book.sha256,
            "by": one.by,
            "other_runs": list(one.measured.others),
            "unreadable": list(one.measured.unreadable),
            "unknown_faults": dict(one.unknown),
            "block": one.block,
            **asdict(one.fit),
        }
        for one in done
    ]
    document: dict[str, Any] = {"schema": SCHEMA, "books": strict(books)}
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _lines(one: Calibrated, *, written: bool) -> Iterator[tuple[str, str]]:
    fit, measured = one.fit, one.measured
    yield f"{one.book.id} {one.book.version}: {_runs(fit.runs)} that a label speaks about", "bold"
    yield f"  {fit.positives} harmed by a cause of this book", ""
    yield f"  left out in turn, {one.by}: {', '.join(fit.groups)}", ""
    if measured.others:
        yield f"  {_runs(len(measured.others))} of algorithms that the book is not about", "dim"
    if measured.unreadable:
        more = " …" if len(measured.unreadable) > NAMED else ""
        yield (
            f"  {_runs(len(measured.unreadable))} unreadable: {', '.join(measured.unreadable[:NAMED])}{more}",
            "yellow",
        )
    if one.unknown:
        faults = ", ".join(f"{fault} ({n})" for fault, n in one.unknown.items())
        yield f"  labels with faults that this book does not know, any cause said of them is wrong: {faults}", "yellow"
    yield "", ""
    everything = fit.everything
    shown = f"{fit.kept.left_out.pairs} pairs of a run and a fault with 1 % or more"
    yield f"{shown} (of {everything.pairs} pairs)", "bold"
    yield f"  {'':28}{'Brier':>8}{'log-loss':>10}{'ECE':>8}   right at ≥ 50 %   right at ≥ 80 %", "dim"
    for candidate in fit.candidates:
        yield from _candidate(candidate, kept=candidate is fit.kept)
    yield f"  {_figures('all pairs, as it is', everything)}", "dim"
    yield "", ""
    if any(candidate.words for candidate in fit.candidates):
        yield from _words(fit)
    yield from _table(fit)
    yield from _decision(one, written=written)
    yield "", ""


def _candidate(candidate: Candidate, *, kept: bool) -> Iterator[tuple[str, str]]:
    style = "green" if kept else ""
    name = _KINDS[candidate.kind]
    if candidate.kind == "none":
        yield f"  {_figures(name, candidate.left_out)}", style
        return
    yield f"  {_figures(f'{name}, in-sample', candidate.in_sample)}", style
    yield f"  {_figures(f'{name}, left out', candidate.left_out)}", style
    verb = "saves" if candidate.gain >= 0 else "costs"
    gain = f"{verb} {abs(candidate.gain):.2f} nats on what was left out, standard error {candidate.noise:.2f}"
    pair = f"a {candidate.a:.3f}, b {candidate.b:+.3f}; " if "platt" in candidate.kind else ""
    yield f"      {pair}{gain}", "dim"


def _figures(name: str, f: Figures) -> str:
    half, sure = (f"{right} of {said}" for right, said in (f.at_half, f.at_sure))
    return f"{name:28}{f.brier:8.4f}{f.log_loss:10.4f}{f.ece:8.4f}   {half:>15}   {sure:>15}"


def _words(fit: Fit) -> Iterator[tuple[str, str]]:
    words = next(candidate.words for candidate in fit.candidates if candidate.words)
    yield "What the words are worth on all runs", "bold"
    yield f"  {'word':12}{'usual':>7}{'here':>7}{'seen in':>9}", "dim"
    for word in words:
        yield f"  {word.word:12}{word.usual:7.2f}{word.fitted:7.2f}{word.n:9}", ""
    yield "", ""


def _table(fit: Fit) -> Iterator[tuple[str, str]]:
    # The correction that was kept, or else the one that was tried.
    tried = fit.kept if fit.kept.kind != "none" else fit.candidates[1]
    before = {(row.low, row.high): row for row in fit.candidates[0].bins}
    after = {(row.low, row.high): row for row in tried.bins}
    title = "kept" if tried is fit.kept else "not kept"
    yield f"Reliability: stated and observed, as it is and with {_KINDS[tried.kind]} on left-out runs ({title})", "bold"
    yield f"  {'bin':14}{'pairs':>7}{'stated':>9}{'observed':>10}      {'pairs':>7}{'stated':>9}{'observed':>10}", "dim"
    for low, high in sorted(before.keys() | after.keys()):
        cells = [_bin(rows.get((low, high))) for rows in (before, after)]
        yield f"  {f'{100 * low:.0f}–{100 * high:.0f} %':14}{cells[0]}      {cells[1]}", ""
    yield "", ""


def _bin(row: Bin | None) -> str:
    if row is None:
        return f"{0:7}{'':>9}{'':>10}"
    return f"{row.pairs:7}{100 * row.stated:7.1f} %{100 * row.observed:8.1f} %"


def _decision(one: Calibrated, *, written: bool) -> Iterator[tuple[str, str]]:
    fit, ece = one.fit, one.fit.kept.left_out.ece
    if fit.decision == "corrected":
        yield f"Corrected: {_KINDS[fit.kept.kind]} makes left-out runs more probable.", "bold green"
    elif fit.decision == "as_is":
        yield "Kept as it is: no correction helps on left-out runs by more than chance.", "bold green"
        yield f"  What is said is {100 * ece:.1f} percentage points from what is true on average, 5 are allowed.", ""
    else:
        yield "Not calibrated: no correction helps on left-out runs, and the probabilities are not right.", "bold red"
        yield f"  What is said is {100 * ece:.1f} percentage points from what is true on average, 5 are allowed.", ""
    if one.block is None:
        return
    yield (f"Written to {one.book.path}:" if written else "The block for the file (--write puts it there):"), ""
    for line in one.block.splitlines():
        yield f"  {line}", ""


def _runs(n: int) -> str:
    return count(n, "run")
