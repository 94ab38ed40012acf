"""Text from logs made safe for an output: no control characters, and plain ASCII where nothing else can be shown."""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["ascii_only", "clean", "encodable", "path_from_here", "shorten_path"]

# Control characters (escape sequences start with one), zero-width characters and bidirectional overrides: a run
# name could otherwise recolour the terminal or make a report read differently from what it says.
_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b.?")
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff\ufffe\uffff]"
)
_SPACES = re.compile(r"[\t\n\r\x0b\x0c]+")

_ASCII = str.maketrans(
    {
        "→": "->", "←": "<-", "≥": ">=", "≤": "<=", "≈": "~", "≠": "!=", "×": "x", "·": "-", "•": "*", "…": "...",
        "–": "-", "—": "-", "−": "-", "‖": "||", "½": "1/2", "ε": "eps", "σ": "sigma", "λ": "lambda", "γ": "gamma",
        "τ": "tau", "α": "alpha", "β": "beta", "Σ": "sum", "²": "^2", "ᵢ": "_i", "’": "'", "“": '"', "”": '"',
        "█": "#", "░": ".", "▔": "~", "✓": "ok", "✗": "x", "│": "|", "─": "-", "╭": "+", "╮": "+", "╰": "+", "╯": "+",
        "\u00a0": " ",
    }
)  # fmt: skip


def clean(text: str) -> str:
    """`text` on one line without terminal escapes, control, zero-width or bidirectional characters."""
    return _UNSAFE.sub("", _SPACES.sub(" ", _ESCAPES.sub("", text)))


def ascii_only(text: str) -> str:
    """`text` with every symbol spelled out or replaced by ``?``."""
    return text.translate(_ASCII).encode("ascii", "replace").decode("ascii")


def encodable(text: str) -> str:
    """`text` with ``?`` for what UTF-8 cannot carry: a file name may hold bytes that are not text."""
    return text.encode("utf-8", "replace").decode("utf-8")


def path_from_here(file: str) -> Path:
    """`file` relative to the working folder if it lies below it, as tools for repositories want; else absolute."""
    path = Path(file).absolute()
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def shorten_path(path: str, width: int) -> str:
    """`path` cut in front to at most `width` characters: its end tells runs apart."""
    return path if len(path) <= width else "…" + path[-(width - 1) :]
