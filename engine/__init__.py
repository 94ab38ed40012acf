"""Says what went wrong first in a reinforcement-learning run, why, and which knob to turn.

`diagnose("runs/PPO_3")` gives a `Diagnosis` that prints itself, shows itself in a notebook and turns into JSON with
`to_dict()`. Names are imported when they are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False  # importing `typing` would cost more than everything else here
if TYPE_CHECKING:
    from typing import Any

    from .diagnosis.model import CauseFinding, Diagnosis, RemedyPlan, RunDiagnosis, SymptomFinding
    from .diagnosis.pipeline import diagnose, diagnose_run, load_run
    from .errors import LogError, NoReadableRunError, RlDiagnoseError, RulebookError, UsageError
    from .rules.book import Book
    from .rules.library import load_book as load_rulebook
    from .signals.run import ActionSpace, Run, Series

    __version__: str

__all__ = [
    "ActionSpace",
    "Book",
    "CauseFinding",
    "Diagnosis",
    "LogError",
    "NoReadableRunError",
    "RemedyPlan",
    "RlDiagnoseError",
    "RulebookError",
    "Run",
    "RunDiagnosis",
    "Series",
    "SymptomFinding",
    "UsageError",
    "__version__",
    "diagnose",
    "diagnose_run",
    "load_rulebook",
    "load_run",
]

_WHERE = {
    "ActionSpace": ".signals.run",
    "Book": ".rules.book",
    "CauseFinding": ".diagnosis.model",
    "Diagnosis": ".diagnosis.model",
    "LogError": ".errors",
    "NoReadableRunError": ".errors",
    "RemedyPlan": ".diagnosis.model",
    "RlDiagnoseError": ".errors",
    "RulebookError": ".errors",
    "Run": ".signals.run",
    "RunDiagnosis": ".diagnosis.model",
    "Series": ".signals.run",
    "SymptomFinding": ".diagnosis.model",
    "UsageError": ".errors",
    "diagnose": ".diagnosis.pipeline",
    "diagnose_run": ".diagnosis.pipeline",
    "load_rulebook": ".rules.library",
    "load_run": ".diagnosis.pipeline",
}
_OTHER_NAME = {"load_rulebook": "load_book"}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        value: Any = version("rl-diagnose")
    elif name in _WHERE:
        from importlib import import_module

        value = getattr(import_module(_WHERE[name], __name__), _OTHER_NAME.get(name, name))
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
