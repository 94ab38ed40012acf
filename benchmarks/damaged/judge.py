"""One damaged copy against the undamaged log: false rows, lost rows, and whether anybody was told."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rl_diagnose.adapters.readers.event_files import read_event_file

from .cases import laid_out
from .forms import form_of
from .kinds import damages
from .readings import read_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from rl_diagnose.signals.run import LogIssue

    from .cases import Case
    from .kinds import Copy
    from .readings import Reading, Rows

__all__ = ["Outcome", "run_case"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one copy.

    `false` rows stand in no log: not in the undamaged one, and not in one that has just the changes nobody can see.
    `moved` are those whose value was logged, but not at that step. `unseen` rows are false, too, but as well
    formed as a true one. `lost` rows are missing; `silent` of them without a new issue that tells of a loss (`placed`:
    that names a file and a byte, line or step). Losses of an invisible damage are not counted.
    """

    kind: str
    case: str
    label: str
    invisible: bool
    diagnosed: bool
    same_verdict: bool
    false: int = 0
    moved: int = 0
    unseen: int = 0
    lost: int = 0
    silent: int = 0
    placed: bool = True
    crash: str | None = None
    example: str = ""


def run_case(case: Case, place: Path, *, every: int, repeats: int) -> Iterator[Outcome]:
    """All copies of a case; none where the undamaged log cannot be read."""
    content = case.content
    whole = read_folder(laid_out(case, {case.log.name: content}, place / "whole"))
    if not whole.runs:
        return
    behind = _behind(case, whole)
    if any(form_of(path) is not None for path in case.around):  # what other logs say where this one does not
        for signal, rows in read_folder(laid_out(case, {}, place / "others")).rows.items():
            behind.setdefault(signal, set()).update(rows)
    counted = any(run.step_key is None and _counts(run.issues) for run in whole.runs)
    for number, copy in enumerate(
        damages(case.log.name, content, case.form, every=every, repeats=repeats, counted=counted)
    ):
        written = {case.log.name: copy.content, **copy.others}
        found = read_folder(laid_out(case, written, place / str(number)))
        seen = whole
        if copy.invisible:
            seen = found
        elif copy.others:
            seen = whole
        elif copy.visible != content:
            seen = read_folder(laid_out(case, {case.log.name: copy.visible}, place / f"{number}-visible"))
        yield judged(case.name, copy, found, seen, whole, behind)


def _behind(case: Case, whole: Reading) -> Rows:
    """Rows of an event file that others hide: of several points of a tag at one step a run has the last, and the one
    before it where that is damaged. For each signal whose tag has more points than the run has rows, every value of the
    tag at every step of the signal."""
    if case.form != "events":
        return {}
    scalars = read_event_file(case.log).scalars
    hidden: Rows = {}
    for run in whole.runs:
        for signal, series in run.series.items():
            key = series.semantics.source_key.rpartition("/")[2]  # the product may spell what is before it anew
            for tag, points in scalars.items():
                if tag.rpartition("/")[2] not in (key, key.replace("return", "reward")):
                    continue
                if points.value.size > len(series):
                    steps = {*series.step.tolist(), *points.step.tolist()}
                    rows = {(step, value) for step in steps for value in set(points.value.tolist())}
                    hidden.setdefault(signal, set()).update(rows)
    return hidden


def _counts(issues: Iterable[LogIssue]) -> bool:
    return any(issue.code == "no_step_column" for issue in issues)


def judged(case: str, copy: Copy, found: Reading, seen: Reading, whole: Reading, behind: Rows) -> Outcome:
    """The outcome of one copy: `found` in it, `seen` in the visible content, `whole` in the undamaged one. Rows in
    `behind` are in the log, too, though others hide them."""
    same = found.verdicts == whole.verdicts
    if found.crash is not None:
        return Outcome(copy.kind, case, copy.label, copy.invisible, False, same, crash=found.crash)
    new = _minus(found.rows, whole.rows)
    false = _minus(_minus(new, seen.rows), behind)
    if copy.grows:
        false = _within(false, whole.rows)
    moved = sum(_known_value(rows, _values(signal, whole, seen)) for signal, rows in false.items())
    wrong = _count(false) - moved
    lost = _minus(seen.rows, found.rows)
    told = found.told_beyond(seen)
    untold = bool(lost) and not told and not found.refused
    examples = [f"false {signal} {sorted(rows)[:3]}" for signal, rows in sorted(false.items())[:2]]
    examples += [f"lost {signal} {sorted(rows)[:3]}" for signal, rows in sorted(lost.items())[:2] if untold]
    return Outcome(
        copy.kind, case, copy.label, copy.invisible, bool(found.runs), same,
        false=wrong, moved=moved, unseen=_count(new) - _count(_minus(new, seen.rows)),
        lost=_count(lost), silent=_count(lost) if untold else 0,
        placed=untold or not lost or bool(found.refused) or any(map(_is_placed, told)),
        example="; ".join([*examples, *(f"[{one.code} {one.source}: {one.message}]" for one in told[:3])]),
    )  # fmt: skip


def _minus(rows: Rows, others: Rows) -> Rows:
    left = {signal: found - others.get(signal, set()) for signal, found in rows.items()}
    return {signal: found for signal, found in left.items() if found}


def _within(rows: Rows, whole: Rows) -> Rows:
    """Without rows behind the last one of the original that repeat a value of it."""
    kept: Rows = defaultdict(set)
    for signal, found in rows.items():
        original = whole.get(signal, set())
        last = max((step for step, _ in original), default=0.0)
        values = {value for _, value in original}
        kept[signal] = {row for row in found if row[0] <= last or row[1] not in values}
    return {signal: found for signal, found in kept.items() if found}


def _values(signal: str, *readings: Reading) -> set[float]:
    return {value for one in readings for _, value in one.rows.get(signal, ())}


def _known_value(rows: set[tuple[float, float]], values: set[float]) -> int:
    return sum(value in values for _, value in rows)


def _count(rows: Rows) -> int:
    return sum(map(len, rows.values()))


def _is_placed(issue: LogIssue) -> bool:
    """Whether an issue says where: a file that cannot be read at all is the place itself."""
    somewhere = issue.step is not None or any(character.isdigit() for character in issue.message)
    return bool(issue.source) and (somewhere or issue.code in ("unreadable_file", "empty_file", "no_scalars"))
