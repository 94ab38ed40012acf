"""Expressions compute, propagate what is missing, and admit nothing but arithmetic."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rl_diagnose.rules.expressions import MAX_LENGTH, MAX_NODES, ExpressionError, compile_expression

NAN = float("nan")


def value(text: str, **values: float) -> float:
    return float(compile_expression(text).evaluate(values))


def error(text: str) -> ExpressionError:
    with pytest.raises(ExpressionError) as caught:
        compile_expression(text)
    return caught.value


# -- names -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("policy.entropy_ratio.late.median - 0.05", ("policy.entropy_ratio.late.median",)),
        ("learning_rate * 3", ("learning_rate",)),
        ("policy.kl.fraction_above(0.0123456789)", ("policy.kl.fraction_above(0.0123456789)",)),
        ("value.loss.late.quantile( 0.9 )/2", ("value.loss.late.quantile(0.9)",)),
        ("policy.kl.fraction_above(-1e-3)", ("policy.kl.fraction_above(-1e-3)",)),
        ("a.slope(10000, 2) + a.slope(10000,3)", ("a.slope(10000, 2)", "a.slope(10000, 3)")),
        ("correlation(policy.kl,reward.train)", ("correlation(policy.kl, reward.train)",)),
        ("lag_steps(alpha, reward.train).late + 1", ("lag_steps(alpha, reward.train).late",)),
        ("max(n_steps, n_envs) + n_steps", ("n_envs", "n_steps")),
        ("1 + 2", ()),
    ],
)
def test_names_are_features_relations_and_plain_names(text: str, names: tuple[str, ...]) -> None:
    assert compile_expression(text).names == names


def test_each_name_knows_its_column() -> None:
    expression = compile_expression("  2 * policy.kl.max - max(a, a)")
    assert dict(zip(expression.names, expression.columns, strict=True)) == {"policy.kl.max": 7, "a": 27}


def test_names_can_be_replaced_in_the_text() -> None:
    expression = compile_expression(" a.b( 1,2 ) + a * log(a)  - c")
    assert expression.renamed({"a": "alpha", "a.b(1, 2)": "x.y"}) == " x.y + alpha * log(alpha)  - c"
    assert compile_expression("1 + 2").renamed({"a": "b"}) == "1 + 2"


def test_a_name_is_looked_up_as_a_whole() -> None:
    expression = compile_expression("policy.kl.fraction_above(0.05) + policy.kl.max")
    assert expression.evaluate({"policy.kl.fraction_above(0.05)": 0.25, "policy.kl.max": 0.5, "policy": 9.0}) == 0.75


def test_a_dot_reaches_no_attribute_of_a_value() -> None:
    expression = compile_expression("a.real + a.__class__.mro + a.tofile(1)")
    assert expression.names == ("a.__class__.mro", "a.real", "a.tofile(1)")
    assert np.isnan(expression.evaluate({"a": np.ones(3)})).all()


# -- values ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 + 2 * 3", 7.0),
        ("(1 + 2) * 3", 9.0),
        ("7 / 2 - -1", 4.5),
        ("-a * 2", -6.0),
        ("min(a, 2, 5)", 2.0),
        ("max(a, b)", 4.0),
        ("abs(-a)", 3.0),
        ("sqrt(b)", 2.0),
        ("log(exp(a))", 3.0),
        ("clip(a, 0, 1)", 1.0),
        ("clip(a, 3.5, 5)", 3.5),
        ("a < b", 1.0),
        ("a > b", 0.0),
        ("1 < a <= 3 < b", 1.0),
        ("a == 3 and b != 3", 1.0),
        ("a >= 4 or b >= 4", 1.0),
        ("not a", 0.0),
        ("not (a > b)", 1.0),
        ("2 and 3", 1.0),
        ("0 or 0", 0.0),
        ("1e-3 * 1_000", 1.0),
        ("a\n  + b", 7.0),
    ],
)
def test_arithmetic_is_arithmetic(text: str, expected: float) -> None:
    assert value(text, a=3.0, b=4.0) == pytest.approx(expected)


@pytest.mark.parametrize(
    "text",
    ["1 / 0", "0 / 0", "log(0)", "log(-1)", "sqrt(-1)", "exp(1e4)", "1e300 * 1e300", "1 / (1 / 0)", "a + 1", "b"],
)
def test_what_cannot_be_computed_is_missing(text: str) -> None:
    assert math.isnan(value(text, a=NAN))


@pytest.mark.parametrize(
    "text", ["-a", "a < 1", "a == a", "not a", "min(a, 1)", "max(1, a)", "clip(a, 0, 1)", "abs(a)"]
)
def test_what_is_missing_makes_the_result_missing(text: str) -> None:
    assert math.isnan(value(text, a=NAN))
    assert math.isnan(value(text, a=float("inf")))


def test_a_missing_part_matters_only_where_the_others_leave_it_open() -> None:
    assert value("a > 0 and 0", a=NAN) == 0.0
    assert value("a > 0 or 1", a=NAN) == 1.0
    assert math.isnan(value("a > 0 and 1", a=NAN))
    assert math.isnan(value("a > 0 or 0", a=NAN))
    assert value("0 < 1 < 0 < a", a=NAN) == 0.0


@given(st.lists(st.tuples(st.floats(), st.floats()), min_size=1, max_size=9))
def test_arrays_give_what_each_run_gives_alone(rows: list[tuple[float, float]]) -> None:
    expression = compile_expression("max(a / b, log(abs(a) + 1)) - (a > b and not b) * exp(b / 3)")
    together = expression.evaluate({"a": np.array([r[0] for r in rows]), "b": np.array([r[1] for r in rows])})
    alone = [float(expression.evaluate({"a": a, "b": b})) for a, b in rows]
    assert np.array_equal(together, np.array(alone), equal_nan=True)


def test_scalars_and_arrays_mix() -> None:
    assert compile_expression("a * c + 1").evaluate({"a": np.array([1.0, NAN, 3.0]), "c": 2.0}).tolist()[::2] == [3, 7]
    assert compile_expression("min(a, 2)").evaluate({"a": np.array([1.0, 3.0])}).tolist() == [1.0, 2.0]


# -- refusals ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("a ** 2", 1, "a power (**) is not allowed here"),
        ("1 + a // 2", 5, "floor division (//) is not allowed here"),
        ("a % 2", 3, "'%' is not allowed here"),
        ("1 + __import__('os')", 16, "''' is not allowed here"),
        ("1 + __import__(os)", 5, "unknown function '__import__'"),
        ("eval(a)", 1, "unknown function 'eval'"),
        ("(1).real", 1, "an attribute is not allowed here"),
        ("min(a, b).dtype", 1, "an attribute is not allowed here"),
        ("a.b(c)", 1, "a call of anything but a function by its name is not allowed here"),
        ("(a + b)(1)", 1, "a call of anything but a function by its name is not allowed here"),
        ("[a for a in b]", 1, "'[' is not allowed here"),
        ("a if b else c", 1, "if … else is not allowed here"),
        ("lambda: 1", 7, "':' is not allowed here"),
        ("(a := 1)", 4, "':' is not allowed here"),
        ("(a, b)", 1, "a list of values is not allowed here"),
        ("min(*a)", 1, "min takes 2 to 8 values, not 1"),
        ("min(a, b=1)", 1, "a call of anything but a function by its name is not allowed here"),
        ("max(a)", 1, "max takes 2 to 8 values, not 1"),
        ("sqrt(a, b)", 1, "sqrt takes 1 value, not 2"),
        ("clip(a, b)", 1, "clip takes 3 values, not 2"),
        ("1 + max", 5, "'max' is a function: it needs values in parentheses"),
        ("sum(a, b)", 1, "unknown function 'sum'"),
        ("a is b", 1, "Compare is not allowed here"),
        ("a in b", 1, "Compare is not allowed here"),
        ("2 + True", 5, "True is not a usable number"),
        ("None", 1, "None is not a usable number"),
        ("1e999", 1, "1e309 is not a usable number"),
        ("3j", 1, "3j is not a usable number"),
        ("+a", 1, "a leading + is not allowed here"),
        ("~a", 1, "'~' is not allowed here"),
        ("ä + 1", 1, "'ä' is not allowed here"),
        ('"a" + b', 1, "'\"' is not allowed here"),
        ("a.b.c(0.1).d", 1, "an attribute is not allowed here"),
    ],
)
def test_everything_else_is_refused_at_its_column(text: str, column: int, message: str) -> None:
    caught = error(text)
    assert (caught.column, caught.message) == (column, message)


@pytest.mark.parametrize(("text", "column"), [("1 +", 4), ("a b", 3), ("(a", 1), ("", 1), ("   ", 4), ("a = 1", 3)])
def test_broken_expressions_are_refused_at_their_column(text: str, column: int) -> None:
    caught = error(text)
    assert caught.message.startswith("not an expression: ")
    assert caught.column <= column + 1


def test_a_misspelt_function_is_recognised() -> None:
    assert error("mx(a, 1)").hint == "did you mean 'max'?"
    assert error("1 + sqr(a)").hint == "did you mean 'sqrt'?"


def test_length_is_limited_before_anything_is_parsed() -> None:
    assert error("1+" * 200_000 + "1").message == f"longer than {MAX_LENGTH} characters"
    assert value("1" + " " * (MAX_LENGTH - 1)) == 1.0


def test_the_number_of_terms_is_limited() -> None:
    assert error("+".join(["1"] * 60)).message == f"more than {MAX_NODES} terms"
    assert value("+".join(["1"] * 50)) == 50.0


def outcome(text: str) -> float | ExpressionError | np.ndarray:
    """The value, or the refusal; any other exception is a failure."""
    try:
        return compile_expression(text).evaluate({"a": np.array([1.0, NAN]), "b": 2.0})
    except ExpressionError as refusal:
        return refusal


@pytest.mark.parametrize("text", ["(" * 150 + "1" + ")" * 149, "-" * 299 + "1", "not " * 74 + "1", "((((" * 74])
def test_deep_nesting_is_refused_or_computed_but_never_crashes(text: str) -> None:
    found = outcome(text)
    assert isinstance(found, ExpressionError) or float(found) in (0.0, 1.0)


@given(st.text(alphabet="ab.()+-*/<>=!, 019_e\n", max_size=40))
def test_any_text_is_computed_or_refused_with_a_column(text: str) -> None:
    found = outcome(text)
    if isinstance(found, ExpressionError):
        assert 1 <= found.column <= len(text) + 2
        assert found.message
    else:
        assert not np.isinf(found).any()
