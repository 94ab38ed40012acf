"""`rl-diagnose rules …`: the commands of those who write rulebooks. Each module holds `parser()` and `run()`.

This module is on the path of `--help`: it imports nothing that costs time.
"""

from __future__ import annotations

__all__ = ["COMMANDS"]

COMMANDS: dict[str, tuple[str, str]] = {
    "new": ("new", "write a rulebook to start from"),
    "list": ("list", "list the rulebooks that can be asked for by id"),
    "show": ("show", "show a rulebook, or all that it comes to and from where"),
    "check": ("check", "find everything that is wrong with rulebooks"),
    "test": ("testing", "run the tests that stand beside rulebooks"),
    "diff": ("diff", "say what changed between two rulebooks, and which verdicts"),
    "docs": ("docs", "write a page about each cause"),
    "calibrate": ("calibrate", "hold probabilities to labelled runs, and correct them"),
    "schema": ("schema", "print the JSON Schema of rulebooks or of a diagnosis"),
}
"""Command → (module in this package, what it does)."""
