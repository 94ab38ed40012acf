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
    "ConditionModel",
    "EvidenceModel",
    "RemedyModel",
    "WindowModel",
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
COMPOSITIONS = ("symptom", "all", "any", "mean", "not")


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

    low: Number
    high: Number


class Band(LowHigh):
    """A trapezoid: 0 outside low…high, 1 inside full_low…full_high (by default the same bounds)."""

    full_low: Number | None = None
    full_high: Number | None = None


class Onset(Strict):
    """How a symptom is dated: the first lasting stretch in which the signal is above or below a bound."""

    model_config = ConfigDict(json_schema_extra=_one_of(("above", "below")))

    signal: Word
    above: Number | None = None
    below: Number | None = None

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
    rising: LowHigh | None = None
    falling: LowHigh | None = None
    band: Band | None = None
    scale: Literal["linear", "log"] = "linear"

    def ramp(self) -> LowHigh | Band | None:
        """The ramp that is given."""
        return self.rising or self.falling or self.band


class ConditionModel(RampFields):
    """One condition: a ramp over a number, a reference to a symptom, or a composition."""

    model_config = ConfigDict(json_schema_extra=_condition_schema)

    symptom: Word | None = None
    all_: list[ConditionModel] | None = Field(default=None, alias="all", min_length=1, max_length=32)
    any_: list[ConditionModel] | None = Field(default=None, alias="any", min_length=1, max_length=32)
    mean: list[ConditionModel] | None = Field(default=None, min_length=1, max_length=32)
    not_: ConditionModel | None = Field(default=None, alias="not")

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

    title: Text
    description: Prose = ""
    base_rate: RateWord | Probability = Field(
        description="how often runs without any listed cause show it: rare .03, uncommon .10, common .30, or a number"
    )
    severity: Annotated[float, Field(strict=True, gt=0.0, le=10.0)] = 1.0
    onset: Onset | None = None


class AppliesToModel(Strict):
    """Restriction to some runs; an empty list is no restriction."""

    algorithm: list[Name] = []
    framework: list[Name] = []
    action_space: list[Literal["discrete", "multi_discrete", "multi_binary", "continuous", "tokens"]] = []


class EvidenceModel(RampFields):
    """A link from a cause to a symptom, or to a number directly (then with a base rate and a title of its own)."""

    model_config = ConfigDict(json_schema_extra=_evidence_schema)

    symptom: Word | None = None
    title: Text | None = None
    base_rate: RateWord | Probability | None = None
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

    feature: Word
    rises_to: Number | None = None
    falls_to: Number | None = None
    within_steps: Positive | None = None

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

    knob: Word
    summary: Text
    set_: ExpressionText | None = Field(default=None, alias="set")
    values: dict[Name, ExpressionText] = {}
    bounds: LowHigh | None = None
    step_limit: Annotated[float, Field(strict=True, gt=1.0, le=1e300)] | None = None
    relative: Prose = ""
    expect: Annotated[list[ExpectModel], Field(max_length=8)] = []
    applies_to: AppliesToModel = AppliesToModel()
    before: dict[Name, CodeText] = {}
    patch: dict[Name, CodeText] = Field(
        default={}, description="framework: code, or framework: {algorithm: code, other: code}"
    )


class AuthoredCause(Strict):
    """A root cause."""

    title: Text
    description: Prose = ""
    kind: Literal["fault", "benign", "insufficient"] = "fault"
    status: Literal["stable", "experimental", "deprecated"] = "stable"
    replaced_by: Name | None = None
    prior: Probability
    applies_to: AppliesToModel = AppliesToModel()
    requires: list[Word] = []
    excludes: list[Word] = []
    evidence: Annotated[list[EvidenceModel], Field(max_length=64)] = []
    remedies: Annotated[list[RemedyModel], Field(max_length=8)] = []
    tell_apart: Prose = ""
    references: list[Text] = []


class Span(Strict):
    """From … to, both included; a missing end is open."""

    from_: Number | None = Field(default=None, alias="from")
    to: Number | None = None

    @model_validator(mode="after")
    def _not_all(self) -> Span:
        if self.from_ is None and self.to is None:
            raise ValueError("give at least one of from, to")
        return self


class Fractions(Span):
    """Parts of the run: 0 its beginning, 1 its end."""

    from_: Annotated[float, Field(strict=True, ge=0.0, le=1.0)] | None = Field(default=None, alias="from")
    to: Annotated[float, Field(strict=True, ge=0.0, le=1.0)] | None = None


class WindowModel(Strict):
    """A named window in exactly one unit."""

    model_config = ConfigDict(json_schema_extra=_one_of(("fraction", "steps", "iterations")))

    fraction: Fractions | None = None
    steps: Span | None = None
    iterations: Span | None = None

    @model_validator(mode="after")
    def _one_unit(self) -> WindowModel:
        if len(_given(self, ("fraction", "steps", "iterations"))) != 1:
            raise ValueError("give exactly one of fraction, steps, iterations")
        return self


class KnobModel(Strict):
    """A hyper-parameter of one's own: what it means, where the log shows it, and how far a remedy may turn it."""

    meaning: Text
    signal: Word | None = Field(default=None, description="the signal that logs its value, for example raw.our/key")
    kind: Literal["float", "integer"] = "float"
    bounds: LowHigh | None = None
    step_limit: Annotated[float, Field(strict=True, gt=1.0, le=1e300)] | None = None


class Requires(Strict):
    """Versions that the book needs, such as ">=0.1" or ">=0.1, <2"."""

    engine: Word | None = None
    signals: Word | None = None


class Edit(Strict):
    """What happens to one key of an inherited entry."""

    model_config = ConfigDict(json_schema_extra=_one_of(("replace", "append")))

    replace: Any = None
    append: list[Any] | None = None

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

    replace: WindowModel


class NewExpression(Strict):
    """An inherited derived number under the same name."""

    replace: ExpressionText


class OverrideModel(Strict):
    """Changes to what `extends` brought in: per symptom or cause `off`, or per key {replace: …} or {append: […]}; per
    window or derived number {replace: …}."""

    windows: dict[Name, NewWindow] = {}
    derive: dict[Name, NewExpression] = {}
    symptoms: dict[Name, Change] = {}
    causes: dict[Name, Change] = {}


class CalibrationModel(Strict):
    """A Platt pair and what it was fitted on; written by the calibration command."""

    a: Positive
    b: Number
    corpus: Word
    n: Annotated[int, Field(strict=True, ge=1)]
    brier: Number
    log_loss: Number
    ece: Number
    date: Word


class AuthoredBook(Strict):
    """The whole file."""

    schema_: Literal["rulebook/v1"] = Field(alias="schema")
    id: BookId
    version: Semver = Field(description="three numbers in quotes")
    title: Text
    description: Prose = ""
    default: bool = Field(default=True, description="false: only used when it is asked for by name")
    status: Literal["stable", "experimental", "deprecated"] = Field(
        default="stable",
        description="experimental: so are the causes written in it; deprecated: only used when it is asked for by name",
    )
    replaced_by: BookId | None = Field(
        default=None, description="the id of the book to use instead of a deprecated one"
    )
    requires: Requires = Requires()
    extends: Annotated[list[Word], Field(max_length=16)] = []
    applies_to: AppliesToModel = AppliesToModel()
    windows: Annotated[dict[Name, WindowModel], Field(max_length=64)] = {}
    knobs: Annotated[dict[Name, KnobModel], Field(max_length=64)] = {}
    derive: Annotated[dict[Name, ExpressionText], Field(max_length=256)] = {}
    symptoms: Annotated[dict[Name, AuthoredSymptom], Field(max_length=500)] = {}
    causes: Annotated[dict[Name, AuthoredCause], Field(max_length=200)] = {}
    override: OverrideModel = OverrideModel()
    calibration: CalibrationModel | None = None
