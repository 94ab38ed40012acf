"""The package list in pyproject.toml is kept by hand; these tests hold it to the folders."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = {"engine": "rl_diagnose", "adapters": "rl_diagnose.adapters", "rulebooks": "rl_diagnose.rulebooks"}
SETUPTOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]


def packages_on_disk() -> set[str]:
    return {
        ".".join([package, *init.parent.relative_to(ROOT / folder).parts])
        for folder, package in FOLDERS.items()
        for init in (ROOT / folder).rglob("__init__.py")
    }


def test_every_package_folder_is_listed_and_every_listed_package_exists() -> None:
    assert set(SETUPTOOLS["packages"]) == packages_on_disk()


def test_every_folder_with_modules_is_a_package() -> None:
    bare = {
        str(module.parent.relative_to(ROOT))
        for folder in FOLDERS
        for module in (ROOT / folder).rglob("*.py")
        if not (module.parent / "__init__.py").is_file()
    }
    assert bare == set()


def test_every_data_file_is_covered_by_package_data() -> None:
    suffixes = {".yaml", ".json"}
    for folder, package in FOLDERS.items():
        for path in (ROOT / folder).rglob("*"):
            if path.suffix not in suffixes:
                continue
            parents = [path.parent, *path.parent.parents]
            owner = next(p for p in parents if (p / "__init__.py").is_file())
            name = ".".join([package, *owner.relative_to(ROOT / folder).parts])
            patterns = SETUPTOOLS["package-data"].get(name, [])
            assert any(
                path.relative_to(owner).full_match(p)
                if hasattr(path, "full_match")
                else path.match(p.removeprefix("**/"))
                for p in patterns
            ), path


@pytest.mark.parametrize(
    "module", sorted((ROOT / "engine").rglob("*.py")), ids=lambda p: p.relative_to(ROOT).as_posix()
)
def test_engine_modules_import_relatively_and_never_an_adapter(module: Path) -> None:
    for node in ast.walk(ast.parse(module.read_text("utf-8"))):
        names = (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom) and node.level == 0
            else []
        )
        assert not [n for n in names if n.split(".")[0] in {"rl_diagnose", "engine", "adapters", "rulebooks"}]
        if isinstance(node, ast.ImportFrom) and node.level:
            assert "adapters" not in (node.module or "").split(".")


def test_modules_stay_small() -> None:
    long = {
        path.relative_to(ROOT).as_posix(): count
        for folder in ("engine", "adapters", "benchmarks")
        for path in (ROOT / folder).rglob("*.py")
        if (count := len(path.read_text("utf-8").splitlines())) > 500
    }
    assert long == {}
