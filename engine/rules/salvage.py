"""The usable rest of a book with mistakes in its shape, so that mistakes in names are reported in the same breath.

A value that cannot be used is left out; where it is needed, something harmless stands in for it at the same place. The
result is never used but for finding further problems.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from pydantic import ValidationError

from ..signals.spelling import closest
from .model import AuthoredBook
from .validate import data_path

__all__ = ["salvage"]

# Each round mends every error that it sees; what a mend uncovers is left to the next one.
_ROUNDS = 12
_WORTH_MENDING = 100
_RAMP = {"issue": "none", "rising": {"low": 0.0, "high": 1.0}, "base_rate": 0.1}
_ENTRIES: dict[str, Any] = {
    "windows": {"steps": {"from": 0.0}},
    "knobs": {"meaning": "?"},
    "derive": "1",
    "symptoms": {"title": "?", **_RAMP},
    "causes": {"title": "?", "prior": 0.1},
}
_ITEMS: dict[str, Any] = {
    "evidence": {**_RAMP, "seen": 0.1},
    "remedies": {"knob": "learning_rate", "summary": "?"},
}
_FIELDS: dict[str, Any] = {
    "schema": "rulebook/v1", "id": "book", "version": "0.0.0", "title": "?", "summary": "?", "meaning": "?",
    "prior": 0.1, "base_rate": 0.1, "seen": 0.1, "knob": "learning_rate",
}  # fmt: skip

# Blocks whose names stand all over a book.
_REFERRED_TO = ("extends", "windows", "knobs", "derive", "symptoms")

Path = tuple[str | int, ...]


def salvage(data: Any) -> AuthoredBook | None:
    """`data` as a book with stand-ins for what cannot be used; None where no sensible rest remains."""
    if not isinstance(data, dict):
        return None
    rest = deepcopy(data)
    for _ in range(_ROUNDS):
        try:
            return AuthoredBook.model_validate(rest)
        except ValidationError as error:
            if error.error_count() > _WORTH_MENDING:
                return None
            places: dict[Path, set[str]] = {}
            for entry in error.errors(include_url=False, include_input=False):
                path, key = data_path(entry["loc"], rest)
                places.setdefault(path, set()).add("key" if key else entry["type"])
        # The innermost first: mending it may replace what is around it.
        for path, kinds in sorted(places.items(), key=lambda place: -len(place[0])):
            if not _mend(rest, path, kinds):
                return None
    return None


def _mend(data: dict[str, Any], path: Path, kinds: set[str]) -> bool:
    # Without what it extends, or a whole block, nearly every name would be unknown.
    mistyped = len(path) == 1 and "extra_forbidden" in kinds
    if not path or path[0] == "extends" or (mistyped and closest(str(path[0]), _REFERRED_TO)):
        return False
    holder = _at(data, path[:-1])
    last = path[-1]
    if holder is None or (kinds == {"missing"} and last not in _FIELDS):
        return _stand_in(data, path)
    if kinds == {"missing"} and isinstance(holder, dict):
        holder[str(last)] = _FIELDS[str(last)]
    elif isinstance(holder, dict) and last in holder:
        del holder[str(last)]
        if len(path) == 2 and path[0] in _ENTRIES and "key" not in kinds:
            holder[str(last)] = deepcopy(_ENTRIES[str(path[0])])
    elif isinstance(holder, list) and path[-2] in _ITEMS and isinstance(last, int) and last < len(holder):
        holder[last] = deepcopy(_ITEMS[str(path[-2])])
    else:
        return _stand_in(data, path)
    return True


def _stand_in(data: dict[str, Any], path: Path) -> bool:
    """Put something harmless in the place of the evidence, remedy, list or entry around `path`."""
    for length in range(len(path) - 1, 0, -1):
        holder, last = _at(data, path[: length - 1]), path[length - 1]
        if isinstance(holder, list) and isinstance(last, int) and path[length - 2] in _ITEMS and last < len(holder):
            holder[last] = deepcopy(_ITEMS[str(path[length - 2])])
            return True
        if length == 2 and path[0] in _ENTRIES and isinstance(holder, dict):
            holder[str(last)] = deepcopy(_ENTRIES[str(path[0])])
            return True
        # Items of other lists cannot be left out: those behind them would move.
        optional = length == 1 or path[0] == "override" or isinstance(_at(data, path[:length]), list)
        if optional and isinstance(holder, dict) and last in holder:
            del holder[str(last)]
            return True
    return False


def _at(data: Any, path: Path) -> Any:
    for part in path:
        try:
            data = data[part]
        except (KeyError, IndexError, TypeError):
            return None
    return data
