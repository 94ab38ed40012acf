"""Protocol buffers on the wire: the fields of one message, and varints."""

from __future__ import annotations

__all__ = ["EIGHT", "FOUR", "SIZED", "VARINT", "Field", "MalformedError", "continued", "fields_of", "number_at"]

Field = tuple[int, int, int, int]  # number, wire type, offset, size
VARINT, EIGHT, SIZED, FOUR = 0, 1, 2, 5  # wire types


class MalformedError(ValueError):
    """The bytes are not a protocol buffer."""


def fields_of(data: bytes, start: int, stop: int) -> list[Field]:
    """The fields of one message, without following any. Raises `MalformedError`, or `IndexError` where `data` end."""
    fields: list[Field] = []
    while start < stop:
        key = data[start]
        start += 1
        if key >= 0x80:
            key, start = continued(data, start, key)
        wire = key & 7
        if wire == SIZED:
            size = data[start]
            start += 1
            if size >= 0x80:
                size, start = continued(data, start, size)
        elif wire == VARINT:
            size = 1 if data[start] < 0x80 else continued(data, start + 1, 0x80)[1] - start
        elif wire == FOUR:
            size = 4
        elif wire == EIGHT:
            size = 8
        else:
            raise MalformedError
        if key < 8 or start + size > stop:
            raise MalformedError
        fields.append((key >> 3, wire, start, size))
        start += size
    return fields


def continued(data: bytes, start: int, first: int) -> tuple[int, int]:
    """The unsigned number of a varint whose bytes from the second on begin at `start`, cut to 64 bits as protocol
    buffers cut it, and the offset behind it.
    """
    number, shift = first & 0x7F, 7
    while shift < 70:
        byte = data[start]
        start += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number & 0xFFFFFFFFFFFFFFFF, start
        shift += 7
    raise MalformedError


def number_at(data: bytes, start: int) -> int:
    """The unsigned number of the varint at `start`."""
    return data[start] if data[start] < 0x80 else continued(data, start + 1, data[start])[0]
