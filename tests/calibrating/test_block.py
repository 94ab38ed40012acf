"""The block in the file: its place, everything else untouched, and the corpus it names."""

from __future__ import annotations

import shutil
from datetime import date
from pathlib import Path

import pytest

from rl_diagnose.calibrating.block import block_text, corpus_hash, with_block
from rl_diagnose.calibrating.fit import calibrate
from rl_diagnose.calibrating.labels import Answer
from rl_diagnose.errors import RulebookError, UsageError
from rl_diagnose.rules.library import load_book

from .made import book, drawn

HEAD = '# A house rule.\nschema: rulebook/v1\nid: house\nversion: "1.0.0"   # kept\ntitle: "Größe"\n'
OLD = 'calibration: {a: 1.0, b: 0.0, corpus: "x", n: 1, brier: 0.1, log_loss: 0.1, ece: 0.1, date: "d"}\n'
BLOCK = (
    'calibration:\n  a: 0.5\n  b: -0.25\n  corpus: "sha256:0"\n  n: 30\n  positives: 20\n  brier: 0.1\n'
    '  log_loss: 0.2\n  ece: 0.02\n  date: "2026-12-01"\n'
)


def changed(text: str) -> str:
    return with_block(text.encode(), BLOCK, "house.yaml").decode()


def test_a_first_block_goes_to_the_end() -> None:
    assert changed(HEAD) == HEAD + "\n" + BLOCK
    assert changed(HEAD.rstrip("\n")) == HEAD + "\n" + BLOCK
    assert changed(HEAD + "\n") == HEAD + "\n" + BLOCK


@pytest.mark.parametrize(
    "old",
    [
        OLD,
        OLD.replace("n: 1, ", "n: 1,\n  # inside\n  "),
        BLOCK,
        BLOCK.replace('  date: "2026-12-01"\n', "  date: |\n    a day\n"),
        BLOCK.replace('"2026-12-01"', "today   # a remark"),
    ],
)
def test_an_old_block_is_replaced_where_it_stands_and_what_is_around_it_stays(old: str) -> None:
    after = "\n# What follows.\n\ncauses: {}   # none yet\n"
    assert changed(HEAD + old + after) == HEAD + BLOCK + after


def test_writing_twice_changes_nothing_more() -> None:
    assert changed(changed(HEAD)) == changed(HEAD)


def test_line_ends_of_the_file_are_kept() -> None:
    windows = (HEAD + OLD + "causes: {}\n").replace("\n", "\r\n")
    assert changed(windows) == (HEAD + BLOCK + "causes: {}\n").replace("\n", "\r\n")


def test_a_byte_order_mark_is_kept() -> None:
    assert with_block(b"\xef\xbb\xbf" + HEAD.encode(), BLOCK, "f").startswith(b"\xef\xbb\xbf# A house rule.")


@pytest.mark.parametrize("text", ['{schema: rulebook/v1, id: house, version: "1.0.0", title: T}\n', HEAD + "...\n"])
def test_a_file_in_which_there_is_no_place_is_refused(text: str) -> None:
    with pytest.raises((UsageError, RulebookError)):
        changed(text)


def test_a_file_that_is_no_yaml_is_refused_with_its_problems() -> None:
    with pytest.raises(RulebookError):
        changed(HEAD + "causes: [\n")


def test_the_block_of_a_fit_is_a_valid_one_with_the_figures_of_left_out_groups(tmp_path: Path) -> None:
    fit = calibrate(drawn(book(seen=0.95, base_rate=0.02), 300, 0.5, 0.2))
    text = block_text(fit, "sha256:abc", date(2026, 12, 1))
    path = tmp_path / "house.yaml"
    path.write_bytes(with_block(HEAD.encode(), text, str(path)))

    block = load_book(path).calibration
    assert block is not None
    assert (block.corpus, block.n, block.positives, block.date) == ("sha256:abc", 300, fit.positives, "2026-12-01")
    assert block.a == pytest.approx(fit.kept.a, rel=1e-3)
    assert block.b == pytest.approx(fit.kept.b, rel=1e-3)
    assert block.log_loss == pytest.approx(fit.kept.left_out.log_loss, rel=1e-3)
    assert block.ece == pytest.approx(fit.kept.left_out.ece, rel=1e-3)


def test_the_hash_is_of_labels_and_logs_and_not_of_where_they_lie(tmp_path: Path) -> None:
    def corpus(folder: Path) -> tuple[list[Path], list[Answer]]:
        ids = ("r1", "r2")
        return [folder / "labels.csv"], [Answer(i, folder / "runs" / i, "e", "f", "no", frozenset()) for i in ids]

    one = tmp_path / "one"
    for name in ("r1", "r2"):
        (one / "runs" / name).mkdir(parents=True)
        (one / "runs" / name / "progress.csv").write_text(f"step,{name}\n", "utf-8")
    (one / "labels.csv").write_text("run_id\n", "utf-8")
    first = corpus_hash(*corpus(one))
    assert first.startswith("sha256:")
    assert len(first) == 71

    two = tmp_path / "elsewhere" / "two"
    shutil.copytree(one, two)
    (two / "runs" / "r1" / ".DS_Store").write_text("x", "utf-8")
    files, answers = corpus(two)
    assert corpus_hash(files, answers[::-1]) == first
    (two / "runs" / "r2" / "progress.csv").write_text("step,r3\n", "utf-8")
    assert corpus_hash(files, answers) != first
    (one / "labels.csv").write_text("run_id \n", "utf-8")
    assert corpus_hash(*corpus(one)) != first
