"""The verdict on a run, and the honest rest: remarks, and what could not be checked and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..signals.taxonomy import is_known_signal, signal, signal_specs
from .baseline import SIGNAL as BASELINE
from .findings import COVERAGE_FLOOR
from .model import NotChecked
from .numbers import count, percent, share

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from ..signals.run import Run
    from .model import CauseFinding, Suppressed, SymptomFinding, Verdict

__all__ = ["FINDING_AT", "foreign_signals", "gaps", "judge", "remarks"]

FINDING_AT = 0.5
FEWEST_POINTS = 8
# The method asks for this many points before it is sure.
ENOUGH_POINTS = 1000
CLEARLY_SEEN = 0.8
# The taxonomy's words for groups of algorithms. An algorithm in none of them is not known to lack anything.
_FAMILIES = {
    "on_policy": frozenset(
        {"a2c", "appo", "impala", "maskable_ppo", "ppo", "recurrent_ppo", "reinforce", "trpo", "vpg"}
    ),
    "off_policy": frozenset(
        {"c51", "crossq", "ddpg", "discrete_sac", "dqn", "qrdqn", "rainbow", "redq", "sac", "td3", "tqc"}
    ),
    "llm_rl": frozenset({"dapo", "dr_grpo", "grpo", "gspo", "reinforce_pp", "remax", "rlhf_ppo", "rloo"}),
}
_LIKE_PPO = frozenset({"appo", "maskable_ppo", "recurrent_ppo"})
_RETURNS = ("reward.train", "reward.eval")


def judge(run: Run, causes: Sequence[CauseFinding]) -> tuple[Verdict, str]:
    """The verdict and its reason. A run is never called fine: at best nothing that was checked reached 50 %."""
    assessed = [c for c in causes if c.status == "assessed" and c.probability is not None and not c.experimental]
    suppressed = [c for c in assessed if c.kind == "fault" and c.suppressed is not None]
    faults = [c for c in assessed if c.kind == "fault" and c.suppressed is None]
    top = max(faults, key=_probability, default=None)
    blind = max((c for c in assessed if c.kind == "insufficient"), key=_probability, default=None)
    if blind is not None and _probability(blind) >= max(FINDING_AT, _probability(top)):
        return "cannot_tell", f"{blind.title} ({percent(_probability(blind))})"
    if top is not None and _probability(top) >= FINDING_AT:
        return "finding", f"{top.title} ({percent(_probability(top))})"
    if run.points < FEWEST_POINTS:
        return "cannot_tell", f"{count(run.points, 'point')} in the log; fewer than {FEWEST_POINTS} show no course"
    if not faults and suppressed:
        return "cannot_tell", "every fault that could be assessed is suppressed"
    if not faults:
        return "cannot_tell", "no cause could be assessed with what the log holds"
    if not any(len(run.series[name]) for name in _RETURNS if name in run.series):
        return "cannot_tell", "the log holds no return, so nothing can be said about how the run did"
    most = f"; the most probable is {top.title} at {percent(_probability(top))}" if top is not None else ""
    hidden = sum(_probability(c) >= FINDING_AT for c in suppressed)
    aside = f"; {count(hidden, 'suppressed finding')} left out" if hidden else ""
    return "nothing_found", f"{count(len(faults), 'fault')} checked, none reached {share(FINDING_AT)}{most}{aside}"


def _probability(cause: CauseFinding | None) -> float:
    return 0.0 if cause is None or cause.probability is None else cause.probability


def remarks(
    run: Run,
    verdict: Verdict,
    causes: Sequence[CauseFinding],
    symptoms: Sequence[SymptomFinding],
    *,
    named_algorithm: bool = True,
    used: Collection[str] = (),
) -> tuple[str, ...]:
    """What a reader should know beside the verdict. `named_algorithm`: a rulebook about some algorithm was applied;
    `used` are the signals that the rulebooks look at: a key of the log that one of them names is understood."""
    said = [f"{i.message[0].upper()}{i.message[1:]}" for i in run.issues if i.code in ("baseline", "no_baseline")]
    for cause in causes:
        if cause.status != "assessed" or _probability(cause) < FINDING_AT:
            continue
        if cause.kind == "benign":
            said.append(f"{cause.title} ({percent(_probability(cause))}): not a fault. {cause.description}".strip())
        elif cause.suppressed is not None and not cause.experimental:
            said.append(_suppression_words(cause, cause.suppressed))
        elif cause.kind == "fault" and cause.experimental:
            said.append(
                f"{cause.title} ({percent(_probability(cause))}) is an experimental rule and counts for no verdict"
            )
    if verdict == "nothing_found":
        explained = {e.symptom for c in causes if _probability(c) >= FINDING_AT for e in c.evidence if e.decibans > 0}
        seen = [s for s in symptoms if s.membership >= CLEARLY_SEEN and s.id not in explained and _bad(s, causes)]
        said += [f"Seen, but not enough for a cause: {s.title}: {s.statement}" for s in seen[:3]]
    if run.points < ENOUGH_POINTS:
        said.append(
            f"{count(run.points, 'point')} a curve are fewer than the {ENOUGH_POINTS:,} that make a diagnosis sure: "
            "what rests on few points counts less, and short events may have been missed"
        )
    if run.algorithm is None and not named_algorithm:
        said.append(
            "The log does not tell the algorithm: only rules for every algorithm were applied; "
            "--rules names a book for one (ppo, dqn, actor_critic, llm_rl)"
        )
    if run.action_space.origin == "inferred":
        said.append(f"The action space was inferred: {run.action_space.detail or run.action_space.kind}")
    keys = [
        f"{k.key} (did you mean {k.suggestion}?)" for k in run.unmapped if k.suggestion and f"raw.{k.key}" not in used
    ]
    if keys:
        said.append(f"Keys that were not understood: {', '.join(keys[:4])}; see rl-diagnose inspect")
    return tuple(said)


def _suppression_words(cause: CauseFinding, by: Suppressed) -> str:
    runs = f", runs {by.runs}" if by.runs != "*" else ""
    until = f", until {by.expires}" if by.expires else ""
    return f"Suppressed: {cause.title} ({percent(_probability(cause))}{runs}{until}): {by.reason}"


def _bad(symptom: SymptomFinding, causes: Iterable[CauseFinding]) -> bool:
    """Whether the symptom speaks for a fault at all (a usual reward is a symptom too, but no bad one)."""
    return any(
        e.symptom == symptom.id and e.decibans > 0 and c.kind == "fault" and c.status == "assessed"
        for c in causes
        for e in c.evidence
    )


def gaps(
    run: Run, causes: Sequence[CauseFinding], symptoms: Mapping[str, SymptomFinding], available: Collection[str]
) -> tuple[NotChecked, ...]:
    """Causes that could not be assessed, grouped by the signals they lack; then signals that only weaken others.

    `available` are the signals that the run has, computed ones included.
    """
    rows = []
    foreign = foreign_signals(run)
    groups: dict[tuple[str, ...], list[str]] = {}
    for cause in causes:
        if cause.status == "not_assessable" and not set(cause.missing) & foreign:
            groups.setdefault(cause.missing, []).append(cause.title)
    for missing, titles in groups.items():
        rows.append(NotChecked("; ".join(titles), *_why(run, missing)))
    for cause in causes:
        if cause.status == "insufficient_data":
            lacking = tuple(sorted(_lacking(cause, symptoms, available)))
            part = f"only {share(cause.coverage)} of its evidence can be looked at, {share(COVERAGE_FLOOR)} are needed"
            why, how = _why(run, lacking) if lacking else ("what is there is too short or too noisy", "log more often")
            rows.append(NotChecked(cause.title, f"{part}: {why}", how))
    named = {name for missing in groups for name in missing}
    wanted: dict[str, int] = {}
    for cause in causes:
        if cause.status == "assessed" and cause.kind == "fault":
            for name in _lacking(cause, symptoms, available) - named - foreign:
                wanted[name] = wanted.get(name, 0) + 1
    for name, times in sorted(wanted.items(), key=lambda item: (-item[1], item[0])):
        rows.append(NotChecked(f"Part of the evidence on {count(times, 'fault')}", *_why(run, (name,))))
    return tuple(rows)


def _lacking(cause: CauseFinding, symptoms: Mapping[str, SymptomFinding], available: Collection[str]) -> set[str]:
    """Signals which would add evidence on a cause: those of its unseen symptoms that the run does not have."""
    return {
        m.signal
        for evidence in cause.evidence
        if evidence.missing
        for m in symptoms[evidence.symptom].measurements
        if m.signal is not None and m.signal not in available
    }


def foreign_signals(run: Run) -> set[str]:
    """Signals that this algorithm or this kind of actions does not have: their absence is no gap."""
    family = next((name for name, members in _FAMILIES.items() if run.algorithm in members), None)
    kind = run.action_space.kind
    if family is None:
        about = None
    else:
        about = {"all", str(run.algorithm), family, *(["ppo"] if run.algorithm in _LIKE_PPO else [])}
    actions = {"continuous": {"continuous"}, "unknown": {"continuous", "discrete"}}.get(kind, {"discrete"})
    foreign = set() if BASELINE in run.series else {BASELINE}
    for name, spec in signal_specs().items():
        tags = set(spec.algorithms)
        kinds = tags & {"continuous", "discrete"}
        if (kinds and not kinds & actions) or (tags - kinds and about is not None and not tags & about):
            foreign.add(name)
    return foreign


def _why(run: Run, names: Sequence[str]) -> tuple[str, str]:
    """Why `names` are missing, and how to get them: log what they are made of, or say what the log does not."""
    absent: dict[str, str] = {}
    underivable: dict[str, str] = {}
    for name in names:
        spec = signal(name) if is_known_signal(name) else None
        sources = spec.sources if spec is not None and spec.derived else (name,)
        lacking = [source for source in sources if source not in run.series]
        for source in lacking:
            absent[source] = signal(source).title if is_known_signal(source) else source
        if not lacking and spec is not None:
            underivable[name] = spec.missing
    reasons = [f"{', '.join(absent)} not in the log"] if absent else []
    reasons += [f"{name} cannot be computed ({why})" for name, why in underivable.items()]
    ways = []
    if absent:
        logged = ", ".join(f"{name} ({title})" for name, title in absent.items())
        ways.append(f"log {logged}, or name its key with --map KEY={next(iter(absent))}")
    if underivable and run.action_space.kind == "unknown":
        ways.append("say which actions the agent has with --action-space")
    elif underivable:
        ways.append("keep the hyper-parameters beside the log")
    return "; ".join(reasons) or "what it needs is not in the log", "; ".join(ways)
