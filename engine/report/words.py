"""The sentences that every output shares, so that terminal, Markdown and notebook say the same thing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..diagnosis.numbers import count, exact, number, percent, steps, unit_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..diagnosis.model import (
        Association,
        BookRef,
        CauseFinding,
        Diagnosis,
        Evidence,
        Measurement,
        NotChecked,
        RemedyPlan,
        RunDiagnosis,
    )
    from ..signals.run import LogIssue

__all__ = [
    "ASSOCIATIONS",
    "VERDICTS",
    "association_words",
    "axis_words",
    "book_words",
    "calibration_words",
    "cause_counts",
    "checked_titles",
    "facts",
    "gap_words",
    "hidden_causes",
    "interval_words",
    "issue_words",
    "knob_words",
    "main_causes",
    "measurement_words",
    "prior_words",
    "severity",
    "sign_words",
    "summary",
    "suppressed_words",
]

VERDICTS = {
    "finding": "Finding",
    "nothing_found": "Nothing found",
    "cannot_tell": "Cannot tell",
    "unreadable": "Unreadable",
}

_AXES = {"env_steps": "env steps", "iterations": "iterations", "updates": "updates", "episodes": "episodes"}

_ORIGINS = {"config": "from the configuration", "log": "from the log", "user": "as given"}

ASSOCIATIONS = "Settings that go with a cause"
MAIN_CAUSES = 5
SMALLEST_SHOWN = 0.05


def axis_words(run: RunDiagnosis) -> str:
    """The unit of the run's steps, in words."""
    return _AXES.get(run.x_axis, run.x_axis.replace("_", " "))


def facts(run: RunDiagnosis) -> list[str]:
    """What is known about the run before any rule: framework, algorithm, environment, actions, length."""
    framework = " ".join(part for part in (run.framework, run.framework_version) if part)
    known = [framework, run.algorithm or "", run.env or "", _action_words(run)]
    if run.points:
        until = f" to {axis_words(run)[:-1]} {steps(run.last_step)}" if run.last_step is not None else ""
        known.append(count(run.points, "point") + until)
    return [part for part in known if part]


def _action_words(run: RunDiagnosis) -> str:
    space = run.action_space
    if space is None or space.kind == "unknown":
        return ""
    unit = "dimension" if space.kind in {"continuous", "multi_binary"} else "action"
    size = f", {count(space.size, unit)}" if space.size else ""
    origin = _ORIGINS.get(space.origin, space.origin)
    return f"{space.kind.replace('_', ' ')}{size} ({origin})"


def main_causes(run: RunDiagnosis, *, every: bool = False) -> list[CauseFinding]:
    """The assessed causes worth a line, the most probable first."""
    assessed = [c for c in run.causes if c.status == "assessed" and c.probability is not None]
    if every:
        return assessed
    return [c for c in assessed if (c.probability or 0.0) >= SMALLEST_SHOWN][:MAIN_CAUSES]


def hidden_causes(run: RunDiagnosis) -> int:
    """How many assessed causes `main_causes` leaves out."""
    return len(main_causes(run, every=True)) - len(main_causes(run))


def checked_titles(run: RunDiagnosis) -> list[str]:
    """Titles of the faults that were assessed and not suppressed, whatever came out, in alphabetical order."""
    return sorted({c.title for c in run.causes if c.kind == "fault" and c.status == "assessed" and not c.suppressed})


def calibration_words(run: RunDiagnosis) -> str:
    """Whether the probabilities were fitted to labelled runs."""
    assessed = main_causes(run, every=True)
    if not assessed:
        return ""
    calibrated = sum(c.calibrated for c in assessed)
    if calibrated == len(assessed):
        return "calibrated on labelled runs"
    if calibrated == 0:
        return "not calibrated: an order, not frequencies"
    return "not all calibrated"


def knob_words(plan: RemedyPlan) -> str:
    """``entropy_coef: 0.01 (from config.yml) → 0.03``, or what to do relative to a present value that is not known."""
    integer = plan.integer
    if plan.proposed is not None and plan.current is not None:
        origin = f" (from {plan.current_origin})" if plan.current_origin else ""
        return f"{plan.knob}: {exact(plan.current)}{origin} → {exact(plan.proposed, 4, integer=integer)}"
    if plan.proposed is not None:
        relative = f"; {plan.relative}" if plan.relative else ""
        return (
            f"{plan.knob}: set to {exact(plan.proposed, 4, integer=integer)} (present value not in the log{relative})"
        )
    return f"{plan.knob}: {plan.relative}" if plan.relative else plan.knob


def prior_words(cause: CauseFinding) -> str:
    """How the ledger starts and ends: prior, what competition took away, probability."""
    parts = [f"before any evidence {percent(cause.prior)}"]
    if abs(cause.explained_away_decibans) >= 0.5:
        parts.append(f"other causes explain the same signs: {cause.explained_away_decibans:+.1f} dB")
    if cause.probability is not None:
        parts.append(f"in the end {percent(cause.probability)}")
    return "; ".join(parts)


def measurement_words(measurement: Measurement) -> str:
    """A measurement as a ledger line: name, value, rule, steps."""
    value = "missing" if measurement.value is None else number(measurement.value) + unit_words(measurement.unit)
    where = f", {interval_words(measurement.steps)}" if measurement.steps else ""
    rule = f" ({measurement.ramp})" if measurement.ramp else ""
    return f"{measurement.feature} = {value}{rule}{where}"


def sign_words(line: Evidence) -> str:
    """The symptom of a ledger line, and that it is not there where its absence is what weighs."""
    if line.missing or line.membership is None or line.membership >= 0.5:
        return line.title
    return f"{line.title} (not seen)"


def interval_words(interval: tuple[float, float]) -> str:
    """A step range in words."""
    return f"steps {steps(interval[0])}–{steps(interval[1])}"


def issue_words(issue: LogIssue) -> str:
    """A log issue with its step and file."""
    where = [f"step {steps(issue.step)}"] if issue.step is not None else []
    where += [issue.source] if issue.source else []
    return issue.message + (f" ({', '.join(where)})" if where else "")


def gap_words(gap: NotChecked) -> str:
    """What was not checked, why, and how it could be."""
    return f"{gap.what}: {gap.reason}" + (f"; to check it, {gap.remedy}" if gap.remedy else "")


def book_words(books: Iterable[BookRef]) -> str:
    """Rulebooks with version and the head of their hash."""
    return ", ".join(f"{b.id} {b.version} ({b.sha256[:12]})" for b in books)


def severity(run: RunDiagnosis) -> tuple[int, float, str]:
    """Sort key, worst first: findings by probability, then unreadable, cannot tell, nothing found."""
    order = {"finding": 0, "unreadable": 1, "cannot_tell": 2, "nothing_found": 3}[run.verdict]
    top = run.findings[0].probability if run.findings else None
    return order, -(top or 0.0), run.id


def cause_counts(runs: Sequence[RunDiagnosis]) -> list[tuple[str, int]]:
    """(title, number of runs whose verdict rests on it), the most frequent first."""
    counts: dict[str, int] = {}
    for run in runs:
        if run.top is not None:
            counts[run.top.title] = counts.get(run.top.title, 0) + 1
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def association_words(one: Association) -> str:
    """The sentence about a setting that goes with a cause."""
    value = number(one.value) if isinstance(one.value, float) else str(one.value)
    relation = {"at_most": "≤", "at_least": "≥", "is": "="}[one.relation]
    chance = f"p = {one.p_value:.2g}" if one.p_value >= 1e-4 else "p < 0.0001"
    return (
        f"{one.title}: {one.with_cause:,} of {count(one.runs, 'run')} with {one.setting} {relation} {value}, "
        f"{one.others_with_cause:,} of {one.others:,} others ({chance})"
    )


def summary(diagnosis: Diagnosis) -> str:
    """One line over all runs: how many of each verdict."""
    runs = diagnosis.runs
    tally = [(sum(r.verdict == v for r in runs), v) for v in ("finding", "unreadable", "cannot_tell", "nothing_found")]
    words = {
        "finding": "with a finding",
        "unreadable": "unreadable",
        "cannot_tell": "cannot tell",
        "nothing_found": "with nothing found",
    }
    parts = [f"{n:,} {words[v]}" for n, v in tally if n]
    if diagnosis.suppressed:
        parts.append(suppressed_words(diagnosis))
    return f"{count(len(runs), 'run')}: " + ", ".join(parts)


def suppressed_words(diagnosis: Diagnosis) -> str:
    """How many findings the project file suppresses; empty for none."""
    return f"{count(diagnosis.suppressed, 'finding')} suppressed" if diagnosis.suppressed else ""
