"""Builds sdist → wheel, installs the wheel in a clean environment and runs the command there.

Run by `make dist`; not a pytest module because it needs the network to fetch the dependencies.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FORBIDDEN_TOP_LEVEL = {"engine", "adapters", "rulebooks", "tests", "benchmarks"}


def run(*command: str | Path, cwd: Path | None = None) -> str:
    """Run a command, show its output when it fails, return its standard output."""
    done = subprocess.run([str(c) for c in command], cwd=cwd, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout}\n{done.stderr}")
    return done.stdout


def check_third_party(scripts: Path, elsewhere: Path) -> None:
    """Install an adapter package of a third party beside the product: the good one reads, the broken one is named."""
    package = shutil.copytree(ROOT / "tests" / "packaging" / "house_adapter", elsewhere / "house_adapter")
    run(scripts / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", package)
    (elsewhere / "mine.house").write_text("".join(f"{i}00;{i};0.01\n" for i in range(50)), "utf-8")
    inspected = json.loads(run(scripts / "rl-diagnose", "inspect", "mine.house", "--format", "json", cwd=elsewhere))
    (read,) = inspected["runs"]
    if read["adapter"] != "house" or {s["signal"] for s in read["signals"]} != {"reward.train", "policy.kl"}:
        sys.exit(f"the third party's adapter was not used: {inspected}")
    if "the house's second adapter is broken" not in " ".join(inspected["notes"]):
        sys.exit(f"the broken adapter is not named: {inspected['notes']}")
    run(scripts / "rl-diagnose", "mine.house", cwd=elsewhere)


def check_team_rulebook(scripts: Path, elsewhere: Path) -> None:
    """Build and install the example of a team's rulebook beside the product: it is found and passes its check."""
    package = shutil.copytree(ROOT / "examples" / "team-rulebook", elsewhere / "team-rulebook")
    run(scripts / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", package)
    books = json.loads(run(scripts / "rl-diagnose", "rules", "list", "--format", "json", cwd=elsewhere))["books"]
    if "acme_ppo" not in {book["id"] for book in books}:
        sys.exit(f"the team's rulebook is not found: {books}")
    run(scripts / "rl-diagnose", "rules", "check", "acme_ppo", "--strict", cwd=elsewhere)
    run(scripts / "rl-diagnose", "rules", "test", "acme_ppo", cwd=elsewhere)


def main() -> None:
    """Build, look into the wheel, install it, diagnose the example run from an unrelated folder."""
    with tempfile.TemporaryDirectory() as text:
        scratch = Path(text)
        # A copy without build/, so that no module deleted from the tree survives in the wheel.
        source = scratch / "source"
        ignore = shutil.ignore_patterns(".git", ".venv", "build", "dist", "*.egg-info", "__pycache__", ".*_cache")
        shutil.copytree(ROOT, source, ignore=ignore)
        run(sys.executable, "-m", "build", "--outdir", scratch / "dist", source)
        (wheel,) = (scratch / "dist").glob("*.whl")
        names = zipfile.ZipFile(wheel).namelist()
        top_level = {name.split("/")[0] for name in names}
        if top_level & FORBIDDEN_TOP_LEVEL:
            sys.exit(f"the wheel installs top-level names it must not: {sorted(top_level & FORBIDDEN_TOP_LEVEL)}")
        for folder, package in (("engine", "rl_diagnose"), ("adapters", "rl_diagnose/adapters")):
            for module in (ROOT / folder).rglob("*.py"):
                wanted = f"{package}/{module.relative_to(ROOT / folder).as_posix()}"
                if wanted not in names:
                    sys.exit(f"{wanted} is missing from the wheel")
        for book in (ROOT / "rulebooks").rglob("*.yaml"):
            wanted = f"rl_diagnose/rulebooks/{book.relative_to(ROOT / 'rulebooks').as_posix()}"
            if wanted not in names:
                sys.exit(f"{wanted} is missing from the wheel")
        clean = scratch / "venv"
        venv.create(clean, with_pip=True)
        scripts = clean / ("Scripts" if os.name == "nt" else "bin")
        run(scripts / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel)
        elsewhere = scratch / "a folder with spaces"
        elsewhere.mkdir()
        example = shutil.copytree(ROOT / "examples" / "collapsed-ppo", elsewhere / "collapsed ppo")
        run(scripts / "rl-diagnose", "--version", cwd=elsewhere)
        out = run(scripts / "rl-diagnose", example, cwd=elsewhere)
        if "earning rate" not in out:
            sys.exit(f"the installed command does not name the learning rate in the example run:\n{out}")
        run(scripts / "python", "-m", "rl_diagnose", example, "--format", "json", cwd=elsewhere)
        check_third_party(scripts, elsewhere)
        check_team_rulebook(scripts, elsewhere)
    print(f"wheel checked: {wheel.name}, {len(names)} files")  # noqa: T201 - a script's own report


if __name__ == "__main__":
    main()
