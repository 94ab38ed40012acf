"""What an adapter is: it recognises its framework's files and reads them into a `Run`.

An adapter is an object with a name, a title, `sniff` and `read`. Built-in and third-party adapters register
under the entry point group ``rl_diagnose.adapters``; the entry point names the object itself, or a tuple of several.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from ..signals.run import ActionSpace, Run

__all__ = ["Adapter", "Folder", "ReadOptions", "RunSource", "Sniff", "is_generic"]


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder and the regular files directly in it, sorted by name; or, for a path to one file, that file."""

    path: Path
    files: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class RunSource:
    """The files which together are one run. `path` is what the user sees as the run's place.

    `covers` are folders whose logs repeat this run (copies, console output, earlier checkpoints): what is found in
    them is no run of its own.
    """

    path: Path
    files: tuple[Path, ...]
    covers: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Sniff:
    """How sure an adapter is that a folder is its own: `score` in 0…1 (0 = not mine), why, and which runs.

    Scores: 0.9 and above for the framework's own keys, about 0.5 for files that only look like it, 0.1–0.3 for
    generic readers which take what nobody else wants.
    """

    score: float
    reason: str
    sources: tuple[RunSource, ...] = ()


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What the user said about the log: source key → signal id, and the action space if given.

    `mapping` is about this log: a key that it does not have is an error. `house` is about all logs of a project: it
    counts where a log has the key, and yields to `mapping`.
    """

    mapping: Mapping[str, str] = field(default_factory=dict)
    action_space: ActionSpace | None = None
    house: Mapping[str, str] = field(default_factory=dict)

    def mapping_for(self, keys: Iterable[str]) -> dict[str, str]:
        """The mapping for a log that has these keys."""
        given = {key: self.house[key] for key in keys if key in self.house}
        taken = set(self.mapping.values())
        return {key: signal for key, signal in given.items() if signal not in taken} | dict(self.mapping)


@runtime_checkable
class Adapter(Protocol):
    """Recognises and reads the logs of one framework."""

    name: str
    title: str

    def sniff(self, folder: Folder) -> Sniff:
        """Look at names and at the heads of files; never raise for foreign or broken files."""
        ...

    def read(self, source: RunSource, options: ReadOptions) -> Run:
        """Read one run. Raises `LogError` when nothing in it can be read."""
        ...


def is_generic(adapter: Adapter) -> bool:
    """Whether an adapter takes only what no framework's adapter is sure of: its attribute `generic` is true."""
    return bool(getattr(adapter, "generic", False))
