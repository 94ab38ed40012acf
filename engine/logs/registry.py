"""The adapters that are installed: built-in and third-party ones, found by entry point."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from .adapter import Adapter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

__all__ = ["GROUP", "TAG_MAP_GROUP", "PluginProblem", "adapters", "adapters_of", "plugin_problems"]

GROUP = "rl_diagnose.adapters"
TAG_MAP_GROUP = "rl_diagnose.tag_map_adapter"
"""The entry point of the function that makes an adapter of a tag map's file."""


@dataclass(frozen=True, slots=True)
class PluginProblem:
    """An entry point that gives no adapter: its `name`, what it points at, and what went wrong."""

    name: str
    target: str
    fact: str

    def __str__(self) -> str:
        return f"adapter '{self.name}' ({self.target}) is left out: {self.fact}"


def adapters() -> tuple[Adapter, ...]:
    """All adapters that can be used, by name. Loaded once per process."""
    return _load()[0]


def plugin_problems() -> tuple[PluginProblem, ...]:
    """Entry points that could not be used, by name; the others work all the same."""
    return _load()[1]


def adapters_of(tag_maps: Iterable[Path]) -> tuple[Adapter, ...]:
    """Adapters made of the user's own tag maps. Raises `UsageError` for one that cannot be used."""
    wanted = tuple(tag_maps)
    if not wanted:
        return ()
    (point,) = entry_points(group=TAG_MAP_GROUP)
    make: Callable[[Path], Adapter] = point.load()
    return tuple(make(path) for path in wanted)


@cache
def _load() -> tuple[tuple[Adapter, ...], tuple[PluginProblem, ...]]:
    found: dict[str, Adapter] = {}
    problems: list[PluginProblem] = []
    for point in sorted(entry_points(group=GROUP), key=lambda p: (p.name, p.value)):
        try:
            adapter: object = point.load()
        except Exception as error:  # noqa: BLE001 - importing foreign code may fail in any way; one plug-in must not stop the others
            problems.append(PluginProblem(point.name, point.value, f"{type(error).__name__}: {error}"))
            continue
        for one in adapter if isinstance(adapter, tuple | list) else (adapter,):
            if not isinstance(one, Adapter):
                fact = "the object it names is no adapter (name, title, sniff, read)"
                problems.append(PluginProblem(point.name, point.value, fact))
            elif one.name in found:
                fact = f"there is an adapter named '{one.name}' already"
                problems.append(PluginProblem(point.name, point.value, fact))
            else:
                found[one.name] = one
    return tuple(found[name] for name in sorted(found)), tuple(problems)
