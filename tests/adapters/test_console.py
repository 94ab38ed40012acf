"""Console text: each family of lines as its framework prints it."""

from __future__ import annotations

import math
import time
from pathlib import Path

import pytest

from rl_diagnose.adapters.readers.console import read_console, read_console_file
from rl_diagnose.errors import LogError
from rl_diagnose.logs.load import find_runs, only_run

SB3 = """Using cpu device
Logging to ./tb/PPO_1
---------------------------------
| rollout/           |          |
|    ep_rew_mean     | 21.5     |
| time/              |          |
|    total_timesteps | 2048     |
---------------------------------
some other line
------------------------------------------
| rollout/                |              |
|    ep_rew_mean          | 2.6e+01      |
| time/                   |              |
|    total_timesteps      | 4096         |
| train/                  |              |
|    approx_kl            | 0.0083       |
|    explained_variance   | nan          |
------------------------------------------
"""


def test_sb3_tables_become_rows_with_section_prefixes() -> None:
    table = read_console(SB3, "out.txt")
    assert table.numbers["rollout/ep_rew_mean"].tolist() == [21.5, 26.0]
    assert table.numbers["time/total_timesteps"].tolist() == [2048.0, 4096.0]
    assert math.isnan(table.numbers["train/approx_kl"][0])
    assert table.numbers["train/approx_kl"][1] == 0.0083
    assert math.isnan(table.non_finite["train/explained_variance"][1])


def test_a_table_cut_off_at_the_end_is_left_out_and_reported() -> None:
    table = read_console(SB3.rstrip().rsplit("\n", 2)[0], "out.txt")
    assert table.rows == 1
    assert [i.code for i in table.issues] == ["truncated_tail"]


def test_truncated_keys_are_reported() -> None:
    text = "------------\n| rollout/exploration... | 0.5 |\n| loss | 1.0 |\n------------\n"
    assert [i.code for i in read_console(text, "x").issues] == ["truncated_keys"]


@pytest.mark.parametrize(
    ("line", "record"),
    [
        (
            "[Step 100] Reward: 1.2, Entropy: 0.6, KL: 0.01",
            {"Reward": 1.2, "Entropy": 0.6, "KL": 0.01, "step": 100.0},
        ),
        ("global_step=2048, episodic_return=21.0", {"global_step": 2048.0, "episodic_return": 21.0}),
        ("Epoch 3 | loss=0.1 | mean reward: -3e-2", {"loss": 0.1, "mean reward": -0.03, "epoch": 3.0}),
        (
            "step:101 - actor/entropy_loss:0.035 - actor/lr:0.000",
            {"step": 101.0, "actor/entropy_loss": 0.035, "actor/lr": 0.0},
        ),
        ("Step: 5. Mean Reward: -0.019. Std of Reward: 0.1.", {"Mean Reward": -0.019}),
        ("{'loss': 0.1, 'reward': nan, 'name': 'x'}", {"loss": 0.1}),
        ("\x1b[36m(TaskRunner pid=81)\x1b[0m step:1 - actor/kl:0.5", {"step": 1.0, "actor/kl": 0.5}),
    ],
)
def test_a_line_of_pairs_becomes_one_row(line: str, record: dict[str, float]) -> None:
    table = read_console(line, "x")
    assert {key: values.tolist() for key, values in table.numbers.items() if key in record} == {
        k: [v] for k, v in record.items()
    }
    assert table.rows == 1


def test_rsl_rl_blocks_take_their_iteration_from_the_heading() -> None:
    first = "  Learning iteration 7/100  \n\n   Mean reward: 1.5\n   Mean episode length: 20.00\n"
    text = first + "  Learning iteration 8/100 \n   Mean reward: 2.5\n"
    table = read_console(text, "x")
    assert table.numbers["iteration"].tolist() == [7.0, 8.0]
    assert table.numbers["Mean reward"].tolist() == [1.5, 2.5]


def test_progress_bars_overwrite_their_line() -> None:
    assert read_console("10% loss=1 kl=2\r20% loss=3 kl=4", "x").numbers["loss"].tolist() == [3.0]


@pytest.mark.parametrize(
    "line",
    [
        "",
        "Traceback (most recent call last):",
        "loss improved",
        "{'a': __import__('os')}",
        "{" * 500 + "}" * 500,
    ],
)
def test_other_lines_are_no_rows(line: str) -> None:
    assert read_console(line, "x").rows == 0


@pytest.mark.parametrize(
    ("content", "fact"),
    [(b"", "the file is empty"), (b"Version: 1.2\nnumpy 1.26\n", "no line or table"), (b"\x89PNG\r\n", "a picture")],
)
def test_a_file_without_records_is_refused(content: bytes, fact: str, tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_bytes(content)
    with pytest.raises(LogError, match=fact):
        read_console_file(path)


def test_only_the_head_is_read_where_that_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text("".join(f"step {i} loss: 0.5 kl: 0.1\n" for i in range(1000)), "utf-8")
    assert 10 < read_console_file(path, head=1000).rows < 100
    assert read_console_file(path).rows == 1000


@pytest.mark.corpus
def test_real_console_output_has_the_values_of_progress_csv(shared: Path) -> None:
    run = shared / "corpus" / "runs" / "r0193"
    table = read_console((run / "stdout.txt").read_text(), "stdout.txt")
    header, *rows = (line.split(",") for line in (run / "progress.csv").read_text().splitlines())
    column = header.index("train/entropy_loss")
    wanted = [float(row[column]) for row in rows if row[column]]
    got = [v for v in table.numbers["train/entropy_loss"] if not math.isnan(v)]
    assert got == pytest.approx(wanted, rel=5e-3)


@pytest.mark.parametrize("line", ["a" * 20_000, "a-" * 10_000, "-" * 19_999 + "x", "a " * 10_000, "x" + " " * 19_000])
def test_long_lines_take_time_in_proportion_to_their_length(line: str) -> None:
    started = time.process_time()
    read_console("\n".join([line] * 20), "x.log")
    assert time.process_time() - started < 2.0


def test_names_after_dashes_and_brackets_are_found() -> None:
    table = read_console("step 1 --kl=3 [policy/loss: 1, 10% reward=2]", "x.log")
    assert {name: values[0] for name, values in table.numbers.items()} == {
        "kl": 3.0, "policy/loss": 1.0, "reward": 2.0, "step": 1.0,
    }  # fmt: skip


def test_more_names_than_a_table_can_hold_leave_those_with_most_values() -> None:
    text = "\n".join(f"step {row} reward: {row} word{row}: 1" for row in range(12_000))
    table = read_console(text, "x.log")
    assert len(table.numbers) <= 10_000
    assert table.numbers["reward"].tolist() == list(range(12_000))
    assert "too_many_keys" in [issue.code for issue in table.issues]


def test_a_named_file_is_read_as_the_kind_that_its_name_says(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text("".join(f'{{"step": {i}, "reward": {i}.5}}\n' for i in range(20)), "utf-8")
    assert only_run(find_runs(path)).adapter.name == "jsonl"


def table_codes(text: str, *, mixed: bool = False) -> tuple[dict[str, list[float]], list[tuple[str, str]]]:
    table = read_console(text, "out.txt", mixed=mixed)
    numbers = {key: values.tolist() for key, values in table.numbers.items()}
    return numbers, [(issue.code, issue.source) for issue in table.issues]


@pytest.mark.parametrize("heading", ["| train?             |          |", "| trai\x0e/             |          |"])
def test_below_a_heading_that_cannot_be_read_no_row_counts(heading: str) -> None:
    text = f"""---------------------------------
| time/              |          |
|    total_timesteps | 2048     |
{heading}
|    approx_kl       | 0.1      |
| rollout/           |          |
|    ep_rew_mean     | 21.5     |
---------------------------------
"""
    numbers, issues = table_codes(text)
    assert numbers == {"time/total_timesteps": [2048.0], "rollout/ep_rew_mean": [21.5]}
    assert issues == [("damaged_table", "out.txt")]


def test_two_rows_in_one_line_leave_their_section_open() -> None:
    text = SB3.replace("| train/                  |              |\n", "| train/                  |              |J")
    numbers, issues = table_codes(text)
    assert sorted(numbers) == ["rollout/ep_rew_mean", "time/total_timesteps"]
    assert issues == [("damaged_table", "out.txt")]


def test_a_row_with_other_letters_in_a_text_that_is_no_utf8_is_damage() -> None:
    text = SB3.replace("|    explained_variance   |", "|    explained_variançe   |")
    numbers, issues = table_codes(text, mixed=True)
    assert "train/explained_variançe" not in numbers
    assert issues == [("damaged_table", "out.txt")]
    assert "train/explained_variançe" in table_codes(text)[0]


@pytest.mark.parametrize("cut", [SB3.index("| train/") + 3, SB3.rindex("----") - 60, len(SB3) - 5])
def test_a_text_that_ends_in_mid_table_or_mid_line_says_where(cut: int) -> None:
    numbers, issues = table_codes(SB3[:cut])
    assert numbers["rollout/ep_rew_mean"][:1] == [21.5]
    assert issues in ([("truncated_tail", "out.txt")], [("partial_last_line", "out.txt")])
    assert any(character.isdigit() for character in read_console(SB3[:cut], "out.txt").issues[0].message)


def test_a_text_cut_behind_the_first_rule_of_a_table_says_so() -> None:
    cut = SB3.index("| rollout/                |") + 10
    assert table_codes(SB3[:cut])[1] == [("partial_last_line", "out.txt")]
    assert table_codes(SB3[: cut + 35])[1] == [("truncated_tail", "out.txt")]


def test_a_first_heading_that_cannot_be_read_leaves_no_bare_names() -> None:
    numbers, issues = table_codes(SB3.replace("| rollout/           |", "| rol\x0eout/           |"))
    assert numbers["time/total_timesteps"] == [2048.0, 4096.0]
    assert "ep_rew_mean" not in numbers
    assert issues == [("damaged_table", "out.txt")]


def test_a_heading_with_zero_bytes_in_it_costs_its_section(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.write_bytes(SB3.encode().replace(b"| train/", b"| tr\0in/"))
    table = read_console_file(path)
    assert sorted(table.numbers) == ["rollout/ep_rew_mean", "time/total_timesteps"]
    assert [issue.code for issue in table.issues] == ["nul_bytes", "damaged_table"]
