"""The published JSON Schema of a diagnosis, `diagnosis-v1.schema.json` beside this module."""

from __future__ import annotations

from importlib.resources import files

__all__ = ["diagnosis_schema_text"]


def diagnosis_schema_text() -> str:
    """The schema (draft 2020-12) of the document that `json_report` writes, as JSON text."""
    return files(__package__).joinpath("diagnosis-v1.schema.json").read_text("utf-8")
