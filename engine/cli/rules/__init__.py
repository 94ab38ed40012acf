"""`rl-diagnose rules …`: the commands of those who write rulebooks. Each module holds `parser()` and `run()`.

This module is on the path of `--help`: it imports nothing that costs time.
"""

from __future__ import annotations

__all__ = ["COMMANDS"]

COMMANDS: dict[str, tuple[str, str]] = {}
"""Command → (module in this package, what it does)."""
