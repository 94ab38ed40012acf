"""Pages about causes, in Markdown: one a cause, made from its rulebook, and an index over them."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from ..diagnosis.numbers import exact
from ..rules.book import All, Any_, First, Leaf, Mean, Not, Parts, SymptomRef
from ..rules.pages import changes, home, limits, neighbours, signs, support
from .markdown import code, escape, fence, table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..rules.book import AppliesTo, Book, Cause, Code, Condition, Ramp, Remedy, Symptom
    from ..rules.pages import Difference, Limits, Neighbour

__all__ = ["INDEX", "MARK", "pages"]

MARK = "<!-- Made by `rl-diagnose rules docs`. What is changed here is lost. -->"
INDEX = "README.md"
_KINDS = {
    "fault": "a fault",
    "benign": "no fault: it explains why something that looks bad is not",
    "insufficient": "too little to tell",
}
_FRAMEWORKS = {
    "sb3": "Stable-Baselines3", "cleanrl": "CleanRL", "rllib": "RLlib", "tianshou": "Tianshou", "trl": "TRL",
    "spinup": "Spinning Up", "baselines": "Baselines", "verl": "verl", "openrlhf": "OpenRLHF", "rl_games": "rl_games",
    "rsl_rl": "rsl_rl", "dopamine": "Dopamine",
}  # fmt: skip
_LINKED = re.compile(r"https?://[A-Za-z0-9._~/?#@!$&'*+,;=%-]+[A-Za-z0-9/]")


def pages(books: Sequence[Book]) -> dict[str, str]:
    """Path below the folder of the pages → text. Causes that a book has unchanged from another of `books` are
    described with that one."""
    made: dict[str, str] = {}
    for book in books:
        for cause in book.causes:
            if home(book, cause, books) is book:
                made[_path(book, cause)] = _page(book, cause, books)
    made[INDEX] = _index(books)
    return made


def _path(book: Book, cause: Cause) -> str:
    return f"{book.id}/{cause.id}.md"


def _link(cause: Cause, book: Book, books: Sequence[Book], *, start: str = "") -> str:
    """A link to the page of `cause`, from the folder `start` (the index: none)."""
    where = home(book, cause, books)
    path = PurePosixPath(_path(where, cause))
    target = path.name if where.id == start else f"../{path}" if start else str(path)
    return f"[{escape(cause.title)}]({target})"


def _index(books: Sequence[Book]) -> str:
    lines = [MARK, "", "# Causes", ""]
    lines += ["Every cause that these rulebooks know: how it shows, what it is taken for, and what to do about it.", ""]
    for book in books:
        lines += [
            f"## {escape(book.title)}",
            "",
            f"{code(f'{book.id} {book.version}')}. {escape(book.description)}",
            "",
        ]
        rows = [
            (
                _link(cause, book, books) + (" (deprecated)" if cause.status == "deprecated" else ""),
                code(cause.id),
                _KINDS[cause.kind].partition(":")[0],
                _percent(cause.prior),
            )
            for cause in sorted(book.causes, key=lambda c: (list(_KINDS).index(c.kind), c.title))
        ]
        lines += table(("cause", "id", "kind", "prior"), rows) if rows else []
    return _text(lines)


def _page(book: Book, cause: Cause, books: Sequence[Book]) -> str:
    lines = [MARK, "", f"# {escape(cause.title)}", "", *_facts(book, cause)]
    if cause.description:
        lines += [escape(cause.description), ""]
    lines += _evidence(book, cause)
    lines += _apart(book, cause, books)
    if cause.remedies:
        lines += ["## What to do", ""]
        for remedy in cause.remedies:
            lines += _remedy(book, remedy)
    if cause.references:
        lines += ["## References", "", *(f"- {_reference(text)}" for text in cause.references), ""]
    rows = [(code(c.version), ", ".join(c.changed) or "new") for c in changes(book, cause)]
    lines += ["## History", "", *table((f"version of {escape(book.id)}", "what changed"), rows)]
    return _text(lines)


def _facts(book: Book, cause: Cause) -> list[str]:
    facts = [
        f"- Id: {code(cause.id)}, in the rulebook {code(f'{book.id} {book.version}')}",
        f"- Kind: {_KINDS[cause.kind]}" + (f" ({cause.status})" if cause.status != "stable" else ""),
        f"- Before any evidence: {_percent(cause.prior)} of the runs that are looked at",
    ]
    if cause.replaced_by is not None:
        facts.append(f"- Replaced by: {code(cause.replaced_by)}")
    facts += [f"- {line}" for line in _about(cause.applies_to)]
    if cause.requires:
        facts.append(f"- Needs: {', '.join(map(code, cause.requires))}; without, nothing is said about it")
    return [*facts, ""]


def _about(about: AppliesTo) -> list[str]:
    pairs = (
        ("algorithm", about.algorithm),
        ("framework", about.framework),
        ("action space", about.action_space),
    )
    return [f"Only for the {name}: {', '.join(map(code, allowed))}" for name, allowed in pairs if allowed]


# -- how it shows ------------------------------------------------------------------------------------------------------


def _evidence(book: Book, cause: Cause) -> list[str]:
    found = signs(book, cause)
    if not found:
        return ["## How it shows", "", "The rulebook names no evidence for it.", ""]
    rows = [
        (
            escape(sign.symptom.title),
            _percent(sign.seen),
            _percent(sign.symptom.base_rate),
            _decibans(sign.there),
            "does not count" if sign.absent is None else _decibans(sign.absent),
        )
        for sign in found
    ]
    head = ("sign", "seen with the cause", "seen without any", "weight if there", "weight if not")
    lines = ["## How it shows", "", *table(head, rows)]
    symptoms = [sign.symptom for sign in found]
    below, formulas = support(book, symptoms)
    for symptom in symptoms:
        lines += _symptom(symptom)
    if below:
        lines += ["These are made of:", ""]
        for symptom in below:
            lines += _symptom(symptom)
    if formulas:
        lines += ["Derived numbers:", ""]
        lines += [f"- {code(name)} = {code(formula)}" for name, formula in formulas.items()]
        lines.append("")
    return lines


def _symptom(symptom: Symptom) -> list[str]:
    lines = [f"**{escape(symptom.title)}** ({code(symptom.id)})", ""]
    if symptom.description:
        lines += [escape(symptom.description), ""]
    return [*lines, *_condition(symptom.condition, 0), ""]


_WORDS: dict[type[Condition], str] = {
    All: "all of (the weakest counts):",
    Any_: "any of (the strongest counts):",
    Mean: "the mean of:",
    First: "the first that is known of:",
}


def _condition(condition: Condition, depth: int) -> Iterator[str]:
    start = f"{'  ' * depth}- "
    match condition:
        case Leaf():
            yield f"{start}{_number(condition)} {_ramp(condition.ramp)}"
        case SymptomRef(symptom=name):
            yield f"{start}the symptom {code(name)}"
        case Not(part=part):
            yield f"{start}not:"
            yield from _condition(part, depth + 1)
        case Parts(parts=parts):
            yield f"{start}{_WORDS[type(condition)]}"
            for part in parts:
                yield from _condition(part, depth + 1)


def _number(leaf: Leaf) -> str:
    words = {"feature": "", "derived": "", "config": "the setting ", "issue": "the number of log issues "}
    return f"{words[leaf.kind]}{code(leaf.name)}"


def _ramp(ramp: Ramp) -> str:
    low, high = exact(ramp.low), exact(ramp.high)
    scale = ", logarithmic between" if ramp.scale == "log" else ""
    if ramp.shape == "rising":
        return f"above {high} (absent below {low}{scale})"
    if ramp.shape == "falling":
        return f"below {low} (absent above {high}{scale})"
    full_low = exact(ramp.low if ramp.full_low is None else ramp.full_low)
    full_high = exact(ramp.high if ramp.full_high is None else ramp.full_high)
    return f"from {full_low} to {full_high} (absent below {low} and above {high}{scale})"


# -- neighbours --------------------------------------------------------------------------------------------------------


def _apart(book: Book, cause: Cause, books: Sequence[Book]) -> list[str]:
    near = neighbours(book, cause)
    if not cause.tell_apart and not near:
        return []
    lines = ["## Tell it apart", ""]
    if cause.tell_apart:
        lines += [escape(cause.tell_apart), ""]
    start = home(book, cause, books).id
    rows = [
        (_link(one.cause, book, books, start=start) + (" (excluded)" if one.excluded else ""), *_both(one))
        for one in near
    ]
    if rows:
        lines += table(("neighbour", "speaks for this cause", "speaks for the neighbour"), rows)
    return lines


def _both(near: Neighbour) -> tuple[str, str]:
    own = [_difference(d) for d in near.differences if d.own > d.other]
    other = [_difference(d) for d in near.differences if d.own < d.other]
    return "; ".join(own) or "nothing clear", "; ".join(other) or "nothing clear"


def _difference(found: Difference) -> str:
    return f"{escape(found.symptom.title)} ({_decibans(found.own)} against {_decibans(found.other)})"


# -- remedies ----------------------------------------------------------------------------------------------------------


def _remedy(book: Book, remedy: Remedy) -> list[str]:
    lines = [f"### {escape(remedy.summary)}", ""]
    facts = [f"Knob: {code(remedy.knob)}", *_about(remedy.applies_to)]
    if remedy.set is not None:
        facts += [f"New value: {code(remedy.set)}", *_limits(limits(book, remedy))]
    if remedy.relative:
        facts.append(f"Where the present value is not known: {escape(remedy.relative)}")
    facts += [f"{code(name)} in the code below: {code(text)}" for name, text in remedy.values]
    for promise in remedy.expect:
        words = {"rises_to": "rises to", "falls_to": "falls to"}[promise.direction]
        within = f" within {exact(promise.within_steps)} steps" if promise.within_steps is not None else ""
        facts.append(f"Then {code(promise.feature)} {words} {exact(promise.target)}{within}")
    lines += [*(f"- {fact}" for fact in facts), ""]
    for framework, template in remedy.patch:
        for about, text in _templates(template):
            name = _FRAMEWORKS.get(framework, framework)
            lines += [f"{escape(name)}{about}:", "", *fence(text), ""]
    return lines


def _limits(found: Limits) -> list[str]:
    what = "its distance from 1" if found.one_minus else "the present value"
    words = [f"at least {exact(found.low)}"] if found.low is not None else []
    words += [f"at most {exact(found.high)}"] if found.high is not None else []
    words += [f"{what} changes by at most a factor of {exact(found.step)}"] if found.step is not None else []
    return [f"Limits: {', '.join(words)}"] if words else []


def _templates(template: Code) -> list[tuple[str, str]]:
    """What a template is for, in words, and the template."""
    if isinstance(template, str):
        return [("", template)]
    return [(" (other algorithms)" if name == "other" else f" ({code(name)})", text) for name, text in template]


def _reference(text: str) -> str:
    """A reference with its web addresses as links; all else is inert."""
    parts, last = [], 0
    for found in _LINKED.finditer(text):
        parts += [escape(text[last : found.start()]), f"<{found.group()}>"]
        last = found.end()
    return "".join([*parts, escape(text[last:])])


def _percent(probability: float) -> str:
    return f"{100 * probability:.3g} %"


def _decibans(weight: float) -> str:
    return f"{weight:+.1f} dB"


def _text(lines: Sequence[str]) -> str:
    return "\n".join(lines).rstrip() + "\n"
