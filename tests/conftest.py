"""Shared fixtures: where the labelled corpus is, if it is there at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("house", deadline=None)  # the machines that run these tests are shared and slow at times
settings.load_profile("house")


@pytest.fixture(scope="session")
def shared() -> Path:
    """Folder with the labelled corpus and the public samples; tests that need it are skipped without it."""
    default = Path(__file__).resolve().parents[2] / "shared"
    folder = Path(os.environ.get("RL_DIAGNOSE_SHARED", default))
    if not (folder / "corpus" / "labels.csv").is_file():
        pytest.skip("the labelled corpus is not beside this checkout")
    return folder
