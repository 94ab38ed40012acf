"""Which settings go with which cause over many runs: exact tests, corrected for how many were made.

For a setting with numbers the runs are split at each value (at most `MOST_SPLITS` of them), for others by each value.
Each split is held to each cause by Fisher's exact test, one-sided both ways round: the probability that so many of the
runs with the cause fall on that side by chance. p-values are multiplied by the number of tests (Bonferroni), so that
among settings that have nothing to do with any cause, one sweep in twenty shows an association at most.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from .model import Association
from .verdict import FINDING_AT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from .model import RunDiagnosis

    Bools = NDArray[np.bool_]
    Value = float | int | bool | str

__all__ = ["CrossTable", "associations", "causes_of", "cross_table", "values_of"]

SIGNIFICANT = 0.05
MOST_SPLITS = 15
MOST_WORDS = 20
FEWEST_RUNS = 2
_NO_SETTING = frozenset({"seed"})
_FACTS: dict[str, Callable[[RunDiagnosis], str | None]] = {
    "algorithm": lambda run: run.algorithm,
    "env": lambda run: run.env,
}


@dataclass(frozen=True, slots=True)
class CrossTable:
    """How often each cause stands among the runs with each value of a setting; `rows` are (values in words, runs with
    them, runs with each of `causes`)."""

    setting: str
    causes: tuple[str, ...]
    rows: tuple[tuple[str, int, tuple[int, ...]], ...]


def associations(runs: Sequence[RunDiagnosis]) -> tuple[Association, ...]:
    """For each setting and cause the split that tells most, where that is more than chance; the clearest first.

    Runs that could not be read, and runs of which a setting is not known, do not count for it. The number of the random
    generator's seed is no setting.
    """
    read = [run for run in runs if run.verdict != "unreadable"]
    titles = {cause.id: cause.title for run in read for cause in run.findings}
    held = {name: np.array([name in causes_of(run) for run in read], dtype=bool) for name in titles}
    causes = {name: has for name, has in held.items() if has.sum() >= FEWEST_RUNS and (~has).sum() >= FEWEST_RUNS}
    log_factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, len(read) + 1)))])
    best: dict[tuple[str, str], Association] = {}
    tests = 0
    for setting in _settings(read):
        values = values_of(read, setting)
        known = np.array([value is not None for value in values], dtype=bool)
        for relation, value, inside in _splits(values, known):
            for cause, has in causes.items():
                tests += 1
                n, drawn = int(known.sum()), int(inside.sum())
                marked, both = int((has & known).sum()), int((has & inside).sum())
                p = _more_than_chance(log_factorial, n, marked, drawn, both)
                if (setting, cause) not in best or p < best[setting, cause].p_value:
                    best[setting, cause] = Association(
                        setting, relation, value, cause, titles[cause], both, drawn, marked - both, n - drawn, p
                    )
    found = [one.corrected(tests) for one in best.values()]
    clear = [one for one in found if one.p_value <= SIGNIFICANT]
    return tuple(sorted(clear, key=lambda one: (one.p_value, one.setting, one.cause)))


def causes_of(run: RunDiagnosis) -> frozenset[str]:
    """The faults that stand at the probability of a finding or above."""
    return frozenset(c.id for c in run.findings if (c.probability or 0.0) >= FINDING_AT)


def values_of(runs: Iterable[RunDiagnosis], setting: str) -> list[Value | None]:
    """The setting's value in each run; None where it is not known. Numbers are rounded to what float32 can tell apart,
    since some logs hold them as such."""
    if setting in _FACTS:
        return [_FACTS[setting](run) for run in runs]
    return [next((_rounded(one.value) for one in run.settings if one.name == setting), None) for run in runs]


def cross_table(runs: Sequence[RunDiagnosis], setting: str, causes: Sequence[str], most_rows: int = 6) -> CrossTable:
    """How the causes fall on the values of a setting: each value a row, or ranges of about as many runs each."""
    read = [run for run in runs if run.verdict != "unreadable"]
    found = [(value, causes_of(run)) for value, run in zip(values_of(read, setting), read, strict=True)]
    known = [(value, held) for value, held in found if value is not None]
    distinct = sorted({value for value, _ in known}, key=_order)
    size = -(-len(known) // most_rows)
    groups: list[list[Value]] = [[]]
    filled = 0
    for value in distinct:
        count = sum(own == value for own, _ in known)
        if groups[-1] and (len(distinct) <= most_rows or filled + count > size):
            groups.append([])
            filled = 0
        groups[-1].append(value)
        filled += count
    rows = []
    for group in groups:
        members = [held for value, held in known if value in group]
        rows.append((_words(group), len(members), tuple(sum(c in held for held in members) for c in causes)))
    return CrossTable(setting, tuple(causes), tuple(rows))


def _settings(runs: Sequence[RunDiagnosis]) -> list[str]:
    named = {one.name for run in runs for one in run.settings} - _NO_SETTING
    return sorted({*named, *_FACTS})


def _splits(
    values: Sequence[Value | None], known: Bools
) -> list[tuple[Literal["at_most", "at_least", "is"], Value, Bools]]:
    """Ways to split the runs by a setting, with at least `FEWEST_RUNS` on either side."""
    distinct = sorted({value for value in values if value is not None}, key=_order)
    splits: list[tuple[Literal["at_most", "at_least", "is"], Value, Bools]] = []
    if len(distinct) < 2:
        return splits
    if all(_is_number(value) for value in distinct):
        numbers = np.array([float(value) if value is not None else np.nan for value in values])
        at = np.unique(np.linspace(0, len(distinct) - 2, MOST_SPLITS).round().astype(int))
        for k in at.tolist():
            below = known & (numbers <= float(distinct[k]))
            splits += [("at_most", distinct[k], below), ("at_least", distinct[k + 1], known & ~below)]
    elif len(distinct) <= MOST_WORDS:
        splits += [("is", one, np.array([value == one for value in values])) for one in distinct]
    return [split for split in splits if min(split[2].sum(), (known & ~split[2]).sum()) >= FEWEST_RUNS]


def _more_than_chance(log_factorial: NDArray[np.float64], n: int, marked: int, drawn: int, both: int) -> float:
    """P(X ≥ both) where `drawn` of `n` are drawn, `marked` of which are marked (hypergeometric)."""
    x = np.arange(both, min(marked, drawn) + 1)
    x = x[drawn - x <= n - marked]

    def choose(a: int, b: NDArray[np.int_]) -> NDArray[np.float64]:
        chosen: NDArray[np.float64] = log_factorial[a] - log_factorial[b] - log_factorial[a - b]
        return chosen

    logs = choose(marked, x) + choose(n - marked, drawn - x) - choose(n, np.array([drawn]))
    return min(1.0, float(np.exp(logs).sum()))


def _rounded(value: Value) -> Value:
    return float(f"{value:.6g}") if isinstance(value, float) else value


def _is_number(value: Value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and bool(np.isfinite(value))


def _order(value: Value) -> tuple[bool, float, str]:
    return (False, float(value), "") if _is_number(value) else (True, 0.0, str(value))


def _words(group: Sequence[Value]) -> str:
    shown = [f"{value:.4g}" if isinstance(value, float) else str(value) for value in group]
    if len(group) > 1 and all(_is_number(value) for value in group):
        return f"{shown[0]} to {shown[-1]}"
    return ", ".join(shown)
