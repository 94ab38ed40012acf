"""A run's settings (hyper-parameters and the like) from what frameworks leave beside or inside their logs.

Whatever the form, settings are one flat mapping: nested keys joined by ``/``, values are numbers, booleans, texts or
lists of them. Nothing is ever unpickled, imported or called.
"""

from __future__ import annotations

import ast
import json
import re
from typing import TYPE_CHECKING

from rl_diagnose.errors import LogError

from .readers.records import flatten
from .readers.text_bytes import read_text_bytes
from .readers.yaml_config import read_yaml_config

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["settings_file", "settings_text"]

_MAX_BYTES = 4_000_000
_MAX_TEXT = 1_000_000
_YAML = (".yaml", ".yml")
_ROW = re.compile(r"^\|(?P<key>[^|]+)\|(?P<value>.*)\|\s*$")
_NAME = re.compile(r"[\w./ -]+")
_HEADS = {("param", "value"), ("key", "value"), ("parameter", "value"), ("name", "value")}
_NAMESPACE = re.compile(r"^\s*(?:\w+\.)*\w+\((?P<fields>.*)\)\s*$", re.DOTALL)


def settings_file(path: Path) -> dict[str, object]:
    """Settings of a JSON or YAML file. Raises `LogError` when it cannot be read or holds no mapping."""
    if path.suffix.lower() in _YAML:
        loaded = read_yaml_config(path)
    else:
        text = read_text_bytes(path, limit=_MAX_BYTES).data
        try:
            loaded = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise LogError(f"this is no JSON: {error}", place=path) from None
    if not isinstance(loaded, dict):
        raise LogError("this holds no settings: a mapping is expected", place=path)
    return _flat(loaded)


def settings_text(text: str) -> dict[str, object]:
    """Settings that were logged as a text: a table (``|param|value|``), JSON, ``key: value`` lines, or the way Python
    prints a namespace or a data class. Empty where the text is none of these.
    """
    if len(text) > _MAX_TEXT:
        return {}
    for read in (_json, _table, _namespace, _lines):
        found = read(text)
        if found:
            return _flat(found)
    return {}


def _flat(settings: Mapping[str, object]) -> dict[str, object]:
    return {key: _known(value) for key, value in flatten({str(k): v for k, v in settings.items()}).items()}


def _known(value: object) -> object:
    """Words for numbers and booleans as what they mean; everything else as it is."""
    if not isinstance(value, str):
        return value
    text = value.strip().strip("`")
    words: dict[str, object] = {"true": True, "false": False, "none": None, "null": None}
    if text.lower() in words:
        return words[text.lower()]
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


def _json(text: str) -> Mapping[str, object] | None:
    body = text.strip().removeprefix("```json").strip("`").strip()
    if not body.startswith("{"):
        return None
    try:
        loaded = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return loaded if isinstance(loaded, dict) else None


def _table(text: str) -> Mapping[str, object] | None:
    """Rows of a Markdown table of two columns."""
    rows = [match for line in text.splitlines() if (match := _ROW.match(line.strip()))]
    found: dict[str, object] = {}
    for row in rows:
        key, value = row["key"].strip(), row["value"].strip()
        if (key.lower(), value.lower()) in _HEADS or set(key) <= set("-: "):
            continue
        found[key] = value
    return found


def _namespace(text: str) -> Mapping[str, object] | None:
    """``Namespace(lr=0.001, task='Pong')``: the fields whose values are plain; others are left out."""
    match = _NAMESPACE.match(text)
    if match is None:
        return None
    try:
        call = ast.parse(f"f({match['fields']})", mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    found: dict[str, object] = {}
    for field in call.keywords if isinstance(call, ast.Call) else ():
        try:
            if field.arg is not None:
                found[field.arg] = ast.literal_eval(field.value)
        except (ValueError, TypeError, RecursionError):  # an object, not a plain value
            continue
    return found


def _lines(text: str) -> Mapping[str, object] | None:
    """``key: value`` lines, if that is what most lines are."""
    lines = [line for line in text.splitlines() if line.strip()]
    pairs = [line.partition(":") for line in lines]
    found: dict[str, object] = {
        k.strip(): v.strip() for k, sign, v in pairs if sign and re.fullmatch(r"[\w./ -]+", k.strip())
    }
    return found if len(found) >= max(2, 0.5 * len(lines)) else None
