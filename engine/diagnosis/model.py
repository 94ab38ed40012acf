"""The result: what is said about each run, in a form that every report and the JSON contract is made from."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray
    from rich.console import RenderableType

    from ..signals.run import ActionSpace, LogIssue, TrackedRun, UnmappedKey

__all__ = [
    "Association",
    "BookRef",
    "CauseFinding",
    "Curve",
    "Diagnosis",
    "Evidence",
    "Measurement",
    "NotChecked",
    "RemedyPlan",
    "RunDiagnosis",
    "Setting",
    "Suppressed",
    "SymptomFinding",
    "Verdict",
]

Verdict = Literal["finding", "nothing_found", "cannot_tell", "unreadable"]
CauseStatus = Literal["assessed", "not_assessable", "insufficient_data"]


@dataclass(frozen=True, slots=True)
class BookRef:
    """Which rulebook spoke: id, version and hash of its content reproduce a verdict."""

    id: str
    version: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Measurement:
    """One number behind a symptom: feature name, its value (None = missing), unit, reliability 0…1, and how far it
    speaks for the symptom (`membership`, 0…1).

    `ramp` is the rule in words, `signal` the signal that the number was taken from (None for a configuration value
    or a count of log issues), `steps` the part of the run it was taken over, in units of the run's x-axis.
    """

    feature: str
    value: float | None
    unit: str
    reliability: float
    membership: float | None
    ramp: str
    signal: str | None = None
    steps: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class SymptomFinding:
    """A symptom as seen in this run. `membership` is 0…1 (½ = cannot tell); `onset_step`/`end_step` bound the bad
    interval in units of the run's x-axis; `statement` is a sentence that cites signal, value and step."""

    id: str
    title: str
    membership: float
    onset_step: float | None
    end_step: float | None
    signal: str | None
    value: float | None
    statement: str
    measurements: tuple[Measurement, ...] = ()
    max_value: float | None = None
    ratio: float | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """One line of the ledger: a symptom's weight for or against a cause in decibans, and the odds so far.

    `statement` cites signal, value and steps in words; `measurement` is the number that decides the symptom.
    """

    symptom: str
    title: str
    membership: float | None
    decibans: float
    running_probability: float
    statement: str
    missing: bool = False
    measurement: Measurement | None = None


@dataclass(frozen=True, slots=True)
class RemedyPlan:
    """One intervention with its numbers worked out for this run.

    `current` is the run's own value (None = not known: then `relative` says what to do relative to it),
    `proposed` the computed one, `before`/`after` code for the run's framework, `clamped` why the number was limited,
    `expected` the promised effect in words, `expect` the same as data for a later check (feature, direction, target,
    within so many steps). `note` says when the code is for another framework than the run's own.
    """

    knob: str
    summary: str
    current: float | None
    current_origin: str | None
    proposed: float | None
    values: tuple[tuple[str, float], ...]
    relative: str
    before: str | None
    after: str | None
    framework: str | None
    clamped: str | None
    expected: tuple[str, ...]
    expect: tuple[tuple[str, str, float, float | None], ...] = ()
    note: str | None = None
    integer: bool = False


@dataclass(frozen=True, slots=True)
class Suppressed:
    """Why a finding counts for nothing: the project file's reason, its glob over runs, and the last day on which the
    suppression counts (ISO 8601; None: it does not end)."""

    reason: str
    runs: str
    expires: str | None = None


@dataclass(frozen=True, slots=True)
class CauseFinding:
    """A cause with its probability (None when it is not assessable) and the ledger that leads to it.

    `suppressed` is set on a fault that the project file declares known and accepted: it stays here with its
    probability, but neither the verdict nor the exit code rests on it.
    """

    id: str
    book: str
    title: str
    kind: Literal["fault", "benign", "insufficient"]
    probability: float | None
    calibrated: bool
    coverage: float
    status: CauseStatus
    prior: float
    evidence: tuple[Evidence, ...]
    explained_away_decibans: float = 0.0
    missing: tuple[str, ...] = ()
    remedies: tuple[RemedyPlan, ...] = ()
    description: str = ""
    tell_apart: str = ""
    references: tuple[str, ...] = ()
    experimental: bool = False
    suppressed: Suppressed | None = None


@dataclass(frozen=True, slots=True)
class NotChecked:
    """Something the rulebooks would have liked to look at: what, why not, and what to log so that it can be."""

    what: str
    reason: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Curve:
    """One signal for display: float64 arrays of shape (n,), thinned so that minima and maxima survive.

    A NaN in `value` is a non-finite value of the log. `bad` bounds the interval to mark, in units of the x-axis.
    `iteration` is the number of the update that each point belongs to; None where the log does not tell for all.
    """

    signal: str
    title: str
    unit: str
    step: NDArray[np.float64]
    value: NDArray[np.float64]
    bad: tuple[float, float] | None = None
    iteration: NDArray[np.float64] | None = None


@dataclass(frozen=True, slots=True)
class Setting:
    """A hyper-parameter under its canonical name, as the run started with it, and where that was read."""

    name: str
    value: float | int | bool | str
    origin: str


@dataclass(frozen=True, slots=True)
class Association:
    """A setting that goes with a cause over many runs.

    `with_cause` of the `runs` whose setting is at most, at least, or equal to `value` have the cause, and
    `others_with_cause` of the `others`.

    `p_value`: how probable as clear a split is by chance, corrected for the number of tests.
    """

    setting: str
    relation: Literal["at_most", "at_least", "is"]
    value: float | int | bool | str
    cause: str
    title: str
    with_cause: int
    runs: int
    others_with_cause: int
    others: int
    p_value: float

    def corrected(self, tests: int) -> Association:
        """The same, its `p_value` multiplied by the number of tests."""
        return replace(self, p_value=min(1.0, tests * self.p_value))


@dataclass(frozen=True, slots=True)
class RunDiagnosis:
    """What is said about one run; `causes` are sorted by probability, the most probable first.

    `rulebooks` are the ones applied to this run; `symptoms` are all that the books describe, the clearest first.
    """

    id: str
    path: str
    verdict: Verdict
    verdict_reason: str
    framework: str | None = None
    framework_version: str | None = None
    algorithm: str | None = None
    env: str | None = None
    x_axis: str = "env_steps"
    last_step: float | None = None
    points: int = 0
    action_space: ActionSpace | None = None
    primary_symptom: SymptomFinding | None = None
    symptoms: tuple[SymptomFinding, ...] = ()
    causes: tuple[CauseFinding, ...] = ()
    remarks: tuple[str, ...] = ()
    not_checked: tuple[NotChecked, ...] = ()
    log_issues: tuple[LogIssue, ...] = ()
    unmapped: tuple[UnmappedKey, ...] = ()
    curves: tuple[Curve, ...] = ()
    rulebooks: tuple[BookRef, ...] = ()
    adapter: str = ""
    files: tuple[str, ...] = ()
    settings: tuple[Setting, ...] = ()
    tracked: TrackedRun | None = None

    @property
    def findings(self) -> tuple[CauseFinding, ...]:
        """Assessed faults that count, the most probable first: neither experimental nor suppressed ones."""
        return tuple(c for c in self._faults if c.suppressed is None)

    @property
    def suppressed_findings(self) -> tuple[CauseFinding, ...]:
        """Assessed faults that would count, were they not suppressed; the most probable first."""
        return tuple(c for c in self._faults if c.suppressed is not None)

    @property
    def _faults(self) -> tuple[CauseFinding, ...]:
        return tuple(
            c
            for c in self.causes
            if c.kind == "fault" and c.status == "assessed" and c.probability is not None and not c.experimental
        )

    @property
    def top(self) -> CauseFinding | None:
        """The cause that the verdict rests on; None unless the verdict is `finding`."""
        return self.findings[0] if self.verdict == "finding" else None


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The answer for a path: one `RunDiagnosis` a run, and the rulebooks that spoke.

    `associations` are settings that go with a cause over the runs.
    `suppressed` is how many findings (a fault of at least 50 % in one run) the project file suppresses.
    """

    path: str
    rulebooks: tuple[BookRef, ...]
    runs: tuple[RunDiagnosis, ...]
    created: str = ""
    suppressed: int = 0
    notes: tuple[str, ...] = field(default_factory=tuple)
    associations: tuple[Association, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The JSON document of schema ``rl-diagnose/diagnosis/v1`` as plain dicts and lists (no NaN, no infinity)."""
        from ..report.json_report import to_document

        return to_document(self)

    def to_polars(self) -> pl.DataFrame:
        """One row a run, columns as in `rl_diagnose.report.frame.SCHEMA`; null where something is not known."""
        from ..report.frame import to_polars

        return to_polars(self)

    def __str__(self) -> str:
        from ..report.terminal import to_text

        return to_text(self)

    def __rich__(self) -> RenderableType:
        from ..report.terminal import renderable

        return renderable(self)

    def _repr_html_(self) -> str:
        from ..report.notebook import to_html

        return to_html(self)
