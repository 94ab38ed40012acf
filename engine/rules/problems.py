"""Problems of a rulebook: a stable code, a place, the line, and the way out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["CODES", "Problem"]

CODES: dict[str, str] = {
    "RB001": "the file cannot be read (missing, unreadable, not UTF-8)",
    "RB002": "the file is larger than a rulebook may be (1 MB) or nested too deeply",
    "RB003": "the file is not valid YAML",
    "RB004": "a key appears twice in one mapping",
    "RB005": "aliases, anchors or tags are used: a rulebook is plain data",
    "RB006": "a number is not finite, or is written in a way that YAML readers disagree about",
    "RB010": "a field is missing",
    "RB011": "a field is not known",
    "RB012": "a value has the wrong type or is out of range",
    "RB020": "a feature name cannot be understood",
    "RB021": "a name refers to nothing (symptom, cause, window, knob, configuration value, derived feature, signal)",
    "RB022": "an expression cannot be understood",
    "RB023": "symptoms or derived features refer to each other in a circle",
    "RB030": "a book that is extended or asked for cannot be found",
    "RB031": "books extend each other in a circle",
    "RB032": "an override names something that does not exist, or a name is defined twice without override",
    "RB033": "the book requires another version of the program or of the signals",
    "RB100": "lint: a symptom is never used as evidence",
    "RB101": "lint: the bounds of a ramp are equal or out of order",
    "RB102": "lint: the same symptom is evidence twice for one cause",
    "RB103": "lint: a cause has no evidence",
    "RB104": "lint: a fault has no remedy and does not say how to tell it apart",
    "RB105": "lint: two causes have the same evidence, so nothing tells them apart",
    "RB106": "lint: a deprecated cause names no replacement",
    "RB107": "lint: priors of causes that exclude one another add up to more than 1",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem. `line` and `column` count from 1 (0 = the whole file); `snippet` is the source line."""

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
        lines = [f"{place}: {self.severity}[{self.code}]: {self.message}"]
        if self.snippet:
            lines += [f"    {self.snippet}", f"    {' ' * (self.column - 1)}^"]
        if self.hint:
            lines.append(f"  help: {self.hint}")
        return "\n".join(lines)
