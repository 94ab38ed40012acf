"""Console output: tables and lines that frameworks print, also inside a larger log.

Understood: boxed tables (`| key | value |` between rules of dashes, with SB3's section headings and indented keys),
verl lines (`step:12 - actor/lr:0.000 - …`), printed dicts (`{'loss': 0.1, 'reward': 2.0}`), rsl_rl blocks (`Learning
iteration 3/100` followed by `Mean reward: 1.2`), and free lines of `key: value` or `key=value` pairs (`[Step 100]
Reward: 1.2, KL: 0.01`). Colours, carriage returns and `(Actor pid=12)` prefixes are removed. A table that is cut off at
the end of the text is left out.
"""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from rl_diagnose.errors import LogError
from rl_diagnose.signals.run import LogIssue

from .records import number, table_from_records
from .text_bytes import read_text_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from .points import Table

__all__ = ["read_console", "read_console_file"]

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_NUMPY = re.compile(r"\bnp\.\w+\(([^()]*)\)")  # how numbers of NumPy 2 print themselves
_ACTOR = re.compile(r"^\s*\([A-Za-z_][^()]{0,80}pid=\d+[^()]{0,80}\)\s?")
# Possessive: without them a long line that nearly fits takes time that grows with the square of its length.
_RULE = re.compile(r"^\s*+[-─━=+┌└├╔╚]{6,}+[-─━=+┐┘┤╗╝\s]*+$")
_ROW = re.compile(r"^\s*[|│║](?P<key>[^|│║]*)[|│║](?P<value>[^|│║]*)[|│║]\s*$")
_NUMBER = r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?|nan|NaN|-?inf|-?Infinity"
_PAIR = re.compile(
    rf"(?<![\w./%@-])[./%@-]*+"  # a name begins where a word does: looked for at each letter, long words take for ever
    rf"(?P<key>[A-Za-z_][\w./%@-]*+(?: [A-Za-z_(][\w./%()-]*+){{0,3}}?)\s*+[:=]\s*+(?P<value>{_NUMBER})(?!\w|\.\w)"
)
_STEP_TAG = re.compile(
    r"\b(?P<key>global[ _]step|timesteps?|steps?|iter(?:ations?)?|epochs?|updates?|episodes?)[\s:=#]+(?P<value>\d+)\b",
    re.IGNORECASE,
)
_RSL_HEAD = re.compile(r"Learning iteration\s+(\d+)\s*/\s*(\d+)")
_RSL_ROW = re.compile(rf"^\s*(?P<key>[A-Za-z][\w ()/.-]*?):\s+(?P<value>{_NUMBER})\b")
_EDGES = ("|", "│", "║")
_EDGE = re.compile("[" + "".join(_EDGES) + "]")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
MAX_LINE = 20_000


def read_console_file(path: Path, *, head: int | None = None) -> Table:
    """All records of a text file, plain or gzip; with `head`, those within about that many bytes.

    Raises `LogError` when the file cannot be read as text or holds no such record.
    """
    text = read_text_bytes(path, head=head)
    holes = any(issue.code == "nul_bytes" for issue in text.issues)
    table = read_console(text.data.decode("utf-8"), path.name, mixed=text.foreign, holes=holes)
    if not table.rows:
        fact = "no line or table with names and numbers is in it" if text.data.strip() else "the file is empty"
        raise LogError(fact, place=path, hint="lines like 'step 100 reward: 1.2 kl: 0.01' and tables are understood")
    return replace(table, issues=(*text.issues, *table.issues))


def read_console(text: str, name: str, *, mixed: bool = False, holes: bool = False) -> Table:
    """All records of `text` in order as a `Table`; rows of a table that repeats its step are kept as they come.

    `mixed`: the text was not UTF-8 and was taken as Latin-1, so that letters which are not ASCII may be anything.
    `holes`: lines were lost, and blank ones stand in their places. Issue codes: ``truncated_tail``,
    ``partial_last_line``, ``damaged_table``, ``truncated_keys``.
    """
    issues: list[LogIssue] = []
    lines = _lines(text)
    records = list(_records(lines, name, issues, mixed=mixed, holes=holes))
    if lines[-1].strip() and not any(issue.code == "truncated_tail" for issue in issues):
        fact = f"the last line ({len(lines)}) has no line end: the text may be cut there"
        issues.append(LogIssue("partial_last_line", fact, name, severity="info"))
    if any(key.endswith("...") for record in records for key in record):
        issues.append(
            LogIssue(
                "truncated_keys",
                "the console table cut long keys short; they are matched by their beginning",
                name,
                severity="info",
            )
        )
    return table_from_records(name, records, issues=issues)


def _lines(text: str) -> list[str]:
    """Lines as a terminal shows them: what follows the last carriage return of a line overwrites the rest."""
    return [line.rstrip("\r").rsplit("\r", 1)[-1] for line in text.split("\n")]


def _records(
    lines: Sequence[str], name: str, issues: list[LogIssue], *, mixed: bool, holes: bool
) -> Iterator[dict[str, object]]:
    table: dict[str, object] | None = None
    section: str | None = ""  # None: its heading could not be read
    block: dict[str, object] | None = None  # an rsl_rl block
    begin = 0  # line in which the open table begins
    below_rule = False
    headings: list[int] = []  # lines which might be headings and could not be read: the first of each table
    for number_of_line, raw in enumerate(lines, start=1):
        line = _NUMPY.sub(r"\1", _ACTOR.sub("", _ANSI.sub("", raw))[:MAX_LINE])
        first_row, below_rule = below_rule, False
        row = None if _is_damaged(line, mixed=mixed) else _ROW.match(line)
        if row:
            if block:
                yield block
            block = None
            if table is None:
                table, begin = {}, number_of_line
            section = _table_row(row["key"], row["value"], section, table)
            if section is None and (not headings or headings[-1] < begin):
                headings.append(number_of_line)
            continue
        cut = number_of_line == len(lines)  # without a line end
        if first_row and row is None and line.startswith(_EDGES) and _is_damaged(line, mixed=mixed):
            table, begin = {}, number_of_line
        hurt = _EDGE.search(line) or (holes and not line.strip())
        if table is not None and hurt and not cut:  # two lines in one, a lost edge or letter
            section = None
            headings += [number_of_line] if not headings or headings[-1] < begin else []
            continue
        if _RULE.match(line):
            if table:
                yield table
            table, section, below_rule = None, "", True
            continue
        if table is not None and not line.strip() and not holes:
            continue
        head = _RSL_HEAD.search(line)
        if head:
            if block:
                yield block
            block = {"iteration": float(head[1])}
            continue
        if block is not None:
            entry = _RSL_ROW.match(line)
            if entry:
                block[entry["key"].strip()] = number(entry["value"])
            continue
        record = _line(line)
        if record:
            yield record
    if block and len(block) > 1:
        yield block
    if headings:
        text = f"{len(headings)} tables have a line that cannot be read (first: line {headings[0]})"
        issues.append(LogIssue("damaged_table", f"{text}: the rows of its section were left out", name))
    if table is not None:
        text = f"the last console table, from line {begin} on, is cut off and was left out"
        issues.append(LogIssue("truncated_tail", text, name, severity="info"))


def _is_damaged(line: str, *, mixed: bool) -> bool:
    """True for a line with control characters, or in a text of unknown encoding with others than ASCII."""
    return _CONTROL.search(line) is not None or (mixed and not line.isascii())


def _table_row(key: str, value: str, section: str | None, table: dict[str, object]) -> str | None:
    """Add one boxed row to `table`; returns the section that the next rows belong to, None where that is not known."""
    name, parsed = key.strip(), number(value)
    if name.endswith("/") and not value.strip():
        return name
    indented = key.startswith(("    ", "\t")) and section != ""
    if section and name and not value.strip() and not indented:
        return None
    if section is None and indented:
        return None
    if name and parsed is not None:
        table[f"{section}{name}" if indented else name] = parsed
    return section if indented else ""


def _line(line: str) -> dict[str, object] | None:
    """One free line as a record; None when it does not hold at least two numbers with names."""
    text = line.strip()
    if not text:
        return None
    if text.startswith("{") and text.endswith("}"):
        return _printed_dict(text)
    if " - " in text and ":" in text and text.startswith("step:"):
        pairs = (part.rsplit(":", 1) for part in text.split(" - "))
        record: dict[str, object] = {
            p[0].strip(): number(p[1]) for p in pairs if len(p) == 2 and number(p[1]) is not None
        }
        return record if len(record) >= 2 else None
    record = {}
    for match in _PAIR.finditer(text):
        record.setdefault(match["key"].strip(), number(match["value"]))
    step = _STEP_TAG.search(text)
    if step and record:
        record.setdefault(step["key"].lower().replace(" ", "_"), number(step["value"]))
    return record if len(record) >= 2 else None


def _printed_dict(text: str) -> dict[str, object] | None:
    if len(text) > MAX_LINE - 1:
        return None
    try:
        value = ast.literal_eval(re.sub(r"\b(nan|inf)\b", r"'\1'", text))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    record: dict[str, object] = {str(k): n for k, v in value.items() if (n := number(v)) is not None}
    return record if len(record) >= 2 else None
