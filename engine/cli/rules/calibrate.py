"""`rl-diagnose rules calibrate BOOK… --corpus DIR`: hold a book's probabilities to labelled runs, and correct them."""

from __future__ import annotations

import sys

from ..parser import Parser, add_common

TYPE_CHECKING = False  # importing `typing` costs as much as parsing the command line
if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from ...calibrating.labels import Answer
    from ...testing.corpus import Labelled

__all__ = ["parser", "run"]

REJECTED = 1

_DESCRIPTION = """\
Compare what a rulebook says with labelled runs: how often is what it calls 70 % true? Fits the two numbers of Platt
scaling, shrunk towards no change, and judges them on environments that the fit has not seen. A correction that does not
help there is left out. Prints a reliability table and the calibration block; --write puts the block into the file.
"""

_EXAMPLES = """\
examples:
  rl-diagnose rules calibrate house.yaml --corpus labelled/          labelled/labels.csv, labelled/runs/<run_id>/
  rl-diagnose rules calibrate house.yaml --corpus labelled/ --write
  rl-diagnose rules calibrate ppo dqn --corpus one/ --corpus two/    runs of both folders together
  rl-diagnose rules calibrate house.yaml --corpus labelled/ --words  fit what "usually" and "rare" stand for, too
  rl-diagnose rules calibrate house.yaml --corpus labelled/ --by team

exit codes: 0 calibrated, 1 the probabilities are wrong and no correction helps, 2 usage or too few labels,
3 a book is invalid
"""


def parser() -> Parser:
    """Options of `rl-diagnose rules calibrate`."""
    options = Parser(prog="rl-diagnose rules calibrate", description=_DESCRIPTION, epilog=_EXAMPLES)
    options.add_argument("books", nargs="+", metavar="BOOK", help="path, id (ppo) or id with version (ppo@1)")
    options.add_argument(
        "--corpus",
        action="append",
        required=True,
        metavar="DIR",
        help="folder with labels.csv and runs/; may be repeated",
    )
    options.add_argument(
        "--acceptable", metavar="FILE", help="which causes answer which fault (default: acceptable.yaml in each DIR)"
    )
    options.add_argument(
        "--by", default="env", metavar="COLUMN", help="column of labels.csv whose values are left out in turn (env)"
    )
    options.add_argument("--words", action="store_true", help="fit the numbers that the words stand for, too")
    options.add_argument("--write", action="store_true", help="put the block into the file; BOOK must be its path")
    options.add_argument("--format", choices=("rich", "json"), default="rich", help="default: rich")
    add_common(options)
    return options


def run(options: argparse.Namespace) -> int:
    """Calibrate every book, print or write the blocks; 1 where one is rejected.

    Raises `UsageError` for a corpus that cannot be used or is too small, `RulebookError` for an invalid book.
    """
    from datetime import UTC, datetime

    from ...calibrating.block import block_text, corpus_hash, with_block
    from ...calibrating.fit import calibrate
    from ...calibrating.labels import unknown_faults
    from ...calibrating.measure import measure
    from ...calibrating.words import used_words
    from ...errors import UsageError
    from ...report.calibration import Calibrated, calibration_text, to_json
    from ...rules.library import load_book, read_book
    from ...testing.corpus import runs_of
    from ..output import print_bytes, write_file

    files = [_file(reference, write=options.write) for reference in options.books]
    sources = [None if file is None else file.read_bytes() for file in files]
    books = [load_book(reference) for reference in options.books]
    corpus, answers, labels = _corpora(options.corpus, options.acceptable, options.by)
    by_id = {answer.id: answer for answer in answers}
    measured = measure(books, ((by_id[labelled.id], read) for labelled, read in runs_of(corpus)))
    done = []
    for reference, book, one in zip(options.books, books, measured, strict=True):
        merged = read_book(reference)[0] if options.words else None
        fit = calibrate(one, None if merged is None else used_words(merged))
        block = None
        if fit.decision != "rejected":
            block = block_text(fit, corpus_hash(labels, one.answers), datetime.now(UTC).date())
        done.append(Calibrated(book, one, fit, options.by, unknown_faults(book, one.answers), block))
    written = []
    for result, file, source in zip(done, files, sources, strict=True):
        if file is None or source is None or result.block is None:
            continue
        if file.read_bytes() != source:
            raise UsageError("the file was changed in the meantime", place=file, hint="run the command again")
        write_file(file, with_block(source, result.block, str(file)).decode("utf-8"))
        written.append(result.book.id)
    if options.format == "json":
        print_bytes(to_json(done))
    else:
        from rich.console import Console

        console = Console(file=sys.stdout, width=options.width, highlight=False)
        console.print(calibration_text(done, written, plain=console.options.ascii_only), soft_wrap=True, end="")
    return REJECTED if any(result.fit.decision == "rejected" for result in done) else 0


def _file(reference: str, *, write: bool) -> Path | None:
    """The file to write to; None where nothing is to be written. A book of the library must be named by its path."""
    from ...errors import UsageError
    from ...rules.library import book_file

    if not write:
        return None
    if not (reference.endswith((".yaml", ".yml")) or "/" in reference or "\\" in reference):
        raise UsageError(
            f"'{reference}' names an installed rulebook, which --write does not change",
            hint=f"calibrate a copy, or name the file itself: {book_file(reference)}",
        )
    return book_file(reference)


def _corpora(folders: list[str], acceptable: str | None, by: str) -> tuple[list[Labelled], list[Answer], list[Path]]:
    """All labelled runs of the folders, their answers, and the files that say so."""
    from pathlib import Path

    from ...calibrating.labels import ACCEPTABLE, answers, read_acceptable
    from ...errors import UsageError
    from ...testing.corpus import LABELS, read_corpus

    corpus: list[Labelled] = []
    found: list[Answer] = []
    files: list[Path] = []
    for folder in folders:
        rows = read_corpus(folder)
        beside = Path(acceptable) if acceptable is not None else Path(folder) / ACCEPTABLE
        accepted = read_acceptable(beside) if acceptable is not None or beside.is_file() else ()
        files += [Path(folder) / LABELS, *([beside] if accepted else [])]
        corpus += rows
        found += answers(rows, accepted, by)
    ids = [answer.id for answer in found]
    twice = sorted({name for name in ids if ids.count(name) > 1}) if len(set(ids)) < len(ids) else []
    if twice:
        raise UsageError(f"runs are in two of the corpora: {', '.join(twice[:5])}", place=", ".join(folders))
    return corpus, found, files
