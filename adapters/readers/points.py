"""What readers return: points per key (event files) or a table of columns (CSV, JSON lines)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import compress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rl_diagnose.signals.run import LogIssue

__all__ = ["EventFile", "EventPoints", "Table"]


@dataclass(frozen=True, slots=True)
class EventPoints:
    """One tag of one event file in file order: float64 arrays `step`, `wall_time`, `value` of shape (n,)."""

    step: NDArray[np.float64]
    wall_time: NDArray[np.float64]
    value: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class EventFile:
    """Scalars and texts of one event file; `texts` maps a tag to its last text, `hparams` name → value."""

    file: str
    scalars: dict[str, EventPoints]
    texts: dict[str, str] = field(default_factory=dict)
    hparams: dict[str, float | int | bool | str] = field(default_factory=dict)
    issues: tuple[LogIssue, ...] = ()


@dataclass(frozen=True, slots=True)
class Table:
    """A table in file order. `numbers`: column → float64 array of shape (rows,); NaN for a blank cell, with the cells
    that held a non-finite number marked in `non_finite` (column → float64 array of the raw NaN/±inf, 0 elsewhere;
    only columns that have one). `texts`: columns that are not numbers. `comment`: the text of leading comment lines.
    `unreadable`: columns of numbers some of whose cells hold words → boolean array of shape (rows,), True for these.
    `config`: the run's settings where the log repeats them in its rows (Ray's ``result.json``), as nested plain data.
    """

    file: str
    rows: int
    numbers: dict[str, NDArray[np.float64]]
    non_finite: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    texts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    comment: str = ""
    config: dict[str, object] = field(default_factory=dict)
    issues: tuple[LogIssue, ...] = ()
    unreadable: dict[str, NDArray[np.bool_]] = field(default_factory=dict)

    def take(self, kept: NDArray[np.bool_]) -> Table:
        """The rows that are `kept`, a boolean array of shape (rows,)."""
        return replace(
            self,
            rows=int(kept.sum()),
            numbers={key: values[kept] for key, values in self.numbers.items()},
            non_finite={key: marks[kept] for key, marks in self.non_finite.items()},
            texts={key: tuple(compress(words, kept.tolist())) for key, words in self.texts.items()},
            unreadable={key: where[kept] for key, where in self.unreadable.items()},
        )
