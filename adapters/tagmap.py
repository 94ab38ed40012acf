"""Tag maps: which signal a framework's key is, read from YAML. Data and look-ups only, nothing framework-specific.

A key of a tag map is the framework's own name; ``*`` stands for any text between two slashes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, get_args

import yaml

from rl_diagnose.errors import LogError, UsageError
from rl_diagnose.signals.run import XAxis
from rl_diagnose.signals.spelling import closest
from rl_diagnose.signals.taxonomy import hyperparameters, is_known_signal, suggest_hyperparameter, suggest_signal

from .readers.yaml_config import read_yaml_config
from .tagmap_shape import check_shape

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from importlib.resources.abc import Traversable
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "MAX_SUGGESTIONS",
    "AlgorithmRule",
    "Prefix",
    "TagMap",
    "TagRule",
    "Transform",
    "load_tag_map",
    "named_algorithm",
]

MAX_SUGGESTIONS = 200
"""So many unknown keys of a run are told what they may be: finding that takes too long for keys by the thousand."""
_CUT = "..."
_HINT = "compare with docs/add-a-framework.md"
_TRANSFORM = re.compile(
    r"\s*(?P<sign>-?)\s*x\s*(?:(?P<operator>[*/])\s*(?P<number>\d+(?:\.\d*)?(?:[eE][+-]?\d+)?))?\s*"
)


@dataclass(frozen=True, slots=True)
class Transform:
    """What is applied to a logged value: a factor, written as ``x``, ``-x``, ``x*2`` or ``-x/2``."""

    text: str
    factor: float

    def __call__(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        return values if self.factor == 1.0 else values * self.factor

    @staticmethod
    def parse(text: str) -> Transform:
        """Raises `ValueError` for all but ``x``, ``-x`` and those times or divided by a number of 1e-30 to 1e30."""
        match = _TRANSFORM.fullmatch(text)
        number = 1.0 if match is None or match["number"] is None else float(match["number"])
        if match is None or not 1e-30 <= number <= 1e30:
            raise ValueError(f"transform '{text}' is not one of x, -x, x*2, -x/2 …")
        factor = 1.0 / number if match["operator"] == "/" else number
        return Transform(text, -factor if match["sign"] else factor)


@dataclass(frozen=True, slots=True)
class TagRule:
    """One key and the signal it holds.

    `key` is the framework's name and `aliases` its other spellings. The rule holds for `algorithms` only, and not
    for `not_algorithms`, where given. `benign` says that a NaN there is part of healthy runs;
    `negative_estimator` names the estimator when the values go below zero. See `Semantics` for the rest.
    """

    key: str
    signal: str
    aliases: tuple[str, ...] = ()
    transform: Transform = Transform("x", 1.0)
    estimator: str | None = None
    negative_estimator: str | None = None
    window: str | None = None
    window_episodes: int | None = None
    benign: bool = False
    algorithms: frozenset[str] = frozenset()
    not_algorithms: frozenset[str] = frozenset()

    def holds_for(self, algorithm: str | None) -> bool:
        """True when the rule applies to `algorithm` (None = unknown)."""
        return (not self.algorithms or algorithm in self.algorithms) and algorithm not in self.not_algorithms


@dataclass(frozen=True, slots=True)
class Prefix:
    """A prefix which wrappers put before the framework's keys, and the x axis of the points below it."""

    text: str
    x_axis: XAxis


@dataclass(frozen=True, slots=True)
class AlgorithmRule:
    """How an algorithm is recognised: keys that it logs (`keys` all present, `without` none), names that folders
    and settings give it, names of its saved attributes (with the `values` that only it gives them), and the start of
    its policy class's module.
    """

    id: str
    names: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    without_attributes: tuple[str, ...] = ()
    values: tuple[tuple[str, float], ...] = ()
    module: str | None = None
    on_policy: bool = False
    action_kind: Literal["discrete", "continuous"] | None = None


@dataclass(frozen=True)
class TagMap:
    """A tag map as loaded; see `adapters/maps/*.yaml`.

    `title` is the framework's name as it writes it itself. `step_keys` are columns that hold the x axis, `bookkeeping`
    keys that are understood but are no signal, `fingerprint` keys that only this framework writes, `lags` how many
    iterations a key's values are behind the rows they are logged in (by key prefix), `config_keys` the framework's
    names of hyper-parameters, each with the canonical name and the algorithms for which it means that (empty = all).
    Of `switches`, each a setting's name and that of a boolean beside it, the first counts only where the second is not
    False. Keys below `update_scopes` are at a count of updates although the map's axis is environment steps; signals in
    `off_when_zero` were not computed where they are 0 throughout. `files` are the names that the framework gives its
    tables (``*`` stands for any text), `settings` the files of settings as seen from the run's folder,
    `settings_texts` the tags of texts that hold settings.
    """

    framework: str
    x_axis: XAxis
    rules: tuple[TagRule, ...]
    step_keys: tuple[str, ...] = ()
    bookkeeping: tuple[str, ...] = ()
    fingerprint: tuple[str, ...] = ()
    prefixes: tuple[Prefix, ...] = ()
    lags: tuple[tuple[str, int], ...] = ()
    config_keys: tuple[tuple[str, str, frozenset[str]], ...] = ()
    algorithms: tuple[AlgorithmRule, ...] = ()
    update_scopes: tuple[str, ...] = ()
    off_when_zero: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    settings_texts: tuple[str, ...] = ()
    switches: tuple[tuple[str, str], ...] = ()
    title: str = ""
    _by_key: Mapping[str, tuple[TagRule, ...]] = field(init=False, repr=False, compare=False)
    _named: frozenset[str] = field(init=False, repr=False, compare=False)
    _patterns: tuple[str, ...] = field(init=False, repr=False, compare=False)
    _with_pattern: tuple[TagRule, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        by_key: dict[str, tuple[TagRule, ...]] = {}
        for rule in self.rules:
            for key in (rule.key, *rule.aliases):
                by_key[key] = (*by_key.get(key, ()), rule)
        names = (*self.bookkeeping, *(rule.key for rule in self.rules))
        object.__setattr__(self, "_by_key", by_key)
        # A table of thousands of columns has a map with as many names: looking at each for each takes too long.
        object.__setattr__(self, "_named", frozenset(names))
        object.__setattr__(self, "_patterns", tuple(name for name in names if "*" in name))
        object.__setattr__(self, "_with_pattern", tuple(rule for rule in self.rules if "*" in rule.key))

    def split_prefix(self, key: str) -> tuple[Prefix | None, str]:
        """The wrapper's prefix of `key`, if any, and the framework's own part."""
        for prefix in self.prefixes:
            if key.startswith(prefix.text):
                return prefix, key.removeprefix(prefix.text)
        return None, key

    def rules_for(self, key: str, algorithm: str | None) -> tuple[TagRule, ...]:
        """Rules that hold for a key (without wrapper prefix) of a run of `algorithm`, in the map's order."""
        rules = self._by_key.get(key) or tuple(r for r in self._with_pattern if _matches(r.key, key))
        return tuple(rule for rule in rules if rule.holds_for(algorithm))

    def understands(self, key: str) -> bool:
        """True for a key, with or without prefix, that the map names: a signal of any algorithm, or bookkeeping."""
        own = self.split_prefix(key)[1]
        if own in self._by_key or own in self.step_keys or own in self._named or key in self._named:
            return True
        return any(_matches(pattern, name) for pattern in self._patterns for name in {own, key})

    def spelling(self, key: str) -> str:
        """`key` in the spelling of its rule: other spellings are joined with it.

        A key that a console table cut short (it ends in ``...``) is the one rule's that begins so, if there is one.
        """
        prefix, own = self.split_prefix(key)
        if own.endswith(_CUT) and len(own) > len(_CUT):
            whole = [name for name in self._by_key if name.startswith(own.removesuffix(_CUT))]
            own = whole[0] if len(whole) == 1 else own
        rules = self._by_key.get(own)
        return key if rules is None else ("" if prefix is None else prefix.text) + rules[0].key

    def lag(self, key: str) -> int:
        """How many iterations before its row the value of `key` was computed."""
        return next((lag for prefix, lag in self.lags if key.startswith(prefix)), 0)

    def fingerprints(self, keys: Iterable[str]) -> tuple[str, ...]:
        """The keys among `keys` that only this framework writes, sorted."""
        return tuple(sorted(key for key in keys if self.split_prefix(key)[1] in self.fingerprint))

    def algorithms_by_keys(self, keys: Iterable[str]) -> tuple[AlgorithmRule, ...]:
        """Algorithms that log all of the keys that they must and none that they must not, in the map's order."""
        own = {self.split_prefix(key)[1] for key in keys}
        own |= {self.spelling(key) for key in own}

        def logged(pattern: str) -> bool:
            return pattern in own or ("*" in pattern and any(_matches(pattern, key) for key in own))

        return tuple(
            rule
            for rule in self.algorithms
            if rule.keys and all(map(logged, rule.keys)) and not any(map(logged, rule.without))
        )

    def config_name(self, key: str, algorithm: str | None) -> str | None:
        """Canonical hyper-parameter for the framework's name `key`; None when it is not one of ours."""
        for name, canonical, algorithms in self.config_keys:
            if name == key and (not algorithms or algorithm in algorithms):
                return canonical
        return None

    def suggest(self, key: str) -> str | None:
        """The signal that an unknown key most resembles, for did-you-mean; None when nothing is close."""
        own = self.split_prefix(key)[1].lower()
        known = {name.lower(): rules[0].signal for name, rules in self._by_key.items()}
        close = closest(own, known, likeness=0.8)
        if close is not None:
            return known[close]
        leaves = {name.rpartition("/")[2]: signal for name, signal in known.items()}
        leaf = own.rpartition("/")[2]
        if leaf in leaves:
            return leaves[leaf]
        return suggest_signal(own.replace("/", "."))


def _matches(pattern: str, key: str) -> bool:
    """True when `key` has the segments of `pattern`, where ``*`` is any text within one segment."""
    return pattern == key if "*" not in pattern else _pattern(pattern).fullmatch(key) is not None


@cache
def _pattern(pattern: str) -> re.Pattern[str]:
    first, *rest = (re.escape(part) for part in re.sub(r"\*+", "*", pattern).split("*"))
    if not rest:
        return re.compile(first)
    # Each part where it comes first and never again elsewhere: many stars would try all ways to place them.
    middle = "".join(f"(?>[^/]*?{part})" for part in rest[:-1])
    return re.compile(f"{first}{middle}[^/]*{rest[-1]}")


def named_algorithm(text: str, rules: Iterable[AlgorithmRule]) -> AlgorithmRule | None:
    """The algorithm whose name stands as a word in `text` (``PPO_1``, ``sac_02``); of several the longest name."""
    hits = [
        (len(name), rule)
        for rule in rules
        for name in rule.names
        if re.search(rf"(?<![a-z0-9]){re.escape(name)}(?![a-z0-9])", text.lower())
    ]
    return max(hits, key=lambda hit: hit[0])[1] if hits else None


def load_tag_map(source: Path | Traversable, *, own: Path | None = None) -> TagMap:
    """Read a tag map; `own` is the same file where it is the user's: it may be anything, so its size is checked.

    Raises `UsageError` naming the entry for an unknown signal, transform, axis or field.
    """
    try:
        data = _plain(source.read_text("utf-8")) if own is None else read_yaml_config(own)
        return _build(data, str(source))
    except LogError as error:
        raise UsageError(f"the tag map cannot be used: {error.fact}", place=error.place, hint=_HINT) from None
    except (yaml.YAMLError, TypeError, KeyError, ValueError, AttributeError) as error:
        raise UsageError(f"the tag map cannot be used: {error}", place=str(source), hint=_HINT) from error


def _plain(text: str) -> Any:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml is absent from some builds of PyYAML
    return yaml.load(text, Loader=loader)  # noqa: S506 - both loaders are safe loaders


def _build(data: Any, place: str) -> TagMap:
    check_shape(data)
    return TagMap(
        framework=data["framework"],
        title=str(data.get("title", data["framework"])),
        x_axis=_axis(data["x_axis"], place),
        rules=tuple(_rule(entry, place) for entry in data["rules"]),
        step_keys=tuple(data.get("step_keys", ())),
        bookkeeping=tuple(data.get("bookkeeping", ())),
        fingerprint=tuple(data.get("fingerprint", ())),
        prefixes=tuple(Prefix(p["prefix"], _axis(p["x_axis"], place)) for p in data.get("prefixes", ())),
        lags=tuple(data.get("lags", {}).items()),
        config_keys=tuple(_config_key(entry, place) for entry in data.get("config_keys", ())),
        algorithms=tuple(_algorithm(entry) for entry in data.get("algorithms", ())),
        update_scopes=tuple(data.get("update_scopes", ())),
        off_when_zero=tuple(data.get("off_when_zero", ())),
        files=tuple(_texts(data.get("files", ()))),
        settings=tuple(_texts(data.get("settings", ()))),
        settings_texts=tuple(_texts(data.get("settings_texts", ()))),
        switches=tuple((str(key), str(switch)) for key, switch in data.get("switches", {}).items()),
    )


def _axis(name: str, place: str) -> XAxis:
    axis: XAxis
    for axis in get_args(XAxis):
        if axis == name:
            return axis
    raise UsageError(f"'{name}' is not an x axis", place=place, hint="one of " + ", ".join(get_args(XAxis)))


def _rule(entry: dict[str, Any], place: str) -> TagRule:
    fields = dict(entry)
    signal = fields["signal"]
    if not is_known_signal(signal):
        close = suggest_signal(signal)
        raise UsageError(
            f"'{signal}' (key {fields['key']}) is not a signal", place=place, hint=close and f"did you mean {close}?"
        )
    fields["transform"] = Transform.parse(fields.get("transform", "x"))
    fields["aliases"] = tuple(_texts(fields.get("aliases", ())))
    for name in ("algorithms", "not_algorithms"):
        fields[name] = frozenset(_texts(fields.get(name, ())))
    return TagRule(**fields)


def _config_key(entry: dict[str, Any], place: str) -> tuple[str, str, frozenset[str]]:
    name = entry["name"]
    if name not in hyperparameters():
        close = suggest_hyperparameter(name)
        raise UsageError(
            f"'{name}' (key {entry['key']}) is not a hyper-parameter",
            place=place,
            hint=close and f"did you mean {close}?",
        )
    return entry["key"], name, frozenset(_texts(entry.get("algorithms", ())))


def _algorithm(entry: dict[str, Any]) -> AlgorithmRule:
    lists = ("names", "keys", "without", "attributes", "without_attributes")
    fields: dict[str, Any] = {name: tuple(_texts(value)) if name in lists else value for name, value in entry.items()}
    fields["values"] = tuple(entry.get("values", {}).items())
    return AlgorithmRule(**fields)


def _texts(values: Sequence[str]) -> list[str]:
    if isinstance(values, str):
        raise TypeError(f"a list is expected where '{values}' is")
    return [str(value) for value in values]
