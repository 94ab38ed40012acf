"""Reads every log below a folder of public samples and counts what became of it.

    python benchmarks/samples.py ../shared/samples

The folder's first level names the framework that wrote the logs. For each framework: runs that were read, folders
refused with a reason, runs read as another framework's (wrong), crashes, and the share of the scalar keys that are
understood (a signal or known bookkeeping).
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from pathlib import Path

from rl_diagnose.errors import RlDiagnoseError
from rl_diagnose.logs.find import find_folders
from rl_diagnose.logs.load import find_runs, load_source

CONTAINERS = {"wandb": {"cleanrl", "rllib", "sb3", "wandb"}, "tf2_scalars": {"tensorboard"}}
"""Folders named after a container: any framework may have written into it."""


def look(root: Path) -> tuple[dict[str, Counter[str]], dict[str, Counter[str]], list[str]]:
    """Outcomes and keys per framework, and one line for each folder that was refused or read wrongly."""
    outcomes: dict[str, Counter[str]] = defaultdict(Counter)
    keys: dict[str, Counter[str]] = defaultdict(Counter)
    lines: list[str] = []
    for folder in find_folders(root):
        place = folder.path.relative_to(root).as_posix()
        written_by = place.split("/")[0]
        if place == ".":
            continue
        try:
            found = [one for one in find_runs(folder.path).sources if one.source.path in (folder.path, *folder.files)]
        except RlDiagnoseError as error:
            outcomes[written_by]["refused"] += 1
            lines.append(f"refused  {place}: {error.fact}")
            continue
        for one in found:
            try:
                run = load_source(one)
            except RlDiagnoseError as error:
                kind = "crashed" if "the adapter" in error.fact and "failed (" in error.fact else "refused"
                outcomes[written_by][kind] += 1
                lines.append(f"{kind:<8} {place}: {error.fact}")
                continue
            expected = CONTAINERS.get(written_by, {written_by})
            right = run.framework in expected
            outcomes[written_by]["read" if right else "wrong"] += 1
            if not right:
                lines.append(f"wrong    {place}: read as {run.framework}")
            unknown = {key.key for key in run.unmapped}
            all_keys = {series.semantics.source_key for series in run.series.values()} | unknown
            keys[written_by]["keys"] += len(all_keys)
            keys[written_by]["understood"] += len(all_keys - unknown)
            keys[written_by]["signals"] += sum(not name.startswith("raw.") for name in run.series)
    return outcomes, keys, lines


def main(arguments: list[str]) -> int:
    """Print the table; exit code 1 when a run crashed or was read as another framework's."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    outcomes, keys, lines = look(parser.parse_args(arguments).folder)
    print("\n".join(lines), end="\n\n")
    kinds = ("read", "refused", "wrong", "crashed")
    print(
        f"{'framework':<14}" + "".join(f"{kind:>9}" for kind in kinds) + f"{'keys':>8}{'understood':>12}{'signals':>9}"
    )
    for name in sorted(outcomes):
        counts, known = outcomes[name], keys[name]
        share = f"{known['understood'] / known['keys']:.0%}" if known["keys"] else "–"
        print(
            f"{name:<14}" + "".join(f"{counts[kind]:>9}" for kind in kinds)
            + f"{known['keys']:>8}{share:>12}{known['signals']:>9}"
        )  # fmt: skip
    total = sum(outcomes.values(), Counter[str]())
    print(f"{'all':<14}" + "".join(f"{total[kind]:>9}" for kind in kinds))
    return 1 if total["wrong"] or total["crashed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
