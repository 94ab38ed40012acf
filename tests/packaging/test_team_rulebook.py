"""The example of a team's rulebook package: installed like any package, it is found, checked, shown and used.

The wheels are put together here from the project's own metadata, because a test environment need not have a build
backend and the network; `make dist` builds the package for real.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import random
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEAM = ROOT / "examples" / "team-rulebook"
BROKEN = {
    "pyproject.toml": (
        '[project]\nname = "broken-rules"\nversion = "1.0.0"\n'
        '[project.entry-points."rl_diagnose.rulebooks"]\nbroken = "broken_rules"\n'
        '[tool.setuptools]\npackages = ["broken_rules"]\n'
    ),
    "broken_rules/__init__.py": 'raise RuntimeError("this package cannot be imported")\n',
}
INVALID = {
    "pyproject.toml": (
        '[project]\nname = "invalid-rules"\nversion = "1.0.0"\n'
        '[project.entry-points."rl_diagnose.rulebooks"]\ninvalid = "invalid_rules"\n'
        '[tool.setuptools]\npackages = ["invalid_rules"]\n'
    ),
    "invalid_rules/__init__.py": "",
    "invalid_rules/aaa_ppo/1.0.0.yaml": (
        'schema: rulebook/v1\nid: aaa_ppo\nversion: "1.0.0"\ntitle: Invalid\n'
        "applies_to: {algorithm: [ppo]}\ncauses: {c: {title: C, prior: 7}}\n"
    ),
}


@dataclass(frozen=True)
class Done:
    """Exit code and what was printed."""

    code: int
    out: str
    err: str


Command = Callable[..., Done]


def wheel_of(project: Path, target: Path) -> Path:
    """A wheel of a project that holds Python files, YAML and Markdown only, as its build backend would make it."""
    settings = tomllib.loads((project / "pyproject.toml").read_text("utf-8"))
    name, version = settings["project"]["name"].replace("-", "_"), settings["project"]["version"]
    files = {
        path.relative_to(project).as_posix(): path.read_bytes()
        for package in settings["tool"]["setuptools"]["packages"]
        for path in sorted((project / package).rglob("*"))
        if path.suffix in {".py", ".yaml", ".md"}
    }
    points = "".join(
        f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in entries.items())
        for group, entries in settings["project"]["entry-points"].items()
    )
    info = f"{name}-{version}.dist-info"
    files[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode()
    files[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files[f"{info}/entry_points.txt"] = points.encode()
    record = "".join(f"{path},sha256={_digest(data)},{len(data)}\n" for path, data in files.items())
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    wheel = target / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, data in files.items():
            archive.writestr(path, data)
    return wheel


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return folder


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of installed packages: the team's, one that cannot be imported, and one whose book is invalid."""
    scratch = tmp_path_factory.mktemp("wheels")
    projects = [TEAM, written(scratch / "broken", BROKEN), written(scratch / "invalid", INVALID)]
    wheels = [str(wheel_of(project, scratch)) for project in projects]
    target = tmp_path_factory.mktemp("site")
    install = ["-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-compile", "--target", str(target)]
    done = subprocess.run(  # noqa: S603 - pip of this interpreter
        [sys.executable, *install, "--disable-pip-version-check", *wheels], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return target


@pytest.fixture(scope="module")
def command(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Command:
    """The program in a process of its own, which sees the installed packages."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    environment = {**os.environ, "PYTHONPATH": str(site), "COLUMNS": "160", "PYTHONIOENCODING": "utf-8"}
    environment.pop("RL_DIAGNOSE_RULES", None)

    def run(*words: str | Path) -> Done:
        done = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, "-m", "rl_diagnose", *map(str, words)],
            cwd=elsewhere, env=environment, capture_output=True, text=True, encoding="utf-8", check=False,
        )  # fmt: skip
        return Done(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture(scope="module")
def curriculum_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of Stable-Baselines3 with three keys of the team's wrapper: the levels outrun the agent."""
    folder = tmp_path_factory.mktemp("PPO_7")
    noise = random.Random(7)  # noqa: S311 - a made-up curve
    keys = (
        "time/total_timesteps,rollout/ep_rew_mean,train/approx_kl,train/entropy_loss,train/learning_rate,"
        "curriculum/success_rate,curriculum/level,curriculum/speed"
    )
    rows = [
        f"{2048 * i},{max(0.0, 100 - i / 2) + noise.gauss(0, 5):.4f},{0.01 + 0.004 * noise.random():.5f},"
        f"{-1.2 + i / 600:.4f},0.0003,{max(0.05, 0.9 - i / 100):.3f},{1 + i // 30},5"
        for i in range(300)
    ]
    (folder / "progress.csv").write_text("\n".join([keys, *rows]) + "\n", "utf-8")
    return folder


def test_the_book_is_listed_with_its_package(command: Command) -> None:
    done = command("rules", "list", "--format", "json")
    assert done.code == 0, done.err
    book = next(book for book in json.loads(done.out)["books"] if book["id"] == "acme_ppo")
    assert book["origin"] == "package acme-rl-rules" or book["origin"] == "package acme_rl_rules"
    assert (book["versions"], book["status"], book["problems"]) == (["1.0.0"], "stable", [])


def test_a_broken_package_and_an_invalid_book_are_named_and_the_others_work(command: Command) -> None:
    done = command("rules", "list")
    assert done.code == 0, done.err
    text = " ".join(done.out.split())
    assert "cannot be used: RuntimeError: this package cannot be imported" in text
    assert "aaa_ppo is invalid" in text
    assert "'prior' is not a number below 1" in text
    assert "ppo 1.0.0 built-in stable" in text


def test_it_passes_the_check_also_a_strict_one(command: Command) -> None:
    done = command("rules", "check", "acme_ppo", "acme_ppo@1", "--strict")
    assert done.code == 0, done.out + done.err
    assert command("rules", "check", "aaa_ppo").code == 3


def test_what_it_comes_to_says_which_file_each_value_is_from(command: Command) -> None:
    done = command("rules", "show", "acme_ppo", "--cause", "learning_rate_too_high")
    assert done.code == 0, done.err
    origins = {
        line.split("#")[0].strip(): line.split("#")[1].split()[0] for line in done.out.splitlines() if "  # " in line
    }
    assert origins["prior: 0.03"].startswith("acme_ppo/1.0.0.yaml:")
    assert origins["title: Learning rate too high"].startswith("ppo/1.0.0.yaml:")


def test_runs_of_its_algorithm_are_diagnosed_with_it_unasked(command: Command, curriculum_run: Path) -> None:
    done = command(curriculum_run, "--format", "json")
    assert done.code == 0, done.err
    document = json.loads(done.out)
    assert [book["id"] for book in document["rulebooks"]] == ["acme_ppo"]
    (run,) = document["runs"]
    assert run["causes"][0]["id"] == "acme_curriculum_too_fast"
    (remedy,) = run["causes"][0]["remedies"]
    assert (remedy["knob"], remedy["current"], remedy["proposed"]) == ("acme_curriculum_speed", 5.0, 2.5)
    assert remedy["after"] == "acme-train --curriculum-speed 2.5"
    assert "observations_unnormalised" not in {cause["id"] for cause in run["causes"]}
    assert not [remark for remark in run["remarks"] if "curriculum/success_rate" in remark]
    notes = " ".join(document["notes"])
    assert "this package cannot be imported" in notes
    assert "the book 'aaa_ppo' of package" in notes


def test_the_built_in_book_is_still_there_by_name(command: Command, curriculum_run: Path) -> None:
    document = json.loads(command(curriculum_run, "--rules", "ppo", "--format", "json").out)
    assert [book["id"] for book in document["rulebooks"]] == ["ppo"]
