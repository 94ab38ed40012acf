"""A tag map from a run: how each key was understood, as the YAML that a user can mend and keep.

It reads back with ``--tag-map FILE`` or ``tag-maps`` in the project file; the fields are those of the built-in maps.
"""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import TYPE_CHECKING

import yaml

from .inspection import is_raw

if TYPE_CHECKING:
    from ..signals.run import Run, Series

__all__ = ["to_tag_map"]

_MARKS = 8
_HEAD = """\
# How the logs of {run} are understood. Mend it, then read such logs with
#   rl-diagnose PATH --tag-map THIS_FILE        or, in rl-diagnose.toml:  tag-maps = ["THIS_FILE"]
# transform is one of x, -x, x*2, x/2; signals are listed in docs/signals.md.
framework: {framework}
x_axis: {x_axis}
# names of the log files besides event files; * stands for any text
files: [{files}]
step_keys: [{steps}]
# two of these keys in a log make it one of these
fingerprint: [{marks}]
rules:
"""


def to_tag_map(run: Run) -> str:
    """The tag map of `run` as YAML text: a rule for each key that became a signal, the others as comments."""
    known = [series for _, series in sorted(run.series.items()) if not is_raw(series)]
    keys = [series.semantics.source_key for series in known]
    rules = "".join(f"  - {_rule(series)}\n" for series in known)
    unknown = "".join(f"  # - {{key: {_text(key.key)}, signal: {key.suggestion or 'WHICH'}}}\n" for key in run.unmapped)
    head = _HEAD.format(
        run=_comment(run.id),
        framework=re.sub(r"[^a-z0-9_]+", "_", PurePath(run.id).stem.lower()).strip("_") or "mine",
        x_axis=run.x_axis,
        files=", ".join(_text(name) for name in _tables(run)),
        steps=_text(run.step_key) if run.step_key else "",
        marks=", ".join(_text(key) for key in keys[:_MARKS]),
    )
    note = "  # not understood: give a key its signal, or leave it out\n" if unknown else ""
    return head + (rules or "  []\n") + note + unknown


def _tables(run: Run) -> list[str]:
    """Names of the log files but for event files, which are looked at under any name."""
    names = dict.fromkeys(PurePath(file).name for file in run.files)
    return [name for name in names if "tfevents" not in name]


def _rule(series: Series) -> str:
    semantics = series.semantics
    fields = {"key": _text(semantics.source_key), "signal": series.signal}
    if semantics.transform != "x":
        fields["transform"] = _text(semantics.transform)
    if semantics.estimator:
        fields["estimator"] = _text(semantics.estimator)
    if semantics.window:
        fields["window"] = _text(semantics.window)
    if semantics.window_episodes:
        fields["window_episodes"] = str(semantics.window_episodes)
    return "{" + ", ".join(f"{name}: {value}" for name, value in fields.items()) + "}"


def _text(value: str) -> str:
    """A text between double quotes, as YAML writes it on one line."""
    return yaml.safe_dump(value, default_style='"', width=1_000_000).strip()


def _comment(text: str) -> str:
    return text.encode("ascii", "replace").decode("ascii").replace("\n", " ").replace("\r", " ")
