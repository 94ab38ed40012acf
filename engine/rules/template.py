"""The book that a new rulebook starts from: small, commented, and working as it stands."""

from __future__ import annotations

from string import Template
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .book import AppliesTo

__all__ = ["BOOK_SCHEMA_FILE", "book_template", "name_prefix", "tests_template"]

BOOK_SCHEMA_FILE = "rulebook-v1.schema.json"

_BOOK = Template("""\
# yaml-language-server: $$schema=$schema
#
# A rulebook: what can be seen in the log of a run (symptoms), and what makes it likely and what to do (causes).
#   rl-diagnose rules check $file      is it valid, does anything look wrong
#   rl-diagnose rules test $file       does it say what its tests expect ($tests)
#   rl-diagnose RUN --rules $file      use it
# Names are lower-case letters, digits and _; begin yours with a prefix, so that they never meet those of other books.
schema: rulebook/v1
id: $name
version: "0.1.0"            # three numbers, in quotes; give every version that you hand out a number of its own
title: $title
description: Say here what the book is about.
$inherited
# windows:                  # parts of a run, beside start, early, mid, late, end and all
#   warm_up: {steps: {from: 0, to: 10000}}
# derive:                   # arithmetic over numbers of the log
#   ${prefix}_samples_per_update: "n_steps * n_envs"

symptoms:
  # A symptom is a number and a ramp: below `low` it is clearly absent, above `high` clearly present, between them in
  # between. The number is signal.window.statistic, a hyper-parameter (config) or a name under derive.
  ${prefix}_return_fell:
    title: Return fell far below its own best
    # How far it is below its best, as a share of all it went through; the median over the last quarter of the run.
    feature: reward.below_best.late.median
    rising: {low: 0.4, high: 0.7}
    # How often do runs without any of these causes show it? rare, uncommon, common, or a number.
    base_rate: uncommon
  ${prefix}_learning_rate_large:
    title: Learning rate larger than what works for us
    config: learning_rate
    rising: {low: 1.0e-3, high: 3.0e-3}
    scale: log
    base_rate: uncommon

causes:
  ${prefix}_learning_rate_too_high:
    title: Learning rate too high for our tasks
    description: Say here why it happens.
    prior: 0.1                                 # how often, before looking at anything
    requires: [reward.train]                   # without these signals nothing is said about it
    evidence:
      # With this cause, how often is the symptom seen? always, usually, often, sometimes, rarely, or a number.
      # What is seen less often with the cause than without speaks against it.
      - {symptom: ${prefix}_learning_rate_large, seen: always}
      - {symptom: ${prefix}_return_fell, seen: usually}
    remedies:
      - knob: learning_rate
        summary: Lower the learning rate
        set: "learning_rate / 3"               # computed from the run's own value, kept within bounds and step limit
        relative: divide it by about 3         # said where the log does not tell the present value
        expect: [{feature: reward.below_best.late.median, falls_to: 0.2}]
        patch: {sb3: 'model = PPO("MlpPolicy", env, learning_rate={value})'}
    tell_apart: Say here how to distinguish it from its neighbours.
    references: ["Say here where this comes from: a paper, a page of your handbook, a run"]
$changes""")

_TESTS = Template("""\
# Tests of $file: rl-diagnose rules test $file
# A curve is a line of items: 5x40 (forty points of 5), 20+2x40 (rising), _x3 (missing), noise:0.5, noise:5%.
tests:
  # For each cause: a run that has it …
  - name: a large learning rate, and the return falls
    config: {learning_rate: 0.01}
    series: {reward.train: "10+4x40 170-7x20 30x20 noise:2"}
    expect: [{cause: ${prefix}_learning_rate_too_high, at_least: 0.6}]
  # … one that looks like it and has it not …
  - name: the return falls with a usual learning rate
    config: {learning_rate: 0.0003}
    series: {reward.train: "10+4x40 170-7x20 30x20 noise:2"}
    reject: [{cause: ${prefix}_learning_rate_too_high, at_most: 0.2}]
  # … and one without the signals that it needs.
  - name: a log without returns
    config: {learning_rate: 0.01}
    series: {policy.kl: "0.01x80"}
    not_assessable: [${prefix}_learning_rate_too_high]
""")

_ALONE = """\
# extends: [ppo]            # start from another book: everything it says is then part of this one
# applies_to: {algorithm: [ppo]}   # runs that the book is about; without it, it is used only where it is asked for
"""
_EXTENDING = """\
extends: [{reference}]       # everything this book says is part of yours
{applies_to}"""
_CHANGES = """\

# override:                 # changes to what the extended book says; rl-diagnose rules show {shown} lists its names
#   causes:
#     some_cause: {{prior: {{replace: 0.02}}, references: {{append: ["Our handbook, chapter 2"]}}}}
#     another_cause: off
"""


def name_prefix(name: str) -> str:
    """What the names in the book `name` begin with."""
    return name.replace(".", "_")


def book_template(name: str, extends: str | None = None, applies_to: AppliesTo | None = None) -> str:
    """The text of a new book. `extends` is the reference as it will stand there, `applies_to` that of what it names."""
    inherited, changes = _ALONE, ""
    if extends is not None:
        inherited = _EXTENDING.format(reference=_text(extends), applies_to=_applies_to(applies_to))
        changes = _CHANGES.format(shown=extends)
    return _BOOK.substitute(
        schema=BOOK_SCHEMA_FILE,
        file=f"{name}.yaml",
        tests=f"{name}.test.yaml",
        name=name,
        title=f"Rules of {name}",
        prefix=name_prefix(name),
        inherited=inherited,
        changes=changes,
    )


def tests_template(name: str) -> str:
    """The text of the tests of a new book."""
    return _TESTS.substitute(file=f"{name}.yaml", prefix=name_prefix(name))


def _applies_to(about: AppliesTo | None) -> str:
    pairs = {
        "algorithm": about.algorithm if about else (),
        "framework": about.framework if about else (),
        "action_space": about.action_space if about else (),
    }
    given = ", ".join(f"{key}: [{', '.join(values)}]" for key, values in pairs.items() if values)
    if not given:
        return "# applies_to: {algorithm: [ppo]}   # without it, the book is used only where it is asked for\n"
    return f"applies_to: {{{given}}}   # runs that the book is about\n"


def _text(reference: str) -> str:
    return reference if "/" not in reference else f'"{reference}"'
