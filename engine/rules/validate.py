"""From a document to the authoring model: every pydantic error becomes a problem at its line, with did-you-mean."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

if TYPE_CHECKING:
    from .problems import Problem
    from .yaml_loader import Document

__all__ = ["validate"]

M = TypeVar("M", bound=BaseModel)


def validate(
    model: type[M], document: Document, data: Any = None, at: tuple[str | int, ...] = ()
) -> tuple[M | None, list[Problem]]:
    """The data of `document` (or `data`, which stands at path `at`) as `model`, or all problems."""
    value = document.data if data is None else data
    if not isinstance(value, dict):
        return None, [document.problem("RB012", "a mapping of fields is expected here", at)]
    try:
        return model.model_validate(value), []
    except ValidationError as error:
        seen: dict[tuple[str, tuple[str | int, ...]], Problem] = {}
        for entry in error.errors(include_url=False):
            path = (*at, *_path(entry["loc"], value))
            problem = _problem(model, document, entry, path)
            seen.setdefault((problem.message, path), problem)
        return None, list(seen.values())


def _path(loc: tuple[str | int, ...], value: Any) -> tuple[str | int, ...]:
    """The part of pydantic's location that is a path in the data: union branch names are left out."""
    path: list[str | int] = []
    for index, part in enumerate(loc):
        if isinstance(value, dict) and part in value:
            value = value[part]
            path.append(part)
        elif isinstance(value, list) and isinstance(part, int) and part < len(value):
            value = value[part]
            path.append(part)
        elif index == len(loc) - 1 and isinstance(part, str) and isinstance(value, dict):
            path.append(part)
    return tuple(path)


def _problem(model: type[BaseModel], document: Document, entry: Any, path: tuple[str | int, ...]) -> Problem:
    kind, name = entry["type"], str(entry["loc"][-1])
    if kind == "extra_forbidden":
        return document.problem(
            "RB011", f"unknown field '{name}'", path, key=True, hint=_did_you_mean(name, _fields(model))
        )
    if kind == "missing":
        return document.problem("RB010", f"the field '{name}' is missing", path[:-1])
    message = str(entry["msg"]).removeprefix("Value error, ")
    if path and path[-1] == "version":
        message = 'a version is three numbers in quotes, such as "1.0.0"'
    if isinstance(entry.get("input"), bool) and "number" in message:
        message += " (true and false are no numbers)"
    return document.problem(
        "RB012", f"{'.'.join(map(str, path)) or 'the book'}: {message[0].lower()}{message[1:]}", path
    )


def _did_you_mean(name: str, known: set[str]) -> str | None:
    close = difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.6)
    return f"did you mean '{close[0]}'?" if close else None


def _fields(model: type[BaseModel]) -> set[str]:
    """All field names of a model and of the models in it, as they are written in YAML."""
    names: set[str] = set()
    stack: list[Any] = [model.model_json_schema(by_alias=True)]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            properties = node.get("properties")
            if isinstance(properties, dict):
                names |= set(properties)
            stack += node.values()
        elif isinstance(node, list):
            stack += node
    return names
