"""The benchmarks are scripts, not part of the package: their folder goes on the path as it does when one is run."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
