"""Problems of a rulebook: a stable code, a place, the source line, and the way out.

RB00x  the file and its YAML          RB03x  books that refer to books
RB01x  fields and their values        RB1xx  found by the check: the book works, but something in it looks wrong
RB02x  names and expressions

`CODES` says what each code means and what to do; `docs/rulebook-errors.md` is made from it.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["CODES", "Explanation", "Problem", "in_file_order"]

# A longer source line is shown as the part around the column.
SHOWN = 120


class Explanation(NamedTuple):
    """What a code means and what to do about it."""

    meaning: str
    remedy: str


CODES: dict[str, Explanation] = {
    "RB001": Explanation(
        "The file cannot be read: it is missing, is no regular file, or is not UTF-8 text.",
        "Check the path and its permissions; save the file as UTF-8.",
    ),
    "RB002": Explanation(
        "The file is beyond the limits of a rulebook: 1 MB, 50,000 values, 32 levels of nesting; a symptom or derived "
        "number is made of more than 32 others in a row, or a symptom of more than 200 numbers in all; books "
        "that extend one another are more than 32 files or 2 MB together.",
        "Split the book and use `extends`; let symptoms look at numbers of the log themselves.",
    ),
    "RB003": Explanation(
        "The file is not valid YAML, is empty, or holds more than one document.",
        "Look at the line above the one that is named, too: a missing quote or bracket shows late.",
    ),
    "RB004": Explanation(
        "A key stands twice in one mapping, so that one of the two values would be lost.",
        "Remove one, or give it another name.",
    ),
    "RB005": Explanation(
        "Anchors, aliases or tags are used. A rulebook is plain data.",
        "Write the value out where it is needed; share symptoms by name.",
    ),
    "RB006": Explanation(
        "A number is not finite, is too large, or is written in a way that YAML readers take differently "
        "(a leading zero, octal, hexadecimal).",
        "Write it as a plain decimal number, or in quotes if it is text.",
    ),
    "RB010": Explanation("A field that is needed is missing.", "Add it; the format is in rulebook-format.md."),
    "RB011": Explanation("A field is not known here.", "Correct its spelling or remove it."),
    "RB012": Explanation(
        "A value has the wrong type, is out of its range, or contradicts its neighbours.",
        "The message says what is expected.",
    ),
    "RB020": Explanation(
        "A feature name cannot be understood: unknown signal, window, statistic, or wrong arguments.",
        "A feature is signal.window.statistic; the signals are in signals.md.",
    ),
    "RB021": Explanation(
        "A name refers to nothing: a symptom, a cause, a derived number, a knob, a configuration value or a signal.",
        "Correct the spelling, or define it.",
    ),
    "RB022": Explanation(
        "An expression cannot be understood.",
        "Known are numbers, + - * /, comparison, and/or/not, min max abs sqrt log exp clip, features and configuration "
        "values.",
    ),
    "RB023": Explanation(
        "Symptoms or derived numbers refer to one another in a circle.", "Let one of them stand on its own."
    ),
    "RB024": Explanation(
        "The bounds of a ramp or window are equal or out of order, or not positive on a log scale.",
        "low must be below high; in a band low ≤ full_low ≤ full_high ≤ high.",
    ),
    "RB025": Explanation(
        "The same symptom is evidence twice for one cause: it would count twice.",
        "Keep one of them.",
    ),
    "RB026": Explanation(
        "A name is taken: a window, knob or derived number is called like a built-in window or a configuration value.",
        "Choose another name.",
    ),
    "RB030": Explanation(
        "A book that is extended or asked for cannot be found, or lies outside the book's folder.",
        "Give an id, an id with a version, or a relative path below the folder of the book.",
    ),
    "RB031": Explanation("Books extend one another in a circle.", "Remove one of the `extends`."),
    "RB032": Explanation(
        "An override names something that does not exist or cannot be applied; or a name of an extended book is "
        "defined again without `override`.",
        "Change inherited entries under `override:` only, each key with `replace` or `append`.",
    ),
    "RB033": Explanation(
        "The book needs another version of rl-diagnose or of the signals.", "Upgrade rl-diagnose, or use an older book."
    ),
    "RB034": Explanation(
        "A book that is found by its id says that it is another book or version.",
        "Let id and version agree with folder and file name: <id>/<version>.yaml.",
    ),
    "RB035": Explanation(
        "An installed package of rulebooks cannot be used, brings an invalid book, or one whose id is taken.",
        "Update or remove the package; the other books work all the same.",
    ),
    "RB100": Explanation(
        "A symptom is neither evidence for a cause nor part of another symptom.", "Use it, or remove it."
    ),
    "RB101": Explanation("A window, knob or derived number is never used.", "Use it, or remove it."),
    "RB102": Explanation(
        "Two symptoms have the same condition: as evidence for one cause they would count one observation twice.",
        "Keep one, and refer to it by name.",
    ),
    "RB103": Explanation(
        "A cause has no evidence that speaks for it, so that it can never rise above its prior.",
        "Add a symptom that is seen more often with the cause than without.",
    ),
    "RB104": Explanation(
        "A fault has no remedy.", "Say what to do about it; for causes that are no knob, at least under `tell_apart`."
    ),
    "RB105": Explanation(
        "Two causes have the same evidence, so that nothing tells them apart.",
        "Add a symptom that only one of them has.",
    ),
    "RB106": Explanation("A deprecated cause or book names no replacement.", "Add `replaced_by`."),
    "RB107": Explanation(
        "The priors of causes that exclude one another add up to more than 1.", "Lower them: at most one can be true."
    ),
    "RB108": Explanation("A fault has no reference.", "Say where the claim comes from."),
    "RB109": Explanation(
        "Evidence says nothing: with the cause the symptom is as frequent as without.",
        "Give another `seen`, or remove the evidence.",
    ),
    "RB110": Explanation("A cause or book that is named here is deprecated.", "Name the one that replaced it."),
    "RB111": Explanation(
        "A patch has a placeholder that nothing fills.",
        "Known are {value}, {current} and the names under `values`.",
    ),
    "RB112": Explanation(
        "The file is called like a released version, but its folder and name are not the book's id and version.",
        "Let them agree, <id>/<version>.yaml: in a package the book would not be usable.",
    ),
}


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem. `line` and `column` count from 1 (0 = the file as a whole); `snippet` is the source line.

    An `error` makes the book unusable, a `warning` is something that the check found odd.
    """

    code: str
    message: str
    file: str
    line: int = 0
    column: int = 0
    snippet: str = ""
    hint: str | None = None
    severity: Literal["error", "warning"] = "error"

    def render(self) -> str:
        """`file:line:column: severity[code]: message`, the source line with a caret, and the hint."""
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        lines = [_printable(f"{place}: {self.severity}[{self.code}]: {self.message}")]
        if self.snippet:
            lines += [f"    {part}" for part in _excerpt(self.snippet, self.column)]
        if self.hint:
            lines.append(_printable(f"  help: {self.hint}"))
        return "\n".join(lines)


def in_file_order(problems: Iterable[Problem]) -> list[Problem]:
    """The problems, each once, by line and column; files stay in the order in which they first come."""
    once = list(dict.fromkeys(problems))
    files = {file: i for i, file in enumerate(dict.fromkeys(p.file for p in once))}
    return sorted(once, key=lambda p: (files[p.file], p.line, p.column))


def _excerpt(line: str, column: int) -> tuple[str, str]:
    """The part of `line` around `column`, and the caret below it."""
    at = min(max(column - 1, 0), len(line))
    start = 0 if len(line) <= SHOWN else max(0, at - SHOWN // 2)
    end = start + SHOWN
    before, after = _printable(line[start:at]), _printable(line[at:end].rstrip())
    if start:
        before = f"…{before}"
    if end < len(line):
        after = f"{after}…"
    # East Asian wide characters take two columns of a terminal.
    width = sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in before)
    return before + after, f"{' ' * width}^"


def _printable(text: str) -> str:
    """`text` on one line, without control characters: a file from a stranger must not steer the terminal."""
    return "".join(c if c.isprintable() else " " for c in text)
