"""Every mistake in the fields of a book is named at its line, all at once, with the way out."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from rl_diagnose.rules.model import AuthoredBook
from rl_diagnose.rules.problems import Problem
from rl_diagnose.rules.schema import rulebook_schema, schema_text
from rl_diagnose.rules.validate import validate
from rl_diagnose.rules.yaml_loader import parse_yaml

ROOT = Path(__file__).parents[2]
VERSION = "'version' is not three numbers in quotes, such as \"1.0.0\""
HEAD = 'schema: rulebook/v1\nid: house\nversion: "1.0.0"\ntitle: House\n'
FULL = (
    HEAD
    + """\
description: Everything that may be written.
default: false
requires: {engine: ">=0.1, <9", signals: ">=1.0"}
extends: [core]
applies_to: {algorithm: [ppo], framework: [], action_space: [discrete]}
windows:
  startup: {steps: {from: 0, to: 5000}}
  second_half: {fraction: {from: 0.5, to: 1.0}}
  later: {iterations: {from: 20}}
derive:
  room: "policy.entropy_ratio.late.median - 0.05"
symptoms:
  low:
    title: Low
    description: Low.
    base_rate: uncommon
    severity: 2
    onset: {signal: policy.entropy_ratio, below: 0.1}
    all:
      - {feature: policy.entropy_ratio.late.median, falling: {low: 0.02, high: 0.10}}
      - {any: [{symptom: high}, {not: {mean: [{derived: room, falling: {low: -0.05, high: 0}}]}}]}
  high: {title: High, feature: policy.kl.late.median, rising: {low: 0.02, high: 0.06}, scale: log, base_rate: 0.2}
  usual: {title: U, config: n_steps, band: {low: 1, full_low: 2, full_high: 3, high: 4}, base_rate: common}
  broken: {title: B, issue: restart, rising: {low: 0, high: 1}, base_rate: rare}
causes:
  weak:
    title: Weak
    description: Weak.
    kind: fault
    status: deprecated
    replaced_by: strong
    prior: 0.08
    applies_to: {algorithm: [ppo]}
    requires: [policy.entropy]
    excludes: [strong]
    evidence:
      - {symptom: low, seen: always}
      - {symptom: high, seen: 0.55, absence: ignore}
      - {config: entropy_coef, falling: {low: 0, high: 0.005}, seen: usually, base_rate: common, title: Small}
    remedies:
      - knob: entropy_coef
        summary: Raise it
        set: "max(entropy_coef * 3, 0.01)"
        bounds: {low: 1.0e-4, high: 0.1}
        step_limit: 3
        relative: raise it
        values: {floor: "0.001"}
        expect: [{feature: policy.entropy_ratio.last, rises_to: 0.03, within_steps: 2000}]
        before: {sb3: "model.ent_coef = {current}"}
        patch: {sb3: "model.ent_coef = {value}"}
    tell_apart: Look.
    references: ["Somebody 2017"]
  strong: {title: Strong, prior: 0.1}
override:
  symptoms: {return_fell: off}
  causes:
    learning_rate_too_high: {prior: {replace: 0.2}, evidence: {append: [{symptom: low, seen: often}]}}
calibration: {a: 1.0, b: 0.0, corpus: "sha256:0", n: 164, brier: 0.05, log_loss: 0.2, ece: 0.02, date: "2026-12-01"}
"""
)


def problems(text: str) -> list[Problem]:
    document, found = parse_yaml(text.encode(), "house.yaml")
    assert found == []
    assert document is not None
    return validate(AuthoredBook, document, document.data)[1]


def said(text: str) -> list[str]:
    """line:column code message (hint), for every problem."""
    return [f"{p.line}:{p.column} {p.code} {p.message}" + (f" ({p.hint})" if p.hint else "") for p in problems(text)]


def symptom(fields: str) -> str:
    return HEAD + "symptoms:\n  s: {title: S, base_rate: rare, " + fields + "}\n"


def cause(fields: str) -> str:
    return HEAD + "causes:\n  c: {title: C, prior: 0.1, " + fields + "}\n"


def test_a_book_that_uses_everything_is_valid() -> None:
    assert said(FULL) == []


def test_a_minimal_book_is_valid() -> None:
    assert said(HEAD) == []


# -- all at once -------------------------------------------------------------------------------------------------------


def test_all_mistakes_are_named_at_once_at_their_lines() -> None:
    text = """\
schema: rulebook/v1
id: House
version: 1.0
symptoms:
  s:
    title: S
    base_rate: rar
    featur: policy.kl.max
causes:
  c:
    title: C
    prior: 1.5
    kind: falt
    evidence:
      - {symptom: s, seen: usualy}
      - {symptom: s, sean: often}
"""
    assert said(text) == [
        "1:1 RB010 the field 'title' is missing",
        "2:5 RB012 'id' is not an id in lower-case letters, digits, _ and .",
        f"3:10 RB012 {VERSION} (put it in quotes)",
        "7:16 RB012 'base_rate' is not rare, uncommon or common or a number (did you mean 'rare'?)",
        "8:5 RB011 unknown field 'featur' (did you mean 'feature'?)",
        "12:12 RB012 'prior' is not a number below 1",
        "13:11 RB012 'kind' is not fault, benign or insufficient (did you mean 'fault'?)",
        "15:28 RB012 'seen' is not always, usually, often, sometimes or rarely or a number (did you mean 'usually'?)",
        "16:9 RB010 the field 'seen' is missing",
        "16:22 RB011 unknown field 'sean' (did you mean 'seen'?)",
    ]


def test_a_suggestion_comes_from_the_fields_that_may_stand_there() -> None:
    """`windows` is a field of the book, not of a symptom."""
    assert said(symptom("feature: policy.kl.max, rising: {low: 0, high: 1}, window: x")) == [
        "6:85 RB011 unknown field 'window'"
    ]
    assert said(HEAD + "window: {}\n") == ["5:1 RB011 unknown field 'window' (did you mean 'windows'?)"]


# -- single mistakes ---------------------------------------------------------------------------------------------------


PRIOR = HEAD + "causes: {c: {title: C, prior: ▸@}}\n"
ACTION_SPACE = "'action_space[0]' is not discrete, multi_discrete, multi_binary, continuous or tokens"
ONE_OF = "exactly one of feature, derived, config, issue"
MISTAKES = [
    # the head
    (HEAD + "▸title2: x\n", "RB011 unknown field 'title2' (did you mean 'title'?)"),
    (HEAD.replace('"1.0.0"', '▸"1.0"'), f"RB012 {VERSION}"),
    (HEAD.replace('"1.0.0"', "▸1.0"), f"RB012 {VERSION} (put it in quotes)"),
    (HEAD.replace("rulebook/v1", "▸rulebook/v2"), "RB012 'schema' is not rulebook/v1 (did you mean 'rulebook/v1'?)"),
    (HEAD.replace("House", "▸3"), "RB012 'title' is not text (put it in quotes)"),
    (HEAD + "symptoms: ▸[a]\n", "RB012 'symptoms' is not a mapping of names"),
    (HEAD + "causes: {c: ▸3}\n", "RB012 'c' is not a mapping of fields"),
    (
        HEAD + "causes: {▸Bad-Name: {title: C, prior: 0.1}}\n",
        "RB012 'Bad-Name' is not a name in lower-case letters, digits and _",
    ),
    # numbers and words
    (PRIOR.replace("@", "true"), "RB012 'prior' is not a number (true and false are no numbers)"),
    (PRIOR.replace("@", "0"), "RB012 'prior' is not a number above 0"),
    (PRIOR.replace("@", "1"), "RB012 'prior' is not a number below 1"),
    (PRIOR.replace("@", "'0.1'"), "RB012 'prior' is not a number"),
    (PRIOR.replace("@", ""), "RB012 'prior' is not a number"),
    (cause("requires: ▸policy.kl"), "RB012 'requires' is not a list"),
    (
        cause("remedies: [{knob: gamma, summary: S, step_limit: ▸1}]"),
        "RB012 'step_limit' is not a number above 1",
    ),
    (
        cause("applies_to: {action_space: [▸discret]}"),
        f"RB012 {ACTION_SPACE} (did you mean 'discrete'?)",
    ),
    # symptoms
    (symptom("feature: a.b").replace("  s:", "  ▸s:"), "RB012 feature needs exactly one of rising, falling, band"),
    (symptom("all: ▸[]"), "RB012 'all' is not a list of at least 1"),
    (symptom("all: [▸{}]"), f"RB012 give {ONE_OF}, symptom, all, any, mean, first, not"),
    (
        symptom("symptom: x, rising: {low: 0, high: 1}").replace("  s:", "  ▸s:"),
        "RB012 symptom takes no ramp: a ramp judges one of feature, derived, config, issue",
    ),
    (
        symptom("feature: a.b, config: c, rising: {low: 0, high: 1}").replace("  s:", "  ▸s:"),
        f"RB012 give {ONE_OF}, symptom, all, any, mean, first, not",
    ),
    (symptom("feature: a.b, ▸rising: {low: 0}"), "RB010 the field 'high' is missing"),
    (symptom("feature: a.b, rising: {low: 0, high: 1, ▸hihg: 1}"), "RB011 unknown field 'hihg' (did you mean 'high'?)"),
    (symptom("symptom: x, ▸onset: {signal: s}"), "RB012 give exactly one of above, below"),
    # evidence
    (
        cause("evidence: [▸{config: gamma, seen: often, base_rate: rare}]"),
        "RB012 config needs exactly one of rising, falling, band",
    ),
    (
        cause("evidence: [▸{config: gamma, seen: often, rising: {low: 0, high: 1}}]"),
        "RB012 evidence without a named symptom needs a base_rate",
    ),
    (
        cause("evidence: [▸{symptom: s, seen: often, base_rate: rare}]"),
        "RB012 ramp, base_rate and title belong to the symptom, not to the evidence",
    ),
    (cause("evidence: [▸{seen: often}]"), "RB012 give exactly one of symptom, feature, derived, config, issue"),
    (
        cause("remedies: [{knob: gamma, summary: S, expect: [▸{feature: a.b}]}]"),
        "RB012 give exactly one of rises_to, falls_to",
    ),
    # windows and overrides
    (HEAD + "windows: {w: {▸steps: {}}}\n", "RB012 give at least one of from, to"),
    (
        HEAD + "windows: {▸w: {steps: {from: 0}, iterations: {from: 1}}}\n",
        "RB012 give exactly one of fraction, steps, iterations",
    ),
    (HEAD + "windows: {w: {fraction: {to: ▸1.5}}}\n", "RB012 'to' is not a number at most 1"),
    (HEAD + "override: {causes: {x: {prior: ▸0.2}}}\n", "RB012 'prior' is not a mapping of fields"),
    (HEAD + "override: {causes: {x: {▸prior: {}}}}\n", "RB012 give exactly one of replace, append"),
    (
        HEAD + "override: {causes: {x: ▸false}}\n",
        "RB012 'x' is not off, or keys with {replace: …} or {append: […]}",
    ),
]


@pytest.mark.parametrize(("marked", "expected"), MISTAKES)
def test_a_mistake_is_named_where_it_is(marked: str, expected: str) -> None:
    """▸ stands before the place that is to be named."""
    before = marked[: marked.index("▸")].split("\n")
    assert said(marked.replace("▸", "")) == [f"{len(before)}:{len(before[-1]) + 1} {expected}"]


def test_a_book_that_is_no_mapping_is_refused() -> None:
    assert said("- a\n- b\n") == ["1:1 RB012 a mapping of fields is expected here"]
    assert said("~") == ["1:1 RB012 a mapping of fields is expected here"]


def test_text_of_any_length_gives_a_short_problem() -> None:
    (problem,) = problems(HEAD + "description: " + "x" * 100_000 + "\n")
    assert problem.message == "'description' is not text of at most 4000 characters"
    assert len(problem.render()) < 400


# -- JSON Schema -------------------------------------------------------------------------------------------------------


def test_the_published_schema_is_current() -> None:
    assert (ROOT / "docs/schema/rulebook-v1.schema.json").read_text("utf-8") == schema_text()


def test_the_schema_is_draft_07_without_anything_newer() -> None:
    schema = rulebook_schema()
    jsonschema.Draft7Validator.check_schema(schema)
    assert schema["$schema"] == "http://json-schema.org/draft-07/schema#"
    text = json.dumps(schema)
    assert not any(word in text for word in ("$defs", "prefixItems", "unevaluatedProperties", "dependentRequired"))


def schema_accepts(text: str) -> bool:
    document, _ = parse_yaml(text.encode(), "house.yaml")
    assert document is not None
    return bool(jsonschema.Draft7Validator(rulebook_schema()).is_valid(document.data))


def test_the_schema_accepts_what_the_program_accepts() -> None:
    assert schema_accepts(FULL)
    assert schema_accepts(HEAD)


@pytest.mark.parametrize(
    "path", sorted((ROOT / "rulebooks").glob("*/*[0-9].yaml")), ids=lambda p: f"{p.parent.name}-{p.stem}"
)
def test_the_schema_accepts_every_built_in_book(path: Path) -> None:
    assert schema_accepts(path.read_text("utf-8"))


@pytest.mark.parametrize(
    "text",
    [
        HEAD + "tite: x\n",
        symptom("feature: policy.kl.max"),
        symptom("symptom: x, rising: {low: 0, high: 1}"),
        symptom("feature: a.b, config: c, rising: {low: 0, high: 1}"),
        symptom("symptom: x, onset: {signal: s, above: 1, below: 2}"),
        cause("prior: 2").replace("prior: 0.1, ", ""),
        cause("evidence: [{symptom: s, seen: usualy}]"),
        cause("evidence: [{config: gamma, seen: often, rising: {low: 0, high: 1}}]"),
        HEAD + "windows: {w: {steps: {from: 0}, iterations: {from: 1}}}\n",
        HEAD + "override: {causes: {x: {prior: 0.2}}}\n",
    ],
)
def test_the_schema_refuses_what_the_program_refuses(text: str) -> None:
    assert not schema_accepts(text)
    assert said(text)
