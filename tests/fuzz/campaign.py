"""A coverage-guided campaign against one target: ``python tests/fuzz/campaign.py csv --runs 100000``.

Inputs that reach new code are kept in ``.fuzz/<target>/``, from where the next campaign goes on. One that is a
bug is written to ``.fuzz/<target>-found/``; when the bug is fixed it belongs in ``tests/fuzz/crashes/<target>/``,
where the tests run it ever after. Needs atheris (``python -m pip install atheris``), which nothing else here does.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("adapters", "diagnosis", "features", "logs", "rules", "signals", "testing")
LONGEST = 1 << 16
"""Largest input in bytes."""


def main() -> None:
    """Read the command line and run the campaign; the process ends with libFuzzer's own exit code."""
    parser = argparse.ArgumentParser(description="Fuzz one target, guided by coverage.")
    parser.add_argument("target")
    parser.add_argument("--runs", type=int, default=100_000, help="inputs to try (%(default)s)")
    parser.add_argument("--seconds", type=int, default=0, help="end after this time (0: no limit)")
    parser.add_argument("--seed", type=int, default=1, help="of the random numbers (%(default)s)")
    given = parser.parse_args()
    try:
        import atheris
    except ImportError:
        sys.exit("a campaign needs atheris, which is not installed: python -m pip install atheris")
    sys.path.insert(0, str(ROOT))
    with atheris.instrument_imports(include=["rl_diagnose"]):
        _import_all()
        from tests.fuzz.targets import TARGETS
    if given.target not in TARGETS:
        parser.error(f"no target '{given.target}': there are {', '.join(TARGETS)}")
    target = TARGETS[given.target]
    corpus, found = _folders(target.name)
    for number, seed in enumerate(target.seeds()):
        (corpus / f"seed-{number}").write_bytes(seed)
    options = {
        "runs": given.runs,
        "max_total_time": given.seconds,
        "seed": given.seed,
        "max_len": LONGEST,
        "timeout": 10,  # seconds, with the counting of coverage
        "report_slow_units": 3,
        "rss_limit_mb": 2048,
        "print_final_stats": 1,
        "artifact_prefix": f"{found}/",
    }
    arguments = [sys.argv[0], *(f"-{name}={value}" for name, value in options.items()), str(corpus)]
    warnings.simplefilter("error")  # as in the tests
    atheris.Setup(arguments, target.holds)
    atheris.Fuzz()


def _import_all() -> None:
    """Import everything that targets may reach: what is imported later is not instrumented."""
    for name in PACKAGES:
        package = importlib.import_module(f"rl_diagnose.{name}")
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)


def _folders(name: str) -> tuple[Path, Path]:
    """Where inputs of a target are kept, and where those that are bugs."""
    corpus, found = ROOT / ".fuzz" / name, ROOT / ".fuzz" / f"{name}-found"
    for folder in (corpus, found):
        folder.mkdir(parents=True, exist_ok=True)
    return corpus, found


if __name__ == "__main__":
    main()
