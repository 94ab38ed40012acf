"""A run diagnosed now and then while it trains, at a bounded cost and never in the way of the training."""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
import time
import weakref
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from ..diagnosis.pipeline import diagnose
from ..diagnosis.reading import read_options
from ..errors import LogError, NoReadableRunError, UsageError
from ..report.markdown import to_markdown
from ..report.outcome import counted, message
from ..rules.library import load_book
from ..signals.taxonomy import is_known_signal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ..diagnosis.model import Diagnosis, RunDiagnosis
    from ..signals.run import ActionSpace

__all__ = ["Options", "Watcher"]

_LOG = logging.getLogger("rl_diagnose")
_FIRST_LOOK_S = 0.5
"""What a look is taken to cost before there was one: the books are read in it."""


class Options(TypedDict, total=False):
    """What every callback takes, by name.

    every: rows of the log between two looks, at least (default 10).
    share: the part of the training time that diagnosing may take, at most (default 0.01). A look that would take more
        is put off; the last one, at the end of the training, always comes.
    patience: a verdict counts when it stood in so many looks in a row (default 3), or at the end: what shows in a few
        rows of a young run may be gone in the next ones.
    stop_at: the training is stopped when a cause that counts has reached this probability (default: never).
    on_change: called with the `RunDiagnosis` whenever the verdict that counts, or its cause, is another one.
    rulebooks, mapping, action_space: as for `rl_diagnose.diagnose`; a mapping counts where the log has the key.
    folder: where the log is kept, each run in a new folder below it (default: a temporary one, removed at the end).
    """

    every: int
    share: float
    patience: int
    stop_at: float | None
    on_change: Callable[[RunDiagnosis], object] | None
    rulebooks: str | Sequence[str | os.PathLike[str]] | None
    mapping: Mapping[str, str] | None
    action_space: ActionSpace | str | None
    folder: str | os.PathLike[str] | None


class Watcher:
    """Diagnoses the log that a callback keeps in `folder`.

    What is wrong with the options is raised at once: `UsageError` or `RulebookError`. After that nothing is: the first
    error is told through the logger ``rl_diagnose``, and the watcher does no more. Verdicts are told there too, when
    they change: findings as warnings, others as information. `rows` and `looks` count what there was of either, `spent`
    is the time that both took, in seconds.
    """

    def __init__(self, options: Options) -> None:
        unknown = options.keys() - Options.__annotations__.keys()
        if unknown:
            raise UsageError(f"there is no option {', '.join(sorted(unknown))} of a callback")
        self._every = options.get("every", 10)
        self._share = options.get("share", 0.01)
        self._stop_at = options.get("stop_at")
        self._patience = options.get("patience", 3)
        if min(self._every, self._patience) < 1 or not 0 < self._share <= 1 or not 0 <= (self._stop_at or 0) <= 1:
            raise UsageError("every and patience are at least 1, share above 0 and at most 1, stop_at a probability")
        chosen = options.get("rulebooks")
        names = [chosen] if isinstance(chosen, str) else chosen
        self._books = None if names is None else [load_book(os.fspath(name)) for name in names]
        self._mapping, self._space = options.get("mapping"), options.get("action_space")
        read_options(None, self._space, self._mapping)  # raises for what cannot be meant
        for key, signal in (self._mapping or {}).items():
            if not is_known_signal(signal):
                raise UsageError(f"'{signal}' is not a signal", place=f"mapping of {key}")
        self._on_change = options.get("on_change")
        self._root = None if options.get("folder") is None else Path(os.fspath(options["folder"] or ""))
        self._started = time.perf_counter()
        self._looked_at = 0
        self._last_cost = _FIRST_LOOK_S
        self._broken = False
        self._standing = _Standing()
        self.rows = self.looks = 0
        self.spent = 0.0
        self.folder: Path | None = None
        self.diagnosis: Diagnosis | None = None

    @property
    def run(self) -> RunDiagnosis | None:
        """The run as it was seen last; None before the first look that found something to read."""
        return self.diagnosis.runs[0] if self.diagnosis is not None and self.diagnosis.runs else None

    @property
    def stop(self) -> bool:
        """True when a cause that counts has reached `stop_at`."""
        if self.run is None or self._stop_at is None or not self.run.findings or self._standing.looks < self._patience:
            return False
        return (self.run.findings[0].probability or 0.0) >= self._stop_at

    @property
    def text(self) -> str:
        """The verdict of the last look with its evidence and remedy, a line each; empty before."""
        return "" if self.run is None else message(self.run, counted(self.run, self._stop_at))

    @property
    def markdown(self) -> str:
        """The whole report in Markdown, for viewers that show texts as such; empty before the first look."""
        return "" if self.diagnosis is None else to_markdown(self.diagnosis)

    def begin(self, name: str) -> Path | None:
        """Start the log of a new run in a folder of its own, called after `name`; None where there can be none."""
        self._started = time.perf_counter()
        self.rows = self.looks = self._looked_at = 0
        self.spent = 0.0
        self.diagnosis = self.folder = None
        self._standing = _Standing()
        with self.guarded():
            if self._root is None:
                self._root = Path(tempfile.mkdtemp(prefix="rl-diagnose-"))
                weakref.finalize(self, shutil.rmtree, self._root, ignore_errors=True)
            self.folder = _new_folder(self._root, name)
        return self.folder

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """What is done inside takes from the time that the watcher may spend, and its errors end the watching only."""
        begun = time.perf_counter()
        try:
            yield
        except Exception as error:  # noqa: BLE001 - whatever goes wrong here, the training goes on
            self._broken = True
            _LOG.warning("rl-diagnose stops watching this training: %s: %s", type(error).__name__, error)
        finally:
            self.spent += time.perf_counter() - begun

    @property
    def alive(self) -> bool:
        """Whether there is a log to write to."""
        return self.folder is not None and not self._broken

    def look(self, *, last: bool = False) -> bool:
        """Diagnose what the log holds, if it is time for it or this is the `last` look. True when there is something
        new to tell."""
        if not self.alive or not (self._due() or (last and self.rows > self._looked_at)):
            return False
        self._looked_at = self.rows
        self.looks += 1
        begun, news = time.perf_counter(), False
        with self.guarded():
            try:
                found = diagnose(self.folder or "", self._books, house=self._mapping, action_space=self._space)
            except (LogError, NoReadableRunError):  # too early: nothing that can be read yet
                return False
            finally:
                self._last_cost = time.perf_counter() - begun
            self.diagnosis = found
            if self.run is not None:
                news = self._standing.is_news(self.run, 1 if last else self._patience)
                if news:
                    self._tell(self.run)
        return news

    def _due(self) -> bool:
        if self.rows - self._looked_at < self._every:
            return False
        return self.spent + self._last_cost <= self._share * (time.perf_counter() - self._started)

    def _tell(self, run: RunDiagnosis) -> None:
        _LOG.log(logging.WARNING if run.verdict == "finding" else logging.INFO, "%s", self.text)
        if self._on_change is not None:
            self._on_change(run)


class _Standing:
    """In how many looks in a row the verdict has been the same, and which one was told."""

    def __init__(self) -> None:
        self.looks = 0
        self._seen: tuple[str, str | None] | None = None
        self._told: tuple[str, str | None] | None = None

    def is_news(self, run: RunDiagnosis, patience: int) -> bool:
        """Take in a look; true when its verdict has stood for `patience` looks and is another one than was told."""
        verdict = (run.verdict, None if run.top is None else run.top.id)
        first = run.findings[0].id if run.findings else None
        self.looks = self.looks + 1 if (run.verdict, first) == self._seen else 1
        self._seen = (run.verdict, first)
        if verdict == self._told or self.looks < patience:
            return False
        self._told = verdict
        return True


def _new_folder(root: Path, name: str) -> Path:
    """A folder that was not there before: `name`, or with a number behind it."""
    root.mkdir(parents=True, exist_ok=True)
    number = 1
    while True:
        folder = root / (name if number == 1 else f"{name}_{number}")
        try:
            folder.mkdir()
        except FileExistsError:
            number += 1
        else:
            return folder
