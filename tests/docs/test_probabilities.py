"""The page on probabilities: every line of its calculation is right, and its end is what the program says."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rl_diagnose.rules.library import load_book
from rl_diagnose.rules.scoring import Scores, score

PAGE = (Path(__file__).parents[2] / "docs" / "probabilities.md").read_text("utf-8")
BOOK = PAGE.split("```yaml\n")[1].split("```")[0]
LINES = [line for block in re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()]
FUNCTIONS = {"ln": math.log, "log10": math.log10, "exp": math.exp}
OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: math.pow,
}


def calculator(text: str) -> float:
    """A pocket calculator."""

    def value(node: ast.expr) -> float:
        match node:
            case ast.Constant(value=int() | float() as number):
                return float(number)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -value(operand)
            case ast.BinOp(left=left, op=op, right=right):
                return float(OPERATORS[type(op)](value(left), value(right)))
            case ast.Call(func=ast.Name(id=name), args=[argument]):
                return FUNCTIONS[name](value(argument))
        raise AssertionError(ast.dump(node))

    return value(ast.parse(text.strip(), mode="eval").body)


def last_digit(number: str) -> float:
    """What the last digit that is written is worth."""
    return 10.0 ** -len(number.partition(".")[2])


@pytest.mark.parametrize("line", LINES)
def test_each_line_is_right_to_the_digits_that_it_shows(line: str) -> None:
    formula, _, result = line.rpartition("=")
    # The numbers in a line are rounded themselves, so that one more of the last digit may be off.
    assert calculator(formula) == pytest.approx(float(result), abs=1.01 * last_digit(result.strip()))


def result_of(formula: str) -> float:
    (line,) = [line for line in LINES if line.startswith(formula)]
    return float(line.rpartition("=")[2])


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> Scores:
    path = tmp_path_factory.mktemp("page") / "example.yaml"
    path.write_text(BOOK, "utf-8")
    book = load_book(path)
    there = {"rate_large": math.log(8) / math.log(10), "return_fell": 0.5 + 0.95 * ((0.67 - 0.4) / 0.3 - 0.5)}
    mu = np.array([[there[symptom.id] for symptom in book.symptoms]] * 2)
    known = np.ones_like(mu, dtype=np.bool_)
    known[1, [symptom.id for symptom in book.symptoms].index("rate_large")] = False
    every = np.ones((2, len(book.causes)), dtype=np.bool_)
    return score(book, mu, known, [frozenset(), frozenset()], every)


def test_the_end_is_what_the_program_says(scores: Scores) -> None:
    fast, other = scores.causes.index("too_fast"), scores.causes.index("other_task")
    assert scores.probability[0, fast] == pytest.approx(result_of("(2.005"), abs=6e-4)
    assert scores.probability[0, other] == pytest.approx(result_of("(0.2261"), abs=6e-4)
    assert scores.explained_away[0, fast] == pytest.approx(result_of("10 * log10(0.635"), abs=0.02)
    alone = 1 / (1 + math.exp(-scores.single_logit[0, fast]))
    assert alone == pytest.approx(result_of("1 / (1 + 10 **"), abs=6e-4)
    weights = [result_of("10 * log10(0.8627"), result_of("10 * log10(0.728")]
    assert scores.weights["too_fast"][0] == pytest.approx(weights, abs=0.01)


def test_the_coverage_is_what_the_program_says(scores: Scores) -> None:
    assert scores.coverage[1, scores.causes.index("too_fast")] == pytest.approx(result_of("9.03 /"), abs=1e-3)


def test_the_floor_of_the_coverage_is_that_of_the_program() -> None:
    from rl_diagnose.diagnosis.findings import COVERAGE_FLOOR

    assert f"a coverage below {COVERAGE_FLOOR:g}" in PAGE


def test_the_example_is_a_sound_book(tmp_path: Path) -> None:
    from rl_diagnose.rules.check import check_book

    path = tmp_path / "example.yaml"
    path.write_text(BOOK, "utf-8")
    assert {problem.code for problem in check_book(path)} <= {"RB104", "RB108"}
