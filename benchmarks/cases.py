"""Real users' runs whose cause a public thread settled: what the product says of the numbers that were posted.

    python benchmarks/cases.py [--cases DIR] [--rules BOOK ...] [--config known|unknown] [--json OUT]

Each file of `cases/` is one thread: its address, the numbers in the form in which they were posted, and how the thread
ended. The product reads the numbers as it reads any log file. With `--config known` it is told besides what the thread
says about the run: algorithm, action space, hyper-parameters. A case is settled by a cause (then one of `expected`
should be among the three most probable, and not a mere remainder of probability) or by "nothing is wrong" (`benign`;
then no cause should have a probability of ½ or more).
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal

import yaml

from rl_diagnose.diagnosis.pipeline import diagnose_runs
from rl_diagnose.diagnosis.reading import Unreadable, locate, parse_action_space, read_runs
from rl_diagnose.errors import LogError, NoReadableRunError, RlDiagnoseError, UsageError
from rl_diagnose.logs.adapter import ReadOptions
from rl_diagnose.rules.library import load_book
from rl_diagnose.signals.run import ConfigValue

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rl_diagnose.diagnosis.model import RunDiagnosis
    from rl_diagnose.rules.book import Book
    from rl_diagnose.signals.run import Run

__all__ = ["Answer", "Case", "answer_cases", "read_case", "read_cases", "summary"]

CASES = Path(__file__).resolve().parent / "cases"
FIRST = 3  # how many causes a user reads
LEAST = 0.1  # a cause below this is no answer, whatever its place
ALARM = 0.5
_REQUIRED = {"source", "framework", "algorithm", "settled", "file", "log"}
_FIELDS = _REQUIRED | {"task", "benign", "expected", "known", "note"}
_FILES = (".log", ".csv", ".jsonl")

Knowledge = Literal["known", "unknown"]


@dataclass(frozen=True, slots=True)
class Case:
    """One thread. `id` is the name of its file; `log` is the text that is read, as a file called `file`.

    `expected` are the causes of which any is a right answer; it is empty for a case that was settled as benign.
    `known` is what the thread states: hyper-parameters under canonical names, and `action_space` (``discrete:4``).
    """

    id: str
    source: str
    framework: str
    algorithm: str
    settled: str
    file: str
    log: str
    expected: frozenset[str] = frozenset()
    known: Mapping[str, float | int | bool | str] = field(default_factory=dict)

    @property
    def benign(self) -> bool:
        """Whether the thread ended with "nothing is wrong"."""
        return not self.expected


@dataclass(frozen=True, slots=True)
class Answer:
    """What the product says of a case: its verdict and why, and the assessed faults, the most probable first.

    `others` are causes that are no faults (benign, or too little data) and more probable than not.
    """

    case: Case
    verdict: str
    reason: str
    said: tuple[tuple[str, float], ...] = ()
    others: tuple[str, ...] = ()
    points: int = 0

    @property
    def right(self) -> bool:
        """Whether a settled cause is among the first three (or named, where it is no fault), or a benign case raised no
        alarm.
        """
        if self.case.benign:
            return not any(probability >= ALARM for _, probability in self.said)
        first = [cause for cause, probability in self.said[:FIRST] if probability >= LEAST]
        return not self.case.expected.isdisjoint([*first, *self.others])


def read_cases(folder: Path) -> tuple[Case, ...]:
    """All cases of a folder, by name. Raises `UsageError` for one that cannot be meant, or when there is none."""
    cases = tuple(read_case(path) for path in sorted(folder.glob("*.yaml")))
    if not cases:
        raise UsageError("no case (*.yaml) is in the folder", place=folder)
    return cases


def read_case(path: Path) -> Case:
    """Raises `UsageError` for a field that is missing, unknown or not of its kind."""
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    if not isinstance(data, dict) or not set(data) >= _REQUIRED or not set(data) <= _FIELDS:
        wrong = sorted(set(data) ^ _REQUIRED - _FIELDS) if isinstance(data, dict) else []
        raise UsageError(f"a case has the fields {', '.join(sorted(_REQUIRED))}; see {wrong}", place=path)
    if not all(isinstance(data[name], str) and data[name].strip() for name in _REQUIRED):
        raise UsageError(f"{', '.join(sorted(_REQUIRED))} are texts", place=path)
    expected = data.get("expected", [])
    if (data.get("benign") is True) == bool(expected) or not isinstance(expected, list):
        raise UsageError("a case is settled either by a list of expected causes or by benign: true", place=path)
    if not data["file"].endswith(_FILES):
        raise UsageError(f"the log is read as one of {', '.join(_FILES)}", place=path)
    return Case(
        id=path.stem,
        source=data["source"],
        framework=data["framework"],
        algorithm=data["algorithm"],
        settled=data["settled"],
        file=data["file"],
        log=data["log"],
        expected=frozenset(map(str, expected)),
        known=data.get("known", {}),
    )


def answer_cases(cases: Sequence[Case], books: Sequence[Book] | None, knowledge: Knowledge) -> list[Answer]:
    """What the product says of each case, in order."""
    with TemporaryDirectory() as folder:
        runs = [_read(case, Path(folder), knowledge) for case in cases]
    diagnoses = iter(diagnose_runs([run for run in runs if not isinstance(run, str)], books))
    return [
        Answer(case, "unreadable", run) if isinstance(run, str) else _answer(case, next(diagnoses))
        for case, run in zip(cases, runs, strict=True)
    ]


def _read(case: Case, folder: Path, knowledge: Knowledge) -> Run | str:
    """The run, read from a file as a user would have it; or why it cannot be read."""
    path = folder / case.id / case.file
    path.parent.mkdir()
    path.write_text(case.log, encoding="utf-8")
    space = case.known.get("action_space") if knowledge == "known" else None
    options = ReadOptions(action_space=None if space is None else parse_action_space(str(space)))
    try:
        run = next(iter(read_runs(locate([str(path)]).sources, options)))
    except (NoReadableRunError, LogError) as error:
        return error.fact
    if isinstance(run, Unreadable):
        return run.reason
    if knowledge == "unknown":
        return run
    config = {name: ConfigValue(value, "the thread") for name, value in case.known.items() if name != "action_space"}
    return replace(run, algorithm=run.algorithm or case.algorithm, config={**config, **run.config})


def _answer(case: Case, diagnosis: RunDiagnosis) -> Answer:
    said = tuple((c.id, c.probability) for c in diagnosis.findings if c.probability is not None)
    others = tuple(c.id for c in diagnosis.causes if c.kind != "fault" and (c.probability or 0.0) >= ALARM)
    return Answer(case, diagnosis.verdict, diagnosis.verdict_reason, said, others, diagnosis.points)


def summary(answers: Sequence[Answer]) -> dict[str, int]:
    """Counts over the cases: right answers of either kind, and cases on which nothing could be said."""
    benign = [answer for answer in answers if answer.case.benign]
    settled = [answer for answer in answers if not answer.case.benign]
    return {
        "settled": len(settled),
        "settled_in_first_three": sum(answer.right for answer in settled),
        "settled_first": sum(a.right and a.said[0][0] in a.case.expected for a in settled if a.said),
        "settled_with_a_finding": sum(answer.verdict == "finding" for answer in settled),
        "benign": len(benign),
        "benign_without_alarm": sum(answer.right for answer in benign),
        "cannot_tell": sum(answer.verdict == "cannot_tell" for answer in answers),
        "unreadable": sum(answer.verdict == "unreadable" for answer in answers),
    }


def as_text(answers: Sequence[Answer], knowledge: Knowledge) -> str:
    """One block a case, then the counts."""
    lines = []
    for answer in answers:
        wanted = "nothing wrong" if answer.case.benign else " | ".join(sorted(answer.case.expected))
        said = ", ".join(f"{cause} {probability:.2f}" for cause, probability in answer.said[:FIRST])
        mark = "ok  " if answer.right else "MISS"
        lines.append(f"{mark} {answer.case.id}  [{answer.verdict}, {answer.points} points]")
        lines += [f"       expected: {wanted}", f"       said:     {said or answer.reason}"]
        if answer.others:
            lines.append(f"       no fault: {', '.join(answer.others)}")
    counts = summary(answers)
    lines += [
        "",
        f"hyper-parameters {knowledge}; {len(answers)} cases",
        f"settled cause in the first three: {counts['settled_in_first_three']} of {counts['settled']}",
        f"  first: {counts['settled_first']}; verdict is a finding: {counts['settled_with_a_finding']}",
        f"benign without a cause at p >= {ALARM}: {counts['benign_without_alarm']} of {counts['benign']}",
        f"cannot tell: {counts['cannot_tell']}; unreadable: {counts['unreadable']}",
    ]
    return "\n".join(lines)


def as_document(answers: Sequence[Answer], knowledge: Knowledge) -> dict[str, Any]:
    """The same as plain data."""
    cases = [
        {
            "id": answer.case.id,
            "source": answer.case.source,
            "framework": answer.case.framework,
            "algorithm": answer.case.algorithm,
            "benign": answer.case.benign,
            "expected": sorted(answer.case.expected),
            "verdict": answer.verdict,
            "reason": answer.reason,
            "points": answer.points,
            "right": answer.right,
            "said": [{"cause": c, "probability": p} for c, p in answer.said[:FIRST]],
            "no_fault": list(answer.others),
        }
        for answer in answers
    ]
    return {"config": knowledge, "summary": summary(answers), "cases": cases}


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark; 0, or 2 when a case or a rulebook cannot be used."""
    parser = argparse.ArgumentParser(description="What the product says of runs whose cause a public thread settled.")
    parser.add_argument("--cases", type=Path, default=CASES, metavar="DIR", help="folder with the cases")
    parser.add_argument("--rules", action="append", metavar="BOOK", help="rulebooks; the default ones if not given")
    parser.add_argument("--config", choices=("known", "unknown"), default="unknown", help="tell what the thread says")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the result as JSON")
    options = parser.parse_args(arguments)
    try:
        cases = read_cases(options.cases)
        books = [load_book(book) for book in options.rules] if options.rules else None
        answers = answer_cases(cases, books, options.config)
    except RlDiagnoseError as error:
        sys.stderr.write(f"cases: {error}\n")
        return 2
    print(as_text(answers, options.config))
    if options.json is not None:
        text = json.dumps(as_document(answers, options.config), indent=1)
        options.json.write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
