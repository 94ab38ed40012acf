"""From a document to the authoring model: every error of pydantic becomes a problem at its line, with did-you-mean."""

from __future__ import annotations

import re
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from ..signals.spelling import closest
from .problems import in_file_order

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pydantic_core import ErrorDetails

    from .problems import Problem

__all__ = ["MAX_PROBLEMS", "PATTERNS", "Placed", "data_path", "did_you_mean", "validate"]

# A file that is wrong everywhere is not described in full.
MAX_PROBLEMS = 100
M = TypeVar("M", bound=BaseModel)
Path = tuple[str | int, ...]

_EXPECTED = {
    "string_type": "text",
    "float_type": "a number",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a mapping of names",
    "model_type": "a mapping of fields",
    "finite_number": "a finite number",
}
_BOUNDS = {
    "greater_than": ("gt", "above {}"),
    "greater_than_equal": ("ge", "at least {}"),
    "less_than": ("lt", "below {}"),
    "less_than_equal": ("le", "at most {}"),
}
PATTERNS = {
    r"^[a-z][a-z0-9_]*$": "a name in lower-case letters, digits and _",
    r"^[a-z][a-z0-9_.]*$": "an id in lower-case letters, digits, _ and .",
    r"^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$": "three numbers in quotes",
}


class Placed(Protocol):
    """Something that knows where in a file each part of some data stands."""

    def problem(
        self, code: str, message: str, path: Path, *, key: bool = False, hint: str | None = None, column: int = 0
    ) -> Problem:
        """A problem at the value (or key) at `path`."""
        ...


def validate(model: type[M], where: Placed, value: Any) -> tuple[M | None, list[Problem]]:
    """`value` as `model`, or all problems (at most `MAX_PROBLEMS`) at their places according to `where`."""
    if not isinstance(value, dict):
        return None, [where.problem("RB012", "a mapping of fields is expected here", ())]
    try:
        return model.model_validate(value), []
    except ValidationError as error:
        # The branches of a union each report for themselves; together they are one problem of one value.
        places: dict[tuple[Path, bool], list[ErrorDetails]] = {}
        for entry in error.errors(include_url=False):
            path, key = data_path(entry["loc"], value)
            places.setdefault((path, key), []).append(entry)
        found = (
            problem
            for (path, key), entries in places.items()
            for problem in _problems(model, where, entries, path, key)
        )
        return None, in_file_order(islice(found, MAX_PROBLEMS))


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """A hint with the closest of the known names; None when nothing is close."""
    close = closest(name, sorted(known))
    return f"did you mean '{close}'?" if close else None


def data_path(loc: tuple[str | int, ...], value: Any) -> tuple[Path, bool]:
    """The part of pydantic's location that is a path in the data (not the names of union branches), and whether the
    error is about the key itself."""
    path: list[str | int] = []
    for index, part in enumerate(loc):
        inside = (isinstance(value, dict) and part in value) or (
            isinstance(value, list) and isinstance(part, int) and part < len(value)
        )
        if inside:
            value = value[part]
            path.append(part)
        elif part == "[key]":
            return tuple(path), True
        elif index == len(loc) - 1 and isinstance(value, dict):
            path.append(part)  # the name of a field that is missing
    return tuple(path), False


def _problems(
    model: type[BaseModel], where: Placed, entries: list[ErrorDetails], path: Path, key: bool
) -> Iterator[Problem]:
    name = _name(path)
    kinds = {entry["type"] for entry in entries}
    if "extra_forbidden" in kinds:
        hint = did_you_mean(name, _siblings(model, path[:-1]))
        yield where.problem("RB011", f"unknown field '{name}'", path, key=True, hint=hint)
    elif "missing" in kinds:
        yield where.problem("RB010", f"the field '{name}' is missing", path[:-1], key=True)
    elif "value_error" in kinds:
        for entry in entries:
            yield where.problem("RB012", entry["msg"].removeprefix("Value error, "), path, key=True)
    else:
        wanted = dict.fromkeys(_expected(entry, name) for entry in entries)
        given = entries[0]["input"]
        text = f"'{name}' is not {' or '.join(wanted)}"
        hint = None
        if isinstance(given, bool) and "float_type" in kinds | {"int_type"}:
            hint = "true and false are no numbers"
        elif isinstance(given, str):
            choices = [
                c for entry in entries for c in re.findall(r"'([^']*)'", str(entry.get("ctx", {}).get("expected")))
            ]
            hint = did_you_mean(given, choices)
        elif isinstance(given, int | float) and "string_type" in kinds:
            hint = "put it in quotes"
        yield where.problem("RB012", text, path, key=key, hint=hint)


def _name(path: Path) -> str:
    """What a message calls the value at `path`."""
    if len(path) > 1 and isinstance(path[-1], int):
        return f"{path[-2]}[{path[-1]}]"
    return str(path[-1]) if path else "the book"


def _expected(entry: ErrorDetails, name: str) -> str:
    """What would have been right, to follow "'x' is not"."""
    kind, context = entry["type"], entry.get("ctx", {})
    if name == "version":
        return 'three numbers in quotes, such as "1.0.0"'
    if kind in _EXPECTED:
        return _EXPECTED[kind]
    if kind in _BOUNDS:
        field, words = _BOUNDS[kind]
        return f"a number {words.format(f'{context[field]:g}')}"
    match kind:
        case "literal_error" if context["expected"] == "'off'":
            return "off, or keys with {replace: …} or {append: […]}"
        case "literal_error":
            return str(context["expected"]).replace("'", "")
        case "string_pattern_mismatch":
            return PATTERNS.get(str(context["pattern"]), f"text like {context['pattern']}")
        case "string_too_long" | "string_too_short":
            bound = "at most" if kind.endswith("long") else "at least"
            return f"text of {bound} {context.get('max_length', context.get('min_length'))} characters"
        case "too_long" | "too_short":
            bound = "at most" if kind.endswith("long") else "at least"
            return f"a list of {bound} {context.get('max_length', context.get('min_length'))}"
    return entry["msg"].removeprefix("Input should be ").removeprefix("Value error, ")


def _siblings(model: type[BaseModel], path: Path) -> set[str]:
    """The fields, as written in YAML, that may stand in the mapping at `path`."""
    root = _schema(model)
    nodes = _resolve(root, root)
    for part in path:
        below: list[dict[str, Any]] = []
        for node in nodes:
            if isinstance(part, int):
                inner = [node.get("items")]
            else:
                inner = [node.get("properties", {}).get(part), node.get("additionalProperties")]
                inner += node.get("patternProperties", {}).values()
            below += [option for one in inner if isinstance(one, dict) for option in _resolve(one, root)]
        nodes = below
    return {name for node in nodes for name in node.get("properties", {})}


@cache
def _schema(model: type[BaseModel]) -> dict[str, Any]:
    # Made once: making it takes a tenth of a second, and a bad book asks for it at every unknown field.
    return model.model_json_schema(by_alias=True)


def _resolve(node: dict[str, Any], root: dict[str, Any]) -> list[dict[str, Any]]:
    """The schemas that a node stands for: references followed, unions opened."""
    if "$ref" in node:
        return _resolve(root["$defs"][str(node["$ref"]).rpartition("/")[2]], root)
    if "anyOf" in node:
        return [inner for option in node["anyOf"] for inner in _resolve(option, root)]
    return [node]
