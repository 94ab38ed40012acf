"""Running the tests of a book: what each expected, what came out, and which causes no test speaks about."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Literal

from ..diagnosis.explain import explain
from ..diagnosis.pipeline import diagnose_runs
from ..errors import RlDiagnoseError, RulebookError
from ..rules.validate import did_you_mean, validate
from ..rules.yaml_loader import load_yaml
from ..signals.taxonomy import is_known_signal, suggest_signal
from .model import AuthoredTests
from .notation import NotationError, parse_curve
from .runs import run_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from ..diagnosis.explain import Explanation
    from ..diagnosis.model import CauseFinding, RunDiagnosis
    from ..rules.book import Book
    from ..rules.problems import Problem
    from ..rules.yaml_loader import Document
    from .model import AuthoredTest

__all__ = ["BookResults", "CaseResult", "Failure", "file_beside", "read_tests", "run_tests", "uncovered"]

Outcome = Literal["passed", "failed", "todo", "todo_passes", "error"]
_ENDING = ".test.yaml"


@dataclass(frozen=True, slots=True)
class Failure:
    """One thing that a test expected and that did not come: in words, with the ledger of the cause if it has one."""

    message: str
    ledger: Explanation | None = None


@dataclass(frozen=True, slots=True)
class CaseResult:
    """What became of a test. `todo` is a known gap, `todo_passes` one that is none any more, `error` a test that could
    not be run."""

    name: str
    outcome: Outcome
    place: str
    failures: tuple[Failure, ...] = ()
    todo: str = ""


@dataclass(frozen=True, slots=True)
class BookResults:
    """All results of a book's test file, and the causes that lack a kind of test: cause → the kinds."""

    book: str
    file: str
    results: tuple[CaseResult, ...]
    uncovered: tuple[tuple[str, tuple[str, ...]], ...]


def file_beside(book: Path) -> Path:
    """Where the tests of a book's file are: ``ppo.yaml`` → ``ppo.test.yaml``."""
    return book.with_name(book.name.removesuffix(".yaml").removesuffix(".yml") + _ENDING)


def read_tests(file: Path, book: Book) -> tuple[AuthoredTests, Document]:
    """The tests in `file`. Raises `RulebookError` with every problem: of the YAML, of the shape, unknown causes and
    signals, curves that are none, logs that are not there."""
    document, problems = load_yaml(file, str(file))
    if document is None:
        raise RulebookError(problems)
    tests, more = validate(AuthoredTests, document, document.data)
    problems = [*problems, *more]
    if tests is not None:
        for i, test in enumerate(tests.tests):
            problems += _problems(test, ("tests", i), document, book, file)
        names = [test.name for test in tests.tests]
        problems += [
            document.problem("RB012", f"two tests are called '{name}'", ("tests", i, "name"))
            for i, name in enumerate(names)
            if name in names[:i]
        ]
    if tests is None or problems:
        raise RulebookError(problems)
    return tests, document


def run_tests(book: Book, file: Path, only: str = "*") -> BookResults:
    """Run the tests in `file` whose names fit the glob `only`. Raises `RulebookError` for a file that is invalid."""
    tests, document = read_tests(file, book)
    chosen = [(i, test) for i, test in enumerate(tests.tests) if fnmatchcase(test.name, only)]
    results = tuple(_run(test, book, file, document, i) for i, test in chosen)
    return BookResults(
        f"{book.id} {book.version}", str(file), results, tuple(uncovered(book, tests, _own_causes(file)))
    )


def uncovered(book: Book, tests: AuthoredTests, own: Collection[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The `own` causes of a book without a test that finds them, one that is near and must not, or one without the
    signals they need; what it inherits is tested where it is written."""
    found = {e.cause for test in tests.tests for e in test.expect}
    missed = {r.cause for test in tests.tests for r in test.reject}
    unseen = {cause for test in tests.tests for cause in test.not_assessable}
    for cause in book.causes:
        if cause.status == "deprecated" or cause.id not in own:
            continue
        kinds = [("expect", cause.id not in found), ("reject", cause.id not in missed)]
        kinds += [("not_assessable", bool(cause.requires) and cause.id not in unseen)]
        lacking = tuple(kind for kind, lacks in kinds if lacks)
        if lacking:
            yield cause.id, lacking


def _own_causes(file: Path) -> frozenset[str]:
    """Ids of the causes that stand in the book beside the test file."""
    document, _ = load_yaml(file.with_name(file.name.removesuffix(_ENDING) + ".yaml"))
    causes = document.data.get("causes") if document is not None and isinstance(document.data, dict) else None
    return frozenset(causes if isinstance(causes, dict) else ())


def _run(test: AuthoredTest, book: Book, file: Path, document: Document, index: int) -> CaseResult:
    line = document.values.get(("tests", index, "name"), (1, 1))[0]
    place = f"{file}:{line}"
    try:
        run = run_of(test, None if test.log is None else file.parent / test.log)
        (diagnosis,) = diagnose_runs([run], [book])
    except RlDiagnoseError as error:
        return CaseResult(test.name, "error", place, (Failure(f"the test cannot be run: {error}"),))
    failures = tuple(_failures(test, diagnosis, book))
    if test.todo:
        return CaseResult(test.name, "todo" if failures else "todo_passes", place, failures, test.todo)
    return CaseResult(test.name, "failed" if failures else "passed", place, failures)


def _failures(test: AuthoredTest, diagnosis: RunDiagnosis, book: Book) -> Iterator[Failure]:
    for expected in test.expect:
        yield from _compare(expected.cause, diagnosis, book, low=expected.at_least)
    for rejected in test.reject:
        yield from _compare(rejected.cause, diagnosis, book, high=rejected.at_most)
    for name in test.not_assessable:
        finding = _finding(diagnosis, name)
        if finding is not None and finding.status != "not_assessable":
            yield Failure(f"{name} could be assessed, not_assessable was expected", _ledger(diagnosis, name, book))


def _compare(
    name: str, diagnosis: RunDiagnosis, book: Book, *, low: float | None = None, high: float | None = None
) -> Iterator[Failure]:
    finding = _finding(diagnosis, name)
    if finding is None or finding.probability is None:
        if low is not None:
            why = f" (missing: {', '.join(finding.missing)})" if finding and finding.missing else ""
            yield Failure(f"{name} cannot be assessed{why}, at least {low:g} was expected")
        return
    value = finding.probability
    if low is not None and value < low:
        yield Failure(f"{name} is {value:.3f}, at least {low:g} was expected", _ledger(diagnosis, name, book))
    if high is not None and value > high:
        yield Failure(f"{name} is {value:.3f}, at most {high:g} was allowed", _ledger(diagnosis, name, book))


def _finding(diagnosis: RunDiagnosis, name: str) -> CauseFinding | None:
    return next((finding for finding in diagnosis.causes if finding.id == name), None)


def _ledger(diagnosis: RunDiagnosis, name: str, book: Book) -> Explanation:
    return explain(diagnosis, next(cause for cause in book.causes if cause.id == name), book)


def _problems(
    test: AuthoredTest, at: tuple[str | int, ...], document: Document, book: Book, file: Path
) -> Iterator[Problem]:
    causes = [cause.id for cause in book.causes]
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
    for signal, text in test.series.items():
        path = (*at, "series", signal)
        if not is_known_signal(signal):
            close = suggest_signal(signal)
            hint = f"did you mean {close}?" if close else "the signal reference lists the ids"
            yield document.problem("RB021", f"'{signal}' is no signal", path, key=True, hint=hint)
        try:
            parse_curve(text)
        except NotationError as error:
            yield document.problem("RB012", str(error), path, column=error.column)
    if test.log is not None:
        yield from _log_problems(test.log, (*at, "log"), document, file)


def _log_problems(log: str, path: tuple[str | int, ...], document: Document, file: Path) -> Iterator[Problem]:
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
