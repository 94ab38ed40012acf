"""What the words of a book are worth on a labelled corpus: how often "usually" is seen, how rare "rare" is.

Each word is one number for all links (or base rates) that use it. A symptom is never observed outright, only by its
membership μ, which stands for likelihoods μ : (1 − μ); the number that makes the memberships most probable is found by
expectation maximisation (Dempster, Laird & Rubin 1977):

    r = μp / (μp + (1 − μ)(1 − p))          p ← (Σ r + k·p_word) / (n + k)

The k pseudo-observations of the word's usual number shrink towards it, so that a word with little behind it stays.

A link counts in the runs whose right answer is its cause; of several acceptable causes the most probable one. Links
with `absence: ignore` are left out: their absence says nothing, so how often they are seen cannot be counted. A base
rate is counted in the runs with `harmed: no`; symptoms that are evidence of a benign or an insufficient cause are left
out, because such a cause, which no label tells, may be present in them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..rules.model import RATES, SEEN

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from ..rules.book import Book
    from ..rules.resolve import Merged
    from .measure import Measured, Pairs

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

__all__ = ["STRENGTH", "Used", "Word", "fit_words", "used_words", "with_words"]

# Pseudo-observations of a word's usual number.
STRENGTH = 20.0
ITERATIONS = 200
_LEAST = 1e-3


@dataclass(frozen=True, slots=True)
class Used:
    """Where a book uses words: (cause, symptom) → word of `seen`, and symptom → word of `base_rate`."""

    seen: Mapping[tuple[str, str], str]
    rates: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Word:
    """A word, what it stands for, how many memberships speak about it, and the number that these suggest."""

    word: str
    usual: float
    n: int
    fitted: float


def used_words(merged: Merged) -> Used:
    """The words in the evidence and base rates of a merged book; numbers written as numbers are not among them."""
    seen: dict[tuple[str, str], str] = {}
    rates: dict[str, str] = {}
    for name, item in merged.symptoms.items():
        if isinstance(item.value.base_rate, str):
            rates[name] = item.value.base_rate
    for name, item in merged.causes.items():
        for i, link in enumerate(item.value.evidence):
            symptom = link.symptom or f"{name}__{i + 1}"
            if isinstance(link.seen, str):
                seen[name, symptom] = link.seen
            if link.symptom is None and isinstance(link.base_rate, str):
                rates[symptom] = link.base_rate
    return Used(seen, rates)


def fit_words(measured: Measured, used: Used, pairs: Pairs, runs: Bools) -> tuple[Word, ...]:
    """The number of every word that the book uses, from the runs for which `runs` (R,) holds.

    `pairs` say which cause each harmed run has.
    """
    truth = _truth(measured, pairs)
    seen: dict[str, list[Floats]] = {}
    rates: dict[str, list[Floats]] = {}
    column = {symptom.id: i for i, symptom in enumerate(measured.book.symptoms)}
    silent = runs & np.array([answer.harmed == "no" for answer in measured.answers], dtype=np.bool_)
    for cause in measured.book.causes:
        with_it = runs & (truth == cause.id)
        for link in cause.links:
            word = used.seen.get((cause.id, link.symptom))
            if word is not None and link.absence == "counts":
                seen.setdefault(word, []).append(_memberships(measured, with_it, column[link.symptom]))
    other = {link.symptom for cause in measured.book.causes if cause.kind != "fault" for link in cause.links}
    for symptom, word in used.rates.items():
        if symptom in column and symptom not in other:
            rates.setdefault(word, []).append(_memberships(measured, silent, column[symptom]))
    return tuple(
        Word(word, usual, n, value)
        for numbers, found in ((SEEN, seen), (RATES, rates))
        for word, usual in numbers.items()
        if word in found
        for n, value in [_rate(np.concatenate(found[word]), usual)]
    )


def with_words(book: Book, used: Used, words: Mapping[str, float]) -> Book:
    """`book` with the numbers of `words` wherever it uses them."""
    causes = tuple(
        replace(
            cause,
            links=tuple(
                replace(link, seen=words.get(used.seen.get((cause.id, link.symptom), ""), link.seen))
                for link in cause.links
            ),
        )
        for cause in book.causes
    )
    symptoms = tuple(
        replace(symptom, base_rate=words.get(used.rates.get(symptom.id, ""), symptom.base_rate))
        for symptom in book.symptoms
    )
    return replace(book, causes=causes, symptoms=symptoms)


def _truth(measured: Measured, pairs: Pairs) -> NDArray[np.str_]:
    """(R,) the cause of each run by the labels; empty where there is none."""
    names = np.array(["", *(cause.id for cause in measured.book.causes)])
    truth = np.zeros(len(measured.answers), dtype=np.intp)
    true = pairs.y == 1
    truth[pairs.run[true]] = pairs.cause[true] + 1
    result: NDArray[np.str_] = names[truth]
    return result


def _memberships(measured: Measured, runs: Bools, column: int) -> Floats:
    result: Floats = measured.mu[runs & measured.known[:, column], column]
    return result


def _rate(mu: Floats, usual: float) -> tuple[int, float]:
    p = usual
    for _ in range(ITERATIONS):
        present = mu * p / np.maximum(mu * p + (1 - mu) * (1 - p), 1e-12)
        following = float((present.sum() + STRENGTH * usual) / (mu.size + STRENGTH))
        following = min(max(following, _LEAST), 1 - _LEAST)
        if abs(following - p) < 1e-9:
            break
        p = following
    return int(mu.size), p
