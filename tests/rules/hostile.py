"""Rulebooks that want to do harm, each with the code of the problem that it must give."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["EXPRESSIONS", "HARMLESS", "HOSTILE", "SYMPTOM"]

HEAD = 'schema: rulebook/v1\nid: house\nversion: "1.0.0"\ntitle: House\n'
NUMBER = "feature: reward.train.median, rising: {low: 0, high: 1}"
SYMPTOM = f"{{title: s, base_rate: common, {NUMBER}}}"


def derived(text: str) -> str:
    return f"{HEAD}derive: {{x: {text!r}}}\n"


def symptoms(entries: Iterable[tuple[str, str]], used: str = "") -> str:
    book = HEAD + "symptoms:\n" + "".join(f"  {name}: {value}\n" for name, value in entries)
    return book + (
        f"causes: {{c: {{title: c, prior: 0.1, evidence: [{{symptom: {used}, seen: often}}]}}}}\n" * bool(used)
    )


def ramp(bounds: str) -> str:
    return symptoms(
        [("s", f"{{title: s, base_rate: common, feature: reward.train.median, rising: {{{bounds}}}}}")], "s"
    )


def feature(name: str) -> str:
    return symptoms([("s", f'{{title: s, base_rate: common, feature: "{name}", rising: {{low: 0, high: 1}}}}')], "s")


def chained(length: int, link: str) -> str:
    entries = [("s0", SYMPTOM)]
    entries += [
        (f"s{i}", f"{{title: s, base_rate: common, {link.format(f'{{symptom: s{i - 1}}}')}}}") for i in range(1, length)
    ]
    return symptoms(entries, f"s{length - 1}")


def derived_chain(length: int) -> str:
    lines = "".join(f'  x{i}: "x{i - 1} + x{i - 1}"\n' for i in range(1, length))
    ramp_over = f"derived: x{length - 1}, rising: {{low: 0, high: 1}}"
    tail = f"symptoms: {{s: {{title: s, base_rate: common, {ramp_over}}}}}\n"
    cause = "causes: {c: {title: c, prior: 0.1, evidence: [{symptom: s, seen: often}]}}\n"
    return f'{HEAD}derive:\n  x0: "reward.train.median"\n{lines}{tail}{cause}'


def misspelt_by_the_thousand() -> str:
    known = "".join(f"  the_name_of_a_symptom_that_is_rather_long_{i}: {SYMPTOM}\n" for i in range(500))
    line = "      - {{symptom: the_name_of_a_symptom_that_is_rather_lang_{}, seen: often}}\n"
    lines = "".join(line.format(i) for i in range(60))
    causes = "".join(f"  c{i}:\n    title: c\n    prior: 0.001\n    evidence:\n{lines}" for i in range(100))
    return f"{HEAD}symptoms:\n{known}causes:\n{causes}"


_LAUGHS = "".join(f"{b}: &{b} [{','.join(['*' + a] * 9)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True))

# Expressions that ask for more than arithmetic over numbers.
EXPRESSIONS = [
    "9**9**9",
    "9**9**9**9**9",
    "1 << 999999999",
    "7 // 2",
    "7 % 2",
    "2 @ 2",
    "~1",
    "'a' * 999999999",
    "b'a' * 999999999",
    "f'{1:999999999}'",
    "[0] * 999999999",
    "[1, 2][0]",
    "{1: 2}",
    "()",
    "(1, 2)",
    "().__class__.__bases__[0].__subclasses__()",
    "abs.__self__",
    "abs.__globals__",
    "max.__call__(1, 2)",
    "(1).real",
    "1.0.hex()",
    "__import__('os').system('id')",
    "eval(1)",
    "exec(1)",
    "open(0)",
    "getattr(1, 2)",
    "globals()",
    "lambda: 1",
    "(lambda: 1)()",
    "[x for x in y]",
    "sum(x for x in y)",
    "(x := 9)",
    "1 if 1 else 2",
    "max(*learning_rate)",
    "max(1, 2, key=3)",
    "await x",
    "yield 1",
    "print(1); print(2)",
    "import os",
    "1 is 1",
    "1 in 2",
    "...",
    "None",
    "True",
    "1j",
    "0x10",
    "\uff45\uff56\uff41\uff4c(1)",
    "x\u200b",
    "1e999",
    "9" * 290 + "e99",
]

HOSTILE: dict[str, tuple[str | bytes, str]] = {
    # -- size and depth
    "alias bomb": (f"{HEAD}a: &a [x, x, x, x, x, x, x, x, x]\n{_LAUGHS}", "RB005"),
    "alias of itself": (f"{HEAD}a: &a [*a]\n", "RB005"),
    "brackets never closed": (f"{HEAD}symptoms: {'[' * 100_000}", "RB002"),
    "braces never closed": (f"{HEAD}symptoms: {'{a: ' * 200_000}", "RB002"),
    "deep blocks": (HEAD + "symptoms:\n" + "".join(" " * i + "a:\n" for i in range(1, 1300)), "RB002"),
    "deep condition": (
        symptoms([("s", "{title: s, base_rate: common, " + "not: {" * 31 + NUMBER + "}" * 32)], "s"),
        "RB002",
    ),
    "too many values": (f"{HEAD}description: [{'1,' * 300_000}1]\n", "RB002"),
    "one scalar of a megabyte": ("a" * 990_000, "RB012"),
    "a comment of a megabyte": ("#" * 990_000, "RB003"),
    "a key of a megabyte": (f"{HEAD}{'a' * 900_000}: 1\n", "RB003"),
    "a long key": (f"{HEAD}{'a' * 1000}: 1\n", "RB011"),
    "escapes by the thousand": (f'{HEAD}description: "' + "\\x41" * 200_000 + '"\n', "RB012"),
    "unknown fields by the thousand": (HEAD + "".join(f"x{i}: 1\n" for i in range(20_000)), "RB011"),
    "unknown names by the thousand": (misspelt_by_the_thousand(), "RB021"),
    "equal keys by the thousand": (HEAD + "a: 1\n" * 20_000, "RB004"),
    "evidence by the thousand": (
        f"{HEAD}causes: {{c: {{title: c, prior: 0.1, evidence: [{'{symptm: a},' * 9000}]}}}}\n",
        "RB012",
    ),
    "symptoms that double": (chained(400, "all: [{0}, {0}]"), "RB002"),
    "symptoms on a long chain": (chained(500, "not: {0}"), "RB002"),
    "derived numbers on a long chain": (derived_chain(250), "RB002"),
    "symptoms in a circle": (
        symptoms([(a, f"{{title: s, base_rate: common, not: {{symptom: {b}}}}}") for a, b in ("ab", "ba")], "a"),
        "RB023",
    ),
    "derived numbers in a circle": (f'{HEAD}derive: {{x: "y + 1", y: "x + 1"}}\n', "RB023"),
    # -- what YAML can do
    "python tag": (f"{HEAD}description: !!python/object/apply:os.system ['echo harm']\n", "RB005"),
    "python name": (f"{HEAD}description: !!python/name:os.system ''\n", "RB005"),
    "python module": (f"{HEAD}description: !!python/module:os ''\n", "RB005"),
    "own tag": (f"{HEAD}description: !harm x\n", "RB005"),
    "binary tag": (f"{HEAD}description: !!binary aGFybQ==\n", "RB005"),
    "merge key": (f"{HEAD}<<: {{title: Other}}\n", "RB011"),
    "key that is a list": (f"{HEAD}? [a, b]\n: c\n", "RB012"),
    "key that stands twice": (f"{HEAD}title: Other\n", "RB004"),
    "second document": (f"{HEAD}---\n{HEAD}", "RB003"),
    "no mapping": ("- a\n" * 100, "RB012"),
    "empty": ("", "RB003"),
    # -- characters
    "escape sequences": (f"{HEAD}description: a\x1b[2Jb\n", "RB003"),
    "escaped escape sequences": (
        f'{HEAD}causes: {{c: {{title: "\\x1b]0;harm\\x07", prior: 0.1, requires: ["\\x1b[31mred"]}}}}\n',
        "RB021",
    ),
    "nul": (f"{HEAD}description: a\x00b\n", "RB003"),
    "latin-1": (f"{HEAD}description: ".encode() + b"\xe4\n", "RB001"),
    "utf-16": (HEAD.encode("utf-16"), "RB001"),
    "half a surrogate pair": (f"{HEAD}description: ".encode() + b"\xed\xa0\x80\n", "RB001"),
    "half a surrogate pair, escaped": (f'{HEAD}description: "\\ud800"\n', "RB003"),
    # -- numbers
    "infinite bounds": (ramp("low: -.inf, high: .inf"), "RB006"),
    "bound that is no number": (ramp("low: .nan, high: 1"), "RB006"),
    "bound beyond floats": (ramp("low: 0, high: 1e999"), "RB006"),
    "bound near the end of floats": (ramp("low: 0, high: 1e308"), "RB012"),
    "equal bounds": (ramp("low: 1, high: 1"), "RB024"),
    "octal or not": (ramp("low: 017, high: 100"), "RB006"),
    "huge whole number": (f"{HEAD}causes: {{c: {{title: c, prior: {'9' * 60}}}}}\n", "RB012"),
    "whole number of a megabyte": (f"{HEAD}causes: {{c: {{title: c, prior: {'9' * 900_000}}}}}\n", "RB012"),
    "infinite prior": (f"{HEAD}causes: {{c: {{title: c, prior: .inf}}}}\n", "RB006"),
    "truth for a number": (f"{HEAD}causes: {{c: {{title: c, prior: true}}}}\n", "RB012"),
    "argument beyond floats": (feature("reward.train.fraction_above(1e309)"), "RB020"),
    # -- names
    "feature of dots": (feature("." * 199), "RB020"),
    "feature of parentheses": (feature("a(" * 99), "RB020"),
    "argument without an end": (feature(f"reward.train.fraction_above({'1' * 150}!"), "RB020"),
    "requirement full of blanks": (f'{HEAD}requires: {{engine: ">={" " * 190}x"}}\n', "RB012"),
    # -- expressions
    "ten thousand terms": (derived("+".join("1" * 10_000)), "RB012"),
    "too many terms in few characters": (derived("+".join("1" * 149)), "RB022"),
    "parentheses without an end": (derived("(" * 299), "RB022"),
    "many signs": (derived("-" * 298 + "1"), "RB022"),
    "a name that Python knows": (derived("__builtins__"), "RB021"),
    "an attribute of a value": (derived("learning_rate.__class__"), "RB020"),
    "an attribute in a feature": (feature("reward.train.__class__"), "RB020"),
    # -- other files
    "extends outside its folder": (f"{HEAD}extends: [../outside.yaml]\n", "RB030"),
    "extends an absolute path": (f"{HEAD}extends: [/etc/passwd.yaml]\n", "RB030"),
    "extends a drive": (f"{HEAD}extends: ['C:\\Windows\\x.yaml']\n", "RB030"),
    "extends a share": (f"{HEAD}extends: ['\\\\host\\share\\x.yaml']\n", "RB030"),
    "extends an address": (f"{HEAD}extends: ['https://example.org/x.yaml']\n", "RB030"),
    "extends a device": (f"{HEAD}extends: [/dev/zero.yaml, /dev/stdin.yaml]\n", "RB030"),
    "extends a name with nul": (f'{HEAD}extends: ["a\\0.yaml"]\n', "RB030"),
    "extends itself": (f"{HEAD}extends: [extends_itself.yaml]\n", "RB031"),
    **{f"expression {text[:40]}": (derived(text), "RB022") for text in EXPRESSIONS},
}

# Odd, but within the limits: they load, and judge a run.
HARMLESS: dict[str, str] = {
    "symptoms on the longest chain": chained(32, "not: {0}"),
    "derived numbers on the longest chain": derived_chain(32),
    "as many numbers as may be": chained(8, "all: [{0}, {0}]"),
    "widest bounds": ramp("low: -1.0e+300, high: 1.0e+300"),
    "smallest bounds": ramp("low: 1.0e-320, high: 1.0e-310"),
    "huge number in an expression": derived("9" * 290),
    "many parentheses": derived("(" * 149 + "1" + ")" * 149),
    "many negations": derived("not " * 70 + "1"),
    "placeholders in placeholders": (
        f"{HEAD}causes: {{c: {{title: c, prior: 0.9, remedies: [{{knob: learning_rate, summary: s, set: '1', "
        f'patch: {{sb3: "{{value:>999999999}} {{value.__class__}} {"{" * 3000}"}}}}]}}}}\n'
    ),
}
