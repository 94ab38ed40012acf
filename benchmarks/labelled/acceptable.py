"""Which causes are a right answer to which injected fault, with the argument for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import yaml

from rl_diagnose.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from .corpus import Label

__all__ = ["Row", "acceptable_causes", "read_acceptable"]

_FIELDS = {"fault", "when", "causes", "why"}


@dataclass(frozen=True, slots=True)
class Row:
    """`causes` answer `fault`, because of `why`; with `when`, only where the details of the injection contain it."""

    fault: str
    causes: tuple[str, ...]
    why: str
    when: str | None = None

    def fits(self, label: Label) -> bool:
        """Whether the row speaks about this run."""
        return self.fault == label.fault and (self.when is None or self.when in label.details)


def read_acceptable(path: Path) -> tuple[Row, ...]:
    """The rows of the file, in order. Raises `UsageError` for a row without fault, causes or argument."""
    loaded = yaml.safe_load(path.read_text(encoding="utf-8"))
    if not isinstance(loaded, list):
        raise UsageError("a list of rows is expected", place=path)
    rows = []
    for number, entry in enumerate(loaded, start=1):
        place = f"{path}, row {number}"
        if not isinstance(entry, dict) or not {"fault", "causes", "why"} <= set(entry) <= _FIELDS:
            raise UsageError("a row has fault, causes and why, and perhaps when", place=place)
        if not isinstance(entry["causes"], list) or not entry["causes"] or not str(entry["why"]).strip():
            raise UsageError("causes is a list, and why says why they are equivalent", place=place)
        rows.append(Row(entry["fault"], tuple(entry["causes"]), str(entry["why"]), entry.get("when")))
    return tuple(rows)


def acceptable_causes(rows: Sequence[Row], label: Label) -> frozenset[str]:
    """All causes that are a right answer to the fault of `label`; empty for a fault that no row knows."""
    return frozenset(cause for row in rows if row.fits(label) for cause in row.causes)
