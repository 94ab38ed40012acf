"""Which calibration a run is judged with: that of its book, none, or one that has not seen its environment."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rl_diagnose.calibrating.fit import calibrate
from rl_diagnose.calibrating.labels import Answer
from rl_diagnose.calibrating.measure import measure
from rl_diagnose.diagnosis.pipeline import default_books
from rl_diagnose.errors import UsageError
from rl_diagnose.rules.book import Calibration

from .acceptable import acceptable_causes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from rl_diagnose.calibrating.measure import Measured
    from rl_diagnose.rules.book import Book
    from rl_diagnose.signals.run import Run

    from .acceptable import Row
    from .corpus import Label

__all__ = ["Choice", "as_shipped", "left_out", "uncalibrated"]


@dataclass(frozen=True, slots=True)
class Choice:
    """`books` gives the rulebooks of a run; `remarks` say what was fitted for whom."""

    books: Callable[[Label, Run], Sequence[Book]]
    remarks: tuple[str, ...] = field(default=())


def as_shipped(books: Sequence[Book] | None) -> Choice:
    """The books as they are: `books`, or those that each run gets by default."""
    return Choice(lambda _, run: default_books(run) if books is None else books)


def uncalibrated(books: Sequence[Book] | None) -> Choice:
    """The same without their calibration."""
    shipped, known = as_shipped(books).books, dict[str, "Book"]()

    def plain(book: Book) -> Book:
        return known.setdefault(book.sha256, replace(book, calibration=None))

    return Choice(lambda label, run: [plain(book) for book in shipped(label, run)])


def left_out(
    books: Sequence[Book] | None, runs: Iterable[tuple[Label, Run | None]], acceptable: Sequence[Row]
) -> Choice:
    """For each environment, the books with a calibration from the runs of all others, as `rules calibrate` fits it.

    Where these do not suffice, or no correction helps, a book is used as it is without calibration. Raises `UsageError`
    where a label names no environment.
    """
    pairs = [(label, run) for label, run in runs if run is not None]
    nowhere = [label.run_id for label, _ in pairs if not label.env]
    if nowhere:
        raise UsageError(f"labels.csv names no env of {', '.join(nowhere[:5])}", hint="it is needed to leave one out")
    answers = {id(run): _answer(label, acceptable) for label, run in pairs}
    plain = uncalibrated(books).books
    wanted = {book.sha256: book for label, run in pairs for book in plain(label, run)}
    measured = measure(list(wanted.values()), [(answers[id(run)], run) for _, run in pairs])
    fitted: dict[tuple[str, str], Book] = {}
    remarks: dict[tuple[str, str], list[str]] = {}
    for one in measured:
        for env in sorted({label.env for label, _ in pairs}):
            book, remark = _without(one, env)
            fitted[one.book.sha256, env] = book
            if any(answer.group == env for answer in one.answers):
                remarks.setdefault((one.book.id, remark), []).append(env)
    said = tuple(f"{book} without {', '.join(envs)}: {remark}" for (book, remark), envs in remarks.items())
    return Choice(lambda label, run: [fitted[book.sha256, label.env] for book in plain(label, run)], said)


def _answer(label: Label, acceptable: Sequence[Row]) -> Answer:
    causes = acceptable_causes(acceptable, label)
    return Answer(label.run_id, Path(label.run_id), label.env, label.fault, label.harmed, causes)


def _without(measured: Measured, env: str) -> tuple[Book, str]:
    """The book with the calibration that the runs outside `env` give, and how that came."""
    keep = np.array([answer.group != env for answer in measured.answers], dtype=np.bool_)
    rest = replace(
        measured,
        answers=tuple(answer for answer in measured.answers if answer.group != env),
        mu=measured.mu[keep],
        known=measured.known[keep],
        active=measured.active[keep],
        spoken=measured.spoken[keep],
    )
    try:
        fit = calibrate(rest)
    except UsageError as error:
        return measured.book, error.fact
    if fit.decision != "corrected":
        return measured.book, "no correction helps"
    kept, f = fit.kept, fit.kept.left_out
    block = Calibration(kept.a, kept.b, "", fit.runs, f.brier, f.log_loss, f.ece, "")
    return replace(measured.book, calibration=block), f"a {kept.a:.3f}, b {kept.b:+.3f}"
