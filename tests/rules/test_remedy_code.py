"""A remedy says whom it is about, and its code may differ by algorithm."""

from __future__ import annotations

from rl_diagnose.rules.book import AppliesTo
from rl_diagnose.rules.check import check_book
from rl_diagnose.rules.library import load_book

from .made import Said, Write

BODY = """\
symptoms:
  low: {title: Low, feature: reward.train.late.median, falling: {low: 0, high: 1}, base_rate: rare}
causes:
  weak:
    title: Weak
    prior: 0.1
    references: ["Somebody 2017"]
    evidence: [{symptom: low, seen: always}]
    remedies:
      - knob: buffer_size
        summary: Enlarge it
        applies_to: {algorithm: [dqn, sac], framework: [sb3], action_space: [discrete]}
        before: {sb3: "# {current}"}
        patch:
          sb3: {sac: "SAC(..., buffer_size={value})", other: "DQN(..., buffer_size={value})"}
          cleanrl: "--buffer-size {value}"
"""


def test_applies_to_and_code_by_algorithm_are_kept(write: Write) -> None:
    (cause,) = load_book(write(BODY)).causes
    (remedy,) = cause.remedies
    assert remedy.applies_to == AppliesTo(("dqn", "sac"), ("sb3",), ("discrete",))
    assert remedy.before == (("sb3", "# {current}"),)
    assert remedy.patch == (
        ("sb3", (("sac", "SAC(..., buffer_size={value})"), ("other", "DQN(..., buffer_size={value})"))),
        ("cleanrl", "--buffer-size {value}"),
    )


def test_an_empty_placeholder_is_found_in_the_code_of_one_algorithm(write: Write) -> None:
    path = write(BODY.replace("DQN(..., buffer_size={value})", "DQN(..., buffer_size={size})"))
    (problem,) = check_book(path)
    assert (problem.code, problem.line) == ("RB111", 19)
    assert "{size}" in problem.message


def test_code_that_is_neither_text_nor_by_algorithm_is_named_at_its_line(write: Write, said: Said) -> None:
    def errors(patch: str) -> list[str]:
        return said(write(BODY.replace('cleanrl: "--buffer-size {value}"', patch)))

    assert any("'cleanrl' is not text" in line for line in errors("cleanrl: 5"))
    assert any("'sac' is not text" in line for line in errors("cleanrl: {sac: 5}"))
    assert errors("cleanrl: {}")
    assert any("name in lower-case" in line for line in errors('cleanrl: {SAC: "x"}'))
    misspelt = said(write(BODY.replace("algorithm: [dqn", "algorithms: [dqn")))
    assert any("unknown field 'algorithms'" in line for line in misspelt)
