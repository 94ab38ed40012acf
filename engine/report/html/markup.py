"""The few elements that the report is made of. Whatever comes from a log or a rulebook goes through `text`."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from ..text import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["code", "details", "items", "section", "table", "text"]


def text(value: str) -> str:
    """`value` as inert text: on one line, without control characters or markup."""
    return escape(clean(value), quote=True)


def code(source: str) -> str:
    """Lines of code as they are, each made inert."""
    lines = [line[: len(line) - len(line.lstrip(" "))] + clean(line.lstrip(" ")) for line in source.splitlines()]
    return escape("\n".join(lines), quote=True)


def section(title: str, body: str, *, level: int = 3) -> str:
    """A titled part; empty where `body` is."""
    return f"<section><h{level}>{text(title)}</h{level}>\n{body}</section>\n" if body else ""


def items(lines: Iterable[str]) -> str:
    """A list of sentences; empty without any."""
    rows = "".join(f"<li>{text(line)}</li>\n" for line in lines)
    return f"<ul>\n{rows}</ul>\n" if rows else ""


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, caption: str, kind: str = "") -> str:
    """A table of cells that are markup already; `caption` says what it holds, for those who cannot see it."""
    top = "".join(f'<th scope="col">{text(cell)}</th>' for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>\n" for row in rows)
    css = f' class="{kind}"' if kind else ""
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{text(caption)}"><table{css}>'
        f"<caption>{text(caption)}</caption><thead><tr>{top}</tr></thead>\n<tbody>\n{body}</tbody></table></div>\n"
    )


def details(summary: str, body: str, *, is_open: bool = False) -> str:
    """A part that can be folded; `summary` is markup."""
    return f"<details{' open' if is_open else ''}><summary>{summary}</summary>\n{body}</details>\n"
