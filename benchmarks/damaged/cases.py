"""Which log files are damaged, and a folder around each copy in which the run looks as it did before."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .forms import form_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from .forms import Form

__all__ = ["Case", "corpus_folders", "find_cases", "laid_out", "sample_folders"]


@dataclass(frozen=True, slots=True)
class Case:
    """A log file of a run's `folder`, its form, and the files that lie around it (relative to the folder).

    A run with several logs is looked at in two ways: each log without the others, since one that is read first would
    hide what becomes of the others, and each beside the others, as it lies there.
    """

    name: str
    folder: Path
    log: Path
    form: Form
    around: tuple[Path, ...]

    @property
    def content(self) -> bytes:
        """What stands in the undamaged log."""
        return self.log.read_bytes()


def sample_folders(samples: Path) -> list[Path]:
    """Each folder below the first level that holds a file of a log's name."""
    return sorted({file.parent for file in samples.rglob("*") if file.is_file() and _is_log(file, samples)})


def corpus_folders(corpus: Path, runs: int) -> list[Path]:
    """`runs` folders of a labelled corpus, evenly over the list of its labels."""
    if not runs:
        return []
    with (corpus / "labels.csv").open(encoding="utf-8", newline="") as file:
        names = [row["run_id"] for row in csv.DictReader(file)]
    chosen = sorted({len(names) * i // runs for i in range(runs)}) if names else []
    return [corpus / "runs" / names[i] for i in chosen]


def find_cases(folder: Path) -> Iterator[Case]:
    """The cases of one run's folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    logs = [path for path in files if path.parent == folder and form_of(path) is not None]
    settings = [path for path in files if path not in logs]
    for log in logs:
        form = form_of(log)
        if form is None:
            continue
        place = f"{folder.parent.name}/{folder.name}/{log.name}"
        yield Case(place, folder, log, form, tuple(path.relative_to(folder) for path in settings))
        if len(logs) > 1:
            beside = tuple(path.relative_to(folder) for path in files if path != log)
            yield Case(f"{place} (beside {len(logs) - 1} others)", folder, log, form, beside)


def laid_out(case: Case, written: Mapping[str, bytes], place: Path) -> Path:
    """The run's folder below the new folder `place`: what is around the log as links, and `written` as files."""
    folder = place / case.folder.name
    for relative in case.around:
        link = folder / relative
        link.parent.mkdir(parents=True, exist_ok=True)
        if relative.name not in written:
            link.symlink_to((case.folder / relative).resolve())
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in written.items():
        (folder / name).write_bytes(content)
    return folder


def _is_log(file: Path, samples: Path) -> bool:
    return len(file.relative_to(samples).parts) > 2 and form_of(file) is not None
