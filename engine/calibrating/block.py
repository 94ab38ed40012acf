"""The calibration block of a rulebook: its text, the corpus it speaks of, and its place in the file."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import yaml

from ..errors import RulebookError, UsageError
from ..rules.yaml_loader import parse_yaml

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import date
    from pathlib import Path

    from .fit import Fit
    from .labels import Answer

__all__ = ["block_text", "corpus_hash", "with_block"]

KEY = "calibration"


def corpus_hash(files: Iterable[Path], answers: Sequence[Answer]) -> str:
    """``sha256:…`` over the labels (`files`) and all logs of `answers`: their names and contents, in sorted order.

    Where the runs lie does not matter; hidden files do not count.
    """
    total = hashlib.sha256()
    for name, path in sorted((path.name, path) for path in files):
        _add(total, name, path)
    for answer in sorted(answers, key=lambda answer: answer.id):
        logs = [answer.path] if answer.path.is_file() else sorted(answer.path.rglob("*"))
        for path in logs:
            inside = path.relative_to(answer.path.parent)
            if path.is_file() and not any(part.startswith(".") for part in inside.parts):
                _add(total, inside.as_posix(), path)
    return f"sha256:{total.hexdigest()}"


def _add(total: hashlib._Hash, name: str, path: Path) -> None:
    with path.open("rb") as file:
        content = hashlib.file_digest(file, "sha256").hexdigest()
    total.update(f"{name}\0{content}\n".encode())


def block_text(fit: Fit, corpus: str, today: date) -> str:
    """The block as YAML, one key a line. Its figures are those on groups that no number was fitted to."""
    kept, figures = fit.kept, fit.kept.left_out
    lines = [f"{KEY}:", f"  a: {_number(kept.a)}", f"  b: {_number(kept.b)}"]
    if kept.words:
        lines.append(f"  words: {{{', '.join(f'{word.word}: {_number(word.fitted)}' for word in kept.words)}}}")
    lines += [
        f'  corpus: "{corpus}"',
        f"  n: {fit.runs}",
        f"  positives: {fit.positives}",
        f"  brier: {_number(figures.brier)}",
        f"  log_loss: {_number(figures.log_loss)}",
        f"  ece: {_number(figures.ece)}",
        f'  date: "{today.isoformat()}"',
    ]
    return "\n".join(lines) + "\n"


def _number(value: float) -> str:
    """Four significant digits, always with a point, so that YAML reads a float."""
    text = f"{value:.4g}"
    return text if "." in text or "e" in text else f"{text}.0"


def with_block(source: bytes, block: str, file: str) -> bytes:
    """`source` with `block` in place of the calibration that it has, else at its end. Nothing else changes.

    Comments inside an old block go with it. Raises `RulebookError` where `source` is not valid YAML, and `UsageError`
    where the block cannot be placed without changing anything else.
    """
    document, problems = parse_yaml(source, file)
    if document is None or problems:
        raise RulebookError(problems)
    text = source.decode("utf-8")
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = text.splitlines(keepends=True)
    found = _lines_of_block(text, lines)
    written = [line + newline for line in block.splitlines()]
    if found is None:
        if lines and not lines[-1].endswith(("\n", "\r")):
            lines[-1] += newline
        gap = [newline] if lines and lines[-1].strip() else []
        lines += [*gap, *written]
    else:
        lines[slice(*found)] = written
    result = "".join(lines).encode("utf-8")
    after, problems = parse_yaml(result, file)
    new, _ = parse_yaml(block.encode(), file)
    expected = {**document.data, KEY: new.data[KEY]} if new is not None else None
    if after is None or problems or after.data != expected:
        raise UsageError(
            "the calibration cannot be put into this file without changing more of it",
            place=file,
            hint="write the book in block style (one key a line), or put the printed block in by hand",
        )
    return result


def _lines_of_block(text: str, lines: Sequence[str]) -> tuple[int, int] | None:
    """First line of the block and the line after its last one, from 0; None where there is none."""
    root = yaml.compose(text, Loader=yaml.SafeLoader)  # only nodes with their places, nothing is constructed
    if not isinstance(root, yaml.MappingNode):
        return None
    for key, value in root.value:
        if key.value == KEY:
            end = _last_line(value) + 1
            while not lines[end - 1].strip():  # blank lines after a block scalar belong to it by the letter
                end -= 1
            return key.start_mark.line, end
    return None


def _last_line(node: yaml.Node) -> int:
    """The last line with something of `node`: the end of a block mapping is where the next token is, comments later."""
    if isinstance(node, yaml.MappingNode) and not node.flow_style and node.value:
        return _last_line(node.value[-1][1])
    if isinstance(node, yaml.SequenceNode) and not node.flow_style and node.value:
        return _last_line(node.value[-1])
    line: int = node.end_mark.line
    # A plain or block scalar may end at the start of the line after it.
    return line - 1 if node.end_mark.column == 0 and line > node.start_mark.line else line
