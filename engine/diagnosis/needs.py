"""Which features a book needs: for its symptoms, its derived numbers, and the arithmetic of its remedies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..rules.book import All, Any_, Leaf, Mean, Not, SymptomRef
from ..rules.expressions import compile_expression

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..rules.book import Book, Condition

__all__ = ["needed_features"]


def needed_features(book: Book) -> tuple[str, ...]:
    """Feature names, sorted, each once."""
    names = {leaf.name for symptom in book.symptoms for leaf in _leaves(symptom.condition) if leaf.kind == "feature"}
    texts = [text for _, text in book.derived]
    for cause in book.causes:
        for remedy in cause.remedies:
            texts += [*([remedy.set] if remedy.set else []), *(text for _, text in remedy.values)]
            names.update(expect.feature for expect in remedy.expect)
    for text in texts:
        names.update(name for name in compile_expression(text).names if "." in name or "(" in name)
    return tuple(sorted(names))


def _leaves(condition: Condition) -> Iterator[Leaf]:
    match condition:
        case Leaf():
            yield condition
        case All(parts=parts) | Any_(parts=parts) | Mean(parts=parts):
            for part in parts:
                yield from _leaves(part)
        case Not(part=part):
            yield from _leaves(part)
        case SymptomRef():
            return
