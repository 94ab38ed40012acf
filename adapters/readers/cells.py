"""What a cell of a text table says: a number, nothing, or a word; and columns of such cells as arrays."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import polars as pl
    from numpy.typing import NDArray

__all__ = ["Column", "cell_number", "column_of_frame", "column_of_texts", "is_number", "is_word"]

_BLANK = frozenset(
    {"", "-", "--", "none", "null", "nil", "na", "n/a", "#n/a", "<na>", "nat", "undefined", "(none)", "missing"}
)
_WORDS = {
    "true": 1.0,
    "false": 0.0,
    "nan(ind)": math.nan,  # C runtime libraries of Windows
    "-nan(ind)": math.nan,
    "1.#ind": math.nan,
    "-1.#ind": math.nan,
    "1.#qnan": math.nan,
    "1.#inf": math.inf,
    "-1.#inf": -math.inf,
}
# Possessive: without them a long cell that nearly fits takes time that grows with the square of its length.
_NUMBER = r"[-+]?(?:(?:\d++\.?+\d*+|\.\d++)(?:e[-+]?\d++)?|nan|inf(?:inity)?)"
# A number that was never taken out of its array: tensor(1.5, device='cuda:0'), np.float64(1.5), [[1.5]]
_WRAPPED = re.compile(
    rf"(?:(?:[a-z_]+\.)*(?:tensor|array|float\d*|u?int\d*|bfloat16)\(\s*+)?\[*+\s*+({_NUMBER})\.?\s*+\]*+"
    r"\s*+(?:,\s*[a-z_]+=.*)?\)?",
    re.DOTALL,
)
_THOUSANDS = re.compile(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d*)?")
_DECIMAL_COMMA = re.compile(r"[-+]?(?:\d+|\d{1,3}(?:\.\d{3})+)?,\d+(?:e[-+]?\d+)?")
_MAX_WORDS = 0.1
_FEWEST_CELLS = 4  # of which one may be a word: with fewer, who knows what the column is


@dataclass(frozen=True, slots=True)
class Column:
    """One column: float64 `numbers` (n,), NaN where a cell is blank, unreadable or not finite; `marks` (n,) holds the
    NaN or infinity that was written and 0 elsewhere, None where all numbers are finite. `filled` counts the cells that
    are not blank, `unreadable` those with words in them, which are where `words` (n,) says (None where there are none);
    `example` is the first of these; `numeric` says whether the column is one of numbers.
    """

    numbers: NDArray[np.float64]
    marks: NDArray[np.float64] | None
    numeric: bool
    filled: int
    unreadable: int = 0
    example: str = ""
    words: NDArray[np.bool_] | None = None


def cell_number(text: str, separator: str) -> float | None:
    """The number in a cell, None for a blank one. Raises `ValueError` for words.

    What Python's `float` reads, ``true`` and ``false``, the non-finite numbers of C libraries, and one number inside
    the text of a tensor or array. A comma is a decimal comma, or between groups of three digits a thousands separator;
    in a table separated by commas only the latter.
    """
    try:
        return float(text)
    except ValueError:
        pass
    word = text.strip().lower()
    if word in _BLANK:
        return None
    if word in _WORDS:
        return _WORDS[word]
    if "," in word:
        if separator != "," and _DECIMAL_COMMA.fullmatch(word):
            return float(word.replace(".", "").replace(",", "."))
        if _THOUSANDS.fullmatch(word):
            return float(word.replace(",", ""))
    wrapped = _WRAPPED.fullmatch(word)
    if wrapped is None:
        raise ValueError(f"'{text}' is not a number")
    return float(wrapped[1])


def is_number(text: str, separator: str) -> bool:
    """True when a cell holds a number, non-finite ones included; False for a blank cell and for words."""
    try:
        return cell_number(text, separator) is not None
    except ValueError:
        return False


def is_word(text: str, separator: str) -> bool:
    """True when a cell holds neither a number nor nothing."""
    try:
        cell_number(text, separator)
    except ValueError:
        return True
    return False


def column_of_texts(cells: Sequence[str], separator: str) -> Column:
    """A column from the texts of its cells."""
    try:
        written = np.array([float(cell) for cell in cells], dtype=np.float64)
    except ValueError:
        return _slow_column(cells, separator)
    return _column(written, np.zeros(written.size, dtype=np.bool_), {})


def column_of_frame(cells: pl.Series, separator: str) -> Column:
    """A column from a polars series of texts (null for a blank cell); the same result as `column_of_texts`."""
    import polars as pl

    cast = cells.cast(pl.Float64, strict=False)
    missing = cast.is_null()
    written = cast.fill_null(float("nan")).to_numpy().copy()
    blank = missing.to_numpy().copy()
    words: dict[int, str] = {}
    unread = np.flatnonzero((missing & cells.is_not_null()).to_numpy())
    if unread.size:
        values, blanks, found = _parsed(cells.gather(unread).to_list(), separator)
        written[unread], blank[unread] = values, blanks
        words = {int(unread[place]): word for place, word in found.items()}
    return _column(written, blank, words)


def _slow_column(cells: Sequence[str], separator: str) -> Column:
    return _column(*_parsed(cells, separator))


def _parsed(cells: Iterable[str], separator: str) -> tuple[NDArray[np.float64], NDArray[np.bool_], dict[int, str]]:
    """The numbers (NaN where there is none), where there is none, and the words by their places."""
    known: dict[str, float | None] = {}
    words: dict[int, str] = {}
    numbers: list[float | None] = []
    for place, cell in enumerate(cells):
        if cell in known:
            numbers.append(known[cell])
            continue
        try:
            number = cell_number(cell, separator)
        except ValueError:
            words[place] = cell
            numbers.append(None)
            continue
        known[cell] = number
        numbers.append(number)
    blank = np.array([number is None for number in numbers], dtype=np.bool_)
    return np.array([math.nan if n is None else n for n in numbers], dtype=np.float64), blank, words


def _column(written: NDArray[np.float64], blank: NDArray[np.bool_], words: dict[int, str]) -> Column:
    """A few words in a column of numbers are damage; a column with more of them is one of words. In a short column one
    word among numbers is damage, too."""
    odd = ~np.isfinite(written)
    marks = None
    if odd.any() and (odd & ~blank).any():
        marks = np.where(odd & ~blank, written, 0.0)
    filled = int(written.size - blank.sum()) + len(words)
    numeric = not words or len(words) <= _MAX_WORDS * filled or (len(words) == 1 and filled >= _FEWEST_CELLS)
    numbers = np.where(odd, np.nan, written)
    if not words:
        return Column(numbers, marks, numeric, filled)
    at = np.zeros(written.size, dtype=np.bool_)
    at[list(words)] = True
    return Column(numbers, marks, numeric, filled, len(words), next(iter(words.values())).strip(), at)
