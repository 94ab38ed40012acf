"""A sweep shared by several processes: slices of its runs are handed out, and the answers put in order.

A process that dies takes its slice with it. When all else is done, each run of such a slice is tried again, alone in
the only process: memory may have been short for several. Nothing is lost, and nothing is told twice.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from queue import Empty, Queue
from threading import Thread
from typing import TYPE_CHECKING

from ..logs.registry import adapters
from .jobs import slice_size
from .messages import Answer, Briefing, pack, unpack
from .model import RunDiagnosis
from .processes import Death, Process, Processes, Unavailable
from .together import diagnose_found

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..logs.adapter import Adapter
    from ..logs.load import FoundRun
    from .together import Study

    Progress = Callable[[int, int], None]
    # What a process answered to a slice, or that it died; without a slice: nobody asks this process any more.
    Event = tuple[range | None, bytes | Death | Unavailable]

__all__ = ["diagnose_in_processes"]

_LISTENS_EVERY = 0.5  # seconds; on Windows Ctrl-C is not noticed while waiting
_TRIES = 2  # of a run whose slice was lost, since another run may be why
_DONE = Unavailable("there is nothing left to do")


def diagnose_in_processes(
    processes: int, sources: Sequence[FoundRun], study: Study, progress: Progress | None = None
) -> tuple[tuple[RunDiagnosis, ...], list[str]]:
    """Read and diagnose the runs, with remarks on how that went; the answers are those of `diagnose_found`.

    `progress` is told (runs done, runs in all). A run that kills its process twice while it is alone there is
    unreadable. Raises the error of the first run that ended in one. What no process can be started for, this one does.
    """
    sweep = _Sweep(sources, study, progress)
    size = slice_size(len(sources), processes)
    sweep.share(deque(range(len(sources))[i : i + size] for i in range(0, len(sources), size)), processes)
    for _ in range(_TRIES):
        sweep.share(deque(range(i, i + 1) for i in sweep.lost()), 1)
    if sweep.errors:
        raise sweep.errors[min(sweep.errors)]
    return sweep.result()


class _Sweep:
    """What is known of the runs so far, each by its place in `sources`."""

    def __init__(self, sources: Sequence[FoundRun], study: Study, progress: Progress | None) -> None:
        self.sources, self.study, self.progress = sources, study, progress
        installed = {id(adapter) for adapter in adapters()}
        used = {id(found.adapter): found.adapter for found in sources if id(found.adapter) not in installed}
        self.own: tuple[Adapter, ...] = tuple(used.values())
        self.answers: dict[int, RunDiagnosis] = {}
        self.deaths: dict[int, Death] = {}
        self.errors: dict[int, Exception] = {}
        self.trouble: Unavailable | None = None

    def share(self, slices: deque[range], processes: int) -> None:
        """Have the slices answered by so many processes; those that none could be started for are left."""
        try:
            briefing = pack(Briefing(self.study, self.own)) if slices else b""
        except Exception as error:  # noqa: BLE001 - foreign objects may refuse in any way
            self.trouble = Unavailable(f"it cannot be sent what it needs ({type(error).__name__}: {error})")
            return
        events: Queue[Event] = Queue()
        pool = Processes(briefing)
        number = min(processes, len(slices))
        drivers = [Thread(target=self._drive, args=(pool, slices, events), daemon=True) for _ in range(number)]
        try:
            for driver in drivers:
                driver.start()
            for part, event in _until_all_ended(events, number):
                self._hear(part, event)
                if self.errors:
                    slices.clear()
        finally:
            pool.stop()
            for driver in drivers:
                driver.join()
            pool.close()

    def lost(self) -> list[int]:
        """Runs whose process died; of those behind the first error nobody needs to know."""
        return sorted(i for i in self.deaths if not self.errors or i < min(self.errors))

    def result(self) -> tuple[tuple[RunDiagnosis, ...], list[str]]:
        """All answers in order, and remarks. What is left, this process does."""
        left = [i for i in range(len(self.sources)) if i not in self.answers and i not in self.deaths]
        here = diagnose_found([self.sources[i] for i in left], self.study)
        for i, answer in zip(left, here, strict=True):
            self._add(i, answer)
        for i in sorted(self.deaths):
            found, reason = self.sources[i], f"its reader process died ({self.deaths[i]})"
            self._add(i, RunDiagnosis(found.id, found.place, "unreadable", reason))
        remarks = [f"--jobs: a process is missing: {self.trouble}"] if left and self.trouble else []
        return tuple(self.answers[i] for i in range(len(self.sources))), remarks

    def _drive(self, pool: Processes, slices: deque[range], events: Queue[Event]) -> None:
        """What one thread does: hand slices to a process, and start another one where it dies."""
        process: Process | None = None
        end = _DONE
        try:
            while slices:
                process = process or pool.start()
                try:
                    part = slices.popleft()
                except IndexError:  # another thread has just taken it
                    break
                try:
                    events.put((part, process.ask(self._request(part, slices))))
                except Death as death:
                    events.put((part, death))
                    process = None
        except Unavailable as reason:
            end = reason
        finally:
            events.put((None, end))

    def _request(self, part: range, slices: deque[range]) -> bytes:
        """A slice as a message. Raises `Unavailable`, with the slice put back, where that cannot be."""
        runs = [self.sources[i] for i in part]
        try:
            # Which other runs were found in its folder is nothing that reading a run needs.
            return pack([replace(run, sniff=replace(run.sniff, sources=())) for run in runs], self.own)
        except Exception as error:  # noqa: BLE001 - foreign objects may refuse in any way
            slices.append(part)
            raise Unavailable(f"it cannot be sent a run ({type(error).__name__}: {error})") from None

    def _hear(self, part: range | None, event: bytes | Death | Unavailable) -> None:
        if isinstance(event, Unavailable) or part is None:
            self.trouble = event if isinstance(event, Unavailable) and event is not _DONE else self.trouble
            return
        if isinstance(event, Death):
            self.deaths.update(dict.fromkeys(part, event))
            return
        answer: Answer = unpack(event)
        if answer.error is not None:
            self.errors[part.start] = answer.error
            return
        for i, run in zip(part, answer.runs, strict=True):
            self.deaths.pop(i, None)
            self._add(i, run)

    def _add(self, place: int, run: RunDiagnosis) -> None:
        self.answers[place] = run
        if self.progress is not None:
            self.progress(len(self.answers), len(self.sources))


def _until_all_ended(events: Queue[Event], number: int) -> Iterator[Event]:
    """The events of so many threads, as they come, until the last thread has ended."""
    while number:
        try:
            part, event = events.get(timeout=_LISTENS_EVERY)
        except Empty:
            continue
        number -= part is None
        yield part, event
