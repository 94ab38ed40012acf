"""A resolved book as text: the YAML on the left, where each line comes from on the right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from .text import ascii_only, clean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..rules.resolved import Line, Resolved

__all__ = ["resolved_text", "source_text"]

# Comments stand in this column, or right after a line that reaches further.
COLUMN = 64


def resolved_text(header: Sequence[str], book: Resolved, *, plain: bool = False) -> Text:
    """`header` and the names of the files as comments, then the lines of the book; the whole is valid YAML."""
    text = Text()
    for remark in (*header, *(f"{short} = {file}" for short, file in book.files)):
        text.append(f"# {_safe(remark, plain)}\n", "dim")
    for line in book.lines:
        text.append(_with_indent(line.text, plain))
        comment = _comment(line)
        if comment:
            gap = " " * max(COLUMN - len(line.text), 2)
            text.append(f"{gap}# {_safe(comment, plain)}", "dim")
        text.append("\n")
    return text


def source_text(lines: Sequence[str], *, plain: bool = False) -> Text:
    """A file as it stands, without what could steer a terminal."""
    # What follows the last line break is no line.
    shown = lines[:-1] if lines and not lines[-1] else lines
    return Text("".join(f"{_with_indent(line, plain)}\n" for line in shown))


def _comment(line: Line) -> str:
    return f"{line.origin}  {line.remark}" if line.origin and line.remark else line.origin or line.remark


def _with_indent(line: str, plain: bool) -> str:
    body = line.lstrip(" ")
    return line[: len(line) - len(body)] + _safe(body, plain)


def _safe(text: str, plain: bool) -> str:
    return ascii_only(clean(text)) if plain else clean(text)
