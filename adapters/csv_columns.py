"""Which column of a table is which signal, the x axis, or a time: by its name, checked against its values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from rl_diagnose.errors import UsageError
from rl_diagnose.signals.run import LogIssue, UnmappedKey
from rl_diagnose.signals.spelling import closest
from rl_diagnose.signals.taxonomy import is_known_signal, signal_specs

from .tagmap import MAX_SUGGESTIONS, TagRule, Transform

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from rl_diagnose.signals.run import XAxis

    from .csv_names import Axis, Meaning, NameMap, Words
    from .readers.points import Table

__all__ = ["Columns", "choose_columns", "grows", "unmapped_columns"]

TARGETS = ("step", "iteration", "wall_time", "ignore")
"""What `--map` may name besides a signal."""

_EARLY = 0.25
_MOSTLY = 0.9
_OUTLIERS = 0.01
_ROWS_TO_JUDGE = 10
_WANDB_BOUNDS = ("__MIN", "__MAX")


@dataclass(frozen=True, slots=True)
class Columns:
    """What the columns of a table are.

    `step`, `iteration` and `wall_time` are names of columns or None; `x_axis` is the unit of the steps (of the row
    numbers without a step column). `rules` give columns their signals; numeric columns without a rule stay
    ``raw.<column>``, those of them that are not understood are in `unmapped`. `ignored` are left out.
    """

    x_axis: XAxis
    step: str | None = None
    iteration: str | None = None
    wall_time: str | None = None
    rules: tuple[TagRule, ...] = ()
    rest: tuple[str, ...] = ()
    suggestions: Mapping[str, str] = field(default_factory=dict)
    ignored: frozenset[str] = frozenset()
    family: str | None = None
    algorithm: str | None = None
    issues: tuple[LogIssue, ...] = ()


@dataclass(slots=True)
class _Chooser:
    """Work on one table: `free` are the numeric columns that nothing was decided about yet."""

    table: Table
    names: NameMap
    words: dict[str, Words]
    free: list[str]
    issues: list[LogIssue] = field(default_factory=list)

    def note(self, code: str, text: str) -> None:
        self.issues.append(LogIssue(code, text, self.table.file, severity="info"))


def choose_columns(table: Table, names: NameMap, mapping: Mapping[str, str]) -> Columns:
    """Decide what each column of `table` is; `mapping` (column → signal id or one of `TARGETS`) wins over names.

    A column becomes a signal when its name is known, its values can be that signal's, and no other column is as good a
    name for it. Issue codes, all of severity info: ``no_step_column``, ``step_not_growing``, ``step_counts_rows``,
    ``ambiguous_columns``, ``values_out_of_range``.

    Raises `UsageError` when `mapping` names an unknown column or target, or two columns for one target.
    """
    targets = _checked(mapping, table, names)
    words = {column: names.words(column) for column in (*table.numbers, *table.texts)}
    bounds = {c for c in table.numbers if c.endswith(_WANDB_BOUNDS) and c[: -len("__MIN")] in table.numbers}
    free = [column for column in table.numbers if column not in targets and column not in bounds]
    chooser = _Chooser(table, names, words, free)
    mapped = {target: column for column, target in targets.items() if target != "ignore"}
    step, x_axis = _step(chooser, mapped)
    iteration = mapped.get("iteration") or _by_group(chooser, "iteration", (*free, *([step] if step else [])))
    wall_time = mapped.get("wall_time") or _wall_time(chooser)
    taken = {step, iteration, wall_time}
    chooser.free = [column for column in chooser.free if column not in taken]
    signals = {target: column for target, column in mapped.items() if target not in TARGETS}
    evidence = [words[column] for column in table.numbers if column not in targets]
    family = names.conclude(names.families, evidence)
    rules = [_rule(chooser, column, signal, x_axis, None) for signal, column in signals.items()]
    chosen, suggestions = _meanings(chooser, family, set(signals))
    rules += [_rule(chooser, column, meaning.signal, x_axis, meaning) for column, meaning in chosen.items()]
    known = {rule.key for rule in rules}
    return Columns(
        x_axis=x_axis,
        step=step,
        iteration=iteration,
        wall_time=wall_time,
        rules=tuple(rules),
        rest=tuple(column for column in chooser.free if column not in known),
        suggestions=suggestions,
        ignored=frozenset(column for column, target in targets.items() if target == "ignore") | frozenset(bounds),
        family=family,
        algorithm=names.conclude(names.algorithms, evidence),
        issues=tuple(chooser.issues),
    )


def unmapped_columns(table: Table, columns: Columns, names: NameMap) -> tuple[UnmappedKey, ...]:
    """The columns which are neither a signal nor understood otherwise, each with what it may be."""
    found: list[UnmappedKey] = []
    for column in columns.rest:
        words = names.words(column)
        counted = names.axis_of(words) is not None and grows(table.numbers[column])
        understood = counted or any(
            names.rank_among(group, words) is not None for group in ("bookkeeping", "wall_time", "runs")
        )
        points = int(np.isfinite(table.numbers[column]).sum())
        suggestion = columns.suggestions.get(column)
        if points and (suggestion or not understood):
            if suggestion is None and len(found) < MAX_SUGGESTIONS:
                suggestion = names.suggest(words)
            found.append(UnmappedKey(column, table.file, points, suggestion))
    return tuple(found)


def grows(values: NDArray[np.float64]) -> bool:
    """True for a count: finite values from 0 on that hardly ever go back and do not stay the same. Blanks do not
    matter.
    """
    known = values[np.isfinite(values)]
    if not known.size or known.min() < 0:
        return False
    back = int((np.diff(known) < 0).sum())
    return known.size == 1 or (back <= max(1, (1 - _MOSTLY) * known.size) and bool(known.max() > known[0]))


def _checked(mapping: Mapping[str, str], table: Table, names: NameMap) -> dict[str, str]:
    """The mapping of this table's columns. Raises `UsageError` for what cannot be meant."""
    given: dict[str, str] = {}
    for column, target in mapping.items():
        place = f"--map {column}={target}"
        if column in table.texts:
            example = next((text for text in table.texts[column] if text), "")
            if target not in ("ignore", "wall_time"):
                raise UsageError(f"the column '{column}' holds words ('{example[:40]}'), not numbers", place=place)
        elif column not in table.numbers:
            columns = [*table.numbers, *table.texts]
            close = closest(column, columns)
            hint = f"did you mean {close}?" if close else f"its columns are {', '.join(columns[:12])}"
            raise UsageError(f"{table.file} has no column '{column}'", place=place, hint=hint)
        derived = signal_specs()[target].sources if target in signal_specs() else ()
        if derived:
            raise UsageError(f"{target} is computed, not read", place=place, hint=f"map {' or '.join(derived)} instead")
        if target not in TARGETS and not is_known_signal(target):
            meant = names.suggest_target(target) or closest(target, TARGETS)
            hint = f"did you mean {meant}?" if meant else f"give a signal id or one of {', '.join(TARGETS)}"
            raise UsageError(f"'{target}' is not a signal", place=place, hint=hint)
        other = next((c for c, t in given.items() if t == target and target != "ignore"), None)
        if other is not None:
            raise UsageError(f"two columns are mapped to {target}: {other} and {column}", hint="map one of them only")
        given[column] = target
    return given


def _step(chooser: _Chooser, mapped: Mapping[str, str]) -> tuple[str | None, XAxis]:
    """The column that is the x axis, and its unit."""
    if "step" in mapped:
        return mapped["step"], "env_steps"
    if "iteration" in mapped:
        return mapped["iteration"], "iterations"
    offers: list[tuple[int, str, Axis]] = []
    for column in chooser.free:
        axis = chooser.names.axis_of(chooser.words[column])
        if axis is not None:
            offers.append((axis.rank, column, axis))
    still: list[str] = []
    for _, column, axis in sorted(offers, key=lambda offer: offer[0]):
        values = chooser.table.numbers[column]
        if not grows(values):
            still.append(column)
            continue
        if still and axis.axis != "env_steps":
            _note_still(chooser, still)
        if axis.may_count_rows and values.size >= _ROWS_TO_JUDGE and np.median(np.diff(values)) == 1:
            text = f"the column {column} counts rows by one: it is taken for iterations, not for environment steps"
            chooser.note("step_counts_rows", f"{text} (--map {column}=step says that it is environment steps)")
            return column, "iterations"
        return column, axis.axis
    if still:
        _note_still(chooser, still)
    text = "there is no column of steps: rows are counted as iterations (--map COLUMN=step names one)"
    chooser.note("no_step_column", text)
    return None, "iterations"


def _note_still(chooser: _Chooser, columns: Sequence[str]) -> None:
    text = f"{', '.join(columns)} may be steps by name, but the values do not grow from row to row"
    chooser.note("step_not_growing", text)


def _by_group(chooser: _Chooser, group: str, columns: Iterable[str]) -> str | None:
    """The growing column with the best name of a group."""
    ranked = [(chooser.names.rank_among(group, chooser.words[column]), column) for column in columns]
    fitting = [(rank, c) for rank, c in ranked if rank is not None and grows(chooser.table.numbers[c])]
    return min(fitting)[1] if fitting else None


def _wall_time(chooser: _Chooser) -> str | None:
    """The column of absolute times; see `csv_times.wall_times` for what is one."""
    from .csv_times import wall_times

    columns = (*chooser.free, *chooser.table.texts)
    ranked = [(chooser.names.rank_among("wall_time", chooser.words[column]), column) for column in columns]
    named = sorted((rank, column) for rank, column in ranked if rank is not None)
    return next((column for _, column in named if wall_times(chooser.table, column) is not None), None)


def _meanings(chooser: _Chooser, family: str | None, mapped: set[str]) -> tuple[dict[str, Meaning], dict[str, str]]:
    """Columns and what they mean, and suggestions (column → signal) for those which are not sure."""
    offers: dict[str, list[tuple[int, int, str, Meaning]]] = {}
    suggestions: dict[str, str] = {}
    out_of_range: list[str] = []
    for column in chooser.free:
        meaning, distance = _meaning(chooser, column, family, suggestions)
        if meaning is None or meaning.signal in mapped:
            continue
        if not _within(chooser.table.numbers[column], meaning.within):
            out_of_range.append(f"{column} as {meaning.signal}")
            suggestions[column] = meaning.signal
            continue
        offers.setdefault(meaning.signal, []).append((meaning.rank, distance, column, meaning))
    if out_of_range:
        text = f"values are outside what the signal can have, so it was not taken: {', '.join(out_of_range)}"
        chooser.note("values_out_of_range", text)
    chosen: dict[str, Meaning] = {}
    for signal, found in offers.items():
        found.sort(key=lambda offer: offer[:2])
        best = [offer for offer in found if offer[:2] == found[0][:2]]
        if len(best) > 1:
            columns = ", ".join(offer[2] for offer in best)
            text = (
                f"several columns may be {signal}: {columns}; none was taken (--map {best[0][2]}={signal} chooses one)"
            )
            chooser.note("ambiguous_columns", text)
        else:
            chosen[found[0][2]] = found[0][3]
        suggestions |= {offer[2]: signal for offer in found if offer[2] not in chosen}
    return chosen, suggestions


def _meaning(
    chooser: _Chooser, column: str, family: str | None, suggestions: dict[str, str]
) -> tuple[Meaning | None, int]:
    """What a column means for this family of algorithms, and how far its name had to be shortened."""
    from .csv_names import Meaning

    if column in signal_specs() and not signal_specs()[column].derived:
        return Meaning(column, -1), 0
    meanings, distance = chooser.names.meanings_of(chooser.words[column])
    meaning = next((m for m in meanings if m.holds_for(family)), None)
    if meanings and meaning is None:
        suggestions[column] = meanings[0].signal
    return meaning, distance


def _within(values: NDArray[np.float64], bounds: tuple[float, float]) -> bool:
    known = values[np.isfinite(values)]
    outside = (known < bounds[0]) | (known > bounds[1])
    return not known.size or float(outside.mean()) <= _OUTLIERS


def _rule(chooser: _Chooser, column: str, signal: str, x_axis: XAxis, meaning: Meaning | None) -> TagRule:
    """The rule that makes a column a signal."""
    words = chooser.words[column]
    if meaning is None:  # the user said what it is; how it is signed is still to be seen from the values
        named = chooser.names.meanings_of(words)[0]
        meaning = next((m for m in named if m.signal == signal), None)
    flip = meaning is not None and meaning.sign_by_data and _mostly_negative_at_first(chooser.table.numbers[column])
    episodes = words.window if signal.startswith(("reward.", "episode.")) else None
    single = x_axis == "episodes" and signal in ("reward.train", "episode.length") and not words.averaged
    window = "one episode" if single and episodes is None else None
    return TagRule(
        key=column,
        signal=signal,
        transform=Transform.parse("-x" if flip else "x"),
        negative_estimator="k1" if signal in ("policy.kl", "policy.kl_ref") else None,
        window=window if episodes is None else f"last {episodes} episodes",
        window_episodes=1 if window else episodes,
        benign=meaning is not None and meaning.benign,
    )


def _mostly_negative_at_first(values: NDArray[np.float64]) -> bool:
    known = values[np.isfinite(values)]
    early = known[: max(1, round(_EARLY * known.size))]
    return bool(early.size) and float(np.median(early)) <= 0.0
