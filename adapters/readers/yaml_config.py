"""YAML settings that were written with Python's own tags, read as plain data: nothing is imported, called or built."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import yaml

from rl_diagnose.errors import LogError

from .text_bytes import read_text_bytes

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["read_yaml_config"]

MAX_BYTES = 4 * 1024 * 1024
MAX_DEPTH = 64
MAX_NODES = 200_000
"""Largest number of values, each alias counted with all that it repeats."""

_SafeLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml is absent from some builds of PyYAML
_PYTHON = "tag:yaml.org,2002:python/"
_SCALARS = re.compile(r"(?:str|unicode|bytes|int|long|float|bool|none)$")
_SHOWN = 40
_ORDERED = "object/apply:collections.OrderedDict"


class _PlainLoader(_SafeLoader):  # type: ignore[misc]
    """A safe loader which reads a tagged value as what it looks like: text, list or mapping."""


def read_yaml_config(path: Path) -> object:
    """The first document of a YAML file as dicts, lists, texts, numbers, booleans and None.

    A Python tag is dropped: a tagged list is a list, a tagged mapping a dict, a name (``!!python/name:torch.nn.ReLU``)
    the text behind the colon. An OrderedDict of pairs becomes a dict. Other tags are dropped as well, dates stay text.

    Raises `LogError` with line and column for invalid YAML, and for files which are larger than 4 MiB, nested deeper
    than 64 levels, or hold more than 200 000 values with aliases counted in full.
    """
    text = read_text_bytes(path, limit=MAX_BYTES).data.decode("utf-8")
    try:
        _check_size(text, path)
        for document in yaml.load_all(text, Loader=_PlainLoader):
            return document
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark is not None else path
        raise LogError(f"this is not valid YAML: {error.problem or error.context}", place=place) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # ValueError: a number with too many digits
        raise LogError(f"this is not valid YAML: {error}", place=path) from None
    return None


def _check_size(text: str, path: Path) -> None:
    """Walk over the events, which takes no memory, before anything is built."""
    counts = [0]  # values inside each open collection
    anchors: list[str | None] = [None]
    sizes: dict[str, int] = {}
    for event in yaml.parse(text, Loader=_SafeLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            counts.append(1)
            anchors.append(event.anchor)
            if len(counts) > MAX_DEPTH + 1:
                raise LogError(f"the settings are nested deeper than {MAX_DEPTH} levels", place=path)
        elif isinstance(event, yaml.CollectionEndEvent):
            size, anchor = counts.pop(), anchors.pop()
            counts[-1] += size
            if anchor is not None:
                sizes[anchor] = size
        elif isinstance(event, yaml.ScalarEvent):
            counts[-1] += 1
            if event.anchor is not None:
                sizes[event.anchor] = 1
        elif isinstance(event, yaml.AliasEvent):
            if event.anchor in anchors:
                raise LogError(f"the value &{event.anchor} contains itself", place=path)
            counts[-1] += sizes.get(event.anchor or "", 1)
        if sum(counts) > MAX_NODES:
            raise LogError(f"the settings hold more than {MAX_NODES} values", place=path)
        if isinstance(event, yaml.DocumentEndEvent):
            return


def _plain(loader: Any, suffix: str, node: yaml.Node) -> object:
    """The value of a node with a tag that is not YAML's own."""
    if isinstance(node, yaml.ScalarNode):
        return _scalar(loader, suffix, node)
    if isinstance(node, yaml.SequenceNode):
        items = loader.construct_sequence(node, deep=True)
        return _pairs(items) if suffix == _ORDERED else items
    mapping = loader.construct_mapping(node, deep=True)
    if suffix.startswith("object/") and set(mapping) & {"args", "state", "dictitems", "listitems"}:
        for part in ("dictitems", "state", "listitems", "args"):
            if mapping.get(part):
                return mapping[part]
    return mapping


def _scalar(loader: Any, suffix: str, node: yaml.ScalarNode) -> object:
    name, _, argument = suffix.partition(":")
    if argument:  # name:, module:, object: — what is named is the value, unless a value follows
        return loader.construct_scalar(node) or argument
    if _SCALARS.match(name) and name not in ("str", "unicode", "bytes"):
        kind = {"long": "int", "none": "null"}.get(name, name)
        return loader.construct_object(yaml.ScalarNode(f"tag:yaml.org,2002:{kind}", node.value, node.start_mark))
    return loader.construct_scalar(node)


def _pairs(items: list[Any]) -> object:
    """The arguments of an OrderedDict, ``[[[key, value], …]]``, as a dict; anything else unchanged."""
    pairs = items[0] if len(items) == 1 and isinstance(items[0], list) else items
    if not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
        return items
    return {str(key): value for key, value in pairs}


def _number_or_truth(loader: Any, node: yaml.Node) -> object:
    """A number or boolean by PyYAML's own constructor, which lets Python's errors out for one that is none."""
    kind = node.tag.rpartition(":")[2]
    try:
        return getattr(_SafeLoader, f"construct_yaml_{kind}")(loader, node)
    except (LookupError, OverflowError):
        problem = f"'{str(node.value)[:_SHOWN]}' is no {kind}"
        raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark) from None


def _text(loader: Any, node: yaml.ScalarNode) -> object:
    return loader.construct_scalar(node)


def _unknown(loader: Any, suffix: str, node: yaml.Node) -> object:
    return _plain(loader, suffix.removeprefix("!"), node)


_PlainLoader.add_multi_constructor(_PYTHON, _plain)
_PlainLoader.add_multi_constructor("!", _unknown)
_PlainLoader.add_multi_constructor("tag:", _unknown)
for _kind in ("bool", "int", "float"):
    _PlainLoader.add_constructor(f"tag:yaml.org,2002:{_kind}", _number_or_truth)
_PlainLoader.add_constructor("tag:yaml.org,2002:timestamp", _text)
_PlainLoader.add_constructor("tag:yaml.org,2002:binary", _text)
