"""Saved models: what is text in them is read, what is pickled is not."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from rl_diagnose.adapters.readers import model_zip as module
from rl_diagnose.adapters.readers.model_zip import read_model_zip
from rl_diagnose.errors import LogError


def _write(folder: Path, members: dict[str, str | bytes]) -> Path:
    path = folder / "model.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, stored in members.items():
            archive.writestr(name, stored)
    return path


def test_settings_and_versions(tmp_path: Path) -> None:
    data = {"gamma": 0.99, "clip_range": {":type:": "<class 'function'>", ":serialized:": "gAWV", "x": 1}}

    model = read_model_zip(
        _write(
            tmp_path,
            {
                "data": json.dumps(data),
                "policy.pth": b"\x80\x02weights",
                "_stable_baselines3_version": "2.3.0",
                "system_info.txt": "- OS: Linux\n",
            },
        )
    )

    assert model.data == {"gamma": 0.99, "clip_range": {":type:": "<class 'function'>", "x": 1}}
    assert model.version == "2.3.0"
    assert model.system_info == "- OS: Linux"


def test_what_the_archive_does_not_say_is_none(tmp_path: Path) -> None:
    model = read_model_zip(_write(tmp_path, {"data": "{}"}))

    assert model.version is None
    assert model.system_info is None


def test_a_real_model(sb3_data: Path) -> None:
    model = read_model_zip(sb3_data / "zoo" / "CartPole-v1_1" / "CartPole-v1.zip")

    assert model.data["n_steps"] == 32
    assert model.data["gamma"] == 0.98
    space = model.data["action_space"]
    assert isinstance(space, dict)
    assert "Discrete" in space[":type:"]
    assert ":serialized:" not in space
    assert model.version == "1.0rc0"


@pytest.mark.parametrize(
    ("members", "fact"),
    [
        ({"policy.pth": b""}, "no member 'data'"),
        ({"data": "{broken"}, "not JSON"),
        ({"data": "[" * 100_000}, "not JSON"),
        ({"data": "[1]"}, "not a JSON object"),
        ({"data": b"\xff\xfe\xfd"}, "not JSON"),
    ],
)
def test_other_archives_are_refused(members: dict[str, str | bytes], fact: str, tmp_path: Path) -> None:
    with pytest.raises(LogError, match=fact):
        read_model_zip(_write(tmp_path, members))


@pytest.mark.parametrize("content", [b"", b"no zip", b"PK\x03\x04 cut"])
def test_what_is_no_archive_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "model.zip"
    path.write_bytes(content)

    with pytest.raises(LogError, match="no complete zip archive"):
        read_model_zip(path)


def test_a_cut_archive_is_refused(tmp_path: Path) -> None:
    path = _write(tmp_path, {"data": "{}", "policy.pth": b"w" * 1000})
    path.write_bytes(path.read_bytes()[:-30])

    with pytest.raises(LogError, match="no complete zip archive"):
        read_model_zip(path)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="cannot be read"):
        read_model_zip(tmp_path / "gone.zip")


@pytest.mark.parametrize(("limit", "member"), [("MAX_DATA_BYTES", "data"), ("MAX_TEXT_BYTES", "system_info.txt")])
def test_members_that_unpack_to_too_much(
    limit: str, member: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, limit, 1000)
    members: dict[str, str | bytes] = {"data": "{}", member: " " * 100_000 + "{}"}

    with pytest.raises(LogError, match=f"'{member}' is larger than"):
        read_model_zip(_write(tmp_path, members))


def test_an_archive_of_too_many_members(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="this is no saved model"):
        read_model_zip(_write(tmp_path, {"data": "{}"} | {str(i): b"" for i in range(1000)}))


def test_a_locked_archive_is_refused(tmp_path: Path) -> None:
    path = _write(tmp_path, {"data": "{}"})
    stored = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):  # the flag that says "encrypted"
        stored[stored.index(signature) + offset] |= 1
    path.write_bytes(stored)

    with pytest.raises(LogError, match="encrypted"):
        read_model_zip(path)
