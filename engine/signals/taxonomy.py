"""Typed access to the signal taxonomy (`signals.yaml`) and to the canonical hyper-parameters."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from .spelling import closest

__all__ = [
    "Hyperparameter",
    "SignalSpec",
    "hyperparameters",
    "is_known_signal",
    "signal",
    "signal_specs",
    "suggest_hyperparameter",
    "suggest_signal",
    "taxonomy_version",
]


@dataclass(frozen=True, slots=True)
class SignalSpec:
    """One entry of the taxonomy; see `signals.yaml` for the meaning of each field."""

    id: str
    title: str
    meaning: str
    unit: str
    sign: str
    algorithms: tuple[str, ...]
    missing: str
    derived: bool = False
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Hyperparameter:
    """One canonical hyper-parameter: safe bounds for a remedy and the largest factor of one change."""

    name: str
    meaning: str
    kind: str = "float"
    signal: str | None = None
    low: float | None = None
    high: float | None = None
    step_limit: float | None = None
    one_minus: bool = False


def _load(name: str) -> dict[str, Any]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml is absent from some builds of PyYAML
    text = files(__package__).joinpath(name).read_text("utf-8")
    loaded: dict[str, Any] = yaml.load(text, Loader=loader)  # noqa: S506 - both loaders are safe loaders
    return loaded


@cache
def _signals_file() -> dict[str, Any]:
    return _load("signals.yaml")


def taxonomy_version() -> str:
    """Semantic version of the signal taxonomy; rulebooks may require one."""
    return str(_signals_file()["version"])


@cache
def signal_specs() -> dict[str, SignalSpec]:
    """All signals by id, in file order."""
    return {
        name: SignalSpec(
            id=name,
            title=entry["title"],
            meaning=entry["meaning"],
            unit=str(entry["unit"]),
            sign=str(entry["sign"]),
            algorithms=tuple(entry["algorithms"]),
            missing=entry["missing"],
            derived=bool(entry.get("derived", False)),
            sources=tuple(entry.get("from", ())),
        )
        for name, entry in _signals_file()["signals"].items()
    }


def is_known_signal(name: str) -> bool:
    """True for an id of the taxonomy and for any ``raw.<key>``."""
    return name in signal_specs() or (name.startswith("raw.") and len(name) > 4)


def signal(name: str) -> SignalSpec:
    """The entry of `name`; ``raw.<key>`` gets an entry made up from its key. KeyError for anything else."""
    known = signal_specs().get(name)
    if known is not None:
        return known
    if is_known_signal(name):
        key = name.removeprefix("raw.")
        return SignalSpec(name, key, "a key of the log that no tag map knows", "?", "any", ("all",), "not logged")
    raise KeyError(name)


def suggest_signal(name: str) -> str | None:
    """The closest signal id, for did-you-mean; None when nothing is close."""
    return closest(name, signal_specs())


@cache
def hyperparameters() -> dict[str, Hyperparameter]:
    """All canonical hyper-parameters by name, in file order."""

    def build(name: str, entry: dict[str, Any]) -> Hyperparameter:
        kind = next((k for k in ("integer", "boolean", "text") if entry.get(k)), "float")
        bounds = entry.get("bounds", {})
        return Hyperparameter(
            name=name,
            meaning=entry["meaning"],
            kind=kind,
            signal=entry.get("signal"),
            low=bounds.get("low"),
            high=bounds.get("high"),
            step_limit=entry.get("step_limit"),
            one_minus=entry.get("space") == "one_minus",
        )

    return {name: build(name, entry) for name, entry in _load("hyperparameters.yaml")["hyperparameters"].items()}


def suggest_hyperparameter(name: str) -> str | None:
    """The closest canonical hyper-parameter, for did-you-mean; None when nothing is close."""
    return closest(name, hyperparameters())
