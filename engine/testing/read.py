"""Reading a test file: every mistake in it at once, with file, line and column, as for a rulebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import ValidationError

from ..diagnosis.reading import parse_action_space
from ..errors import RulebookError, UsageError
from ..rules.problems import in_file_order
from ..rules.validate import MAX_PROBLEMS, did_you_mean, validate
from ..rules.yaml_loader import load_yaml
from ..signals.taxonomy import hyperparameters, is_known_signal, signal_specs, suggest_signal
from .model import AuthoredTest, AuthoredTests
from .notation import NotationError, parse_curve

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ..rules.book import Book
    from ..rules.problems import Problem
    from ..rules.yaml_loader import Document

__all__ = ["ENDING", "file_beside", "read_tests"]

ENDING = ".test.yaml"
MAX_POINTS_OF_A_FILE = 1_000_000
Place = tuple[str | int, ...]


def file_beside(book: Path) -> Path:
    """Where the tests of a book's file are: ``ppo.yaml`` → ``ppo.test.yaml``."""
    return book.with_name(book.name.removesuffix(".yaml").removesuffix(".yml") + ENDING)


def read_tests(file: Path, book: Book) -> tuple[AuthoredTests, Document]:
    """The tests in `file`. Raises `RulebookError` with every problem: of the YAML, of the shape, unknown causes and
    signals, curves that are none, logs that are not there."""
    document, problems = load_yaml(file, str(file))
    if document is None:
        raise RulebookError(problems)
    tests, more = validate(AuthoredTests, document, document.data)
    problems += more
    names: set[str] = set()
    points = 0
    for i, test in _well_formed(document.data):
        at: Place = ("tests", i)
        if test.name in names:
            problems.append(document.problem("RB012", f"two tests are called '{test.name}'", (*at, "name")))
        names.add(test.name)
        problems += _names(test, at, document, book)
        for signal, text in test.series.items():
            path = (*at, "series", signal)
            try:
                points += parse_curve(text).value.size
            except NotationError as error:
                problems.append(document.problem("RB012", str(error), path, column=error.column))
        if test.log is not None:
            problems += _log_problems(test.log, (*at, "log"), document, file)
        if points > MAX_POINTS_OF_A_FILE or len(problems) >= MAX_PROBLEMS:
            break
    if points > MAX_POINTS_OF_A_FILE:
        message = f"the curves of the file have more than {MAX_POINTS_OF_A_FILE:,} points"
        problems.append(document.problem("RB002", message, ("tests",), key=True, hint="use fewer or shorter curves"))
    if tests is None or problems:
        raise RulebookError(in_file_order(problems)[:MAX_PROBLEMS])
    return tests, document


def _well_formed(data: object) -> Iterator[tuple[int, AuthoredTest]]:
    """The tests that have the right shape, so that a mistake in one does not hide those in the others."""
    listed = data.get("tests") if isinstance(data, dict) else None
    for i, raw in enumerate(listed if isinstance(listed, list) else ()):
        try:
            yield i, AuthoredTest.model_validate(raw)
        except ValidationError:
            continue  # said by the validation of the whole file


def _names(test: AuthoredTest, at: Place, document: Document, book: Book) -> Iterator[Problem]:
    """What a test names: causes, algorithm, actions, hyper-parameters and signals."""
    causes, specs = [cause.id for cause in book.causes], signal_specs()
    named = [((*at, "expect", i, "cause"), e.cause) for i, e in enumerate(test.expect)]
    named += [((*at, "reject", i, "cause"), r.cause) for i, r in enumerate(test.reject)]
    named += [((*at, "not_assessable", i), cause) for i, cause in enumerate(test.not_assessable)]
    for path, cause in named:
        if cause not in causes:
            yield document.problem("RB021", f"the book has no cause '{cause}'", path, hint=did_you_mean(cause, causes))
    if not named:
        yield document.problem("RB012", "the test expects nothing: give expect, reject or not_assessable", at)
    if (test.log is None) == (not test.series):
        yield document.problem("RB012", "a test has either series or a log", at)
    if test.algorithm is not None and not book.applies_to.admits(test.algorithm, None, None):
        about = ", ".join(book.applies_to.algorithm)
        message = f"the book is not about the algorithm '{test.algorithm}'"
        hint = did_you_mean(test.algorithm, book.applies_to.algorithm) or f"it is about {about}"
        yield document.problem("RB012", message, (*at, "algorithm"), hint=hint)
    if test.action_space is not None:
        try:
            parse_action_space(test.action_space)
        except UsageError as error:
            yield document.problem("RB012", error.fact, (*at, "action_space"), hint=error.hint)
    knobs = [*hyperparameters(), *(knob.name for knob in book.knobs)]
    for name in test.config:
        if name not in knobs:
            hint = did_you_mean(name, knobs) or "knobs of one's own stand in the book under `knobs`"
            yield document.problem(
                "RB021", f"'{name}' is no hyper-parameter", (*at, "config", name), key=True, hint=hint
            )
    for signal in test.series:
        path = (*at, "series", signal)
        if not is_known_signal(signal):
            close = suggest_signal(signal)
            hint = f"did you mean {close}?" if close else "the signal reference lists the ids"
            yield document.problem("RB021", f"'{signal}' is no signal", path, key=True, hint=hint)
        elif signal in specs and specs[signal].derived:
            hint = f"give {', '.join(specs[signal].sources)}"
            message = f"'{signal}' is not logged but computed"
            yield document.problem("RB012", message, path, key=True, hint=hint)


def _log_problems(log: str, path: Place, document: Document, file: Path) -> Iterator[Problem]:
    """A log must be there, and below the folder of the test file: a book from a stranger reads nothing else."""
    root = file.parent.resolve()
    try:
        place = (root / log).resolve()
        inside, there = place.is_relative_to(root), place.exists()
    except (OSError, ValueError):
        inside = there = False
    if not inside:
        yield document.problem("RB012", "a log must lie below the folder of the test file", path)
    elif not there:
        yield document.problem("RB001", f"there is no '{log}' beside the test file", path)
