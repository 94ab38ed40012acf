"""Arithmetic in rulebooks: Python's own parser, a whitelist, and evaluation over numpy arrays. Nothing is `eval`ed.

Known are numbers, ``+ - * /``, unary minus, comparison, ``and or not``, ``min max abs sqrt log exp clip`` and names. A
dotted name is a feature (``policy.kl.late.median``, ``policy.kl.fraction_above(0.05)``), as is a relation between two
signals (``correlation(policy.kl, reward.train)``); a plain name is a configuration value or a derived number. Names are
looked up in a mapping; a dot reaches no attribute of anything.

NaN means missing and propagates; dividing by 0, the logarithm of what is not positive, and overflow are missing, too.
Comparisons give 1 or 0. `and`, `or` and `not` are three-valued (Kleene): a false part makes `and` false, a true part
makes `or` true, whatever is missing beside it.
"""

from __future__ import annotations

import ast
import difflib
import re
import warnings
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["FUNCTIONS", "MAX_LENGTH", "MAX_NODES", "Expression", "ExpressionError", "compile_expression"]

MAX_LENGTH = 300
MAX_NODES = 100
# Name → fewest and most values.
FUNCTIONS = {"min": (2, 8), "max": (2, 8), "abs": (1, 1), "sqrt": (1, 1), "log": (1, 1), "exp": (1, 1), "clip": (3, 3)}
_OPERATORS: dict[type[ast.operator], np.ufunc] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
}
_COMPARISONS: dict[type[ast.cmpop], np.ufunc] = {
    ast.Lt: np.less,
    ast.LtE: np.less_equal,
    ast.Gt: np.greater,
    ast.GtE: np.greater_equal,
    ast.Eq: np.equal,
    ast.NotEq: np.not_equal,
}
_UNARY: dict[str, np.ufunc] = {"abs": np.absolute, "sqrt": np.sqrt, "log": np.log, "exp": np.exp}
_FOREIGN = re.compile(r"[^A-Za-z0-9_.+\-*/()<>=!, ]")
# Python also reads 0x10, 0o17 and 0b1, which a rulebook's YAML refuses.
_DECIMAL = re.compile(r"[0-9_]*\.?[0-9_]*([eE][-+]?[0-9_]+)?")
_HINT = "known are numbers, + - * /, comparison, and/or/not, min max abs sqrt log exp clip, features and configuration"
_REFUSED: dict[type[ast.AST], str] = {
    ast.Pow: "a power (**)",
    ast.FloorDiv: "floor division (//)",
    ast.Attribute: "an attribute",
    ast.Call: "a call of anything but a function by its name",
    ast.IfExp: "if … else",
    ast.Lambda: "lambda",
    ast.Tuple: "a list of values",
    ast.UAdd: "a leading +",
    ast.Starred: "*",
    ast.GeneratorExp: "a loop",
    ast.NamedExpr: "an assignment",
}


class ExpressionError(Exception):
    """An expression that cannot be used: `message`, the `column` (from 1) in its text, and a `hint`."""

    def __init__(self, message: str, column: int = 1, hint: str | None = _HINT) -> None:
        self.message, self.column, self.hint = message, column, hint
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Expression:
    """A checked expression.

    `names` are the features, configuration values and derived numbers it needs, sorted; `columns` is where each of them
    first stands in `text`, from 1.
    """

    text: str
    names: tuple[str, ...]
    columns: tuple[int, ...]
    _tree: ast.expr
    _spelled: Mapping[tuple[int, int], str]

    def evaluate(self, values: Mapping[str, Floats | float]) -> Floats:
        """The value for `values` (name → number or float64 array, NaN = missing), broadcast; absent = missing."""
        with np.errstate(all="ignore"):
            return self._value(self._tree, values)

    def renamed(self, names: Mapping[str, str]) -> str:
        """The text with names replaced; those that are not in `names` stay."""
        shift = len(self.text) - len(self.text.lstrip())
        parts, last = [], 0
        for (start, end), name in sorted(self._spelled.items()):
            parts += [self.text[last : shift + start], names.get(name, name)]
            last = shift + end
        return "".join([*parts, self.text[last:]])

    def _value(self, node: ast.expr, values: Mapping[str, Floats | float]) -> Floats:
        name = self._spelled.get((node.col_offset, node.end_col_offset or 0))
        if name is not None:
            return _finite(np.asarray(values.get(name, np.nan), dtype=np.float64))
        match node:
            case ast.Constant(value=int() | float() as number):
                return np.asarray(number, dtype=np.float64)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return np.negative(self._value(operand, values))
            case ast.UnaryOp(operand=operand):
                return 1.0 - _truth(self._value(operand, values))
            case ast.BinOp(left=left, op=op, right=right):
                return _finite(_OPERATORS[type(op)](self._value(left, values), self._value(right, values)))
            case ast.BoolOp(op=op, values=parts):
                return _kleene([_truth(self._value(part, values)) for part in parts], either=isinstance(op, ast.Or))
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                sides = [self._value(part, values) for part in (left, *comparators)]
                pairs = zip(ops, sides[:-1], sides[1:], strict=True)
                return _kleene([_compare(op, a, b) for op, a, b in pairs], either=False)
            case ast.Call(func=ast.Name(id=function), args=arguments):
                return _call(function, [self._value(argument, values) for argument in arguments])
        raise AssertionError(f"{node!r} was not checked")  # _Checker admits nothing else


@lru_cache(maxsize=1024)
def compile_expression(text: str) -> Expression:
    """Check and compile. Raises `ExpressionError` with the column of what is not allowed."""
    if len(text) > MAX_LENGTH:
        raise ExpressionError(
            f"longer than {MAX_LENGTH} characters", MAX_LENGTH + 1, "define a part of it under derive"
        )
    flat = re.sub(r"\s", " ", text)
    foreign = _FOREIGN.search(flat)
    if foreign:
        raise ExpressionError(f"'{foreign[0]}' is not allowed here", foreign.start() + 1)
    shift = len(flat) - len(flat.lstrip())
    try:
        # Python warns about what it would not run, such as "1 is 1"; nothing is run here.
        with warnings.catch_warnings(action="ignore"):
            tree = ast.parse(flat.strip(), mode="eval").body
    except (SyntaxError, MemoryError, RecursionError, ValueError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else "too deeply nested"
        column = error.offset if isinstance(error, SyntaxError) else None
        raise ExpressionError(f"not an expression: {reason}", shift + (column or 1)) from None
    checker = _Checker(flat, shift)
    checker.check(tree)
    names = sorted(checker.names)
    return Expression(text, tuple(names), tuple(checker.names[n] for n in names), tree, checker.spelled)


class _Checker:
    """The whitelist: raises for everything that is not known, and collects the names."""

    def __init__(self, text: str, shift: int) -> None:
        self.text, self.shift = text, shift
        self.count = 0
        self.names: dict[str, int] = {}
        self.spelled: dict[tuple[int, int], str] = {}

    def check(self, node: ast.expr) -> None:
        self.count += 1
        if self.count > MAX_NODES:
            self.refuse(f"more than {MAX_NODES} terms", node, "define a part of it under derive")
        if self.name(node):
            start, end = node.col_offset, node.end_col_offset or 0
            segment = self.text[self.shift + start : self.shift + end]
            spelled = re.sub(r"\s+", "", segment).replace(",", ", ")
            self.spelled[start, end] = spelled
            self.names.setdefault(spelled, self.shift + start + 1)
            return
        for part in self.parts(node):
            self.check(part)

    def parts(self, node: ast.expr) -> Iterable[ast.expr]:
        match node:
            case ast.Constant(value=value):
                segment = self.text[self.shift + node.col_offset : self.shift + (node.end_col_offset or 0)]
                usable = isinstance(value, int | float) and not isinstance(value, bool) and _is_finite(value)
                if not usable or not _DECIMAL.fullmatch(segment):
                    self.refuse(f"{ast.unparse(node)[:40]} is not a usable number", node)
                return ()
            case ast.UnaryOp(op=ast.USub() | ast.Not(), operand=operand):
                return (operand,)
            case ast.BinOp(op=op, left=left, right=right) if type(op) in _OPERATORS:
                return left, right
            case ast.BoolOp(values=values):
                return values
            case ast.Compare(left=left, ops=ops, comparators=comparators) if {type(o) for o in ops} <= {*_COMPARISONS}:
                return left, *comparators
            case ast.Call(func=ast.Name(id=function), args=arguments, keywords=[]):
                return self.arguments(node, function, arguments)
        kind: type[ast.AST] = type(node)
        if isinstance(node, ast.BinOp | ast.UnaryOp):
            kind = type(node.op)
        self.refuse(f"{_REFUSED.get(kind, kind.__name__)} is not allowed here", node)
        return ()

    def arguments(self, node: ast.expr, function: str, arguments: list[ast.expr]) -> list[ast.expr]:
        if function not in FUNCTIONS:
            close = difflib.get_close_matches(function, FUNCTIONS, n=1)
            hint = f"did you mean '{close[0]}'?" if close else f"known are {', '.join(FUNCTIONS)}"
            self.refuse(f"unknown function '{function}'", node, hint)
        fewest, most = FUNCTIONS[function]
        if not fewest <= len(arguments) <= most:
            wanted = str(fewest) if fewest == most else f"{fewest} to {most}"
            self.refuse(f"{function} takes {wanted} value{'s' if most > 1 else ''}, not {len(arguments)}", node)
        return arguments

    def refuse(self, message: str, node: ast.expr, hint: str | None = _HINT) -> None:
        raise ExpressionError(message, self.shift + node.col_offset + 1, hint)

    def name(self, node: ast.expr) -> bool:
        """Whether `node` spells a name: plain, dotted, a statistic with numbers, or a relation between two signals."""
        match node:
            case ast.Name(id=plain):
                if plain in FUNCTIONS:
                    self.refuse(f"'{plain}' is a function: it needs values in parentheses", node)
                return True
            case ast.Attribute(value=owner):
                return _dotted(owner) or _relation(owner)
            case ast.Call(func=ast.Attribute() as statistic, args=arguments, keywords=[]):
                return (_dotted(statistic) or _relation(statistic.value)) and all(map(_number, arguments))
        return _relation(node)


def _dotted(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id not in FUNCTIONS


def _relation(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Name(id=function), args=[first, second, *more], keywords=[]):
            # At least one dot: `sum(a, b)` is a mistake, not a relation between signals.
            signals = _dotted(first) and _dotted(second) and ast.Attribute in (type(first), type(second))
            return function not in FUNCTIONS and signals and all(_number(m) or _dotted(m) for m in more)
    return False


def _number(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool)


def _is_finite(value: float) -> bool:
    try:
        return bool(np.isfinite(float(value)))
    except OverflowError:
        return False


def _finite(value: Floats) -> Floats:
    return np.where(np.isfinite(value), value, np.nan)


def _truth(value: Floats) -> Floats:
    return np.where(np.isnan(value), np.nan, (value != 0).astype(np.float64))


def _compare(op: ast.cmpop, a: Floats, b: Floats) -> Floats:
    holds = _COMPARISONS[type(op)](a, b).astype(np.float64)
    return np.where(np.isnan(a) | np.isnan(b), np.nan, holds)


def _kleene(parts: list[Floats], *, either: bool) -> Floats:
    """`or` (either) or `and` of values 1, 0 and NaN: unknown only while the known parts do not decide it."""
    decisive = 1.0 if either else 0.0
    stacked = np.stack(np.broadcast_arrays(*parts))
    decided = (stacked == decisive).any(axis=0)
    unknown = np.isnan(stacked).any(axis=0)
    return np.where(decided, decisive, np.where(unknown, np.nan, 1.0 - decisive))


def _call(function: str, values: list[Floats]) -> Floats:
    if function in _UNARY:
        return _finite(_UNARY[function](values[0]))
    if function == "clip":
        return np.minimum(np.maximum(values[0], values[1]), values[2])
    extreme = np.minimum if function == "min" else np.maximum
    result = values[0]
    for value in values[1:]:
        result = extreme(result, value)
    return result
