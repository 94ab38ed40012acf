"""A process that diagnoses slices of a sweep for another one; started by `pool`.

Requests come through standard input, answers go through what was standard output. When the other end of the input is
gone, so is whoever asked, and the process ends at once, whatever it is doing.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import traceback
from queue import SimpleQueue
from typing import TYPE_CHECKING, BinaryIO

from .messages import Answer, pack_answer, receive, send, unpack
from .together import diagnose_found

if TYPE_CHECKING:
    from .messages import Briefing

__all__ = ["serve"]


def serve() -> None:
    """Read the briefing, say that all is ready, and answer one slice after the other. Never returns."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that asked, which ends this one
    inbox, outbox = _pipes()
    requests: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_listen, args=(inbox, requests), daemon=True).start()
    briefing: Briefing = unpack(requests.get())
    try:
        send(outbox, b"")
        while True:
            send(outbox, pack_answer(_answer(requests.get(), briefing)))
    except OSError:  # nobody reads any more
        os._exit(0)


def _pipes() -> tuple[BinaryIO, BinaryIO]:
    """Both pipes under numbers of their own, so that code which prints or reads meets neither."""
    inbox, outbox = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    sys.stdout = sys.stderr
    return inbox, outbox


def _listen(inbox: BinaryIO, requests: SimpleQueue[bytes]) -> None:
    while (message := receive(inbox)) is not None:
        requests.put(message)
    os._exit(0)


def _answer(request: bytes, briefing: Briefing) -> Answer:
    try:
        return Answer(tuple(diagnose_found(unpack(request, briefing.own), briefing.study)))
    except Exception as error:  # noqa: BLE001 - whoever asked raises it
        error.add_note(f"in a process of --jobs:\n{traceback.format_exc()}")
        return Answer(error=error)
