"""What Python raises for a zip archive that is damaged, encrypted or packed in a way that it does not know."""

from __future__ import annotations

import zipfile
import zlib

__all__ = ["ZIP_ERRORS"]

try:
    from lzma import LZMAError
except ImportError:  # a Python that was built without it, where zipfile raises RuntimeError for such members
    LZMAError = zlib.error  # type: ignore[assignment, misc]  # stands in for an error that cannot occur there

# RuntimeError: an encrypted member; NotImplementedError: an unknown compression; bz2 raises OSError, as a disk does
ZIP_ERRORS: tuple[type[Exception], ...] = (
    zipfile.BadZipFile,
    zlib.error,
    LZMAError,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
)
