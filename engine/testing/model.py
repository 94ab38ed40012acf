"""The authoring shape of a test file as pydantic models."""

from __future__ import annotations

import json
from typing import Annotated

from pydantic import Field, StringConstraints

from ..rules.model import Name, Number, Positive, Prose, Strict, Text, Word
from ..rules.schema import schema_of

__all__ = ["AuthoredTest", "AuthoredTests", "schema_of_tests"]

CurveText = Annotated[str, StringConstraints(min_length=1, max_length=4000)]
Share = Annotated[float, Field(strict=True, ge=0.0, le=1.0)]


class AtLeast(Strict):
    """A cause that must be at least this probable."""

    cause: Name
    at_least: Share = 0.5


class AtMost(Strict):
    """A cause that must be at most this probable."""

    cause: Name
    at_most: Share = 0.5


class Steps(Strict):
    """The steps of the points: the first, and how far they are apart."""

    start: Number = 0.0
    by: Positive = 1000.0


class AuthoredTest(Strict):
    """One run, written down or recorded, and what the book must say about it."""

    name: Text
    algorithm: Name | None = None
    framework: Name | None = None
    action_space: Word | None = None
    config: dict[Name, Number | bool | Word] = Field(default_factory=dict)
    steps: Steps = Steps()
    series: dict[Word, CurveText] = Field(default_factory=dict, max_length=64)
    issues: list[Word] = Field(default_factory=list, max_length=16)
    log: Word | None = None
    expect: list[AtLeast] = Field(default_factory=list, max_length=32)
    reject: list[AtMost] = Field(default_factory=list, max_length=32)
    not_assessable: list[Name] = Field(default_factory=list, max_length=32)
    todo: bool | Prose = Field(default="", description="a known gap; best with the reason")


class AuthoredTests(Strict):
    """A test file."""

    tests: Annotated[list[AuthoredTest], Field(min_length=1, max_length=500)]


def schema_of_tests() -> str:
    """The JSON Schema of a test file, as the file that editors load."""
    schema = schema_of(AuthoredTests, "rl-diagnose tests of a rulebook, v1")
    return json.dumps(schema, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
