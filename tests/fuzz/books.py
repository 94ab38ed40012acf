"""Targets that read rulebooks and what stands in them: YAML, expressions, names of features, curves."""

from __future__ import annotations

import math

import numpy as np

from rl_diagnose.errors import LogError, RulebookError, UsageError
from rl_diagnose.features.grammar import FeatureNameError, parse_feature
from rl_diagnose.rules.check import check_book
from rl_diagnose.rules.expressions import ExpressionError, compile_expression
from rl_diagnose.rules.library import load_book
from rl_diagnose.rules.yaml_loader import parse_yaml
from rl_diagnose.testing.notation import NotationError, parse_curve
from rl_diagnose.testing.read import read_tests

from .seeds import heads
from .target import TEXT, Target, written

__all__ = ["BOOKS"]

_LOG = (LogError, UsageError)


_BOOK = (
    b'schema: rulebook/v1\nid: house\nversion: "1.0.0"\ntitle: House\napplies_to: {algorithm: [ppo]}\n'
    b'derive: {x: "policy.kl.late.median / max(n_steps, 1)"}\nwindows: {w: {fraction: {from: 0.1, to: 0.5}}}\n'
    b"symptoms:\n  s: {title: s, base_rate: common, derived: x, rising: {low: 0, high: 1}}\n"
    b"  t: {title: t, base_rate: rare, feature: reward.train.w.slope,\n"
    b"      band: {low: 0, full_low: 1, full_high: 2, high: 3}}\n"
    b"  u: {title: u, base_rate: 0.2, all: [{symptom: s}, {not: {symptom: t}}]}\n"
    b"causes:\n  c: {title: c, prior: 0.1, evidence: [{symptom: u, seen: often}]}\n"
)


def _rulebook(data: bytes) -> None:
    path = written("book.yaml", data)
    for problem in check_book(path):
        assert problem.render()
        assert problem.line >= 0
    load_book(path)


def _rulebook_seeds() -> list[bytes]:
    return [_BOOK, *heads("[0-9].[0-9].[0-9].yaml", TEXT, 4)]


def _rulebook_tests(data: bytes) -> None:
    read_tests(written("book.test.yaml", data), load_book("core"))


def _rulebook_test_seeds() -> list[bytes]:
    made = (
        b'tests:\n  - name: the return becomes infinite\n    series: {reward.train: "20+2.4x75 infx5 noise:2"}\n'
        b"    expect: [{cause: non_finite_values, at_least: 0.8}]\n"
        b"    reject: [{cause: reward_never_seen, at_most: 0.1}]\n"
    )
    return [made, *heads("[0-9].[0-9].[0-9].test.yaml", TEXT, 4)]


def _yaml(data: bytes) -> None:
    document, problems = parse_yaml(data, "book.yaml")
    assert document is not None or problems
    for problem in problems:
        assert problem.render()
        assert problem.line >= 0
        assert problem.column >= 0


def _yaml_seeds() -> list[bytes]:
    odd = b"a: &x [1, 0x10, .inf, 1e999]\nb: *x\nc: !t {d: |\n  text\n, e: 'f', \"g\\n\": ~}\na: 1\n? [k]\n: v\n"
    return [odd, *_rulebook_seeds()]


def _expression(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    expression = compile_expression(text)
    assert list(expression.names) == sorted(set(expression.names))
    for name, column in zip(expression.names, expression.columns, strict=True):
        assert text[column - 1] == name[0]
    assert "".join(expression.renamed({}).split()) == "".join(text.split())
    assert expression.evaluate({}).shape == ()
    values = np.array([0.0, -1.5, math.nan, 1e308, 1e-320])
    shape = expression.evaluate(dict.fromkeys(expression.names, values)).shape
    assert shape == (values.shape if expression.names else ())
    assert not np.isinf(expression.evaluate(dict.fromkeys(expression.names, values))).any()


def _expression_seeds() -> list[bytes]:
    texts = [
        "policy.kl.late.median / max(n_steps, 1) >= 3 * learning_rate",
        "correlation(policy.kl, reward.train).late + policy.kl.fraction_above(-1e-3)",
        "not (a < b <= c and -a.b.c != 1.5e3 or clip(x, 0, 1) == log(exp(sqrt(abs(y)))))",
        "a.slope(10000, 2) - min(1, 2, lag_steps(alpha, reward.train))",
        "1 if a else b ** 2 // 3 % f(x)[0]",
    ]
    return [text.encode() for text in texts]


def _feature(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    found = parse_feature(text)
    assert parse_feature(found.text) == found


def _feature_seeds() -> list[bytes]:
    texts = [
        "policy.kl.late.median",
        "value.loss.quantile(0.9)",
        "policy.kl.fraction_above( 1e-3 )",
        "raw.x.y.late.max",
    ]
    return [text.encode() for text in [*texts, "lag_steps(policy.entropy, reward.train).late", "reward.train.slope"]]


def _curve(data: bytes) -> None:
    curve = parse_curve(data.decode("utf-8", "replace"), "policy.kl")
    assert curve.value.shape == curve.logged.shape


def _curve_seeds() -> list[bytes]:
    return [b"20+2x40 250-8x30 _x3 (9.5x4 12)x2 noise:0.5", b"1*0.9x10 nan inf -inf 2-0.5x10 noise:5% seed:7", b"_ 3.5"]


BOOKS = (
    Target("rulebook", _rulebook_seeds, _rulebook, (RulebookError,)),
    Target("rulebook_tests", _rulebook_test_seeds, _rulebook_tests, (RulebookError,)),
    Target("yaml", _yaml_seeds, _yaml),
    Target("expression", _expression_seeds, _expression, (ExpressionError,)),
    Target("feature", _feature_seeds, _feature, (FeatureNameError,)),
    Target("curve", _curve_seeds, _curve, (NotationError,)),
)
