"""Every piece of code that the rulebooks show for a run of a framework and an algorithm, with numbers worked out."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rl_diagnose.diagnosis.model import RemedyPlan
from rl_diagnose.diagnosis.remedies import RemedyContext, plan_remedies
from rl_diagnose.rules.book import Book, Cause, Remedy
from rl_diagnose.rules.expressions import compile_expression
from rl_diagnose.rules.library import list_books, load_book
from rl_diagnose.signals.run import ConfigValue

_NUMBER = re.compile(r"(?<![\w.])\d[\d.]*(?:e-?\d+)?\b")
# Two runs whose settings lie on either side of what is usual, so that remedies which only lower or only raise a value
# have something to do; a third one tells nothing, so that what needs no present value is shown as well.
SMALL: dict[str, float] = {
    "learning_rate": 1e-6, "value_learning_rate": 1e-6, "gamma": 0.5, "gae_lambda": 0.1, "clip_range": 0.01,
    "entropy_coef": 0.0, "value_coef": 0.01, "target_kl": 1e-4, "n_steps": 16, "n_epochs": 1, "batch_size": 8,
    "buffer_size": 500, "learning_starts": 10, "tau": 1e-6, "target_update_interval": 1, "exploration_fraction": 1e-3,
    "exploration_final_eps": 0.01, "action_noise": 0.0, "total_timesteps": 1000, "network_width": 64,
}  # fmt: skip
LARGE: dict[str, float] = {
    "learning_rate": 0.03, "value_learning_rate": 0.03, "gamma": 0.9999, "gae_lambda": 0.999, "clip_range": 0.9,
    "entropy_coef": 0.5, "value_coef": 50.0, "target_kl": 0.5, "n_steps": 64, "n_epochs": 12, "batch_size": 64,
    "buffer_size": 1000, "learning_starts": 900, "tau": 0.9, "target_update_interval": 1000,
    "exploration_fraction": 0.2, "exploration_final_eps": 0.9, "action_noise": 0.3, "total_timesteps": 1000,
    "network_width": 64,
}  # fmt: skip
FEATURES = {
    "optim.learning_rate.max": 1e-3, "optim.learning_rate.early.median": 3e-4, "value.loss.median": 1e4,
    "policy.entropy.change_step": 15_000.0,
}  # fmt: skip


@dataclass(frozen=True)
class Shown:
    """Code for a run of `algorithm`; `where` names a book, cause and knob that show it."""

    algorithm: str
    code: str
    before: str | None
    where: str
    knob: str
    value: float | None

    @property
    def id(self) -> str:
        return f"{self.algorithm}-{self.where}"


def shown(framework: str, algorithms: list[str]) -> list[Shown]:
    """All code for the algorithms of a framework, each distinct text once an algorithm, whatever its numbers are."""
    found: dict[tuple[str, str], Shown] = {}
    for algorithm in algorithms:
        for book, cause, remedy in remedies(algorithm):
            for plan in plans(cause, remedy, framework, algorithm):
                if plan.after is not None and plan.framework == framework:
                    where = f"{book.id}-{cause.id}-{remedy.knob}"
                    one = Shown(algorithm, plan.after, plan.before, where, remedy.knob, plan.proposed)
                    found.setdefault((algorithm, _NUMBER.sub("#", plan.after)), one)
    return list(found.values())


def remedies(algorithm: str) -> Iterator[tuple[Book, Cause, Remedy]]:
    """The remedies of all books that are about runs of `algorithm`."""
    for listed in list_books():
        book = load_book(listed.id)
        for cause in book.causes:
            for remedy in cause.remedies:
                about = (book.applies_to, cause.applies_to, remedy.applies_to)
                if all(one.admits(algorithm, None, None) for one in about):
                    yield book, cause, remedy


def plans(cause: Cause, remedy: Remedy, framework: str, algorithm: str) -> list[RemedyPlan]:
    """What the remedy says for a run with small, with large and with unknown settings."""
    made = []
    for config in (SMALL, LARGE, {}):
        context = RemedyContext(
            config={name: ConfigValue(value, "config.json") for name, value in config.items()},
            evaluate=lambda text, known=config: _evaluate(text, known),  # type: ignore[misc]
            feature=FEATURES.get,
            framework=framework,
            algorithm=algorithm,
        )
        made += [plan for plan in plan_remedies(cause, context) if plan.summary == remedy.summary]
    return made


def is_constructor(code: str) -> bool:
    """Whether the code makes an object and leaves the user's other arguments out as dots."""
    return re.search(r"\(\.\.\.,|, \.\.\.\)", code) is not None


def assigned(code: str) -> list[tuple[str, str]]:
    """(owner, attribute) of every attribute that the code sets, as they are written."""
    targets = [t for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Assign) for t in node.targets]
    return [(ast.unparse(t.value).removeprefix("self."), t.attr) for t in targets if isinstance(t, ast.Attribute)]


def run(code: str, space: dict[str, Any]) -> Any:
    """Run the code as a user would paste it; the value of its last line where that is an expression, else None."""
    tree = ast.parse(code)
    end = tree.body[-1] if tree.body else None
    last = end if isinstance(end, ast.Expr) else None
    tree.body = tree.body[:-1] if last is not None else tree.body
    exec(compile(tree, "patch", "exec"), space)  # noqa: S102 - our own rulebooks' code
    return None if last is None else eval(compile(ast.Expression(last.value), "patch", "eval"), space)  # noqa: S307


class Watch:
    """Which of some attributes of an object are read from now on."""

    def __init__(self, owner: Any, attributes: set[str]) -> None:
        self.read: set[str] = set()
        read, plain = self.read, type(owner)

        class Watched(plain):  # type: ignore[misc, valid-type]
            def __getattribute__(self, name: str) -> Any:
                if name in attributes:
                    read.add(name)
                return super().__getattribute__(name)

        owner.__class__ = Watched


def _evaluate(text: str, config: Mapping[str, float]) -> float | None:
    value = float(compile_expression(text).evaluate({**FEATURES, **config}))
    return None if value != value else value
