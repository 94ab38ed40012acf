"""Names of table columns: words, and what a name may mean. The data is in ``maps/raw_csv.yaml``."""

from __future__ import annotations

import difflib
import math
import re
from collections import Counter
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, get_args

import yaml

from rl_diagnose.signals.run import XAxis
from rl_diagnose.signals.taxonomy import hyperparameters, is_known_signal, suggest_signal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

__all__ = ["Axis", "Evidence", "Meaning", "NameMap", "Words", "name_map"]

Key = frozenset[str]

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[^\W_]+")
_PATH = re.compile(r"\s*[/:]\s*|(?<=[a-z])\.(?=[a-z])", re.IGNORECASE)
_SMALLEST_WINDOW = 10
_LITERAL = "="
_ALIKE = 0.75
_LONGEST = 200  # characters of a word; comparing takes time that grows with the square


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a name means: `signal`, and `rank` of the name among those of the signal. See ``raw_csv.yaml`` for the
    rest.
    """

    signal: str
    rank: int
    family: str | None = None
    within: tuple[float, float] = (-math.inf, math.inf)
    sign_by_data: bool = False
    benign: bool = False

    def holds_for(self, family: str | None) -> bool:
        """True when the meaning applies to algorithms of `family` (None = unknown)."""
        if self.family is None:
            return True
        if self.family.startswith("not_"):
            return family != self.family.removeprefix("not_")
        return family == self.family


@dataclass(frozen=True, slots=True)
class Axis:
    """A name of an x axis: its unit, the order of preference, and whether such a column may be a mere row count."""

    axis: XAxis
    rank: int
    may_count_rows: bool = False


@dataclass(frozen=True, slots=True)
class Evidence:
    """A conclusion (`result`) from columns: all of `when` and none of `without`, each a signal id or the key of a
    name.
    """

    result: str
    when: tuple[str | Key, ...]
    without: tuple[str | Key, ...] = ()


@dataclass(frozen=True, slots=True)
class Words:
    """A column's name taken apart: `keys` to look it up by, the most literal first; `window` is a number of episodes
    in the name, `averaged` says that the name speaks of a mean.
    """

    keys: tuple[Key, ...]
    window: int | None = None
    averaged: bool = False


@dataclass(frozen=True)
class NameMap:
    """The contents of ``raw_csv.yaml``, every name as the key that `words` gives for it."""

    spellings: Mapping[str, tuple[str, ...]]
    fillers: frozenset[str]
    neutral: frozenset[str]
    path: frozenset[str]
    meanings: Mapping[Key, tuple[Meaning, ...]]
    axes: Mapping[Key, Axis]
    names: Mapping[str, Mapping[Key, int]]  # "iteration", "wall_time", "runs" …: key → rank
    families: tuple[Evidence, ...]
    algorithms: tuple[Evidence, ...]
    known_algorithms: frozenset[str]
    hints: Mapping[Key, str]

    def words(self, name: str) -> Words:
        """Take the name of a column apart."""
        *path, leaf = [part for part in _PATH.split(name.rpartition(" - ")[2]) if part] or [name]
        within, window = self._split(leaf)
        before = [word for part in path for word in self._split(part)[0]]
        plain = [word for word in within if word not in self.fillers]
        place = [word for word in before if word not in self.fillers]
        meaning = [word for word in place if word not in self.neutral | self.path]
        keys = (
            frozenset([_LITERAL, *before, *within]),
            frozenset([_LITERAL, *meaning, *within]),
            frozenset([*place, *plain]),
            frozenset([*(word for word in place if word not in self.neutral), *plain]),
            frozenset([*meaning, *plain]),
            frozenset([*meaning, *(word for word in plain if word not in self.neutral)]),
        )
        return Words(tuple(dict.fromkeys(key for key in keys if key)), window, bool(self.fillers & set(within)))

    def key(self, name: str) -> Key:
        """The key of a name in the data file: without fillers, or with them when it starts with ``=``."""
        words = [word for part in _PATH.split(name.removeprefix("=")) for word in self._split(part)[0]]
        return frozenset([_LITERAL, *words]) if name.startswith("=") else frozenset(words) - self.fillers

    def _split(self, text: str) -> tuple[list[str], int | None]:
        """The words of a part of a name in their usual spelling, and a number that says how many episodes it spans."""
        found: list[str] = []
        window = None
        for word in _WORD.findall(_CAMEL.sub("_", text).lower()):
            if word.isdecimal() and int(word) >= _SMALLEST_WINDOW:
                window = int(word)
            else:
                found += self.spellings.get(word, (word,))
        return found, window

    def meanings_of(self, words: Words) -> tuple[tuple[Meaning, ...], int]:
        """What a name may mean, and how far it is from saying so plainly: an average further than the value itself."""
        for distance, key in enumerate(words.keys):
            if key in self.meanings:
                return self.meanings[key], distance + words.averaged
        return (), len(words.keys)

    def axis_of(self, words: Words) -> Axis | None:
        """The x axis that a name stands for."""
        return next((self.axes[key] for key in words.keys if key in self.axes), None)

    def rank_among(self, group: str, words: Words) -> int | None:
        """The rank of a name among those of a group (``wall_time``, ``runs`` …); None when it is none of them."""
        names = self.names[group]
        return next((names[key] for key in words.keys if key in names), None)

    def conclude(self, evidence: Iterable[Evidence], columns: Iterable[Words]) -> str | None:
        """The first conclusion that the names of the columns allow."""
        keys = [words.keys for words in columns]
        signals = {meaning.signal for found in columns for meaning in self.meanings_of(found)[0]}
        present = {key for found in keys for key in found} | signals
        for line in evidence:
            if present.issuperset(line.when) and present.isdisjoint(line.without):
                return line.result
        return None

    def suggest(self, words: Words) -> str | None:
        """The signal that a name may mean although it is not sure, or that it means but for one misspelt word."""
        hint = next((self.hints[key] for key in words.keys if key in self.hints), None)
        if hint is not None:
            return hint
        alike = [
            (_likeness(*key - known, *known - key), found[0].signal)
            for key in words.keys
            for known, found in self.meanings.items()
            if len(key) == len(known) == len(key & known) + 1
        ]
        best = max(alike, default=(0.0, ""))
        return best[1] if best[0] >= _ALIKE else None

    def suggest_target(self, target: str) -> str | None:
        """The signal that a user may have meant by `target`, by its id or by a name that a column may have."""
        named = next((meaning.signal for meaning in self.meanings_of(self.words(target))[0]), None)
        return named or suggest_signal(target)


@cache
def _likeness(word: str, other: str) -> float:
    """How alike two words are spelled, 0…1."""
    return difflib.SequenceMatcher(None, word, other).ratio() if len(word) <= _LONGEST else 0.0


@cache
def name_map() -> NameMap:
    """The built-in map of column names."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml is absent from some builds of PyYAML
    text = files("rl_diagnose.adapters.maps").joinpath("raw_csv.yaml").read_text("utf-8")
    return _build(yaml.load(text, Loader=loader))  # noqa: S506 - both loaders are safe loaders


def _build(data: dict[str, Any]) -> NameMap:
    """Raises `ValueError` for an unknown signal or axis and for a name that is listed twice."""
    bare = NameMap(
        spellings={word: tuple(spelled) for word, spelled in data["words"].items()},
        fillers=frozenset(data["fillers"]),
        neutral=frozenset(data["neutral"]),
        path=frozenset(data["path"]),
        meanings={},
        axes={},
        names={},
        families=(),
        algorithms=(),
        known_algorithms=frozenset(data["known_algorithms"]),
        hints={},
    )

    key = bare.key

    def evidence(entries: list[dict[str, Any]]) -> tuple[Evidence, ...]:
        def parts(names: list[str]) -> tuple[str | Key, ...]:
            return tuple(name if "." in name else key(name) for name in names)

        return tuple(Evidence(e["is"], parts(e["when"]), parts(e.get("without", []))) for e in entries)

    groups = ("iteration", "wall_time", "runs", "env", "algorithm", "bookkeeping")
    names = {group: {key(name): rank for rank, name in reversed(list(enumerate(data[group])))} for group in groups}
    names["bookkeeping"] |= {key(name): 0 for name in hyperparameters()}
    return NameMap(
        spellings=bare.spellings,
        fillers=bare.fillers,
        neutral=bare.neutral,
        path=bare.path,
        meanings=_meanings(data["signals"], key),
        axes=_axes(data["axes"], key(data["counted_step"]), key),
        names=names,
        families=evidence(data["families"]),
        algorithms=evidence(data["algorithms"]),
        known_algorithms=bare.known_algorithms,
        hints={key(name): signal for name, signal in data["hints"].items()},
    )


def _meanings(entries: list[dict[str, Any]], key: Callable[[str], Key]) -> dict[Key, tuple[Meaning, ...]]:
    meanings: dict[Key, tuple[Meaning, ...]] = {}
    ranks: Counter[str] = Counter()
    for entry in entries:
        signal = entry["signal"]
        if not is_known_signal(signal):
            raise ValueError(f"raw_csv.yaml: '{signal}' is not a signal")
        for name in entry["names"]:
            low, high = entry.get("within", (-math.inf, math.inf))
            meaning = Meaning(
                signal,
                ranks[signal],
                entry.get("family"),
                (float(low), float(high)),
                entry.get("sign") == "by_data",
                bool(entry.get("benign", False)),
            )
            ranks[signal] += 1
            known = meanings.get(key(name), ())
            if any(other.signal == signal or other.family is None or meaning.family is None for other in known):
                raise ValueError(f"raw_csv.yaml: the name '{name}' of {signal} is listed twice")
            meanings[key(name)] = (*known, meaning)
    return meanings


def _axes(entries: list[dict[str, Any]], counted: Key, key: Callable[[str], Key]) -> dict[Key, Axis]:
    axes: dict[Key, Axis] = {}
    for entry in entries:
        axis: XAxis
        for axis in get_args(XAxis):
            if axis == entry["axis"]:
                for name in entry["names"]:
                    if key(name) in axes:
                        raise ValueError(f"raw_csv.yaml: the name '{name}' of an axis is listed twice")
                    axes[key(name)] = Axis(axis, len(axes), key(name) == counted)
    return axes
