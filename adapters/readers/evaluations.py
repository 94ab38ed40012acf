"""`evaluations.npz` of Stable-Baselines3's EvalCallback: returns and lengths of each evaluation's episodes."""

from __future__ import annotations

import io
import math
import tokenize
import warnings
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rl_diagnose.errors import LogError
from rl_diagnose.signals.run import LogIssue

from .zip_errors import ZIP_ERRORS

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["Evaluations", "read_evaluations"]

MAX_MEMBER_BYTES = 64 * 1024 * 1024
MAX_MEMBERS = 64


@dataclass(frozen=True, slots=True)
class Evaluations:
    """The evaluations of one run: n evaluations of k episodes, k ≥ 0.

    float64 arrays: `timesteps` (n,) in environment steps, `results` (n, k) returns, `lengths` (n, k) steps, `successes`
    (n, k) 0 or 1; None for an array that the file lacks. An array which holds Python objects is never unpickled: it is
    left out (`results` then has k = 0) with the issue ``object_array``.
    """

    file: str
    timesteps: NDArray[np.float64]
    results: NDArray[np.float64]
    lengths: NDArray[np.float64] | None = None
    successes: NDArray[np.float64] | None = None
    issues: tuple[LogIssue, ...] = ()


def read_evaluations(path: Path) -> Evaluations:
    """Read `timesteps`, `results`, and `ep_lengths` and `successes` where they are.

    Arrays of unequal length are cut to the shortest (issue ``unequal_lengths``); arrays that cannot be read are left
    out (issue ``unreadable_array``), as are evaluations at a step that is no finite number (issue ``odd_steps``).

    Raises `LogError` when the file is no complete zip archive, or `timesteps` or `results` is missing from it, or
    `timesteps` cannot be read.
    """
    arrays, issues, names = _arrays(path)
    for name in ("timesteps", "results"):
        if name not in names:
            raise LogError(
                f"there is no array '{name}' among {', '.join(sorted(names)) or 'nothing'}",
                place=path,
                hint="evaluations.npz of an EvalCallback has timesteps and results",
            )
    if "timesteps" not in arrays:
        raise LogError(f"the evaluations have no readable steps ({issues[0].message})", place=path)
    steps = arrays["timesteps"].reshape(-1)
    tables = {
        name: arrays[name].reshape(len(arrays[name]), -1) if arrays[name].size else np.empty((0, 0))
        for name in ("results", "ep_lengths", "successes")
        if name in arrays
    }
    rows: dict[str, int] = {"timesteps": steps.size} | {name: len(table) for name, table in tables.items()}
    shortest = min(rows.values())
    if len(set(rows.values())) > 1:
        listed = ", ".join(f"{name} {count}" for name, count in rows.items())
        text = f"the arrays are not equally long ({listed}): the first {shortest} evaluations are used"
        issues.append(LogIssue("unequal_lengths", text, path.name))
    known = np.isfinite(steps[:shortest])
    if not known.all():
        text = f"{int((~known).sum())} evaluations are at a step that is no finite number: they are left out"
        issues.append(LogIssue("odd_steps", text, path.name))
    tables = {name: table[:shortest][known] for name, table in tables.items()}
    return Evaluations(
        file=path.name,
        timesteps=steps[:shortest][known],
        results=tables.get("results", np.empty((int(known.sum()), 0))),
        lengths=tables.get("ep_lengths"),
        successes=tables.get("successes"),
        issues=tuple(issues),
    )


def _arrays(path: Path) -> tuple[dict[str, NDArray[np.float64]], list[LogIssue], frozenset[str]]:
    """The wanted arrays that can be read, what was odd, and the names of all arrays in the archive."""
    issues: list[LogIssue] = []
    arrays: dict[str, NDArray[np.float64]] = {}
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.namelist()
            if len(members) > MAX_MEMBERS:
                raise LogError(f"the archive holds {len(members)} files: this is no evaluations.npz", place=path)
            for name in ("timesteps", "results", "ep_lengths", "successes"):
                if f"{name}.npy" not in members:
                    continue
                with archive.open(f"{name}.npy") as member:
                    stored = member.read(MAX_MEMBER_BYTES + 1)
                try:
                    arrays[name] = _array(stored)
                except _ObjectArrayError:
                    text = f"'{name}' holds Python objects, which are never loaded: it is left out"
                    issues.append(LogIssue("object_array", text, path.name))
                except ValueError as error:
                    text = f"'{name}' cannot be read: {error}"
                    issues.append(LogIssue("unreadable_array", text, path.name))
    except OSError as error:
        raise LogError(f"the file cannot be read: {error.strerror or error}", place=path) from None
    except ZIP_ERRORS as error:
        raise LogError(
            f"this is no complete npz file ({error})", place=path, hint="the run may have died while saving it"
        ) from None
    return arrays, issues, frozenset(name.removesuffix(".npy") for name in members)


class _ObjectArrayError(ValueError):
    """An array of Python objects."""


def _header(stream: io.BytesIO) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, order and type of a stored array. NumPy parses its header as Python, whose errors become ValueError."""
    version = np.lib.format.read_magic(stream)
    read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    try:
        with warnings.catch_warnings(action="ignore"):  # a file that Python 2 wrote is as good as others
            return read_header(stream)
    except (SyntaxError, tokenize.TokenError, TypeError, RecursionError, MemoryError) as error:
        raise ValueError(f"its header is damaged ({type(error).__name__})") from None


def _array(stored: bytes) -> NDArray[np.float64]:
    """A stored numeric array as float64; ValueError for anything else. Sizes are checked before memory is taken."""
    if len(stored) > MAX_MEMBER_BYTES:
        raise ValueError(f"it is larger than {MAX_MEMBER_BYTES // 2**20} MiB")
    stream = io.BytesIO(stored)
    shape, fortran, dtype = _header(stream)
    if dtype.hasobject:
        raise _ObjectArrayError
    if dtype.kind not in "biuf":
        raise ValueError(f"its type {dtype} is not a number")
    # NumPy's reader of headers takes True for a length
    if not 1 <= len(shape) <= 3 or any(type(length) is not int or length < 0 for length in shape):
        raise ValueError(f"its shape {shape} is not that of an evaluation")
    count = math.prod(shape)
    values = stored[stream.tell() :]
    if len(values) < count * dtype.itemsize:
        raise ValueError("it ends too early")
    flat = np.frombuffer(values, dtype, count)
    # a long double beyond the range of float64 is an infinity, a signalling NaN is a NaN like others
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(flat.reshape(shape, order="F" if fortran else "C"), dtype=np.float64)
