"""Numbers as they are written in events: fields of a fixed size, and varints. One at a time, or as arrays."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Buffer = bytes | bytearray | memoryview
    Raw = NDArray[np.uint32] | NDArray[np.uint64]

__all__ = ["FIXED_SIZES", "is_varint", "number_of", "numbers_of", "raw_type", "signed_varints"]

# kind → struct format of a field of fixed size; bfloat16 has none
_FORMATS = {
    "<f4": struct.Struct("<f"), "<f8": struct.Struct("<d"), "<f2": struct.Struct("<e"), "|b1": struct.Struct("<?"),
    "<i4": struct.Struct("<i"), "<i2": struct.Struct("<h"), "|i1": struct.Struct("<b"), "<i8": struct.Struct("<q"),
    "<u4": struct.Struct("<I"), "<u2": struct.Struct("<H"), "|u1": struct.Struct("<B"), "<u8": struct.Struct("<Q"),
}  # fmt: skip
FIXED_SIZES = {kind: form.size for kind, form in _FORMATS.items()} | {"<bf": 2}
_SIGN_32, _SIGN_64 = 1 << 31, 1 << 63
_ALL_32, _ALL_64 = (1 << 32) - 1, (1 << 64) - 1
_SEVENS, _PAIRS, _QUADS, _OCTETS = 0x7F7F7F7F7F7F7F7F, 0x007F007F007F007F, 0x00003FFF00003FFF, 0x0FFFFFFF


def is_varint(kind: str) -> bool:
    """Whether numbers of this kind are written as varints."""
    return kind not in FIXED_SIZES


def raw_type(size: int) -> np.dtype[np.uint32] | np.dtype[np.uint64]:
    """The type of little-endian words that hold fields of this size in their low bytes."""
    return np.dtype("<u4") if size <= 4 else np.dtype("<u8")


def signed_varints(raw: Sequence[Raw]) -> NDArray[np.int64]:
    """int64 numbers of varints: their first eight bytes, and the ninth and tenth where there are any."""
    words = raw[0]
    if words.dtype.itemsize == 4:
        low = words & np.uint32(0x7F)
        for place in range(1, 4):
            low |= (words >> np.uint32(place)) & np.uint32(0x7F << 7 * place)
        return low.astype(np.int64)
    wide = words & np.uint64(_SEVENS)
    wide = (wide & np.uint64(_PAIRS)) | ((wide & np.uint64(_PAIRS << 8)) >> np.uint64(1))
    wide = (wide & np.uint64(_QUADS)) | ((wide & np.uint64(_QUADS << 16)) >> np.uint64(2))
    wide = (wide & np.uint64(_OCTETS)) | ((wide & np.uint64(_OCTETS << 32)) >> np.uint64(4))
    if len(raw) > 1:
        top = raw[1].astype(np.uint64)
        wide |= (top & np.uint64(0x7F)) << np.uint64(56)
        wide |= (top & np.uint64(0x100)) << np.uint64(55)
    return wide.view("<i8").astype(np.int64, copy=False)


def numbers_of(kind: str, raw: Sequence[Raw]) -> NDArray[np.float64]:
    """float64 numbers of raw fields of one `kind`: words of `raw_type`, for varints as `signed_varints` takes them.

    A signalling NaN makes numpy warn of an invalid value unless the caller says otherwise.
    """
    if kind == "<bf":
        return _widened(raw[0].astype(np.uint32))
    if kind == "|b1":
        return np.not_equal(raw[0], 0).astype(np.float64)
    if kind in FIXED_SIZES:
        numbers: NDArray[np.float64] = raw[0].astype(f"<u{FIXED_SIZES[kind]}", copy=False).view(kind).astype(np.float64)
        return numbers
    wide = signed_varints(raw)
    if kind == "int64":
        return wide.astype(np.float64)
    if kind == "uint64":
        return wide.view(np.uint64).astype(np.float64)
    if kind == "bool":
        return np.not_equal(wide, 0).astype(np.float64)
    if kind == "int32":
        return wide.astype(np.int32).astype(np.float64)
    low = wide.astype(np.uint32)
    if kind == "uint32":
        return low.astype(np.float64)
    if kind == "float16":
        return low.astype(np.uint16).view(np.float16).astype(np.float64)
    return _widened(low & np.uint32(0xFFFF))


def _widened(half: NDArray[np.uint32]) -> NDArray[np.float64]:
    """bfloat16 is the upper half of a float32."""
    return (half << np.uint32(16)).view(np.float32).astype(np.float64)


def number_of(kind: str, data: bytes, offset: int, size: int) -> float:
    """The number of a `kind` in ``data[offset : offset + size]``."""
    form = _FORMATS.get(kind)
    if form is not None:
        return float(form.unpack_from(data, offset)[0])
    if kind == "<bf":
        return float(_FORMATS["<f4"].unpack(b"\0\0" + data[offset : offset + size])[0])
    wide = 0
    for place in range(offset + size - 1, offset - 1, -1):
        wide = wide << 7 | (data[place] & 0x7F)
    wide &= _ALL_64
    if kind == "int64":
        return float(wide - 2 * (wide & _SIGN_64))
    if kind == "uint64":
        return float(wide)
    if kind == "bool":
        return float(wide != 0)
    low = wide & _ALL_32
    if kind == "int32":
        return float(low - 2 * (low & _SIGN_32))
    if kind == "uint32":
        return float(low)
    return number_of("<f2" if kind == "float16" else "<bf", (low & 0xFFFF).to_bytes(2, "little"), 0, 2)
