"""The authoring shape of a rulebook as pydantic models: what may stand in the YAML, and nothing else.

`docs/rulebook-format.md` explains it; `rulebook_schema()` gives it as JSON Schema for editors.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StringConstraints, model_validator

__all__ = ["AuthoredBook", "AuthoredCause", "AuthoredSymptom", "ConditionModel", "rulebook_schema"]

SCHEMA_ID = "rulebook/v1"
Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$", max_length=80)]
BookId = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_.]*$", max_length=80)]
Semver = Annotated[str, StringConstraints(pattern=r"^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$")]
Text = Annotated[str, StringConstraints(min_length=1, max_length=4000)]
ExpressionText = Annotated[str, StringConstraints(min_length=1, max_length=300)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Probability = Annotated[float, Field(strict=True, gt=0.0, lt=1.0)]
SeenWord = Literal["always", "usually", "often", "sometimes", "rarely"]
RateWord = Literal["rare", "uncommon", "common"]
SEEN: dict[str, float] = {"always": 0.95, "usually": 0.80, "often": 0.60, "sometimes": 0.35, "rarely": 0.03}
RATES: dict[str, float] = {"rare": 0.03, "uncommon": 0.10, "common": 0.30}


class Strict(BaseModel):
    """No unknown fields, no coercion of text to numbers."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, populate_by_name=True)


class LowHigh(Strict):
    """Bounds of a ramp: clearly absent below the one, clearly present above the other."""

    low: Number
    high: Number


class Band(LowHigh):
    """A trapezoid: 0 outside low…high, 1 inside full_low…full_high."""

    full_low: Number | None = None
    full_high: Number | None = None


class Onset(Strict):
    """How a symptom is dated."""

    signal: str
    above: Number | None = None
    below: Number | None = None

    @model_validator(mode="after")
    def _one_side(self) -> Onset:
        if (self.above is None) == (self.below is None):
            raise ValueError("give exactly one of above, below")
        return self


class ConditionModel(Strict):
    """One condition: a ramp over a number, a reference, or a composition."""

    feature: str | None = None
    derived: str | None = None
    config: str | None = None
    issue: str | None = None
    symptom: str | None = None
    rising: LowHigh | None = None
    falling: LowHigh | None = None
    band: Band | None = None
    scale: Literal["linear", "log"] = "linear"
    all_: list[ConditionModel] | None = Field(default=None, alias="all", min_length=1, max_length=32)
    any_: list[ConditionModel] | None = Field(default=None, alias="any", min_length=1, max_length=32)
    mean: list[ConditionModel] | None = Field(default=None, min_length=1, max_length=32)
    not_: ConditionModel | None = Field(default=None, alias="not")

    @model_validator(mode="after")
    def _one_shape(self) -> ConditionModel:
        numbers = [n for n in ("feature", "derived", "config", "issue") if getattr(self, n) is not None]
        others = [n for n in ("symptom", "all_", "any_", "mean", "not_") if getattr(self, n) is not None]
        if len(numbers) + len(others) != 1:
            raise ValueError("give exactly one of feature, derived, config, issue, symptom, all, any, mean, not")
        ramps = [n for n in ("rising", "falling", "band") if getattr(self, n) is not None]
        if len(ramps) != len(numbers):
            raise ValueError(
                "give exactly one of rising, falling, band" if numbers else "a ramp needs a number to look at"
            )
        if self.scale == "log":
            ramp = self.rising or self.falling or self.band
            bounds = [] if ramp is None else [b for b in ramp.model_dump().values() if b is not None]
            if any(b <= 0 for b in bounds):
                raise ValueError("bounds on a log scale must be above 0")
        return self


class AuthoredSymptom(ConditionModel):
    """A named condition with its base rate."""

    title: Text
    description: str = ""
    base_rate: RateWord | Probability
    severity: Annotated[float, Field(strict=True, gt=0.0, le=10.0)] = 1.0
    onset: Onset | None = None


class AppliesToModel(Strict):
    """Restriction to some runs."""

    algorithm: list[str] = []
    framework: list[str] = []
    action_space: list[Literal["discrete", "multi_discrete", "multi_binary", "continuous", "tokens", "unknown"]] = []


class EvidenceModel(Strict):
    """A link from a cause to a symptom, or to a number directly (then with a base rate of its own)."""

    symptom: str | None = None
    feature: str | None = None
    derived: str | None = None
    config: str | None = None
    issue: str | None = None
    rising: LowHigh | None = None
    falling: LowHigh | None = None
    band: Band | None = None
    scale: Literal["linear", "log"] = "linear"
    title: Text | None = None
    base_rate: RateWord | Probability | None = None
    seen: SeenWord | Probability
    absence: Literal["counts", "ignore"] = "counts"

    @model_validator(mode="after")
    def _one_target(self) -> EvidenceModel:
        direct = [n for n in ("feature", "derived", "config", "issue") if getattr(self, n) is not None]
        if (self.symptom is not None) + len(direct) != 1:
            raise ValueError("give exactly one of symptom, feature, derived, config, issue")
        if direct and self.base_rate is None:
            raise ValueError("evidence without a named symptom needs a base_rate")
        if self.symptom is not None and self.base_rate is not None:
            raise ValueError("the base rate belongs to the symptom, not to the evidence")
        return self


class ExpectModel(Strict):
    """What a remedy promises."""

    feature: str
    rises_to: Number | None = None
    falls_to: Number | None = None
    within_steps: Annotated[float, Field(strict=True, gt=0)] | None = None

    @model_validator(mode="after")
    def _one_side(self) -> ExpectModel:
        if (self.rises_to is None) == (self.falls_to is None):
            raise ValueError("give exactly one of rises_to, falls_to")
        return self


class RemedyModel(Strict):
    """One knob to turn."""

    knob: str
    summary: Text
    set_: ExpressionText | None = Field(default=None, alias="set")
    values: dict[Name, ExpressionText] = {}
    bounds: LowHigh | None = None
    step_limit: Annotated[float, Field(strict=True, gt=1.0)] | None = None
    relative: str = ""
    expect: list[ExpectModel] = []
    before: dict[Name, Text] = {}
    patch: dict[Name, Text] = {}


class AuthoredCause(Strict):
    """A root cause."""

    title: Text
    description: str = ""
    kind: Literal["fault", "benign", "insufficient"] = "fault"
    status: Literal["stable", "experimental", "deprecated"] = "stable"
    replaced_by: str | None = None
    prior: Probability
    applies_to: AppliesToModel = AppliesToModel()
    requires: list[str] = []
    excludes: list[str] = []
    evidence: Annotated[list[EvidenceModel], Field(max_length=64)] = []
    remedies: Annotated[list[RemedyModel], Field(max_length=8)] = []
    tell_apart: str = ""
    references: list[Text] = []


class Span(Strict):
    """From … to; a missing end is open."""

    from_: Number | None = Field(default=None, alias="from")
    to: Number | None = None


class WindowModel(Strict):
    """A named window in exactly one unit."""

    fraction: Span | None = None
    steps: Span | None = None
    iterations: Span | None = None

    @model_validator(mode="after")
    def _one_unit(self) -> WindowModel:
        if sum(x is not None for x in (self.fraction, self.steps, self.iterations)) != 1:
            raise ValueError("give exactly one of fraction, steps, iterations")
        return self


class Requires(Strict):
    """Versions that the book needs, such as ">=0.1"."""

    engine: str | None = None
    signals: str | None = None


class OverrideModel(Strict):
    """Changes to what `extends` brought in: per name `off`, or per key {replace: …} or {append: […]}."""

    symptoms: dict[Name, Literal["off"] | dict[str, Any]] = {}
    causes: dict[Name, Literal["off"] | dict[str, Any]] = {}


class CalibrationModel(Strict):
    """Written by the calibration command."""

    a: Annotated[float, Field(strict=True, gt=0.0)]
    b: Number
    corpus: str
    n: Annotated[int, Field(ge=1)]
    brier: Number
    log_loss: Number
    ece: Number
    date: str


class AuthoredBook(Strict):
    """The whole file."""

    schema_: Literal["rulebook/v1"] = Field(alias="schema")
    id: BookId
    version: Semver
    title: Text
    description: str = ""
    requires: Requires = Requires()
    extends: list[str] = []
    applies_to: AppliesToModel = AppliesToModel()
    windows: dict[Name, WindowModel] = {}
    derive: dict[Name, ExpressionText] = {}
    symptoms: Annotated[dict[Name, AuthoredSymptom], Field(max_length=500)] = {}
    causes: Annotated[dict[Name, AuthoredCause], Field(max_length=200)] = {}
    override: OverrideModel = OverrideModel()
    calibration: CalibrationModel | None = None


def rulebook_schema() -> dict[str, Any]:
    """JSON Schema of a rulebook file, in the subset that draft-07 readers (the YAML language server) understand."""
    schema = AuthoredBook.model_json_schema(by_alias=True)
    text_schema: dict[str, Any] = _draft07(schema)
    text_schema["$schema"] = "http://json-schema.org/draft-07/schema#"
    text_schema["title"] = "rl-diagnose rulebook, rulebook/v1"
    return text_schema


def _draft07(node: Any) -> Any:
    if isinstance(node, dict):
        return {("definitions" if k == "$defs" else k): _draft07(v) for k, v in node.items()}
    if isinstance(node, list):
        return [_draft07(item) for item in node]
    if isinstance(node, str) and node.startswith("#/$defs/"):
        return node.replace("#/$defs/", "#/definitions/")
    return node
