"""What surrounds the curves of a Stable-Baselines3 run: algorithm, environment, hyper-parameters, action space."""

from __future__ import annotations

import ast
import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rl_diagnose.errors import LogError
from rl_diagnose.signals.run import ActionSpace, ConfigValue, LogIssue
from rl_diagnose.signals.taxonomy import hyperparameters

from .readers.model_zip import read_model_zip
from .readers.yaml_config import read_yaml_config
from .tagmap import named_algorithm

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from .sb3_files import Sb3Files
    from .tagmap import AlgorithmRule, TagMap

__all__ = ["Context", "read_context"]

_MAX_MODELS_TRIED = 3
_MAY_BE_ZERO = frozenset({"learning_starts", "seed"})
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?inf")
_SCHEDULE = re.compile(r"(?P<kind>lin|linear|const|constant)_(?P<value>[-+0-9.eE]+)")
_FLOAT_SCHEDULE = re.compile(r"ConstantSchedule\(val=(?P<value>[-+0-9.eE]+)\)")
_ENV_FOLDER = re.compile(r"(?P<env>.+-v\d+)(?:_\d+)?")


@dataclass(frozen=True, slots=True)
class Context:
    """What is known about a run besides its curves; None where unknown. `reason`: how the algorithm was recognised."""

    algorithm: str | None = None
    on_policy: bool = False
    reason: str = ""
    env: str | None = None
    version: str | None = None
    config: Mapping[str, ConfigValue] = field(default_factory=dict)
    action_space: ActionSpace | None = None
    window_episodes: int | None = None
    issues: tuple[LogIssue, ...] = ()


def read_context(
    files: Sb3Files,
    folder: Path,
    keys: frozenset[str],
    tag_map: TagMap,
    *,
    hparams: Mapping[str, object] | None = None,
    env: str | None = None,
) -> Context:
    """Put together what a saved model, RL Zoo's YAML files, logged hyper-parameters, key names and folder names say.

    `keys` are the logged keys, `hparams` what event files hold, `env` what a monitor's header
    names. A saved model wins over YAML, YAML over hparams. Never raises; files that cannot be read become issues.
    """
    issues: list[LogIssue] = []
    data, version, model_name = _model(files.models, issues)
    yamls = {path.name: _settings(path, issues) for path in files.settings}
    arguments = next((v for n, v in yamls.items() if n.startswith("args")), {})
    rule, reason = _algorithm(keys, data, model_name, arguments.get("algo"), folder, tag_map)
    algorithm = None if rule is None else rule.id
    sources: list[tuple[str, Mapping[str, object]]] = [(model_name, data)]
    sources += sorted(yamls.items(), key=lambda item: item[0].startswith("args"))
    sources.append(("hparams", hparams or {}))
    config: dict[str, ConfigValue] = {}
    for name, values in sources:
        for canonical, value in _config(name, values, algorithm, tag_map):
            config.setdefault(canonical, value)
    space = _action_space(data.get("action_space"), model_name)
    if space is None and rule is not None and rule.action_kind is not None:
        space = ActionSpace(rule.action_kind, origin="log", detail=f"{rule.id} has {rule.action_kind} actions only")
    named = _ENV_FOLDER.fullmatch(folder.name)
    window = data.get("_stats_window_size")
    return Context(
        algorithm=algorithm,
        on_policy=rule is not None and rule.on_policy,
        reason=reason,
        env=env or _text(arguments.get("env")) or (named["env"] if named else None),
        version=version,
        config=config,
        action_space=space,
        window_episodes=window if isinstance(window, int) and window > 0 else None,
        issues=tuple(issues),
    )


def _algorithm(
    keys: frozenset[str], data: Mapping[str, object], model_name: str, algo: object, folder: Path, tag_map: TagMap
) -> tuple[AlgorithmRule | None, str]:
    """Keys decide the family; a saved model, args.yml, and the folders' names tell its members apart."""
    candidates = tag_map.algorithms_by_keys(keys)
    pool = candidates or tag_map.algorithms
    saved = _saved_algorithm(data, pool)
    if saved is not None:
        return saved, f"{saved.id} by the saved model {model_name}"
    if len(candidates) == 1:
        return candidates[0], f"{candidates[0].id} by its keys ({', '.join(candidates[0].keys)})"
    hints = [
        ("args.yml", _text(algo)),
        ("the folder's name", folder.name),
        ("the parent folder's name", folder.parent.name),
    ]
    for place, text in hints:
        named = named_algorithm(text, pool) if text else None
        if named is not None:
            return named, f"{named.id} by {place} ({text})"
    if candidates:
        return candidates[0], f"{candidates[0].id} by its keys ({', '.join(candidates[0].keys)})"
    return None, "algorithm unknown"


def _saved_algorithm(data: Mapping[str, object], pool: Iterable[AlgorithmRule]) -> AlgorithmRule | None:
    """By the module of the saved policy class where that is the algorithm's own, else by the saved attributes."""
    if not data:
        return None
    policy = data.get("policy_class")
    module = str(policy.get("__module__", "")) if isinstance(policy, dict) else ""
    fitting = [
        rule
        for rule in pool
        if rule.attributes
        and data.keys() >= set(rule.attributes)
        and data.keys().isdisjoint(rule.without_attributes)
        and all(data.get(name) == value for name, value in rule.values)
    ]
    own = [rule for rule in fitting if rule.module is not None and module.startswith(rule.module)]
    general = [rule for rule in fitting if rule.module is None]
    return max(own or general or fitting, key=lambda rule: len(rule.values), default=None)


def _model(paths: Iterable[Path], issues: list[LogIssue]) -> tuple[Mapping[str, object], str | None, str]:
    """`data` of one saved model: the final one rather than a checkpoint; the next one where it cannot be read."""
    ordered = sorted(paths, key=lambda path: (bool(re.search(r"_\d+_steps$", path.stem)), path.name))
    for path in ordered[:_MAX_MODELS_TRIED]:
        try:
            model = read_model_zip(path)
        except LogError as error:
            issues.append(LogIssue("unreadable_file", f"the saved model was not read: {error.fact}", path.name))
            continue
        return model.data, model.version, path.name
    return {}, None, ""


def _settings(path: Path, issues: list[LogIssue]) -> Mapping[str, object]:
    try:
        loaded = read_yaml_config(path)
    except LogError as error:
        issues.append(LogIssue("unreadable_file", f"the settings were not read: {error.fact}", path.name))
        return {}
    if isinstance(loaded, list) and len(loaded) == 1:  # the argument list of an OrderedDict
        loaded = loaded[0]
    if isinstance(loaded, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in loaded):
        loaded = {str(key): value for key, value in loaded}
    return loaded if isinstance(loaded, dict) else {}


def _config(
    place: str, values: Mapping[str, object], algorithm: str | None, tag_map: TagMap
) -> Iterator[tuple[str, ConfigValue]]:
    """Canonical hyper-parameters from one file's settings."""
    for key, raw in values.items():
        name = tag_map.config_name(str(key), algorithm)
        value = None if name is None else _value(name, raw)
        if name is not None and value is not None:
            yield name, ConfigValue(value, f"{place}: {key}")
            schedule = _SCHEDULE.fullmatch(raw) if isinstance(raw, str) else None
            if schedule is not None and name == "learning_rate" and schedule["kind"].startswith("lin"):
                yield "learning_rate_schedule", ConfigValue("linear", f"{place}: {key}")
        elif key == "policy_kwargs":
            widths = list(_integers(_literal(raw), below="net_arch"))
            if widths:
                yield "network_width", ConfigValue(max(widths), f"{place}: {key}")
        elif key == "normalize":
            yield from _normalisation(place, raw)


def _normalisation(place: str, raw: object) -> Iterator[tuple[str, ConfigValue]]:
    """RL Zoo's `normalize`: true, or the arguments of VecNormalize, both of whose parts default to true."""
    arguments = _literal(raw)
    if arguments is True:
        arguments = {}
    if isinstance(arguments, dict):
        for name, argument in (("normalize_observations", "norm_obs"), ("normalize_reward", "norm_reward")):
            yield name, ConfigValue(bool(arguments.get(argument, True)), f"{place}: normalize")


def _value(name: str, raw: object) -> float | int | bool | str | None:
    """`raw` as the kind of value that the hyper-parameter takes; None for what is no plain value of that kind."""
    kind = hyperparameters()[name].kind
    if kind == "boolean":
        return raw if isinstance(raw, bool) else None
    if kind == "text":
        return raw if isinstance(raw, str) else None
    if isinstance(raw, dict):  # a schedule object of SB3 2.6 and later shows its constant in plain text
        match = _FLOAT_SCHEDULE.fullmatch(str(raw.get("value_schedule", "")))
        raw = match["value"] if match else None
    if isinstance(raw, str):
        match = _SCHEDULE.fullmatch(raw)
        raw = match["value"] if match else raw
    if isinstance(raw, bool) or not isinstance(raw, int | float | str):
        return None
    try:
        number = float(raw)
    except (ValueError, OverflowError):  # OverflowError: an integer beyond the range of float64
        return None
    if not math.isfinite(number):
        return None
    if kind == "integer":  # −1 is SB3's "as many as there are", 0 mostly "not set"
        least = 0 if name in _MAY_BE_ZERO else 1
        return int(number) if number >= least and number == int(number) else None
    return number


def _literal(raw: object) -> object:
    """RL Zoo writes some settings as Python text: a literal, or ``dict(a=1, …)`` of literals. Anything else is None."""
    if not isinstance(raw, str):
        return raw
    try:
        node = ast.parse(raw.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict" and not node.args:
        return {word.arg: value for word in node.keywords if word.arg and (value := _node(word.value)) is not None}
    return _node(node)


def _node(node: ast.expr) -> object:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, RecursionError, MemoryError):
        return None


def _integers(value: object, below: str | None = None, depth: int = 0) -> Iterator[int]:
    """Whole numbers anywhere inside nested lists and mappings; with `below` only inside the entry of that name."""
    if depth > 8:
        return
    if below is not None:
        if isinstance(value, dict) and below in value:
            yield from _integers(_literal(value[below]), depth=depth + 1)
    elif isinstance(value, dict):
        for part in value.values():
            yield from _integers(part, depth=depth + 1)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _integers(part, depth=depth + 1)
    elif isinstance(value, int) and not isinstance(value, bool) and value > 0:
        yield value


def _action_space(saved: object, model_name: str) -> ActionSpace | None:
    """A gym space as SB3 saves it: attributes in plain text beside the pickled object, which is left alone."""
    if not isinstance(saved, dict):
        return None
    kind = str(saved.get(":type:", "")).rpartition(".")[2].strip("'>")
    detail = f"saved in {model_name}"
    if kind == "Discrete":
        sizes = _whole_numbers(saved.get("n"))
        return ActionSpace("discrete", sizes[0], origin="config", detail=detail) if sizes else None
    if kind == "MultiDiscrete":
        sizes = _whole_numbers(saved.get("nvec"))
        return (
            ActionSpace("multi_discrete", sum(sizes), tuple(sizes), origin="config", detail=detail) if sizes else None
        )
    if kind == "MultiBinary":
        sizes = _whole_numbers(saved.get("n"))
        return ActionSpace("multi_binary", math.prod(sizes), origin="config", detail=detail) if sizes else None
    if kind == "Box":
        shape = _whole_numbers(saved.get("_shape", saved.get("shape")))
        low, high = _floats(saved.get("low")), _floats(saved.get("high"))
        return ActionSpace(
            "continuous",
            math.prod(shape) if shape else None,
            low=max(low) if low and math.isfinite(max(low)) else None,
            high=min(high) if high and math.isfinite(min(high)) else None,
            origin="config",
            detail=detail,
        )
    return None


def _floats(value: object) -> list[float]:
    return [float(text) for text in _NUMBER.findall(str(value))] if value is not None else []


def _whole_numbers(value: object) -> list[int]:
    return [int(number) for number in _floats(value) if 1 <= number < math.inf]


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
