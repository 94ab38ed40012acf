"""A rulebook after loading, resolving and checking: plain frozen values that scoring works on.

The YAML shape and its validation live in `model.py`; this is what is left once every name is resolved.
Everything here is data that can be compared, hashed by content and written as JSON.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from ..features.windows import Window
    from ..signals.taxonomy import Hyperparameter

__all__ = [
    "All",
    "Any_",
    "AppliesTo",
    "Book",
    "Calibration",
    "Cause",
    "Code",
    "Condition",
    "Expect",
    "First",
    "Leaf",
    "Link",
    "Mean",
    "Not",
    "OnsetSpec",
    "Parts",
    "Ramp",
    "Remedy",
    "Symptom",
    "SymptomRef",
]


@dataclass(frozen=True, slots=True)
class Ramp:
    """Membership of a number: 0 below `low` and 1 above `high` (rising), the mirror (falling), or a trapezoid.

    For `band` the membership is 0 outside (low, high) and 1 inside [full_low, full_high]. On a log scale all
    bounds are positive and values ≤ 0 count as below `low`.
    """

    shape: Literal["rising", "falling", "band"]
    low: float
    high: float
    full_low: float | None = None
    full_high: float | None = None
    scale: Literal["linear", "log"] = "linear"


@dataclass(frozen=True, slots=True)
class Leaf:
    """A ramp over one number: a feature (`policy.kl.late.median`), a derived feature of the book, a configuration
    value, or the number of log issues with a code."""

    kind: Literal["feature", "derived", "config", "issue"]
    name: str
    ramp: Ramp


@dataclass(frozen=True, slots=True)
class SymptomRef:
    """The membership of another symptom of the book."""

    symptom: str


@dataclass(frozen=True, slots=True)
class Parts:
    """What is made of several conditions."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class All(Parts):
    """Lowest membership of the parts."""


@dataclass(frozen=True, slots=True)
class Any_(Parts):  # noqa: N801 - `Any` is typing's
    """Highest membership of the parts."""


@dataclass(frozen=True, slots=True)
class Mean(Parts):
    """Mean membership of the parts: for near-duplicate measurements of one thing."""


@dataclass(frozen=True, slots=True)
class First(Parts):
    """Membership of the first part that is known: for a better measurement that few logs allow, and its stand-in."""


@dataclass(frozen=True, slots=True)
class Not:
    """One minus the membership of the part."""

    part: Condition


Condition = Leaf | SymptomRef | All | Any_ | Mean | First | Not


@dataclass(frozen=True, slots=True)
class OnsetSpec:
    """How to date a symptom: the first lasting stretch in which `signal` is above/below `bound`."""

    signal: str
    direction: Literal["above", "below"]
    bound: float


@dataclass(frozen=True, slots=True)
class Symptom:
    """Something visible in the curves. `base_rate` = share of runs without any listed cause that show it."""

    id: str
    title: str
    condition: Condition
    base_rate: float
    onset: OnsetSpec | None = None
    severity: float = 1.0
    description: str = ""


@dataclass(frozen=True, slots=True)
class Link:
    """Evidence: with the cause, how often is the symptom seen (`seen`, a probability)."""

    symptom: str
    seen: float
    absence: Literal["counts", "ignore"] = "counts"


@dataclass(frozen=True, slots=True)
class AppliesTo:
    """Runs that a book or a cause is about; an empty tuple is no restriction."""

    algorithm: tuple[str, ...] = ()
    framework: tuple[str, ...] = ()
    action_space: tuple[str, ...] = ()

    def admits(self, algorithm: str | None, framework: str | None, action_space: str | None) -> bool:
        """Whether a run is among them; what is not known of it (None) is no reason against it."""
        pairs = ((self.algorithm, algorithm), (self.framework, framework), (self.action_space, action_space))
        return all(not allowed or have is None or have in allowed for allowed, have in pairs)


@dataclass(frozen=True, slots=True)
class Expect:
    """What a remedy promises: `feature` rises or falls to `target` within `within_steps` steps."""

    feature: str
    direction: Literal["rises_to", "falls_to"]
    target: float
    within_steps: float | None = None


# A code template, or one for each of some algorithms: (algorithm, template); the algorithm `other` is all the rest.
Code = str | tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Remedy:
    """One knob to turn. `set` is an expression over configuration values and features; `values` are further named
    numbers for the patch; `patch` maps a framework to its code; `bounds`/`step_limit` override the knob's own;
    `applies_to` are the runs whose learner has the knob."""

    knob: str
    summary: str
    set: str | None = None
    values: tuple[tuple[str, str], ...] = ()
    low: float | None = None
    high: float | None = None
    step_limit: float | None = None
    relative: str = ""
    expect: tuple[Expect, ...] = ()
    patch: tuple[tuple[str, Code], ...] = ()
    before: tuple[tuple[str, Code], ...] = ()
    applies_to: AppliesTo = field(default_factory=AppliesTo)


@dataclass(frozen=True, slots=True)
class Cause:
    """A root cause. `kind`: `fault` (a finding), `benign` (explains why something that looks bad is not) or
    `insufficient` (the log is too short or too poor to tell). `status`: a `deprecated` cause keeps its id but is not
    scored; `replaced_by` is the cause that took its place."""

    id: str
    title: str
    prior: float
    links: tuple[Link, ...]
    kind: Literal["fault", "benign", "insufficient"] = "fault"
    status: Literal["stable", "experimental", "deprecated"] = "stable"
    description: str = ""
    applies_to: AppliesTo = field(default_factory=AppliesTo)
    requires: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    tell_apart: str = ""
    references: tuple[str, ...] = ()
    replaced_by: str | None = None


@dataclass(frozen=True, slots=True)
class Calibration:
    """Platt: P' = σ(a·logit P + b), with the corpus it was fitted on: `n` runs, in `positives` of which a cause of the
    book is the right answer. `words` are the numbers of words that the fit changed; links and base rates have them."""

    a: float
    b: float
    corpus: str
    n: int
    brier: float
    log_loss: float
    ece: float
    date: str
    positives: int | None = None
    words: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Book:
    """A resolved rulebook: what it extends is already merged in. `sha256` is of the source bytes of all its files.

    `knobs` are the hyper-parameters that it adds to the canonical ones.
    A `deprecated` book works when it is asked for by name; `replaced_by` is the id of the one to use instead."""

    id: str
    version: str
    sha256: str
    title: str
    path: str
    applies_to: AppliesTo
    windows: tuple[Window, ...]
    derived: tuple[tuple[str, str], ...]
    symptoms: tuple[Symptom, ...]
    causes: tuple[Cause, ...]
    extends: tuple[str, ...] = ()
    description: str = ""
    calibration: Calibration | None = None
    knobs: tuple[Hyperparameter, ...] = ()
    status: Literal["stable", "experimental", "deprecated"] = "stable"
    replaced_by: str | None = None
