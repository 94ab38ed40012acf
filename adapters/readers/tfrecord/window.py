"""The stretch of a file that is in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from io import FileIO

__all__ = ["LARGEST", "MARGIN", "Window"]

LARGEST = 1 << 28  # the largest stretch that is held
MARGIN = 32  # bytes behind `stop`, so that fields may be read in whole words
_SIZE = 1 << 23


class Window:
    """Bytes of a file: `data` begins at offset `base`, and what may be read in it ends at `stop`.

    `at_end`: `stop` is the end of the file. `data` goes on for `MARGIN` bytes behind `stop`. `size` is that of the
    whole file when it was opened; what is written to it later is not seen.
    """

    def __init__(self, file: FileIO) -> None:
        self._file = file
        self.size = file.seek(0, 2)
        self.data = bytearray()
        self.load(0)

    def load(self, offset: int, least: int = 0) -> None:
        """Move to `offset` and hold at least as many bytes, unless the file ends before or they are too many."""
        self._file.seek(offset)
        wanted = min(max(_SIZE, least + MARGIN), LARGEST + MARGIN, self.size - offset)
        if not wanted + MARGIN <= len(self.data) <= max(wanted, _SIZE) + MARGIN:
            self.data = bytearray(wanted + MARGIN)
        held = 0
        with memoryview(self.data) as view:
            while held < wanted:
                count = self._file.readinto(view[held:wanted])
                if not count:  # the file has become shorter
                    self.size = offset + held
                    break
                held += count
        self.base = offset
        self.at_end = offset + held >= self.size
        self.stop = held if self.at_end else held - MARGIN

    def cover(self, start: int, stop: int) -> bool:
        """Hold the bytes from offset `start` to `stop`, or to the end of the file; False when they are too many."""
        if not self._covers(start, stop):
            self.load(start, stop - start)
        return self._covers(start, stop)

    def _covers(self, start: int, stop: int) -> bool:
        return self.base <= start and (self.at_end or stop <= self.base + self.stop)

    def only_zeros(self, start: int, stop: int) -> bool:
        """Whether all bytes from offset `start` to `stop` are zero."""
        self._file.seek(start)
        while start < stop:
            piece = self._file.read(min(stop - start, _SIZE))
            if not piece or piece.strip(b"\0"):
                return False
            start += len(piece)
        return True
