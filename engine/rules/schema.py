"""JSON Schema of a rulebook file for editors; `docs/schema/rulebook-v1.schema.json` is this.

`python -m rl_diagnose.rules.schema` prints it.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from .model import AuthoredBook

if TYPE_CHECKING:
    from pydantic import BaseModel

__all__ = ["rulebook_schema", "schema_of", "schema_text"]


def rulebook_schema() -> dict[str, Any]:
    """The schema of a rulebook file."""
    return schema_of(AuthoredBook, "rl-diagnose rulebook, rulebook/v1")


def schema_of(model: type[BaseModel], title: str) -> dict[str, Any]:
    """The schema of an authoring model in draft-07, which is what the YAML language server reads."""
    schema: dict[str, Any] = _draft07(model.model_json_schema(by_alias=True))
    return {"$schema": "http://json-schema.org/draft-07/schema#", **schema, "title": title}


def schema_text() -> str:
    """The schema as the file that editors load."""
    return json.dumps(rulebook_schema(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def _draft07(node: Any) -> Any:
    """Pydantic writes draft 2020-12; draft-07 keeps definitions elsewhere and ignores what is beside a $ref."""
    if isinstance(node, list):
        return [_draft07(item) for item in node]
    if not isinstance(node, dict):
        return node
    result = {("definitions" if key == "$defs" else key): _draft07(value) for key, value in node.items()}
    if isinstance(result.get("$ref"), str):
        reference = {"$ref": result.pop("$ref").replace("#/$defs/", "#/definitions/")}
        return {**result, "allOf": [reference]} if result else reference
    return result


if __name__ == "__main__":
    sys.stdout.write(schema_text())
