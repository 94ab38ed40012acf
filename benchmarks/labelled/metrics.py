"""The figures over all runs of a corpus.

Runs with `harmed=yes` ask for a cause, runs with `harmed=no` for silence; `unclear` ones count only where it is said.
A fault is *said* when its probability reaches a threshold. Probabilities are judged over all pairs of a run and an
assessed fault; of several acceptable causes the most probable one is the truth and the others are left out, because
naming either of two equivalent causes is right.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rl_diagnose.rules.calibration import brier, ece, log_loss, reliability_bins

from .corpus import HEALTHY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from .outcomes import Outcome

__all__ = ["FINDING_AT", "SURE_AT", "Calibration", "EnvRow", "FaultRow", "Result", "Share", "evaluate"]

FINDING_AT, SURE_AT = 0.5, 0.8
# Below, reports say "< 1 %".
SHOWN_AT = 0.01
NOTHING = "(nothing assessed)"


@dataclass(frozen=True, slots=True)
class Share:
    """`hits` of `of`; `value` is None for a share of nothing."""

    hits: int
    of: int

    @property
    def value(self) -> float | None:
        """The share as a number 0…1."""
        return self.hits / self.of if self.of else None


@dataclass(frozen=True, slots=True)
class Calibration:
    """Brier score, log-loss (nats), expected calibration error, and bins of equal counts: (n, stated, true)."""

    pairs: int
    brier: float
    log_loss: float
    ece: float
    bins: tuple[tuple[int, float, float], ...]


@dataclass(frozen=True, slots=True)
class FaultRow:
    """One injected fault that did harm: how many runs, and how many with an acceptable cause first or among three."""

    fault: str
    top1: Share
    top3: Share


@dataclass(frozen=True, slots=True)
class EnvRow:
    """One environment: hits, alarms, and what is said at 0.5 and right."""

    env: str
    top1: Share
    top3: Share
    alarms: Share
    precision: Share


@dataclass(frozen=True, slots=True)
class Result:
    """All figures. `alarms` are runs with `harmed=no` and a fault said at 0.5, in all and by group."""

    runs: int
    unreadable: int
    top1: Share
    top3: Share
    found: Share
    by_fault: tuple[FaultRow, ...]
    by_env: tuple[EnvRow, ...]
    alarms: Share
    alarms_healthy: Share
    alarms_harmless: Share
    alarms_by_group: tuple[tuple[str, Share], ...]
    alarm_causes: tuple[tuple[str, int], ...]
    precision: Share
    precision_sure: Share
    calibration: Calibration
    calibration_shown: Calibration
    calibration_top: Calibration
    coverage: float | None
    not_assessable: float | None
    abstained: Share
    verdicts: tuple[tuple[str, int], ...]
    confusion: tuple[tuple[str, str, int], ...]


def evaluate(outcomes: Sequence[Outcome]) -> Result:
    """Every figure over `outcomes`; unreadable runs count as misses, and as silence where silence was right."""
    readable = [o for o in outcomes if o.verdict != "unreadable"]
    harmed = [o for o in outcomes if o.label.harmed == "yes"]
    silent = [o for o in outcomes if o.label.silent]
    clear = [o for o in readable if o.label.harmed != "unclear"]
    alarmed = [o for o in silent if _says(o, FINDING_AT)]
    return Result(
        runs=len(outcomes),
        unreadable=len(outcomes) - len(readable),
        top1=_share(harmed, lambda o: o.hit(1)),
        top3=_share(harmed, lambda o: o.hit(3)),
        found=_share(harmed, lambda o: o.hit(1) and _says(o, FINDING_AT)),
        by_fault=_by_fault(harmed),
        by_env=_by_env(outcomes),
        alarms=Share(len(alarmed), len(silent)),
        alarms_healthy=_share([o for o in silent if o.label.fault == HEALTHY], lambda o: _says(o, FINDING_AT)),
        alarms_harmless=_share([o for o in silent if o.label.fault != HEALTHY], lambda o: _says(o, FINDING_AT)),
        alarms_by_group=_by_group(silent),
        alarm_causes=tuple(Counter(o.said[0].cause for o in alarmed).most_common()),
        precision=_precision(clear, FINDING_AT),
        precision_sure=_precision(clear, SURE_AT),
        calibration=_calibration(pair for o in clear for pair in _pairs(o)),
        calibration_shown=_calibration(pair for o in clear for pair in _pairs(o) if pair[0] >= SHOWN_AT),
        calibration_top=_calibration((o.said[0].probability, _right(o, 0)) for o in clear if o.said),
        coverage=_mean([o.said[0].coverage for o in readable if o.said]),
        not_assessable=_mean([o.not_assessable for o in readable]),
        abstained=_share(readable, lambda o: o.verdict == "cannot_tell"),
        verdicts=tuple(sorted(Counter(o.verdict for o in outcomes).items())),
        confusion=_confusion(outcomes),
    )


def _share(outcomes: Sequence[Outcome], holds: Callable[[Outcome], bool]) -> Share:
    return Share(sum(holds(o) for o in outcomes), len(outcomes))


def _says(outcome: Outcome, threshold: float) -> bool:
    return bool(outcome.said) and outcome.said[0].probability >= threshold


def _right(outcome: Outcome, index: int) -> bool:
    return outcome.label.harmed == "yes" and outcome.said[index].cause in outcome.acceptable


def _precision(outcomes: Iterable[Outcome], threshold: float) -> Share:
    """Of everything said at `threshold`, not only of what is said first, the part that is right."""
    right = [_right(o, i) for o in outcomes for i, said in enumerate(o.said) if said.probability >= threshold]
    return Share(sum(right), len(right))


def _pairs(outcome: Outcome) -> list[tuple[float, bool]]:
    true = next((i for i in range(len(outcome.said)) if _right(outcome, i)), None)
    return [(said.probability, i == true) for i, said in enumerate(outcome.said) if i == true or not _right(outcome, i)]


def _calibration(pairs: Iterable[tuple[float, bool]]) -> Calibration:
    known = list(pairs)
    p, y = [stated for stated, _ in known], [float(present) for _, present in known]
    return Calibration(len(known), brier(p, y), log_loss(p, y), ece(p, y), tuple(reliability_bins(p, y)))


def _by_fault(harmed: Sequence[Outcome]) -> tuple[FaultRow, ...]:
    rows = []
    for fault in sorted({o.label.fault for o in harmed}):
        own = [o for o in harmed if o.label.fault == fault]
        rows.append(FaultRow(fault, _share(own, lambda o: o.hit(1)), _share(own, lambda o: o.hit(3))))
    return tuple(rows)


def _by_env(outcomes: Sequence[Outcome]) -> tuple[EnvRow, ...]:
    rows = []
    for env in sorted({o.label.env for o in outcomes} - {""}):
        own = [o for o in outcomes if o.label.env == env]
        harmed = [o for o in own if o.label.harmed == "yes"]
        clear = [o for o in own if o.label.harmed != "unclear" and o.verdict != "unreadable"]
        rows.append(
            EnvRow(
                env,
                _share(harmed, lambda o: o.hit(1)),
                _share(harmed, lambda o: o.hit(3)),
                _share([o for o in own if o.label.silent], lambda o: _says(o, FINDING_AT)),
                _precision(clear, FINDING_AT),
            )
        )
    return tuple(rows)


def _by_group(silent: Sequence[Outcome]) -> tuple[tuple[str, Share], ...]:
    groups = sorted({(o.label.framework, o.label.algorithm) for o in silent})
    return tuple(
        (
            f"{framework} {algorithm}",
            _share(
                [o for o in silent if (o.label.framework, o.label.algorithm) == (framework, algorithm)],
                lambda o: _says(o, FINDING_AT),
            ),
        )
        for framework, algorithm in groups
    )


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _confusion(outcomes: Sequence[Outcome]) -> tuple[tuple[str, str, int], ...]:
    """(fault and whether it harmed, top cause, runs); a top cause below 0.5 stands in brackets."""
    counts: Counter[tuple[str, str]] = Counter()
    for o in outcomes:
        said = NOTHING if o.top is None else o.top.cause
        if o.top is not None and o.top.probability < FINDING_AT:
            said = f"({said})"
        counts[f"{o.label.fault}, harmed {o.label.harmed}", said] += 1
    return tuple(
        (fault, cause, n) for (fault, cause), n in sorted(counts.items(), key=lambda c: (c[0][0], -c[1], c[0][1]))
    )
