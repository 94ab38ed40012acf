"""The shape of a tag map written by hand: each entry is checked before anything is made of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rl_diagnose.signals.spelling import closest

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["check_shape"]

_TEXT, _TEXTS, _WHOLE, _FLAG = "a text", "a list of texts", "a whole number", "true or false"
_TABLE = {
    "framework": _TEXT,
    "title": _TEXT,
    "x_axis": _TEXT,
    "step_keys": _TEXTS,
    "bookkeeping": _TEXTS,
    "fingerprint": _TEXTS,
    "update_scopes": _TEXTS,
    "off_when_zero": _TEXTS,
    "files": _TEXTS,
    "settings": _TEXTS,
    "settings_texts": _TEXTS,
}
_ENTRIES: dict[str, dict[str, str]] = {
    "rules": {
        "key": _TEXT,
        "signal": _TEXT,
        "aliases": _TEXTS,
        "transform": _TEXT,
        "estimator": _TEXT,
        "negative_estimator": _TEXT,
        "window": _TEXT,
        "window_episodes": _WHOLE,
        "benign": _FLAG,
        "algorithms": _TEXTS,
        "not_algorithms": _TEXTS,
    },
    "prefixes": {"prefix": _TEXT, "x_axis": _TEXT},
    "config_keys": {"key": _TEXT, "name": _TEXT, "algorithms": _TEXTS},
    "algorithms": {
        "id": _TEXT,
        "names": _TEXTS,
        "keys": _TEXTS,
        "without": _TEXTS,
        "attributes": _TEXTS,
        "without_attributes": _TEXTS,
        "values": "a table with a number a key",
        "module": _TEXT,
        "on_policy": _FLAG,
        "action_kind": _TEXT,
    },
}
_TABLES = {"lags": _WHOLE, "switches": _TEXT}
_NEEDED = {
    "": ("framework", "x_axis", "rules"),
    "rules": ("key", "signal"),
    "prefixes": ("prefix", "x_axis"),
    "config_keys": ("key", "name"),
    "algorithms": ("id",),
}


def check_shape(data: object) -> None:
    """Raise `ValueError`, which names the entry, for what is no tag map: a field that there is not, is missing, or is
    of another kind.
    """
    if not isinstance(data, dict):
        raise ValueError("it is no table of 'framework', 'x_axis', 'rules' and so on")
    _fields("", data, _TABLE, (*_ENTRIES, *_TABLES))
    for name, known in _ENTRIES.items():
        entries = data.get(name, [])
        if not isinstance(entries, list):
            raise ValueError(f"{name} is no list of entries")
        for number, entry in enumerate(entries, start=1):
            if not isinstance(entry, dict):
                raise ValueError(f"{name}, entry {number}, is no table such as {{{', '.join(_NEEDED[name])}: …}}")
            _fields(f"{name}, entry {number}: ", entry, known, needed=_NEEDED[name])
    for name, kind in _TABLES.items():
        table = data.get(name, {})
        if not isinstance(table, dict):
            raise ValueError(f"{name} is no table with {kind} a key")
        for key, value in table.items():
            if not isinstance(key, str) or not _is(value, kind):
                raise ValueError(f"{name}: the value of {key!s:.60} is not {kind}")


def _fields(
    place: str,
    entry: Mapping[object, object],
    known: Mapping[str, str],
    others: tuple[str, ...] = (),
    needed: tuple[str, ...] = _NEEDED[""],
) -> None:
    names = (*known, *others)
    for name, value in entry.items():
        if name not in names:
            close = closest(str(name), names)
            also = f"did you mean '{close}'?" if close else f"known are {', '.join(names)}"
            raise ValueError(f"{place}there is no field '{name!s:.60}': {also}")
        if name in known and not _is(value, known[str(name)]):
            quote = "; put numbers, dates and yes/no in quotes" if known[str(name)] in (_TEXT, _TEXTS) else ""
            raise ValueError(f"{place}{name} is not {known[str(name)]}{quote}")
    for name in needed:
        if name not in entry:
            raise ValueError(f"{place}there is no '{name}'")


def _is(value: object, kind: str) -> bool:
    if kind == _TEXT:
        return isinstance(value, str) and bool(value.strip())
    if kind == _TEXTS:
        return isinstance(value, list) and all(_is(one, _TEXT) for one in value)
    if kind == _FLAG:
        return isinstance(value, bool)
    if kind == _WHOLE:
        return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**9
    return isinstance(value, dict) and all(
        isinstance(key, str) and isinstance(number, int | float) and not isinstance(number, bool)
        for key, number in value.items()
    )
