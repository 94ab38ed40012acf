"""Every field of a rulebook as Markdown, made from the authoring model; `docs/rulebook-reference.md` is this text.

`python -m rl_diagnose.rules.model_reference` prints it.
"""

from __future__ import annotations

import json
import re
import sys
from typing import Any

from .model import AuthoredBook
from .validate import PATTERNS

__all__ = ["reference_markdown"]

_HEAD = """\
# Every field of a rulebook

Made from `engine/rules/model.py`; a test holds this page to it. What the fields mean together, with an example of each,
is in [rulebook-format.md](rulebook-format.md); editors know the same from the
[JSON Schema](schema/rulebook-v1.schema.json). A field that is not listed here is an error, as is one of another type.
"""
# Names of models as people call what they stand for; all others lose their "Authored" or "Model".
_TITLES = {"AuthoredBook": "The file", "LowHigh": "Bounds", "Requires": "Required versions"}
_TYPES = {"string": "text", "number": "number", "integer": "whole number", "boolean": "`true` or `false`"}
_LIMITS = {
    "exclusiveMinimum": "above {}",
    "minimum": "at least {}",
    "exclusiveMaximum": "below {}",
    "maximum": "at most {}",
}
# Only there to keep numbers finite; nobody needs to be told.
_HUGE = 1e300
# The same for every line of text.
_USUAL_LENGTHS = {200, 4000}

Schema = dict[str, Any]


def reference_markdown() -> str:
    """The whole page: a section for each model, in the order in which the file leads to them."""
    schema = AuthoredBook.model_json_schema(by_alias=True)
    models = {AuthoredBook.__name__: schema, **schema.get("$defs", {})}
    lines = [_HEAD]
    for name in _order(models):
        model = models[name]
        lines += [f"## {_title(name)}", "", str(model.get("description", "")).replace("\n", " "), ""]
        lines += ["| field | value | default | meaning |", "|---|---|---|---|"]
        required = set(model.get("required", []))
        for field, one in model["properties"].items():
            default = "needed" if field in required else _default(one.get("default"))
            lines.append(f"| `{field}` | {_type(one)} | {default} | {one.get('description', '')} |")
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _order(models: dict[str, Schema]) -> list[str]:
    order = [AuthoredBook.__name__]
    for name in order:  # grows while it is walked through
        order += [other for other in dict.fromkeys(_references(models[name])) if other not in order]
    return order


def _references(node: object) -> list[str]:
    """The models that a part of the schema refers to, in its order."""
    if isinstance(node, dict):
        own = [str(node["$ref"]).rpartition("/")[2]] if "$ref" in node else []
        return own + [name for key, value in node.items() if key != "$defs" for name in _references(value)]
    if isinstance(node, list):
        return [name for value in node for name in _references(value)]
    return []


def _title(name: str) -> str:
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name.removeprefix("Authored").removesuffix("Model"))
    return _TITLES.get(name) or words.capitalize()


def _type(node: Schema) -> str:
    """What may be written, in words."""
    if "$ref" in node:
        title = _title(str(node["$ref"]).rpartition("/")[2])
        return f"[{title}](#{title.lower().replace(' ', '-')})"
    for union in ("anyOf", "oneOf"):
        if union in node:
            options = [_type(option) for option in node[union] if option.get("type") != "null"]
            return " or ".join(dict.fromkeys(options))
    if "const" in node or "enum" in node:
        return ", ".join(f"`{value}`" for value in node.get("enum", [node.get("const")]))
    if node.get("type") == "array":
        most = f" (at most {node['maxItems']})" if "maxItems" in node else ""
        return f"list{most} of {_type(node['items'])}"
    if node.get("type") == "object":
        inner = node.get("additionalProperties") or next(iter(node.get("patternProperties", {"": {}}).values()))
        return f"names, each with {_type(inner)}"
    return _scalar(node)


def _scalar(node: Schema) -> str:
    if "pattern" in node:
        return PATTERNS.get(str(node["pattern"]), "text")
    words = [text.format(f"{node[key]:g}") for key, text in _LIMITS.items() if key in node and abs(node[key]) < _HUGE]
    longest = node.get("maxLength")
    words += [f"of at most {longest} characters"] if longest and longest not in _USUAL_LENGTHS else []
    kind = _TYPES.get(str(node.get("type")), "anything")
    return " ".join([kind, " and ".join(words)]).strip()


def _default(value: object) -> str:
    if value is None or value in ({}, [], ""):
        return ""
    if isinstance(value, dict):
        return ""  # a model of its own, whose fields have their defaults
    return f"`{json.dumps(value).strip(chr(34))}`"


if __name__ == "__main__":
    sys.stdout.write(reference_markdown())
