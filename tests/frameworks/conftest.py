"""These tests train tiny agents with the real frameworks; they are skipped where a framework is not installed.

`make frameworks` installs the frameworks into an environment of their own and runs this folder.
"""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")


@pytest.fixture(autouse=True)
def _their_warnings_are_theirs() -> Iterator[None]:
    """Deprecations inside the frameworks are not ours to turn into errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
