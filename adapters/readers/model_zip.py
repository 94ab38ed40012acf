"""Saved models of Stable-Baselines3: hyper-parameters and versions from the plain-text parts of the archive."""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rl_diagnose.errors import LogError

from .zip_errors import ZIP_ERRORS

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["ModelZip", "read_model_zip"]

MAX_DATA_BYTES = 64 * 1024 * 1024
MAX_TEXT_BYTES = 1024 * 1024
MAX_MEMBERS = 1000


@dataclass(frozen=True, slots=True)
class ModelZip:
    """`data` maps attribute names of the saved model to plain values, or to dicts that describe what was pickled.

    The pickles themselves (``:serialized:``) and the weights are left alone. `version` is that of Stable-Baselines3 and
    `system_info` what it wrote about the machine; None where the archive does not say.
    """

    data: dict[str, object]
    version: str | None = None
    system_info: str | None = None


def read_model_zip(path: Path) -> ModelZip:
    """Read the parts of a saved model which are text. Nothing is ever unpickled.

    Raises `LogError` when the file is no complete zip archive, holds no ``data`` in JSON, or is larger than a model
    saved by Stable-Baselines3 can be.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.namelist()
            if len(members) > MAX_MEMBERS:
                raise LogError(f"the archive holds {len(members)} files: this is no saved model", place=path)
            if "data" not in members:
                raise LogError(
                    "the archive has no member 'data'",
                    place=path,
                    hint="a model saved by Stable-Baselines3 has one with its settings",
                )
            stored = _member(archive, "data", MAX_DATA_BYTES, path)
            version = _text(archive, "_stable_baselines3_version", members, path)
            system_info = _text(archive, "system_info.txt", members, path)
    except OSError as error:
        raise LogError(f"the file cannot be read: {error.strerror or error}", place=path) from None
    except ZIP_ERRORS as error:
        raise LogError(
            f"this is no complete zip archive ({error})", place=path, hint="the run may have died while saving it"
        ) from None
    try:
        data = json.loads(stored)
    except (ValueError, RecursionError) as error:
        raise LogError(f"the model's 'data' is not JSON ({error})", place=path) from None
    if not isinstance(data, dict):
        raise LogError("the model's 'data' is not a JSON object", place=path)
    return ModelZip({name: _described(value) for name, value in data.items()}, version, system_info)


def _described(value: object) -> object:
    """A value without its pickle: the readable description is all that is used."""
    return {key: part for key, part in value.items() if key != ":serialized:"} if isinstance(value, dict) else value


def _member(archive: zipfile.ZipFile, name: str, limit: int, path: Path) -> bytes:
    with archive.open(name) as member:
        stored = member.read(limit + 1)
    if len(stored) > limit:
        raise LogError(f"the model's '{name}' is larger than {limit // 2**20} MiB", place=path)
    return stored


def _text(archive: zipfile.ZipFile, name: str, members: list[str], path: Path) -> str | None:
    if name not in members:
        return None
    return _member(archive, name, MAX_TEXT_BYTES, path).decode("utf-8", "replace").strip() or None
