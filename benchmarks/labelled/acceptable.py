"""Which causes are a right answer to which injected fault, with the argument for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rl_diagnose.calibrating import labels
from rl_diagnose.calibrating.labels import Row, read_acceptable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .corpus import Label

__all__ = ["Row", "acceptable_causes", "read_acceptable"]


def acceptable_causes(rows: Sequence[Row], label: Label) -> frozenset[str]:
    """All causes that are a right answer to the fault of `label`; empty for a fault that no row knows."""
    return labels.acceptable_causes(rows, label.fault, label.details)
