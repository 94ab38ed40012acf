"""evaluations.npz of an EvalCallback, whole, odd and hostile."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rl_diagnose.adapters.readers import evaluations as module
from rl_diagnose.adapters.readers.evaluations import read_evaluations
from rl_diagnose.errors import LogError


def _write(folder: Path, **arrays: Any) -> Path:
    path = folder / "evaluations.npz"
    np.savez(path, **arrays)
    return path


class _Trap:
    """Leaves a trace when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (self.path,))


def test_all_arrays(tmp_path: Path) -> None:
    found = read_evaluations(
        _write(
            tmp_path,
            timesteps=[100, 200],
            results=[[1.0, 2.0, 3.0], [4.0, np.nan, np.inf]],
            ep_lengths=[[5, 6, 7], [8, 9, 10]],
            successes=[[True, False, True], [True, True, True]],
        )
    )

    assert found.timesteps.tolist() == [100, 200]
    np.testing.assert_array_equal(found.results, [[1, 2, 3], [4, np.nan, np.inf]])
    assert found.lengths is not None
    assert found.lengths.tolist() == [[5, 6, 7], [8, 9, 10]]
    assert found.successes is not None
    assert found.successes.tolist() == [[1, 0, 1], [1, 1, 1]]
    assert found.issues == ()
    assert {array.dtype for array in (found.timesteps, found.results, found.lengths, found.successes)} == {
        np.dtype(np.float64)
    }


def test_arrays_that_are_not_there_are_none(tmp_path: Path) -> None:
    found = read_evaluations(_write(tmp_path, timesteps=[1], results=[[2.0]]))

    assert found.lengths is None
    assert found.successes is None


def test_one_number_per_evaluation_is_a_column(tmp_path: Path) -> None:
    assert read_evaluations(_write(tmp_path, timesteps=[1, 2], results=[3.0, 4.0])).results.shape == (2, 1)


def test_an_order_of_columns_first(tmp_path: Path) -> None:
    results = np.asfortranarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])

    assert read_evaluations(_write(tmp_path, timesteps=[1, 2], results=results)).results.tolist() == results.tolist()


def test_compressed_archives(tmp_path: Path) -> None:
    path = tmp_path / "evaluations.npz"
    np.savez_compressed(path, timesteps=[1], results=[[2.0]])

    assert read_evaluations(path).results.tolist() == [[2]]


def test_python_objects_are_refused_and_never_loaded(tmp_path: Path) -> None:
    trace = tmp_path / "unpickled"
    trap = np.array([_Trap(trace)], dtype=object)

    found = read_evaluations(_write(tmp_path, timesteps=[1], results=[[2.0]], successes=trap))
    without = read_evaluations(_write(tmp_path, timesteps=[1], results=trap))

    assert found.successes is None
    assert [issue.code for issue in found.issues] == ["object_array"]
    assert without.results.shape == (1, 0)
    assert not trace.exists()


def test_steps_that_are_objects_leave_nothing_to_read(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="never loaded"):
        read_evaluations(_write(tmp_path, timesteps=np.array([None], dtype=object), results=[[2.0]]))


def test_arrays_of_unequal_length_are_cut(tmp_path: Path) -> None:
    found = read_evaluations(_write(tmp_path, timesteps=[1, 2, 3], results=[[1.0], [2.0]], ep_lengths=[[5], [6], [7]]))

    assert found.timesteps.tolist() == [1, 2]
    assert found.lengths is not None
    assert found.lengths.shape == (2, 1)
    assert [issue.code for issue in found.issues] == ["unequal_lengths"]


def test_no_evaluation_yet(tmp_path: Path) -> None:
    found = read_evaluations(_write(tmp_path, timesteps=np.empty(0), results=np.empty((0, 5))))

    assert found.timesteps.size == 0
    assert found.results.size == 0


@pytest.mark.parametrize("missing", ["timesteps", "results"])
def test_other_npz_files_are_refused(missing: str, tmp_path: Path) -> None:
    arrays = {name: [1.0] for name in ("timesteps", "results", "weights") if name != missing}

    with pytest.raises(LogError, match=f"no array '{missing}'"):
        read_evaluations(_write(tmp_path, **arrays))


@pytest.mark.parametrize("kept", [0, 10, 300])
def test_a_file_that_was_cut_is_refused(kept: int, tmp_path: Path) -> None:
    path = _write(tmp_path, timesteps=[1, 2], results=[[1.0], [2.0]])
    path.write_bytes(path.read_bytes()[:kept])

    with pytest.raises(LogError, match="no complete npz file"):
        read_evaluations(path)


def test_damaged_bytes_are_refused(tmp_path: Path) -> None:
    path = _write(tmp_path, timesteps=[1, 2], results=[[1.0], [2.0]])
    stored = bytearray(path.read_bytes())
    stored[150] ^= 0xFF
    path.write_bytes(stored)

    with pytest.raises(LogError, match="no complete npz file"):
        read_evaluations(path)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="cannot be read"):
        read_evaluations(tmp_path / "gone.npz")


def _npy(header: str, values: bytes = b"") -> bytes:
    text = header.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + values


def _archive(folder: Path, members: dict[str, bytes]) -> Path:
    path = folder / "evaluations.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, stored in members.items():
            archive.writestr(name, stored)
    return path


def _stored(values: list[float]) -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.array(values))
    return stream.getvalue()


@pytest.mark.parametrize(
    ("results", "fact"),
    [
        (_npy("{'descr': '<f8', 'fortran_order': False, 'shape': (10**15,)}"), "cannot be read"),
        (_npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,)}"), "ends too early"),
        (_npy("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}"), "not that of an evaluation"),
        (_npy("{'descr': '<U8', 'fortran_order': False, 'shape': (1,)}", b"\0" * 32), "not a number"),
        (_npy("__import__('os').getcwd()"), "cannot be read"),
        (b"\x93NUMPY", "cannot be read"),
        (b"", "cannot be read"),
    ],
)
def test_arrays_that_lie_about_themselves(results: bytes, fact: str, tmp_path: Path) -> None:
    path = _archive(tmp_path, {"timesteps.npy": _stored([1.0]), "results.npy": results})

    found = read_evaluations(path)

    assert found.results.shape == (1, 0)
    [issue] = found.issues
    assert issue.code == "unreadable_array"
    assert fact in issue.message


def test_an_array_that_unpacks_to_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_MEMBER_BYTES", 1000)
    path = _archive(tmp_path, {"timesteps.npy": _stored([1.0]), "results.npy": _stored([0.0] * 10_000)})

    [issue] = read_evaluations(path).issues

    assert issue.code == "unreadable_array"


def test_an_archive_of_too_many_members(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="holds 100 files"):
        read_evaluations(_archive(tmp_path, {f"{i}.npy": b"" for i in range(100)}))


def test_evaluations_of_rl_zoo(sb3_data: Path) -> None:
    found = read_evaluations(sb3_data / "zoo" / "CartPole-v1_1" / "evaluations.npz")

    assert found.timesteps.shape == (10,)
    assert found.results.shape == (10, 10)
    assert found.lengths is not None
    assert found.lengths.shape == (10, 10)
    assert found.successes is None


@pytest.mark.corpus
def test_evaluations_with_successes(shared: Path) -> None:
    found = read_evaluations(shared / "samples" / "sb3" / "rl-trained-agents_tqc_FetchReach" / "evaluations.npz")

    assert found.successes is not None
    assert found.successes.shape == (4, 20)


def test_evaluations_at_no_step_are_left_out_of_every_array(tmp_path: Path) -> None:
    found = read_evaluations(
        _write(tmp_path, timesteps=[1.0, np.nan, 3.0], results=[[1.0], [2.0], [3.0]], ep_lengths=[[4], [5], [6]])
    )
    assert (found.timesteps.tolist(), found.results.tolist()) == ([1, 3], [[1], [3]])
    assert found.lengths is not None
    assert found.lengths.tolist() == [[4], [6]]
    assert [issue.code for issue in found.issues] == ["odd_steps"]


def test_results_that_are_one_number_are_left_out(tmp_path: Path) -> None:
    found = read_evaluations(_write(tmp_path, timesteps=[1, 2], results=5.0))
    assert found.results.shape == (2, 0)
    assert [issue.code for issue in found.issues] == ["unreadable_array"]
