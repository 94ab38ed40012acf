"""What a book wants to look at: features, configuration values and signals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .book import Leaf, Not, Parts, SymptomRef
from .expressions import compile_expression

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .book import Book, Condition

__all__ = ["leaves", "mentions", "references", "required_config", "required_features", "signals_of"]


def required_features(book: Book) -> tuple[str, ...]:
    """Names of the features in symptoms, derived numbers and remedies, sorted, each once."""
    names = {leaf.name for leaf in _all_leaves(book) if leaf.kind == "feature"}
    names |= {expect.feature for cause in book.causes for remedy in cause.remedies for expect in remedy.expect}
    return tuple(sorted(names | {name for name in _expression_names(book) if _is_feature(name)}))


def required_config(book: Book) -> tuple[str, ...]:
    """Hyper-parameters that symptoms, derived numbers and the arithmetic of remedies look at, sorted, each once."""
    derived = {name for name, _ in book.derived}
    names = {leaf.name for leaf in _all_leaves(book) if leaf.kind == "config"}
    return tuple(sorted(names | {n for n in _expression_names(book) if not _is_feature(n) and n not in derived}))


def signals_of(book: Book) -> tuple[str, ...]:
    """Signals (derived ones by their own id) in features, requirements and onsets, sorted, each once."""
    from ..features.grammar import parse_feature
    from ..features.windows import BUILT_IN_WINDOWS

    windows = {*BUILT_IN_WINDOWS, *(window.name for window in book.windows)}
    names = {signal for feature in required_features(book) for signal in parse_feature(feature, windows).signals}
    names |= {signal for cause in book.causes for signal in cause.requires}
    names |= {symptom.onset.signal for symptom in book.symptoms if symptom.onset is not None}
    return tuple(sorted(names))


def leaves(condition: Condition) -> Iterator[Leaf]:
    """The leaves of a condition in its order; those of symptoms that it refers to are not among them."""
    match condition:
        case Leaf():
            yield condition
        case Parts(parts=parts):
            for part in parts:
                yield from leaves(part)
        case Not(part=part):
            yield from leaves(part)
        case SymptomRef():
            return


def references(condition: Condition) -> set[str]:
    """The symptoms that a condition refers to by name."""
    return set(mentions(condition))


def mentions(condition: Condition) -> Iterator[str]:
    """The symptoms that a condition refers to, in its order, as often as it does."""
    match condition:
        case SymptomRef():
            yield condition.symptom
        case Not():
            yield from mentions(condition.part)
        case Parts():
            for part in condition.parts:
                yield from mentions(part)
        case Leaf():
            return


def _all_leaves(book: Book) -> Iterator[Leaf]:
    for symptom in book.symptoms:
        yield from leaves(symptom.condition)


def _expression_names(book: Book) -> Iterator[str]:
    texts = [text for _, text in book.derived]
    for cause in book.causes:
        for remedy in cause.remedies:
            texts += [*([remedy.set] if remedy.set else []), *(text for _, text in remedy.values)]
    for text in texts:
        yield from compile_expression(text).names


def _is_feature(name: str) -> bool:
    return "." in name or "(" in name
