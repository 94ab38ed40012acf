"""The authoring shape of a rulebook as pydantic models: what may stand in the YAML, and nothing else.

`docs/rulebook-format.md` explains it; `schema.rulebook_schema` gives it as JSON Schema for editors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, StringConstraints, Tag, model_validator

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "RATES",
    "SEEN",
    "AppliesToModel",
    "AuthoredBook",
    "AuthoredCause",
    "AuthoredSymptom",
    "CalibrationModel",
    "ConditionModel",
    "EvidenceModel",
    "RemedyModel",
    "WindowModel",
    "usual_words",
]

Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$", max_length=80)]
BookId = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_.]*$", max_length=80)]
Semver = Annotated[str, StringConstraints(pattern=r"^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$")]
Text = Annotated[str, StringConstraints(min_length=1, max_length=4000)]
Prose = Annotated[str, StringConstraints(max_length=4000)]
Word = Annotated[str, StringConstraints(min_length=1, max_length=200)]
ExpressionText = Annotated[str, StringConstraints(min_length=1, max_length=300)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=-1e300, le=1e300)]
Positive = Annotated[float, Field(strict=True, allow_inf_nan=False, gt=0.0, le=1e300)]
Probability = Annotated[float, Field(strict=True, gt=0.0, lt=1.0)]
SEEN: dict[str, float] = {"always": 0.95, "usually": 0.80, "often": 0.60, "sometimes": 0.35, "rarely": 0.03}
RATES: dict[str, float] = {"rare": 0.03, "uncommon": 0.10, "common": 0.30}
SeenWord = Literal["always", "usually", "often", "sometimes", "rarely"]
RateWord = Literal["rare", "uncommon", "common"]
NUMBERS = ("feature", "derived", "config", "issue")
RAMPS = ("rising", "falling", "band")
COMPOSITIONS = ("symptom", "all", "any", "mean", "first", "not")


def _one_of(*choices: Sequence[str]) -> dict[str, Any]:
    """JSON Schema: of each group of fields exactly one is given."""
    groups: list[dict[str, Any]] = [{"oneOf": [{"required": [name]} for name in group]} for group in choices]
    return groups[0] if len(groups) == 1 else {"allOf": groups}


def _condition_schema(schema: dict[str, Any]) -> None:
    ramps = _one_of(RAMPS)
    no_ramp = [{"not": {"required": [name]}} for name in RAMPS]
    schema["oneOf"] = [
        *({"required": [name], **ramps} for name in NUMBERS),
        *({"required": [name], "allOf": no_ramp} for name in COMPOSITIONS),
    ]


def _evidence_schema(schema: dict[str, Any]) -> None:
    direct = ({"required": [name, "base_rate"], **_one_of(RAMPS)} for name in NUMBERS)
    schema["oneOf"] = [{"required": ["symptom"]}, *direct]


def _given(model: BaseModel, names: Sequence[str]) -> list[str]:
    """Which of the fields, by their names in YAML, were given."""
    fields = {(field.alias or name): name for name, field in type(model).model_fields.items()}
    return [name for name in names if getattr(model, fields[name]) is not None]


class Strict(BaseModel):
    """No unknown fields, no coercion of text or truth values to numbers."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, populate_by_name=False)


class LowHigh(Strict):
    """Bounds, low below high. Of a ramp: clearly absent on the one side, clearly present on the other."""

    low: Number = Field(description="of a ramp: clearly absent (rising) or clearly present (falling) up to here")
    high: Number = Field(description="of a ramp: clearly present (rising) or clearly absent (falling) from here on")


class Band(LowHigh):
    """A trapezoid: 0 outside low…high, 1 inside full_low…full_high (by default the same bounds)."""

    full_low: Number | None = Field(default=None, description="from here on clearly present; default: low")
    full_high: Number | None = Field(default=None, description="up to here clearly present; default: high")


class Onset(Strict):
    """How a symptom is dated: the first lasting stretch in which the signal is above or below a bound."""

    model_config = ConfigDict(json_schema_extra=_one_of(("above", "below")))

    signal: Word = Field(description="the signal to look at, for example policy.entropy_ratio")
    above: Number | None = Field(default=None, description="the bound, where the signal is too large")
    below: Number | None = Field(default=None, description="the bound, where the signal is too small")

    @model_validator(mode="after")
    def _one_side(self) -> Onset:
        if (self.above is None) == (self.below is None):
            raise ValueError("give exactly one of above, below")
        return self


class RampFields(Strict):
    """A number and the ramp that judges it."""

    feature: Word | None = Field(default=None, description="signal.window.statistic, or a relation between two signals")
    derived: Word | None = Field(default=None, description="a name defined under derive")
    config: Word | None = Field(default=None, description="a hyper-parameter under its canonical name")
    issue: Word | None = Field(default=None, description="a code of log issues; the number is how many there are")
    rising: LowHigh | None = Field(default=None, description="the symptom is there where the number is large")
    falling: LowHigh | None = Field(default=None, description="the symptom is there where the number is small")
    band: Band | None = Field(default=None, description="the symptom is there where the number lies between bounds")
    scale: Literal["linear", "log"] = Field(
        default="linear", description="log: the ramp is straight in the logarithm, and its bounds are above 0"
    )

    def ramp(self) -> LowHigh | Band | None:
        """The ramp that is given."""
        return self.rising or self.falling or self.band


class ConditionModel(RampFields):
    """One condition: a ramp over a number, a reference to a symptom, or a composition."""

    model_config = ConfigDict(json_schema_extra=_condition_schema)

    symptom: Word | None = Field(default=None, description="another symptom, by its name")
    all_: list[ConditionModel] | None = Field(
        default=None, alias="all", min_length=1, max_length=32, description="as much as the least of the parts"
    )
    any_: list[ConditionModel] | None = Field(
        default=None, alias="any", min_length=1, max_length=32, description="as much as the most of the parts"
    )
    mean: list[ConditionModel] | None = Field(
        default=None, min_length=1, max_length=32, description="the mean of those parts that are known"
    )
    first: list[ConditionModel] | None = Field(
        default=None, min_length=1, max_length=32, description="as much as the first part that is known"
    )
    not_: ConditionModel | None = Field(default=None, alias="not", description="the opposite of the part")

    @model_validator(mode="after")
    def _one_shape(self) -> ConditionModel:
        numbers, others = _given(self, NUMBERS), _given(self, COMPOSITIONS)
        if len(numbers) + len(others) != 1:
            raise ValueError(f"give exactly one of {', '.join((*NUMBERS, *COMPOSITIONS))}")
        if len(_given(self, RAMPS)) != len(numbers):
            raise ValueError(
                f"{numbers[0]} needs exactly one of {', '.join(RAMPS)}"
                if numbers
                else f"{others[0]} takes no ramp: a ramp judges one of {', '.join(NUMBERS)}"
            )
        return self


class AuthoredSymptom(ConditionModel):
    """A named condition with its base rate."""

    title: Text = Field(description="what reports call it")
    description: Prose = Field(default="", description="what is seen, in a sentence")
    base_rate: RateWord | Probability = Field(
        description="how often runs without any listed cause show it: rare .03, uncommon .10, common .30, or a number"
    )
    severity: Annotated[float, Field(strict=True, gt=0.0, le=10.0)] = Field(
        default=1.0, description="its weight when the primary symptom is chosen"
    )
    onset: Onset | None = Field(default=None, description="how it is dated; default: by its first ramp over a level")


class AppliesToModel(Strict):
    """Restriction to some runs; an empty list is no restriction."""

    algorithm: list[Name] = Field(default=[], description="for example ppo, sac, dqn")
    framework: list[Name] = Field(default=[], description="for example sb3, rllib, tianshou")
    action_space: list[Literal["discrete", "multi_discrete", "multi_binary", "continuous", "tokens"]] = Field(
        default=[], description="kinds of action spaces"
    )


class EvidenceModel(RampFields):
    """A link from a cause to a symptom, or to a number directly (then with a base rate and a title of its own)."""

    model_config = ConfigDict(json_schema_extra=_evidence_schema)

    symptom: Word | None = Field(default=None, description="the symptom, by its name")
    title: Text | None = Field(default=None, description="what reports call a number that is given directly")
    base_rate: RateWord | Probability | None = Field(
        default=None, description="for a number that is given directly: how often without any listed cause"
    )
    seen: SeenWord | Probability = Field(
        description="with this cause, how often? always .95, usually .80, often .60, sometimes .35, rarely .03"
    )
    absence: Literal["counts", "ignore"] = Field(
        default="counts", description="ignore: a one-way sign, whose absence says nothing"
    )

    @model_validator(mode="after")
    def _one_target(self) -> EvidenceModel:
        direct, ramps = _given(self, NUMBERS), _given(self, RAMPS)
        if (self.symptom is not None) + len(direct) != 1:
            raise ValueError(f"give exactly one of symptom, {', '.join(NUMBERS)}")
        if direct and len(ramps) != 1:
            raise ValueError(f"{direct[0]} needs exactly one of {', '.join(RAMPS)}")
        if direct and self.base_rate is None:
            raise ValueError("evidence without a named symptom needs a base_rate")
        if self.symptom is not None and (ramps or self.base_rate is not None or self.title is not None):
            raise ValueError("ramp, base_rate and title belong to the symptom, not to the evidence")
        return self


class ExpectModel(Strict):
    """What a remedy promises."""

    model_config = ConfigDict(json_schema_extra=_one_of(("rises_to", "falls_to")))

    feature: Word = Field(description="the number that will change")
    rises_to: Number | None = Field(default=None, description="it will be at least this")
    falls_to: Number | None = Field(default=None, description="it will be at most this")
    within_steps: Positive | None = Field(default=None, description="after so many steps at the latest")

    @model_validator(mode="after")
    def _one_side(self) -> ExpectModel:
        if (self.rises_to is None) == (self.falls_to is None):
            raise ValueError("give exactly one of rises_to, falls_to")
        return self


CodeText = Annotated[
    Annotated[Text, Tag("text")] | Annotated[dict[Name, Text], Field(min_length=1), Tag("by_algorithm")],
    Discriminator(lambda value: "by_algorithm" if isinstance(value, dict) else "text"),
]


class RemedyModel(Strict):
    """One knob to turn."""

    knob: Word = Field(description="a hyper-parameter under its canonical name, or one under knobs")
    summary: Text = Field(description="what to do, in a sentence")
    set_: ExpressionText | None = Field(
        default=None, alias="set", description="the new value, an expression over the run's own numbers"
    )
    values: dict[Name, ExpressionText] = Field(default={}, description="further numbers for the code")
    bounds: LowHigh | None = Field(default=None, description="no further than this; default: those of the knob")
    step_limit: Annotated[float, Field(strict=True, gt=1.0, le=1e300)] | None = Field(
        default=None, description="the largest factor to the present value; default: that of the knob"
    )
    relative: Prose = Field(default="", description="said where the present value is not known")
    expect: Annotated[list[ExpectModel], Field(max_length=8)] = Field(
        default=[], description="what will be seen when it works"
    )
    applies_to: AppliesToModel = Field(
        default=AppliesToModel(), description="runs whose learner has the knob; default: all"
    )
    before: dict[Name, CodeText] = Field(default={}, description="the present code, where it is not that of patch")
    patch: dict[Name, CodeText] = Field(
        default={}, description="framework: code, or framework: {algorithm: code, other: code}"
    )


class AuthoredCause(Strict):
    """A root cause."""

    title: Text = Field(description="what reports call it")
    description: Prose = Field(default="", description="why it happens")
    kind: Literal["fault", "benign", "insufficient"] = Field(
        default="fault",
        description="benign: it explains why what looks bad is no fault; insufficient: the log cannot tell",
    )
    status: Literal["stable", "experimental", "deprecated"] = Field(
        default="stable",
        description="experimental: shown, but no verdict rests on it; deprecated: kept under its id, not scored",
    )
    replaced_by: Name | None = Field(default=None, description="the cause to use instead of a deprecated one")
    prior: Probability = Field(description="how often it is the trouble, before looking at anything")
    applies_to: AppliesToModel = Field(default=AppliesToModel(), description="runs that it can be about; default: all")
    requires: list[Word] = Field(default=[], description="signals without which it cannot be assessed")
    excludes: list[Word] = Field(default=[], description="causes that are never true together with it")
    evidence: Annotated[list[EvidenceModel], Field(max_length=64)] = Field(
        default=[], description="the symptoms that speak for it, and those that speak against it"
    )
    remedies: Annotated[list[RemedyModel], Field(max_length=8)] = Field(
        default=[], description="what to do, the smallest intervention first"
    )
    tell_apart: Prose = Field(default="", description="how to distinguish it from its neighbours")
    references: list[Text] = Field(default=[], description="where this comes from")


class Span(Strict):
    """From … to, both included; a missing end is open."""

    from_: Number | None = Field(default=None, alias="from", description="the first; default: the beginning")
    to: Number | None = Field(default=None, description="the last; default: the end")

    @model_validator(mode="after")
    def _not_all(self) -> Span:
        if self.from_ is None and self.to is None:
            raise ValueError("give at least one of from, to")
        return self


class Fractions(Span):
    """Parts of the run: 0 its beginning, 1 its end."""

    from_: Annotated[float, Field(strict=True, ge=0.0, le=1.0)] | None = Field(
        default=None, alias="from", description="where it begins; default: 0"
    )
    to: Annotated[float, Field(strict=True, ge=0.0, le=1.0)] | None = Field(
        default=None, description="where it ends; default: 1"
    )


class WindowModel(Strict):
    """A named window in exactly one unit."""

    model_config = ConfigDict(json_schema_extra=_one_of(("fraction", "steps", "iterations")))

    fraction: Fractions | None = Field(default=None, description="by parts of the run")
    steps: Span | None = Field(default=None, description="by environment steps, or what the log counts instead")
    iterations: Span | None = Field(default=None, description="by points of the log")

    @model_validator(mode="after")
    def _one_unit(self) -> WindowModel:
        if len(_given(self, ("fraction", "steps", "iterations"))) != 1:
            raise ValueError("give exactly one of fraction, steps, iterations")
        return self


class KnobModel(Strict):
    """A hyper-parameter of one's own: what it means, where the log shows it, and how far a remedy may turn it."""

    meaning: Text = Field(description="what it does, in a few words")
    signal: Word | None = Field(default=None, description="the signal that logs its value, for example raw.our/key")
    kind: Literal["float", "integer"] = Field(default="float", description="integer: only whole numbers make sense")
    bounds: LowHigh | None = Field(default=None, description="between these a remedy may set it")
    step_limit: Annotated[float, Field(strict=True, gt=1.0, le=1e300)] | None = Field(
        default=None, description="the largest factor by which a remedy may change it at once"
    )


class Requires(Strict):
    """Versions that the book needs, such as ">=0.1" or ">=0.1, <2"."""

    engine: Word | None = Field(default=None, description="of rl-diagnose")
    signals: Word | None = Field(default=None, description="of the taxonomy of signals")


class Edit(Strict):
    """What happens to one key of an inherited entry."""

    model_config = ConfigDict(json_schema_extra=_one_of(("replace", "append")))

    replace: Any = Field(default=None, description="the new value")
    append: list[Any] | None = Field(default=None, description="what is added to a list")

    @model_validator(mode="after")
    def _one_verb(self) -> Edit:
        if len(self.model_fields_set) != 1:
            raise ValueError("give exactly one of replace, append")
        return self


Change = Annotated[
    Annotated[Literal["off"], Tag("off")] | Annotated[dict[Name, Edit], Tag("edits")],
    Discriminator(lambda value: "edits" if isinstance(value, dict) else "off"),
]


class NewWindow(Strict):
    """An inherited window under the same name."""

    replace: WindowModel = Field(description="the new window")


class NewExpression(Strict):
    """An inherited derived number under the same name."""

    replace: ExpressionText = Field(description="the new expression")


class OverrideModel(Strict):
    """Changes to what `extends` brought in: per symptom or cause `off`, or per key {replace: …} or {append: […]}; per
    window or derived number {replace: …}."""

    windows: dict[Name, NewWindow] = Field(default={}, description="other windows under inherited names")
    derive: dict[Name, NewExpression] = Field(default={}, description="other derived numbers under inherited names")
    symptoms: dict[Name, Change] = Field(default={}, description="inherited symptoms: off, or changes key by key")
    causes: dict[Name, Change] = Field(default={}, description="inherited causes: off, or changes key by key")


class CalibrationModel(Strict):
    """A Platt pair and what it was fitted on; written by the calibration command."""

    a: Positive = Field(description="the slope: below 1 the book was too sure of itself")
    b: Number = Field(description="the offset: below 0 the book saw its causes too often")
    words: dict[SeenWord | RateWord, Probability] = Field(
        default={}, description="what words of seen and base_rate stand for in this book, where it is not the usual"
    )
    corpus: Word = Field(description="the fingerprint of the labelled runs")
    n: Annotated[int, Field(strict=True, ge=1, description="runs")]
    positives: Annotated[int, Field(strict=True, ge=1)] | None = Field(
        default=None, description="runs in which a cause of the book is the right answer"
    )
    brier: Number = Field(description="mean squared error of the probabilities, cross-validated")
    log_loss: Number = Field(description="mean negative log-likelihood in nats, cross-validated")
    ece: Number = Field(description="expected calibration error, cross-validated")
    date: Word = Field(description="when it was fitted")


class AuthoredBook(Strict):
    """The whole file."""

    schema_: Literal["rulebook/v1"] = Field(alias="schema", description="the format of the file")
    id: BookId = Field(description="the name of the book; it never changes and is never used for another")
    version: Semver = Field(description="three numbers in quotes")
    title: Text = Field(description="what lists call it")
    description: Prose = Field(default="", description="what the book is about")
    default: bool = Field(default=True, description="false: only used when it is asked for by name")
    status: Literal["stable", "experimental", "deprecated"] = Field(
        default="stable",
        description="experimental: so are the causes written in it; deprecated: only used when it is asked for by name",
    )
    replaced_by: BookId | None = Field(
        default=None, description="the id of the book to use instead of a deprecated one"
    )
    requires: Requires = Field(default=Requires(), description="versions that the book needs")
    extends: Annotated[list[Word], Field(max_length=16)] = Field(
        default=[], description="books whose content is part of this one: ids, or paths below its folder"
    )
    applies_to: AppliesToModel = Field(
        default=AppliesToModel(), description="runs that the book is about, for which it is used unasked"
    )
    windows: Annotated[dict[Name, WindowModel], Field(max_length=64)] = Field(
        default={}, description="parts of a run, beside the built-in ones"
    )
    knobs: Annotated[dict[Name, KnobModel], Field(max_length=64)] = Field(
        default={}, description="hyper-parameters of one's own"
    )
    derive: Annotated[dict[Name, ExpressionText], Field(max_length=256)] = Field(
        default={}, description="arithmetic over numbers of the log"
    )
    symptoms: Annotated[dict[Name, AuthoredSymptom], Field(max_length=500)] = Field(
        default={}, description="what can be seen"
    )
    causes: Annotated[dict[Name, AuthoredCause], Field(max_length=200)] = Field(
        default={}, description="what makes it likely, and what to do"
    )
    override: OverrideModel = Field(default=OverrideModel(), description="changes to what extends brought in")
    calibration: CalibrationModel | None = Field(
        default=None, description="written by the calibration command; without it the probabilities are uncalibrated"
    )


def usual_words(book: AuthoredBook) -> dict[str, float]:
    """What each word of `seen` and `base_rate` stands for in `book`: the usual number, or that of its calibration."""
    own = {} if book.calibration is None else {str(word): number for word, number in book.calibration.words.items()}
    return {**SEEN, **RATES, **own}
