"""SARIF 2.1.0, the format that code scanners and pull-request annotations read: the log around results, and places."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["SCHEMA_URI", "document", "to_text", "uri"]

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
    text = json.dumps(log, indent=2, ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "replace").decode("utf-8") + "\n"


def uri(file: str) -> str:
    """`file` relative to the working folder if it lies below it, as scanners of a repository want; else ``file:``."""
    path = Path(file).absolute()
    if path.is_relative_to(Path.cwd()):
        # Bytes of a file name that are no text stand as surrogates; a URI can carry the bytes.
        return quote(path.relative_to(Path.cwd()).as_posix(), errors="surrogateescape")
    return path.as_uri()
