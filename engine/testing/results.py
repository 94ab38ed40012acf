"""Running the tests of a book: what each expected, what came out, and which causes no test speaks about."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Literal

from ..diagnosis.explain import explain
from ..diagnosis.pipeline import diagnose_runs
from ..errors import RlDiagnoseError
from ..rules.yaml_loader import load_yaml
from .read import ENDING, read_tests
from .runs import run_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from ..diagnosis.explain import Explanation
    from ..diagnosis.model import CauseFinding, RunDiagnosis
    from ..rules.book import Book
    from ..rules.yaml_loader import Document
    from .model import AuthoredTest, AuthoredTests

__all__ = ["BookResults", "CaseResult", "Failure", "run_tests", "uncovered"]

Outcome = Literal["passed", "failed", "todo", "todo_passes", "error"]


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
    document, _ = load_yaml(file.with_name(file.name.removesuffix(ENDING) + ".yaml"))
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
        todo = test.todo if isinstance(test.todo, str) else "a known gap"
        return CaseResult(test.name, "todo" if failures else "todo_passes", place, failures, todo)
    return CaseResult(test.name, "failed" if failures else "passed", place, failures)


def _failures(test: AuthoredTest, diagnosis: RunDiagnosis, book: Book) -> Iterator[Failure]:
    for expected in test.expect:
        yield from _compare(expected.cause, diagnosis, book, low=expected.at_least)
    for rejected in test.reject:
        yield from _compare(rejected.cause, diagnosis, book, high=rejected.at_most)
    for name in test.not_assessable:
        finding = _finding(diagnosis, name)
        if finding is None:
            yield Failure(f"{name} is not about such a run, not_assessable was expected")
        elif finding.status != "not_assessable":
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
