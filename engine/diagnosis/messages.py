"""What processes that share a sweep tell each other, and how it goes through a pipe.

A message is its length and a pickle. Both ends are this program on this machine, and the pipe is theirs alone: nothing
that comes from a log is unpickled.
"""

from __future__ import annotations

import io
import pickle
import struct
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import IO, TYPE_CHECKING, Any

from ..errors import UsageError
from ..logs.registry import adapters

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..logs.adapter import Adapter
    from .model import RunDiagnosis
    from .together import Study

__all__ = ["Answer", "Briefing", "pack", "pack_answer", "receive", "send", "unpack"]

_LENGTH = struct.Struct("<Q")
_PROTOCOL = 5


@dataclass(frozen=True, slots=True)
class Briefing:
    """What a process is told once: what is asked of every run, and the adapters that are not installed ones (made of
    the user's own tag maps, as they were when the runs were found)."""

    study: Study
    own: tuple[Adapter, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """What is said of the runs of a slice, in their order; or the error that the first of them ended in which did."""

    runs: tuple[RunDiagnosis, ...] = ()
    error: Exception | None = None


def send(pipe: IO[bytes], message: bytes) -> None:
    """Write one message. Raises `OSError` where nobody reads."""
    pipe.write(_LENGTH.pack(len(message)))
    pipe.write(message)
    pipe.flush()


def receive(pipe: IO[bytes]) -> bytes | None:
    """The next message; None where the other end is gone, be it in the middle of one."""
    head = pipe.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    message = pipe.read(length)
    return message if len(message) == length else None


class _Packer(pickle.Pickler):
    """Adapters are told by name or number: the other process has its own, and they may hold anything."""

    def __init__(self, file: IO[bytes], own: Sequence[Adapter]) -> None:
        super().__init__(file, _PROTOCOL)
        self.known = {id(adapter): adapter.name for adapter in adapters()} | {id(a): i for i, a in enumerate(own)}

    def persistent_id(self, value: object) -> str | int | None:
        return self.known.get(id(value))


class _Unpacker(pickle.Unpickler):
    def __init__(self, file: IO[bytes], own: Sequence[Adapter]) -> None:
        super().__init__(file)
        self.own = own

    def persistent_load(self, known: str | int) -> Adapter:
        if isinstance(known, int):
            return self.own[known]
        for adapter in adapters():
            if adapter.name == known:
                return adapter
        raise UsageError(f"a process of --jobs does not have the adapter '{known}'", hint="--jobs 1 does without")


def pack(message: object, own: Sequence[Adapter] = ()) -> bytes:
    """A message as bytes; `own` are the adapters that the other end got with its briefing."""
    file = io.BytesIO()
    _Packer(file, own).dump(message)
    return file.getvalue()


def unpack(message: bytes, own: Sequence[Adapter] = ()) -> Any:
    """What `pack` or `pack_answer` packed."""
    return _Unpacker(io.BytesIO(message), own).load()


class _AnswerPacker(pickle.Pickler):
    """Dataclasses as calls with their values: a third of the time that their own way takes."""

    def reducer_override(self, value: object) -> Any:
        values = _getter(type(value))
        return NotImplemented if values is None else (type(value), values(value))


_getters: dict[type, Callable[[object], tuple[object, ...]] | None] = {}


def _getter(kind: type) -> Callable[[object], tuple[object, ...]] | None:
    """What gives the arguments that make a dataclass of ours again; None for other types."""
    if kind not in _getters:
        names = [one.name for one in fields(kind)] if hasattr(kind, "__dataclass_fields__") else []
        # With a single name, attrgetter gives the bare value.
        _getters[kind] = attrgetter(*names) if len(names) > 1 else None
    return _getters[kind]


def pack_answer(answer: Answer) -> bytes:
    """An answer as bytes; an error that would not survive the way is told in words."""
    file = io.BytesIO()
    if answer.error is None:
        _AnswerPacker(file, _PROTOCOL).dump(answer)
        return file.getvalue()
    try:
        message = pickle.dumps(answer, _PROTOCOL)
        pickle.loads(message)  # noqa: S301 - what was packed in the line above
    except Exception:  # noqa: BLE001 - an error of foreign code may hold anything
        error = answer.error
        return pickle.dumps(Answer(error=RuntimeError(f"{type(error).__name__}: {error}")), _PROTOCOL)
    return message
