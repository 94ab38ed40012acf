"""What the labels of a corpus ask for: the causes that are a right answer to each run, or silence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast

from ..errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ..rules.book import Book
    from ..testing.corpus import Labelled

__all__ = [
    "ACCEPTABLE",
    "HEALTHY",
    "Answer",
    "Harm",
    "Row",
    "acceptable_causes",
    "answers",
    "read_acceptable",
    "unknown_faults",
]

ACCEPTABLE = "acceptable.yaml"
HEALTHY = "healthy"
HARM = ("yes", "no", "unclear")
# What names the fault: the first of these columns that there is.
FAULT_COLUMNS = ("injected_fault", "cause")
DETAILS = "fault_details"
HARMED = "harmed"
_FIELDS = {"fault", "when", "causes", "why"}
Harm = Literal["yes", "no", "unclear"]


@dataclass(frozen=True, slots=True)
class Row:
    """`causes` answer `fault`, because of `why`; with `when`, only where the details of the fault contain it."""

    fault: str
    causes: tuple[str, ...]
    why: str
    when: str | None = None

    def fits(self, fault: str, details: str) -> bool:
        """Whether the row speaks about such a run."""
        return self.fault == fault and (self.when is None or self.when in details)


@dataclass(frozen=True, slots=True)
class Answer:
    """One labelled run: its folder, what it is told apart by in cross-validation, its fault, and whether that harmed.

    `causes` are the right answers where `harmed` is ``yes``. Where it is ``no``, silence is right whatever the fault:
    nothing needs a cure. ``unclear`` runs say nothing about probabilities.
    """

    id: str
    path: Path
    group: str
    fault: str
    harmed: Harm
    causes: frozenset[str]


def read_acceptable(path: Path) -> tuple[Row, ...]:
    """The rows of an ``acceptable.yaml``, in order.

    Raises `UsageError` for a file that cannot be read, and for a row without fault, causes or argument.
    """
    from ..rules.yaml_loader import load_yaml

    document, problems = load_yaml(path)
    if document is None or problems:
        raise UsageError(problems[0].message, place=path)
    if not isinstance(document.data, list):
        raise UsageError("a list of rows is expected", place=path)
    rows = []
    for number, entry in enumerate(document.data, start=1):
        place = f"{path}, row {number}"
        if not isinstance(entry, dict) or not {"fault", "causes", "why"} <= set(entry) <= _FIELDS:
            raise UsageError("a row has fault, causes and why, and perhaps when", place=place)
        if not isinstance(entry["causes"], list) or not entry["causes"] or not str(entry["why"]).strip():
            raise UsageError("causes is a list, and why says why they are equivalent", place=place)
        texts = (entry["fault"], entry["why"], *entry["causes"], *([entry["when"]] if "when" in entry else []))
        if not all(isinstance(text, str) for text in texts):
            raise UsageError("everything in a row is text", place=place, hint='put numbers in quotes: when: "1e30"')
        rows.append(Row(entry["fault"], tuple(entry["causes"]), entry["why"], entry.get("when")))
    return tuple(rows)


def acceptable_causes(rows: Sequence[Row], fault: str, details: str) -> frozenset[str]:
    """All causes that are a right answer to the fault; empty for a fault that no row knows."""
    return frozenset(cause for row in rows if row.fits(fault, details) for cause in row.causes)


def answers(corpus: Sequence[Labelled], rows: Sequence[Row] = (), by: str = "env") -> tuple[Answer, ...]:
    """The answer to every labelled run. A fault that `rows` do not speak of is the cause of the same name.

    Columns: `by` (what cross-validation leaves out), ``injected_fault`` or ``cause`` (``healthy``: none), perhaps
    ``fault_details`` (text that rows may look into) and ``harmed`` (yes, no, unclear; without it every fault harmed).
    Raises `UsageError` where a column is missing or a value cannot be meant.
    """
    columns = corpus[0].columns if corpus else {}
    names = [name for name in FAULT_COLUMNS if name in columns]
    place = corpus[0].path.parent.parent / "labels.csv" if corpus else None
    if not names:
        raise UsageError(f"there is no column {' or '.join(FAULT_COLUMNS)}", place=place)
    if by not in columns:
        hint = f"--by names a column of it: {', '.join(columns)}"
        raise UsageError(f"there is no column {by}", place=place, hint=hint)
    return tuple(_answer(labelled, rows, names[0], by) for labelled in corpus)


def unknown_faults(book: Book, given: Sequence[Answer]) -> dict[str, int]:
    """Fault → harmed runs, of those faults that no cause of `book` answers. Saying any cause of them is wrong."""
    known = {cause.id for cause in book.causes}
    counts: dict[str, int] = {}
    for answer in given:
        if answer.harmed == "yes" and not answer.causes & known:
            counts[answer.fault] = counts.get(answer.fault, 0) + 1
    return dict(sorted(counts.items()))


def _answer(labelled: Labelled, rows: Sequence[Row], column: str, by: str) -> Answer:
    columns = labelled.columns
    place = f"{labelled.path.parent.parent / 'labels.csv'}, run {labelled.id}"
    fault, group = columns[column].strip(), columns[by].strip()
    if not fault or not group:
        raise UsageError(f"the column {by if fault else column} is empty", place=place)
    harmed = columns.get(HARMED, "no" if fault == HEALTHY else "yes").strip()
    if harmed not in HARM:
        raise UsageError(f"harmed is '{harmed}'", place=place, hint=f"known are {', '.join(HARM)}")
    causes: frozenset[str] = frozenset()
    if fault != HEALTHY:
        causes = acceptable_causes(rows, fault, columns.get(DETAILS, "")) or frozenset({fault})
    return Answer(labelled.id, labelled.path, group, fault, cast("Harm", harmed), causes)
