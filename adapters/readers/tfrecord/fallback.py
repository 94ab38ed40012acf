"""Records with texts or hyper-parameters of an unusual form: copied out as they are, and read by tbparse.

tbparse, and with it pandas, is imported only here and only when there is such a record. It gets a temporary event file
with nothing but these records, so that damage in the original and its millions of scalars do not concern it.
"""

from __future__ import annotations

import logging
import struct
import tempfile
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .crc32c import masked_crc32c

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tbparse import SummaryReader

__all__ = ["read_with_tbparse"]

_VERSION = struct.pack("<Bd", 0x09, 0.0) + b"\x1a\x0dbrain.Event:2"


def read_with_tbparse(records: Sequence[bytes]) -> tuple[dict[str, str], dict[str, float | bool | str], str | None]:
    """Last texts by tag and hyper-parameters by name in the data of these records; the third is the kind of exception
    that tbparse stumbled over, None where it did not.
    """
    texts: dict[str, str] = {}
    hparams: dict[str, float | bool | str] = {}
    failed: str | None = None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, _quiet():  # tbparse leaves the file open
        copy = Path(folder) / "events.out.tfevents.0"
        copy.write_bytes(b"".join(_framed(data) for data in (_VERSION, *records)))
        from tbparse import SummaryReader

        # without tensors tbparse keeps one text a tag
        for types in ({"text", "tensors"}, {"hparams"}):
            try:
                reader = SummaryReader(str(copy), extra_columns={"wall_time"}, event_types=types)
                if "text" in types:
                    texts = _last_texts(reader)
                else:
                    hparams = _hparams(reader)
            except Exception as odd:  # noqa: BLE001 - tbparse asserts on odd texts and hparams, with any class of error
                failed = failed or type(odd).__name__
    return texts, hparams, failed


def _framed(data: bytes) -> bytes:
    length = struct.pack("<Q", len(data))
    return length + struct.pack("<I", masked_crc32c(length)) + data + struct.pack("<I", masked_crc32c(data))


def _last_texts(reader: SummaryReader) -> dict[str, str]:
    frame = reader.text
    if frame.empty:  # an empty result of tbparse has no columns at all
        return {}
    ordered = frame.sort_values("wall_time", kind="stable")
    return {str(tag): str(rows["value"].iloc[-1]) for tag, rows in ordered.groupby("tag", sort=False)}


def _hparams(reader: SummaryReader) -> dict[str, float | bool | str]:
    frame = reader.hparams
    if frame.empty:
        return {}
    values: dict[str, Any] = dict(zip(frame["tag"], frame["value"], strict=True))
    return {str(name): value for name, value in values.items() if isinstance(value, (bool, int, float, str))}


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep deprecation warnings and log lines of tbparse, tensorboard and pandas away from the user."""
    logger = logging.getLogger("tensorboard")
    level = logger.level
    with warnings.catch_warnings():
        for category in (DeprecationWarning, PendingDeprecationWarning, FutureWarning):
            for module in (r"tbparse\b", r"tensorboard\b", r"google\.protobuf\b", r"pandas\b"):
                warnings.filterwarnings("ignore", category=category, module=module)
        logger.setLevel(logging.CRITICAL)
        try:
            yield
        finally:
            logger.setLevel(level)
