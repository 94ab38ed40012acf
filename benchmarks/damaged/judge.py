"""One damaged copy against the undamaged log: false rows, lost rows, and whether anybody was told."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .kinds import damages
from .readings import read_folder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from .cases import Case
    from .kinds import Copy
    from .readings import Reading, Rows

from .cases import laid_out

__all__ = ["Outcome", "run_case"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one copy.

    `false` rows stand in no log: not in the undamaged one, and not in one that has just the changes nobody can see.
    Of these, `moved` are rows whose value is right and whose step is not. `unseen` rows are false, too, but as well
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
    counted = any(run.step_key is None and _counts(run.issues) for run in whole.runs)
    for number, copy in enumerate(
        damages(case.log.name, content, case.form, every=every, repeats=repeats, counted=counted)
    ):
        written = {case.log.name: copy.content, **copy.others}
        found = read_folder(laid_out(case, written, place / str(number)))
        seen = whole
        if copy.invisible:
            seen = found
        elif copy.visible != content:
            seen = read_folder(laid_out(case, {case.log.name: copy.visible}, place / f"{number}-visible"))
        yield judged(case.name, copy, found, seen, whole)


def _counts(issues: tuple[object, ...]) -> bool:
    return any(getattr(issue, "code", "") == "no_step_column" for issue in issues)


def judged(case: str, copy: Copy, found: Reading, seen: Reading, whole: Reading) -> Outcome:
    """The outcome of one copy: `found` in it, `seen` in the visible content, `whole` in the undamaged one."""
    same = found.verdicts == whole.verdicts
    if found.crash is not None:
        return Outcome(copy.kind, case, copy.label, copy.invisible, False, same, crash=found.crash)
    new = _minus(found.rows, whole.rows)
    false = _minus(new, seen.rows)
    if copy.grows:
        false = _within(false, whole.rows)
    moved = sum(_known_value(rows, {value for _, value in whole.rows.get(s, ())}) for s, rows in false.items())
    lost = _minus(seen.rows, found.rows)
    told = found.told_beyond(seen)
    untold = bool(lost) and not told and not found.refused
    examples = [f"false {signal} {sorted(rows)[:3]}" for signal, rows in sorted(false.items())[:2]]
    examples += [f"lost {signal} {sorted(rows)[:3]}" for signal, rows in sorted(lost.items())[:2] if untold]
    return Outcome(
        copy.kind, case, copy.label, copy.invisible, bool(found.runs), same,
        false=_count(false), moved=moved, unseen=_count(new) - _count(_minus(new, seen.rows)),
        lost=_count(lost), silent=_count(lost) if untold else 0,
        placed=untold or not lost or bool(found.refused) or any(_is_placed(one.source, one.message, one.step) for one in told),
        example="; ".join(examples) + (f" [{'; '.join(f'{i.code} {i.source}: {i.message}' for i in told[:3])}]" if told else ""),
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


def _known_value(rows: set[tuple[float, float]], values: set[float]) -> int:
    return sum(value in values for _, value in rows)


def _count(rows: Rows) -> int:
    return sum(map(len, rows.values()))


def _is_placed(source: str, message: str, step: float | None) -> bool:
    return bool(source) and (step is not None or any(character.isdigit() for character in message))
