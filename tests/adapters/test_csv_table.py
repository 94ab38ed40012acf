"""Text tables: separators, headers, cells, damage; and that both engines give the same table."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from rl_diagnose.adapters.readers import csv_table
from rl_diagnose.adapters.readers.csv_layout import Layout
from rl_diagnose.adapters.readers.csv_rows import Rows
from rl_diagnose.adapters.readers.csv_table import read_table
from rl_diagnose.adapters.readers.points import Table
from rl_diagnose.errors import LogError

Engine = Literal["csv", "polars"]


@pytest.fixture(params=["csv", "polars"])
def engine(request: pytest.FixtureRequest) -> Engine:
    chosen: Engine = request.param
    return chosen


def _write(folder: Path, content: str | bytes, name: str = "log.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def _codes(table: Table) -> list[str]:
    return [issue.code for issue in table.issues]


def _same(left: Table, right: Table) -> None:
    assert left.rows == right.rows
    assert list(left.numbers) == list(right.numbers)
    for name, values in left.numbers.items():
        np.testing.assert_array_equal(values, right.numbers[name])
    assert list(left.non_finite) == list(right.non_finite)
    for name, values in left.non_finite.items():
        np.testing.assert_array_equal(values, right.non_finite[name])
    assert left.texts == right.texts
    assert left.comment == right.comment
    assert left.issues == right.issues


# -- layout ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        "step,reward\n1,0.5\n2,0.75\n",
        "step\treward\n1\t0.5\n2\t0.75\n",
        "step;reward\n1;0.5\n2;0.75\n",
        "step;reward\n1;0,5\n2;0,75\n",
        "step|reward\n1|0.5\n2|0.75\n",
        "step  reward\n   1  0.5 \n   2  0.75\n",
        "step, reward\n1, 0.5\n2, 0.75\n",
        '"step","reward"\n"1","0.5"\n"2","0.75"\n',
        "sep=;\nstep;reward\n1;0.5\n2;0.75\n",
        "\n\nstep,reward\r\n1,0.5\r\n\r\n2,0.75\r\n",
        "step,reward\r1,0.5\r2,0.75\r",
        "# made by hand\nstep,reward\n1,0.5\n# half time\n2,0.75\n",
        "step,reward,\n1,0.5,\n2,0.75,\n",
        "step,reward\n1,0.5,\n2,0.75,\n",
        "# step reward\n1.0 0.5\n2.0 0.75\n",
        "step,reward\n1,0.5\n2,0.75",
    ],
)
def test_the_same_table_in_every_usual_layout(content: str, tmp_path: Path, engine: Engine) -> None:
    table = read_table(_write(tmp_path, content), engine=engine)

    assert table.rows == 2
    assert list(table.numbers) == ["step", "reward"]
    np.testing.assert_array_equal(table.numbers["step"], [1, 2])
    np.testing.assert_array_equal(table.numbers["reward"], [0.5, 0.75])
    assert table.issues == ()


@pytest.mark.parametrize("name", ["log.csv", "log.csv.gz"])
def test_gzip_is_known_by_its_bytes_not_by_its_name(name: str, tmp_path: Path) -> None:
    path = _write(tmp_path, gzip.compress(b"step,reward\n1,0.5\n"), name)

    assert read_table(path).numbers["reward"].tolist() == [0.5]


def test_gzip_that_is_cut_gives_what_can_be_unpacked(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = "".join(f"{i},{x!r}\n" for i, x in enumerate(rng.normal(size=5000).tolist()))
    stored = gzip.compress(b"step,reward\n" + rows.encode())

    table = read_table(_write(tmp_path, stored[: len(stored) // 2], "log.csv.gz"))

    assert 1000 < table.rows < 5000
    assert table.numbers["step"].tolist() == list(range(table.rows))
    assert _codes(table) == ["gzip_cut", "partial_last_line"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_byte_order_marks(encoding: str, tmp_path: Path) -> None:
    mark = "\ufeff" if encoding == "utf-16-le" else ""
    table = read_table(_write(tmp_path, f"{mark}step,Récompense\n1,0.5\n".encode(encoding)))

    assert list(table.numbers) == ["step", "Récompense"]
    assert _codes(table) == ([] if encoding == "utf-8-sig" else ["encoding"])


def test_latin_1_is_read_and_said(tmp_path: Path) -> None:
    table = read_table(_write(tmp_path, "step,Größe\n1,0.5\n".encode("latin-1")))

    assert list(table.numbers) == ["step", "Größe"]
    assert _codes(table) == ["encoding"]


def test_separator_and_comment_can_be_given(tmp_path: Path) -> None:
    path = _write(tmp_path, "% about\nstep;a,b\n1;2\n")

    table = read_table(path, separator=";", comment="%")

    assert list(table.numbers) == ["step", "a,b"]
    assert table.comment == "about"


def test_leading_comments_are_kept_as_text(tmp_path: Path) -> None:
    table = read_table(_write(tmp_path, '#{"t_start": 1.5}\n# second\nr,l,t\n1,2,3\n'))

    assert table.comment == '{"t_start": 1.5}\nsecond'


def test_a_table_without_header_gets_numbered_columns(tmp_path: Path, engine: Engine) -> None:
    table = read_table(_write(tmp_path, "0,1.5\n1,nan\n"), engine=engine)

    assert list(table.numbers) == ["column_1", "column_2"]
    assert table.rows == 2
    assert _codes(table) == ["no_header"]


def test_an_index_without_a_name_is_a_numbered_column(tmp_path: Path, engine: Engine) -> None:
    table = read_table(_write(tmp_path, ",step\n0,10\n1,20\n"), engine=engine)

    assert list(table.numbers) == ["column_1", "step"]


def test_columns_of_the_same_name_get_numbers(tmp_path: Path, engine: Engine) -> None:
    table = read_table(_write(tmp_path, "a,a,a_2,a\n1,2,3,4\n"), engine=engine)

    assert {name: values.tolist() for name, values in table.numbers.items()} == {
        "a": [1],
        "a_3": [2],
        "a_2": [3],
        "a_4": [4],
    }
    assert _codes(table) == ["duplicate_columns"]


def test_a_header_alone_is_a_table_without_rows(tmp_path: Path, engine: Engine) -> None:
    table = read_table(_write(tmp_path, "step,reward\n"), engine=engine)

    assert table.rows == 0
    assert {name: values.size for name, values in table.numbers.items()} == {"step": 0, "reward": 0}
    assert _codes(table) == ["no_rows"]


def test_one_column_is_a_table(tmp_path: Path, engine: Engine) -> None:
    table = read_table(_write(tmp_path, "reward\n1\n\n2\n"), engine=engine)

    assert table.numbers["reward"].tolist() == [1, 2]


# -- cells -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("blank", ["", " ", "None", "null", "N/A", "NA", "<NA>", "-"])
def test_blank_cells_are_no_numbers(blank: str, tmp_path: Path, engine: Engine) -> None:
    table = read_table(_write(tmp_path, f"step,x\n1,{blank}\n2,5\n"), engine=engine)

    np.testing.assert_array_equal(table.numbers["x"], [np.nan, 5])
    assert table.non_finite == {}
    assert table.issues == ()


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ("nan", np.nan),
        ("NaN", np.nan),
        ("-nan", np.nan),
        ("-nan(ind)", np.nan),
        ("1.#QNAN", np.nan),
        ("inf", np.inf),
        ("+Infinity", np.inf),
        ("-inf", -np.inf),
        ("1.#INF", np.inf),
        ("1e999", np.inf),
        ("tensor(nan)", np.nan),
    ],
)
def test_non_finite_numbers_are_marked_apart_from_blank_cells(
    cell: str, written: float, tmp_path: Path, engine: Engine
) -> None:
    table = read_table(_write(tmp_path, f"step,x\n1,{cell}\n2,5\n3,\n"), engine=engine)

    np.testing.assert_array_equal(table.numbers["x"], [np.nan, 5, np.nan])
    np.testing.assert_array_equal(table.non_finite["x"], [written, 0, 0])


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        ("1.5", 1.5),
        (" 1.5 ", 1.5),
        ("+1.5", 1.5),
        ("15e-1", 1.5),
        ("1_500", 1500),
        ("True", 1),
        ("false", 0),
        ("tensor(1.5)", 1.5),
        ("tensor(1.5000 grad_fn=<MulBackward0>)", None),
        ("tensor([1.5])", 1.5),
        ("tensor(2.)", 2),
        ("np.float64(1.5)", 1.5),
        ("numpy.float32(1.5)", 1.5),
        ("[[1.5]]", 1.5),
        ("array([1.5; 2.5])", None),
        ("1.5k", None),
        ("50%", None),
    ],
)
def test_how_numbers_are_spelled(cell: str, number: float | None, tmp_path: Path, engine: Engine) -> None:
    table = read_table(_write(tmp_path, f"step,x\n1,{cell}\n"), engine=engine)

    if number is None:
        assert table.texts["x"] == (cell,)
        assert "x" not in table.numbers
    else:
        assert table.numbers["x"].tolist() == [number]


@pytest.mark.parametrize(
    ("content", "numbers"),
    [
        ('a,x\n1,"1,234"\n', [1234]),
        ('a,x\n1,"1,234,567.5"\n', [1234567.5]),
        ("a,x\n1,\"tensor(1.5, device='cuda:0')\"\n", [1.5]),
        ("a;x\n1;1,25\n", [1.25]),
        ("a;x\n1;1.234,5\n", [1234.5]),
        ("a;x\n1;1,234,567\n", [1234567]),
        ("a\tx\n1\t-0,5e-3\n", [-0.0005]),
    ],
)
def test_commas_inside_numbers(content: str, numbers: list[float], tmp_path: Path) -> None:
    assert read_table(_write(tmp_path, content)).numbers["x"].tolist() == numbers


def test_a_list_of_numbers_is_no_number(tmp_path: Path) -> None:
    table = read_table(_write(tmp_path, 'a,x\n1,"tensor([1.5, 2.5])"\n2,"[1, 2]"\n'))

    assert table.texts["x"] == ("tensor([1.5, 2.5])", "[1, 2]")


def test_a_column_that_is_blank_for_a_long_time_is_a_column_of_numbers(tmp_path: Path, engine: Engine) -> None:
    rows = "".join(f"{i},{'' if i < 150 else i / 2}\n" for i in range(300))

    table = read_table(_write(tmp_path, "step,x\n" + rows), engine=engine)

    assert np.isnan(table.numbers["x"][:150]).all()
    assert table.numbers["x"][150:].tolist() == [i / 2 for i in range(150, 300)]


def test_whole_numbers_that_become_fractions(tmp_path: Path, engine: Engine) -> None:
    rows = "".join(f"{i},{i if i < 150 else i + 0.25}\n" for i in range(300))

    table = read_table(_write(tmp_path, "step,x\n" + rows), engine=engine)

    assert table.numbers["x"][149:151].tolist() == [149, 150.25]


def test_one_damaged_cell_does_not_take_the_column_away(tmp_path: Path, engine: Engine) -> None:
    rows = "".join(f"{i},{'oops' if i == 7 else i}\n" for i in range(20))

    table = read_table(_write(tmp_path, "step,x\n" + rows), engine=engine)

    assert np.flatnonzero(np.isnan(table.numbers["x"])).tolist() == [7]
    [issue] = table.issues
    assert issue.code == "unreadable_cells"
    assert "'oops' in x" in issue.message


def test_a_column_of_words_is_text(tmp_path: Path, engine: Engine) -> None:
    table = read_table(_write(tmp_path, "step,phase\n1,warm up\n2,\n3,3\n"), engine=engine)

    assert table.texts == {"phase": ("warm up", "", "3")}
    assert list(table.numbers) == ["step"]


def test_cells_in_quotes_may_hold_separators_quotes_and_line_ends(tmp_path: Path, engine: Engine) -> None:
    content = 'step,note,x\n1,"a, ""b""\nc",0.5\n2,plain,0.75\n'

    table = read_table(_write(tmp_path, content), engine=engine)

    assert table.texts["note"] == ('a, "b"\nc', "plain")
    assert table.numbers["x"].tolist() == [0.5, 0.75]


def test_a_cell_longer_than_the_csv_modules_limit(tmp_path: Path) -> None:
    table = read_table(_write(tmp_path, f'step,note\n1,"{"x," * 100_000}"\n'))

    assert len(table.texts["note"][0]) == 200_000


# -- damage ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "tail",
    ["3", "3,0.1", "3,0.12,1.5e-", "3,0.12,-", "3,0.12,", '3,0.12,"open'],
)
def test_a_last_line_that_was_cut_is_left_out(tail: str, tmp_path: Path, engine: Engine) -> None:
    table = read_table(_write(tmp_path, f"step,x,y\n1,0.5,7\n2,0.75,8\n{tail}"), engine=engine)

    assert table.numbers["step"].tolist() == [1, 2]
    assert _codes(table) == ["partial_last_line"]


def test_a_whole_last_line_without_line_end_is_kept(tmp_path: Path, engine: Engine) -> None:
    table = read_table(_write(tmp_path, "step,x\n1,0.5\n2,0.75"), engine=engine)

    assert table.numbers["x"].tolist() == [0.5, 0.75]
    assert table.issues == ()


def test_a_last_line_that_ends_on_a_block_of_the_disk_is_taken_as_cut(tmp_path: Path, engine: Engine) -> None:
    rows = "step,x\n" + "".join(f"{i},0.123456789\n" for i in range(500))

    table = read_table(_write(tmp_path, rows[:4096]), engine=engine)

    assert not rows[:4096].endswith("\n")
    assert _codes(table) == ["partial_last_line"]
    assert set(table.numbers["x"].tolist()) == {0.123456789}


def test_zero_bytes_at_the_end_are_left_out_with_the_line_before(tmp_path: Path, engine: Engine) -> None:
    table = read_table(_write(tmp_path, b"step,x\n1,0.5\n2,0.75\n3,0.1" + b"\0" * 1000), engine=engine)

    assert table.numbers["step"].tolist() == [1, 2]
    assert _codes(table) == ["nul_bytes", "partial_last_line"]


def test_a_zero_byte_near_the_beginning_makes_no_binary_file(tmp_path: Path, engine: Engine) -> None:
    """A flipped bit turns a space into one."""
    table = read_table(_write(tmp_path, b"step,x\n1, 0.5\n2,\0 0.75\n3, 1\n4, \n5,&\n6, 2\n7,\n"), engine=engine)

    assert table.numbers["step"].tolist() == [1, 3, 4, 5, 6, 7]
    assert _codes(table) == ["nul_bytes", "unreadable_cells"]


def test_zero_bytes_inside_take_their_lines_with_them(tmp_path: Path, engine: Engine) -> None:
    rows = "".join(f"{i},0.5\n" for i in range(2000))
    content = b"step,x\n" + rows.encode() + b"2000,0.\0\0\0\0\0,1\n2001,0.5\n"

    table = read_table(_write(tmp_path, content), engine=engine)

    assert table.numbers["step"].tolist() == [*range(2000), 2001]
    assert _codes(table) == ["nul_bytes"]


def test_a_header_that_comes_again_is_a_restart(tmp_path: Path, engine: Engine) -> None:
    table = read_table(_write(tmp_path, "step,x\n1,5\n2,6\nstep,x\n1,7\nstep,x\n1,8\n"), engine=engine)

    assert table.numbers["x"].tolist() == [5, 6, 7, 8]
    [issue] = table.issues
    assert issue.code == "header_repeated"
    assert "in line 4 and 1 times more" in issue.message


def test_rows_below_another_header_are_read_by_it(tmp_path: Path, engine: Engine) -> None:
    table = read_table(_write(tmp_path, "step,x\n1,5\nx,step,kl\n7,2,0.1\n8,3,0.2\n"), engine=engine)

    np.testing.assert_array_equal(table.numbers["step"], [1, 2, 3])
    np.testing.assert_array_equal(table.numbers["x"], [5, 7, 8])
    np.testing.assert_array_equal(table.numbers["kl"], [np.nan, 0.1, 0.2])
    assert _codes(table) == ["header_changed"]


def test_a_header_that_begins_with_a_number_is_known_when_it_comes_again(tmp_path: Path, engine: Engine) -> None:
    found = read_table(_write(tmp_path, "90th,step\n1,2\n90th,step\n3,4\n"), engine=engine)
    assert found.numbers["90th"].tolist() == [1, 3]
    assert _codes(found) == ["header_repeated"]


def test_words_below_a_header_are_no_other_header_when_they_begin_with_a_number(tmp_path: Path, engine: Engine) -> None:
    found = read_table(_write(tmp_path, "a,step\n1,2\n3rd,step\n3,4\n"), engine=engine)
    assert found.texts["a"] == ("1", "3rd", "3")
    assert "header_changed" not in _codes(found)


def test_rows_too_short_for_their_header_do_not_fill_the_memory(tmp_path: Path, engine: Engine) -> None:
    header = ",".join(f"c{i}" for i in range(5000))
    with pytest.raises(LogError, match=r"401 rows and 5,000 columns, nearly all of them blank"):
        read_table(_write(tmp_path, header + "\n" + "1\n" * 20_000), engine=engine)


def test_rows_of_other_lengths(tmp_path: Path, engine: Engine) -> None:
    table = read_table(_write(tmp_path, "a,b,c\n1,2,3\n4,5\n6,7,8,9\n10,11,12\n"), engine=engine)

    np.testing.assert_array_equal(table.numbers["a"], [1, 4, 10])
    np.testing.assert_array_equal(table.numbers["c"], [3, np.nan, 12])
    [issue] = table.issues
    assert issue.code == "ragged_rows"
    assert "1 rows are shorter" in issue.message
    assert "1 rows are longer" in issue.message
    assert "line 3" in issue.message


def test_an_odd_quotation_mark_does_not_swallow_the_rest(tmp_path: Path, engine: Engine) -> None:
    table = read_table(_write(tmp_path, 'step,x\n1,"0.5\n2,0.75\n3,1.0\n'), engine=engine)

    assert table.numbers["x"].tolist() == [0.5, 0.75, 1.0]
    assert _codes(table) == ["unbalanced_quotes"]


@pytest.mark.parametrize(
    ("content", "fact"),
    [
        (b"", "the file is empty"),
        (b"\n \n\n", "the file is empty"),
        (b"# only\n# comments\n", "there are only comment lines"),
        (b"PK\x03\x04rest", "a zip archive"),
        (b"SQLite format 3\0", "an SQLite database"),
        (b"PAR1\x15\x04", "a Parquet file"),
        (bytes(range(256)) * 4, "this is a binary file"),
        (b"\0" * 5000, "only zero bytes"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "Git LFS pointer"),
        (b"<!DOCTYPE html>\n<html></html>", "a web page"),
        (b"step,x\n1,2,3\n4,5,6\n", "the header has 2 names, but the rows have up to 3 cells"),
        (b",".join([b"x"] * 10_001) + b"\n", "10001 cells"),
    ],
)
def test_what_is_no_table_is_refused_by_name(content: bytes, fact: str, tmp_path: Path, engine: Engine) -> None:
    path = _write(tmp_path, content)

    with pytest.raises(LogError, match=fact) as raised:
        read_table(path, engine=engine)

    assert raised.value.place == str(path)


def test_a_file_that_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="cannot be read"):
        read_table(tmp_path / "gone.csv")
    with pytest.raises(LogError, match="cannot be read"):
        read_table(tmp_path)


def test_a_file_beyond_the_limit_is_refused_packed_or_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rl_diagnose.adapters.readers.text_bytes.MAX_BYTES", 10_000)
    content = b"step,x\n" + b"1,2\n" * 5000

    for path in (_write(tmp_path, content), _write(tmp_path, gzip.compress(content), "bomb.gz")):
        with pytest.raises(LogError, match="larger than"):
            read_table(path)


def test_a_large_quoted_table_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_table, "MAX_QUOTED_BYTES", 1000)

    with pytest.raises(LogError, match="quoted cells"):
        read_table(_write(tmp_path, "step,x\n" + '1,"2"\n' * 500))


def test_the_head_of_a_table_ends_with_a_whole_line(tmp_path: Path, engine: Engine) -> None:
    path = _write(tmp_path, "step,x\n" + "".join(f"{i},0.5\n" for i in range(10_000)))

    table = read_table(path, head=1000, engine=engine)

    assert 100 < table.rows < 200
    assert table.numbers["step"].tolist() == list(range(table.rows))
    assert table.issues == ()


def test_a_short_row_with_a_word_among_numbers_is_torn(tmp_path: Path, engine: Engine) -> None:
    """A separator became part of a cell: what stands behind it would be read in the wrong columns."""
    table = read_table(_write(tmp_path, "a,b,c\n1,2,3\n4l5.5,6\n7,8,9\n"), engine=engine)

    assert table.numbers["a"].tolist() == [1, 7]
    assert table.numbers["b"].tolist() == [2, 8]
    [issue] = table.issues
    assert (issue.code, issue.source) == ("ragged_rows", "log.csv")
    assert "1 rows are torn" in issue.message
    assert "line 3" in issue.message


@pytest.mark.parametrize("pieces", ["4\n5,6", "4,5\n6", "4,5\n5,6", "4,\n5,6"])
def test_a_line_end_within_a_row_makes_no_two_rows(tmp_path: Path, engine: Engine, pieces: str) -> None:
    table = read_table(_write(tmp_path, f"a,b,c\n1,2,3\n{pieces}\n7,8,9\n"), engine=engine)

    assert table.numbers["a"].tolist() == [1, 7]
    assert "2 rows are torn" in table.issues[0].message


@pytest.mark.parametrize("odd", ["4,5.6", "4,5,6,"])
def test_hardly_any_row_of_another_length_in_a_long_table_is_damage(tmp_path: Path, engine: Engine, odd: str) -> None:
    rows = "1,2,3\n" * 30
    table = read_table(_write(tmp_path, f"a,b,c\n{rows}{odd}\n{rows}"), engine=engine)

    assert table.rows == 60
    assert "1 rows are torn" in table.issues[0].message
    assert "line 32" in table.issues[0].message


def test_first_rows_from_before_the_header_grew_are_kept(tmp_path: Path, engine: Engine) -> None:
    table = read_table(_write(tmp_path, "a,b,c\n1,2\n3,4\n" + "5,6,7\n" * 60), engine=engine)

    assert table.numbers["b"].tolist()[:3] == [2, 4, 6]
    assert "2 rows are shorter" in table.issues[0].message


def test_one_word_in_a_short_column_of_numbers_is_damage(tmp_path: Path, engine: Engine) -> None:
    table = read_table(_write(tmp_path, "a,b\n1,2\n3,4\n5,&\n7,8\n"), engine=engine)

    np.testing.assert_array_equal(table.numbers["b"], [2, 4, np.nan, 8])
    assert table.unreadable["b"].tolist() == [False, False, True, False]
    assert _codes(table) == ["unreadable_cells"]


def test_words_know_their_rows_in_both_engines(tmp_path: Path, engine: Engine) -> None:
    rows = [f"{i},{i}" for i in range(40)]
    rows[7], rows[30] = "7,x", "30,x"
    table = read_table(_write(tmp_path, "a,b\n" + "\n".join(rows) + "\n"), engine=engine)

    assert np.flatnonzero(table.unreadable["b"]).tolist() == [7, 30]
    assert np.flatnonzero(table.take(np.arange(40) > 10).unreadable["b"]).tolist() == [19]


def test_a_column_whose_name_holds_control_characters_is_left_out(tmp_path: Path, engine: Engine) -> None:
    table = read_table(_write(tmp_path, "step,train\x0f/kl\n1,2\n3,4\n"), engine=engine)

    assert list(table.numbers) == ["step"]
    assert _codes(table) == ["damaged_names"]


@pytest.mark.parametrize(
    ("header", "fact"), [("a,b,c,d", "4 names, but the rows have 3"), ("a,b", "2 names, but the rows have")]
)
def test_a_header_of_another_length_than_all_rows_is_refused(
    tmp_path: Path, engine: Engine, header: str, fact: str
) -> None:
    """A separator was lost or came in between: all columns behind it would have the wrong names."""
    with pytest.raises(LogError, match=fact):
        read_table(_write(tmp_path, f"{header}\n1,2,3\n4,5,6\n7,8,\n"), engine=engine)


def test_a_lost_quotation_mark_costs_its_line_only(tmp_path: Path) -> None:
    lines = ['1,"[1, 2]",3', '4,"[1, 2],6', '7,"[1, 2]",9']
    table = read_table(_write(tmp_path, "a,b,c\n" + "\n".join(lines) + "\n"))

    assert table.numbers["a"].tolist() == [1, 7]
    assert table.numbers["c"].tolist() == [3, 9]


def test_a_cut_last_line_is_named_by_its_number(tmp_path: Path) -> None:
    [issue] = read_table(_write(tmp_path, "a,b\n1,2\n3,4\n5")).issues

    assert (issue.code, issue.source) == ("partial_last_line", "log.csv")
    assert "(4)" in issue.message


# -- engines -----------------------------------------------------------------------------------------------------------

_CELLS = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True).map(repr),
    st.integers(-(10**20), 10**20).map(str),
    st.sampled_from(
        ["", " ", "None", "N/A", "nan", "-inf", "tensor(1.5)", "1_000", " 2.5", "3 ", "True", "word", "é", "1e999", "٣"]
    ),
    st.text(st.characters(codec="utf-8", exclude_characters='"\r\n,;\t|\0', exclude_categories=["Cc"]), max_size=6),
)
_NAMES = st.sampled_from(["step", "reward", "kl", "train/loss", "entropy", "a b", "lr", ""])


@st.composite
def _tables(draw: st.DrawFn) -> str:
    separator = draw(st.sampled_from([",", "\t", ";"]))
    header = draw(st.lists(_NAMES, min_size=2, max_size=5))
    lines = [separator.join(header)]
    for kind in draw(
        st.lists(st.sampled_from(["row"] * 6 + ["short", "long", "blank", "comment", "header"]), max_size=12)
    ):
        if kind in ("row", "short", "long"):
            width = len(header) + {"row": 0, "short": -1, "long": 1}[kind]
            lines.append(separator.join(draw(st.lists(_CELLS, min_size=width, max_size=width))))
        else:
            lines.append({"blank": draw(st.sampled_from(["", "  "])), "comment": "# note", "header": lines[0]}[kind])
    return "\n".join(lines) + draw(st.sampled_from(["", "\n", "\n\n"]))


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=_tables())
@example(content="step\tstep\n0\xa00")
def test_both_engines_read_the_same(content: str, tmp_path: Path) -> None:
    path = _write(tmp_path, content)
    try:
        by_csv: Table | LogError = read_table(path, engine="csv")
    except LogError as error:
        by_csv = error
    try:
        by_polars: Table | LogError = read_table(path, engine="polars")
    except LogError as error:
        by_polars = error

    if isinstance(by_csv, Table) and isinstance(by_polars, Table):
        _same(by_csv, by_polars)
    else:
        assert str(by_csv) == str(by_polars)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.tuples(st.integers(0, 2**60), st.floats(), st.none() | st.floats()), min_size=1, max_size=20))
def test_numbers_come_back_to_the_last_bit(rows: list[tuple[int, float, float | None]], tmp_path: Path) -> None:
    lines = [f"{a},{b!r},{'' if c is None else repr(c)}" for a, b, c in rows]
    path = _write(tmp_path, "\n".join(["step,b,c", *lines]) + "\n")

    for chosen in ("csv", "polars"):
        table = read_table(path, engine=chosen)
        zeros = np.zeros(len(rows))
        b = np.where(table.non_finite.get("b", zeros) == 0, table.numbers["b"], table.non_finite.get("b", zeros))
        np.testing.assert_array_equal(b, [row[1] for row in rows])
        assert table.numbers["step"].tolist() == [float(row[0]) for row in rows]
        blank = np.isnan(table.numbers["c"]) & (table.non_finite.get("c", zeros) == 0)
        assert blank.tolist() == [row[2] is None for row in rows]


def test_a_large_table_is_read_by_polars_and_a_small_one_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _write(tmp_path, "step,x\n" + "".join(f"{i},{i / 8}\n" for i in range(2000)))
    used: list[str] = []
    by_polars = csv_table._by_polars  # noqa: SLF001 - which engine was used cannot be seen from the table

    def watched(body: bytes, layout: Layout, rows: Rows) -> object:
        used.append("polars")
        return by_polars(body, layout, rows)

    monkeypatch.setattr(csv_table, "_by_polars", watched)

    small = read_table(path)
    assert used == []
    monkeypatch.setattr(csv_table, "SMALL_BYTES", 1000)
    large = read_table(path)

    assert used == ["polars"]
    _same(small, large)


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("name", "rows", "column", "last"),
    [
        ("spinningup/ppo_hopper/progress.txt", 317, "TotalEnvInteracts", 634000.0),
        ("spinningup/td3_humanoid/progress.txt", 303, "Epoch", None),
        ("rllib/ray0.6_impala_pong/progress.csv", 23, "training_iteration", 23.0),
        ("rllib/ray0.8_sac_missing_learner_cols/progress.csv", 587, "timesteps_total", None),
        ("sb3/monitor_plain/monitor.csv", 925, "l", None),
    ],
)
def test_public_logs_are_read_alike_by_both_engines(
    name: str, rows: int, column: str, last: float | None, shared: Path
) -> None:
    path = shared / "samples" / name

    by_csv, by_polars = read_table(path, engine="csv"), read_table(path, engine="polars")

    _same(by_csv, by_polars)
    assert by_csv.rows == rows
    assert last is None or by_csv.numbers[column][-1] == last
    assert np.isfinite(by_csv.numbers[column]).all()


def test_stable_baselines_tables(sb3_data: Path, engine: Engine) -> None:
    table = read_table(sb3_data / "ppo_inf_csv" / "progress.csv", engine=engine)

    assert table.rows == 40
    assert np.isposinf(table.non_finite["rollout/ep_rew_mean"]).any()
    assert np.flatnonzero(np.isnan(table.numbers["train/approx_kl"])).tolist() == [0]
