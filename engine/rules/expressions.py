"""Arithmetic in rulebooks: Python's own parser, a whitelist, and evaluation over numpy arrays.

Known: numbers, ``+ - * /``, unary minus, comparison, ``and or not``, ``min max abs sqrt log exp clip``, and names. A dotted name is
a feature (``policy.kl.late.median``, also with arguments: ``policy.kl.fraction_above(0.05)``), a plain name a configuration value or
a derived feature. NaN means missing and propagates; dividing by 0, logarithms of what is not positive and overflow give missing.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["MAX_LENGTH", "MAX_NODES", "Expression", "ExpressionError", "compile_expression"]

MAX_LENGTH = 300
MAX_NODES = 100
_FUNCTIONS = {"min": (2, 8), "max": (2, 8), "abs": (1, 1), "sqrt": (1, 1), "log": (1, 1), "exp": (1, 1), "clip": (3, 3)}
_HINT = "known are numbers, + - * /, comparison, and/or/not, min max abs sqrt log exp clip, features and configuration values"


class ExpressionError(Exception):
    """An expression that cannot be used: `message`, and the `column` (from 1) in its text."""

    def __init__(self, message: str, column: int = 1, hint: str = _HINT) -> None:
        self.message, self.column, self.hint = message, column, hint
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Expression:
    """A checked expression; `names` are the features, configuration values and derived features it needs, sorted."""

    text: str
    names: tuple[str, ...]
    _tree: ast.expr

    def evaluate(self, values: Mapping[str, Floats | float]) -> Floats:
        """The value for `values` (name → scalar or array, NaN = missing); arrays broadcast."""
        with np.errstate(all="ignore"):
            result = np.asarray(_evaluate(self._tree, values), dtype=np.float64)
        return np.where(np.isfinite(result), result, np.nan)


def compile_expression(text: str) -> Expression:
    """Check and compile. Raises `ExpressionError` with the column of what is not allowed."""
    if len(text) > MAX_LENGTH:
        raise ExpressionError(f"longer than {MAX_LENGTH} characters")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        column = getattr(error, "offset", None) or 1
        raise ExpressionError(f"not an expression: {getattr(error, 'msg', None) or error}", column) from None
    if sum(1 for _ in ast.walk(tree)) > 4 * MAX_NODES:
        raise ExpressionError(f"more than {MAX_NODES} terms")
    names: set[str] = set()
    count = _check(tree, names)
    if count > MAX_NODES:
        raise ExpressionError(f"more than {MAX_NODES} terms")
    return Expression(text, tuple(sorted(names)), tree)


def _name(node: ast.expr) -> str | None:
    """The dotted name a node spells, with feature arguments; None when it is something else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        owner = _name(node.value)
        return None if owner is None else f"{owner}.{node.attr}"
    if isinstance(node, ast.Call) and not node.keywords:
        if isinstance(node.func, ast.Attribute):
            numbers = [_number(argument) for argument in node.args]
            owner = _name(node.func)
            if owner is not None and all(n is not None for n in numbers):
                return f"{owner}({', '.join(f'{n:g}' for n in numbers if n is not None)})"
    return None


def _number(node: ast.expr) -> float | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _number(node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        try:
            value = float(node.value)
        except OverflowError:
            return None
        return value if np.isfinite(value) else None
    return None


def _check(node: ast.expr, names: set[str]) -> int:
    column = node.col_offset + 1
    name = _name(node)
    if name is not None:
        names.add(name)
        return 1
    if isinstance(node, ast.Constant):
        if _number(node) is None:
            raise ExpressionError(f"{ast.unparse(node)[:40]} is not a usable number", column)
        return 1
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
        return 1 + _check(node.operand, names)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.Div):
        return 1 + _check(node.left, names) + _check(node.right, names)
    if isinstance(node, ast.BoolOp):
        return 1 + sum(_check(value, names) for value in node.values)
    if isinstance(node, ast.Compare) and all(isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE) for op in node.ops):
        return 1 + sum(_check(part, names) for part in (node.left, *node.comparators))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        if node.func.id not in _FUNCTIONS:
            raise ExpressionError(f"unknown function '{node.func.id}'", column)
        fewest, most = _FUNCTIONS[node.func.id]
        if not fewest <= len(node.args) <= most:
            raise ExpressionError(
                f"{node.func.id} takes {fewest if fewest == most else f'{fewest} to {most}'} values", column
            )
        return 1 + sum(_check(argument, names) for argument in node.args)
    what = {ast.Pow: "a power"}.get(type(getattr(node, "op", None)), type(node).__name__.lower())
    raise ExpressionError(f"{what} is not allowed here", column)


def _evaluate(node: ast.expr, values: Mapping[str, Floats | float]) -> Floats | float:
    name = _name(node)
    if name is not None:
        return values.get(name, np.nan)
    match node:
        case ast.Constant(value=int() | float() as value):
            return float(value)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -np.asarray(_evaluate(operand, values))
        case ast.UnaryOp(operand=operand):
            inner = np.asarray(_evaluate(operand, values))
            return np.where(np.isnan(inner), np.nan, (inner == 0).astype(np.float64))
        case ast.BinOp(left=left, op=op, right=right):
            a, b = np.asarray(_evaluate(left, values)), np.asarray(_evaluate(right, values))
            match op:
                case ast.Add():
                    return a + b
                case ast.Sub():
                    return a - b
                case ast.Mult():
                    return a * b
                case _:
                    return np.divide(a, b)
        case ast.BoolOp(op=op, values=parts):
            stacked = np.stack(
                np.broadcast_arrays(*(np.asarray(_evaluate(p, values), dtype=np.float64) for p in parts))
            )
            truth = np.where(np.isnan(stacked), np.nan, (stacked != 0).astype(np.float64))
            return truth.min(axis=0) if isinstance(op, ast.And) else truth.max(axis=0)
        case ast.Compare(left=left, ops=ops, comparators=comparators):
            sides = [np.asarray(_evaluate(part, values), dtype=np.float64) for part in (left, *comparators)]
            result: Floats | float = 1.0
            for op, a, b in zip(ops, sides[:-1], sides[1:], strict=True):
                holds = {ast.Lt: a < b, ast.LtE: a <= b, ast.Gt: a > b, ast.GtE: a >= b}[type(op)]
                result = np.minimum(result, np.where(np.isnan(a) | np.isnan(b), np.nan, holds.astype(np.float64)))
            return result
        case ast.Call(func=ast.Name(id=function), args=args):
            return _call(function, [np.asarray(_evaluate(argument, values), dtype=np.float64) for argument in args])
    raise AssertionError(f"unchecked node {node!r}")  # _check admits nothing else


def _call(function: str, args: list[Floats]) -> Floats:
    if function in ("min", "max"):
        stacked = np.stack(np.broadcast_arrays(*args))
        result: Floats = stacked.min(axis=0) if function == "min" else stacked.max(axis=0)
        return result
    if function == "clip":
        return np.minimum(np.maximum(args[0], args[1]), args[2])
    simple: dict[str, np.ufunc] = {"abs": np.absolute, "sqrt": np.sqrt, "log": np.log, "exp": np.exp}
    value: Floats = simple[function](args[0])
    return value
