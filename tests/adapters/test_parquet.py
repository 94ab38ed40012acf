"""Parquet: columns of numbers and texts; names of files are names."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from rl_diagnose.adapters.readers.parquet import read_parquet
from rl_diagnose.errors import LogError


@pytest.mark.parametrize("name", ["x[1].parquet", "x{1}.parquet"])
def test_a_name_like_a_pattern_is_that_file_and_no_other(name: str, tmp_path: Path) -> None:
    pl.DataFrame({"reward": [-1.0]}).write_parquet(tmp_path / "x1.parquet")
    pl.DataFrame({"reward": [2.0]}).write_parquet(tmp_path / name)
    assert read_parquet(tmp_path / name).numbers["reward"].tolist() == [2.0]


def test_a_file_that_only_begins_like_parquet_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    path.write_bytes(b"PAR1" + b"\xff" * 500)
    with pytest.raises(LogError, match="damaged"):
        read_parquet(path)


def test_a_file_of_too_many_columns_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pl.DataFrame({f"c{i}": [1] for i in range(10_001)}).write_parquet(path)
    with pytest.raises(LogError, match="more than 10,000 columns"):
        read_parquet(path)
