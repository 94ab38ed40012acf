"""The damage that runs are held to here is the benchmark's: its folder goes on the path as when the script is run."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
