"""The signal reference as Markdown, made from the taxonomy; `docs/signals.md` is this text.

`python -m rl_diagnose.signals.reference` prints it.
"""

from __future__ import annotations

import sys

from .taxonomy import hyperparameters, signal_specs, taxonomy_version

__all__ = ["reference_markdown"]


def reference_markdown() -> str:
    """The whole page: one table of signals, one of hyper-parameters."""
    lines = [
        "# Signals and hyper-parameters",
        "",
        f"Version {taxonomy_version()}. Made from `engine/signals/signals.yaml` and `hyperparameters.yaml`; a test",
        "holds this page to them. Numeric keys of a log that no tag map knows are kept as `raw.<key>`.",
        "",
        "| signal | meaning | unit | sign | algorithms | a missing value means |",
        "|---|---|---|---|---|---|",
    ]
    for spec in signal_specs().values():
        meaning = f"{spec.meaning} (from {', '.join(f'`{s}`' for s in spec.sources)})" if spec.derived else spec.meaning
        algorithms = ", ".join(spec.algorithms)
        lines.append(f"| `{spec.id}` | {meaning} | {spec.unit} | {spec.sign} | {algorithms} | {spec.missing} |")
    lines += [
        "",
        "## Hyper-parameters",
        "",
        "Canonical names. Bounds and step limit are what a remedy stays within unless its rulebook says otherwise.",
        "",
        "| name | meaning | seen in signal | safe bounds | largest change |",
        "|---|---|---|---|---|",
    ]
    for knob in hyperparameters().values():
        bounds = "–" if knob.low is None else f"{knob.low:g} … {knob.high:g}"
        change = "–" if knob.step_limit is None else f"×{knob.step_limit:g}{' of 1 − x' if knob.one_minus else ''}"
        seen = f"`{knob.signal}`" if knob.signal else "–"
        lines.append(f"| `{knob.name}` | {knob.meaning} | {seen} | {bounds} | {change} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(reference_markdown())
