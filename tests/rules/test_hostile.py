"""Hostile rulebooks are refused with a clear message: in a process of its own with little memory, all of them in turn.

Processor time is measured there and printed by `python -m tests.rules.test_hostile`; no test depends on it, but for a
limit on the process that only a bomb could reach.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rl_diagnose.rules.expressions import ExpressionError, compile_expression

from .hostile import EXPRESSIONS, HARMLESS, HOSTILE, SYMPTOM

# Far more than all books take together on a slow machine.
PATIENCE = 300
MEGABYTES = 256
HUGE = "a file of 100 MB"
CIRCLE = "books in a circle"
MANY = "many large books"

# Loads each file that is named on standard input, tells what came of it, and goes on to the next.
CHILD = """
import json, sys, time
from pathlib import Path
from rl_diagnose import diagnose
from rl_diagnose.errors import RulebookError
from rl_diagnose.rules.library import load_book

load_book("ppo")  # what every use imports does not count
log = Path(sys.argv[1])
diagnose(log, "core")
try:
    import resource
except ImportError:  # Windows has no limits
    resource = None
else:
    pages = Path("/proc/self/statm")
    used = int(pages.read_text().split()[0]) * resource.getpagesize() if pages.exists() else 2**30
    limit = used + int(sys.argv[2]) * 2**20
    try:
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    except (OSError, ValueError):  # macOS knows the limit, but does not take it
        pass
for line in sys.stdin:
    path = Path(line.rstrip("\\n"))
    start, codes, text = time.process_time(), [], ""
    try:
        load_book(path)
        diagnose(log, [path])
    except RulebookError as error:
        codes, text = [problem.code for problem in error.problems], str(error)
    seconds = time.process_time() - start
    print(json.dumps({"file": path.name, "codes": codes, "text": text, "seconds": seconds}), flush=True)
"""


def file_of(name: str) -> str:
    if name == "extends itself":
        return "extends_itself.yaml"
    return "".join(c if c.isascii() and c.isalnum() else "_" for c in name)[:60] + f"_{zlib.crc32(name.encode())}.yaml"


def write_all(folder: Path) -> list[Path]:
    paths = []
    for name, source in {**{k: v for k, (v, _) in HOSTILE.items()}, **HARMLESS}.items():
        path = folder / file_of(name)
        path.write_bytes(source.encode() if isinstance(source, str) else source)
        paths.append(path)
    huge = folder / file_of(HUGE)
    with huge.open("wb") as file:
        file.write(b"schema: rulebook/v1\n")
        file.truncate(100_000_000)
    (folder.parent / "outside.yaml").write_text("schema: rulebook/v1\n", "utf-8")
    head = 'schema: rulebook/v1\nid: {0}\nversion: "1.0.0"\ntitle: {0}\nextends: [{1}]\n'
    for here, there in (("first", "second"), ("second", "first")):
        (folder / f"{here}.yaml").write_text(head.format(here, f"{there}.yaml"), "utf-8")
    circle = folder / file_of(CIRCLE)
    circle.write_text(head.format("circle", "first.yaml"), "utf-8")
    names = [f"large_{i}" for i in range(16)]
    for name in names:
        body = "".join(f"  {name}_{i}: {SYMPTOM}\n" for i in range(400)) + f"# {'x' * 300_000}\n"
        (folder / f"{name}.yaml").write_text(f"{head.format(name, '')}symptoms:\n{body}", "utf-8")
    many = folder / file_of(MANY)
    many.write_text(head.format("many", ", ".join(f"{name}.yaml" for name in names)), "utf-8")
    return [*paths, huge, circle, many]


def run_all(folder: Path) -> tuple[dict[str, dict[str, Any]], str]:
    """What came of each file by its name, and what the process said on its way out."""
    books = folder / "books"
    books.mkdir()
    log = folder / "run.csv"
    log.write_text("step,reward,lr\n" + "".join(f"{1000 * i},{i},0.001\n" for i in range(1, 60)), "utf-8")
    asked = "".join(f"{path}\n" for path in write_all(books))
    done = subprocess.run(  # noqa: S603 - this interpreter, on files written above
        [sys.executable, "-c", CHILD, str(log), str(MEGABYTES)],
        input=asked,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1", "PYTHONIOENCODING": "utf-8"},
    )
    told = [json.loads(line) for line in done.stdout.splitlines()]
    return {one["file"]: one for one in told}, done.stderr


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, dict[str, Any]], str]:
    return run_all(tmp_path_factory.mktemp("hostile"))


def outcome(told: tuple[dict[str, dict[str, Any]], str], name: str) -> dict[str, Any]:
    found, said = told
    file = file_of(name)
    assert file in found, f"the process did not survive this book or one before it: {said[-2000:]}"
    return found[file]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_book_is_refused_with_a_clear_message(told: tuple[dict[str, dict[str, Any]], str], name: str) -> None:
    found = outcome(told, name)
    assert found["codes"], "it was loaded"
    assert HOSTILE[name][1] in found["codes"], found["text"][:2000]
    # Clear also means: not by the thousand, and with nothing that steers a terminal.
    assert len(found["codes"]) <= 120
    assert len(found["text"]) < 60_000
    assert "\x1b" not in found["text"]


@pytest.mark.parametrize(("name", "code"), [(HUGE, "RB002"), (CIRCLE, "RB031"), (MANY, "RB002")])
def test_a_hostile_file_is_refused(told: tuple[dict[str, dict[str, Any]], str], name: str, code: str) -> None:
    assert set(outcome(told, name)["codes"]) == {code}


@pytest.mark.parametrize("name", HARMLESS)
def test_an_odd_book_within_the_limits_judges_a_run(told: tuple[dict[str, dict[str, Any]], str], name: str) -> None:
    assert outcome(told, name)["codes"] == [], outcome(told, name)["text"]


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_an_expression_reaches_nothing_but_numbers(text: str) -> None:
    with pytest.raises(ExpressionError):
        compile_expression(text)


class Treacherous:
    """A value that tells on whoever touches anything of it but its worth as a number."""

    def __init__(self) -> None:
        self.touched: list[str] = []

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.asarray(2.0, dtype=dtype)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__array"):
            self.touched.append(name)
        raise AttributeError(name)


def test_a_dot_in_an_expression_is_part_of_a_name_and_touches_nothing() -> None:
    value = Treacherous()
    found = compile_expression("learning_rate.real.last + learning_rate").evaluate({"learning_rate": value})  # type: ignore[dict-item]
    assert np.isnan(found)
    assert value.touched == []


def test_a_glob_of_death_in_a_suppression_costs_nothing() -> None:
    from rl_diagnose.diagnosis.suppressing import _fits
    from rl_diagnose.signals.run import Run

    run = Run(id="a" * 2000, path="a" * 200, framework="", series={})
    assert not _fits("*a" * 400 + "b", run)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        results, said = run_all(Path(folder))
        for one in sorted(results.values(), key=lambda r: -r["seconds"]):
            sys.stdout.write(f"{one['seconds']:7.3f} s  {one['codes'][:1]}  {one['file']}\n")
        sys.stdout.write(said)
