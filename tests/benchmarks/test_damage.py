"""The damage benchmark: what a form says of a change, where cuts can be seen, and how a copy is judged."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from damage import figures, main
from damaged.cases import corpus_folders, find_cases
from damaged.forms import Form, ends_in_sight, event_records, form_of, lines, still_well_formed
from damaged.judge import judged
from damaged.kinds import KINDS, Copy, damages
from damaged.readings import Reading, read_folder

TABLE = b"step,reward\n" + b"".join(b"%d,%d.5\n" % (1000 * i, i) for i in range(1, 13))
EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "collapsed-ppo"


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("events.out.tfevents.1.host", "events"),
        ("run-1.wandb", "wandb"),
        ("progress.txt", "table"),
        ("0.monitor.csv", "table"),
        ("result.json", "records"),
        ("trainer_state.json", "document"),
        ("evaluations.npz", "arrays"),
        ("stdout.txt", "text"),
        ("params.json", None),
        ("model.zip", None),
    ],
)
def test_forms_are_known_by_the_name(name: str, form: Form | None) -> None:
    assert form_of(Path(name)) == form


@pytest.mark.parametrize(
    ("form", "before", "after", "fits"),
    [
        ("table", b"1,2.5\n", b"1,3.5\n", True),  # a digit for another: nobody can tell
        ("table", b"1,2.5\n", b"1,2n5\n", False),
        ("table", b"1,2.5\n", b"1l2.5\n", False),
        ("table", b"1,2.5\n", b"1,2.5j", False),
        ("table", b"step,x\n", b"step,y\n", True),
        ("table", b"step,x\n", b"step,\x18\n", False),
        ("records", b'{"x": 1}\n', b'{"y": 1}\n', True),
        ("records", b'{"x": 1}\n', b'{"x"; 1}\n', False),
        ("records", b'{"x": 1, "y": 2}\n', b'{"x": 1, "x": 2}\n', False),
        ("text", b"loss: 1\n", b"lo3s: 1\n", True),
        ("text", b"loss: 1\n", b"lo\xf3s: 1\n", False),
    ],
)
def test_what_a_reader_could_see_of_a_change(form: Form, before: bytes, after: bytes, fits: bool) -> None:
    assert still_well_formed(form, before, after) is fits


def test_a_cut_can_be_seen_but_at_a_line_end_and_within_the_last_number() -> None:
    unseen = {at for at in range(len(b"step,reward\n"), len(TABLE)) if not ends_in_sight("table", TABLE, at)}
    ends = {stop for _, stop in lines(TABLE)}
    assert ends - {len(TABLE)} <= unseen
    assert all(b"," in TABLE[TABLE.rfind(b"\n", 0, at) + 1 : at] or at in ends for at in unseen)


def test_every_kind_of_damage_is_done_to_an_event_file_and_a_table() -> None:
    for path in EXAMPLE.iterdir():
        form = form_of(path)
        assert form is not None
        content = path.read_bytes()
        copies = list(damages(path.name, content, form, every=25, repeats=2, counted=False))
        assert {copy.kind for copy in copies} == set(KINDS)
        assert all(copy.content != content or copy.others for copy in copies)
        again = list(damages(path.name, content, form, every=25, repeats=2, counted=False))
        assert copies == again


def test_a_restarted_event_file_is_sound_and_later() -> None:
    path = next(EXAMPLE.glob("events*"))
    content = path.read_bytes()
    (copy,) = (
        one
        for one in damages(path.name, content, "events", every=50, repeats=1, counted=False)
        if one.kind == "restart"
    )
    ((name, later),) = copy.others.items()
    assert name > path.name
    times = [struct.unpack_from("<d", later, start + 13)[0] for start, _ in event_records(later)[1:]]
    assert min(times) > max(struct.unpack_from("<d", content, start + 13)[0] for start, _ in event_records(content))


def test_a_log_is_damaged_alone_and_beside_the_others() -> None:
    names = [case.name for case in find_cases(EXAMPLE)]
    assert len(names) == 4
    assert sum("beside 1 others" in name for name in names) == 2


@pytest.mark.parametrize(
    ("old", "new", "figure"),
    [
        (b"3000,3.5", b"3000,77.5", {"false": 1, "moved": 0, "lost": 1, "silent": 1}),
        (b"3000,3.5", b"3500,3.5", {"false": 0, "moved": 1, "lost": 1, "silent": 1}),
        (b"3000,3.5\n", b"", {"false": 0, "moved": 0, "lost": 1, "silent": 1}),
        (b"3000,3.5", b"3000,3.&", {"false": 0, "moved": 0, "lost": 1, "silent": 0}),
    ],
)
def test_false_moved_and_silently_lost_rows_are_counted(
    tmp_path: Path, old: bytes, new: bytes, figure: dict[str, int]
) -> None:
    """As if nobody but a reader that looks more closely could have seen the change."""
    readings: list[Reading] = []
    for content in (TABLE, TABLE.replace(old, new)):
        folder = tmp_path / str(len(readings)) / "run"
        folder.mkdir(parents=True)
        (folder / "log.csv").write_bytes(content)
        readings.append(read_folder(folder))
    whole, found = readings
    one = judged("log", Copy(KINDS[1], "", TABLE.replace(old, new), TABLE), found, whole, whole, {})
    assert {name: getattr(one, name) for name in figure} == figure
    assert one.diagnosed
    assert one.placed
    assert one.crash is None


def test_runs_of_the_corpus_are_chosen_evenly(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text("run_id\n" + "\n".join(f"r{i}" for i in range(10)) + "\n", encoding="utf-8")
    assert [folder.name for folder in corpus_folders(tmp_path, 3)] == ["r0", "r3", "r6"]


def test_the_script_prints_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "samples" / "made" / "one"
    folder.mkdir(parents=True)
    (folder / "log.csv").write_bytes(TABLE)
    arguments = ["--samples", str(tmp_path / "samples"), "--runs", "0", "--every", "50", "--repeats", "1"]
    main([*arguments, "--corpus", str(tmp_path)])
    printed = capsys.readouterr().out
    assert all(kind in printed for kind in KINDS)
    assert figures([]) == (0,) * 10
