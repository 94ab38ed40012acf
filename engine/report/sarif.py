"""SARIF 2.1.0, the format that code scanners and pull-request annotations read: the log around results, and places."""

from __future__ import annotations

import json
from importlib.metadata import version
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from .text import encodable, path_from_here

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["SCHEMA_URI", "document", "location", "to_text"]

SCHEMA_URI = "https://json.schemastore.org/sarif-2.1.0.json"


def document(
    rules: Sequence[dict[str, Any]], results: Sequence[dict[str, Any]], parts: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """A log with one run of this program; `parts` are further properties of that run."""
    driver = {"name": "rl-diagnose", "version": version("rl-diagnose"), "rules": list(rules)}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": list(results), **(parts or {})}
    # The writer stands first: a report file of ours is told by its head.
    return {"properties": {"writer": "rl-diagnose"}, "$schema": SCHEMA_URI, "version": "2.1.0", "runs": [run]}


def to_text(log: Mapping[str, Any]) -> str:
    """Indented JSON with a final newline."""
    return encodable(json.dumps(log, indent=2, ensure_ascii=False, allow_nan=False)) + "\n"


def location(file: str, **place: Any) -> dict[str, Any]:
    """Where a result is: `file`, by its path from the working folder or as a ``file:`` URI, and `place` within it."""
    path = path_from_here(file)
    # Bytes of a file name that are no text stand as surrogates; a URI can carry the bytes.
    uri = path.as_uri() if path.is_absolute() else quote(path.as_posix(), errors="surrogateescape")
    return {"physicalLocation": {"artifactLocation": {"uri": uri}, **place}}
