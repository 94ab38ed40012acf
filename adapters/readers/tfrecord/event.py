"""The protocol buffer inside a record: where an `Event` keeps its wall time, step, tags and numbers.

Only what locates scalars is followed; for the rest it is enough to know what kind of content there is. As protocol
buffers have it, a repeated field that is not repeated in the schema counts with its last occurrence, and unknown fields
are passed over.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .fields import FIXED_SIZES
from .wire import EIGHT, FOUR, SIZED, VARINT, MalformedError, continued, fields_of, number_at

if TYPE_CHECKING:
    from .wire import Field

__all__ = ["Event", "Span", "Value", "parse_event", "plugin_of"]

Span = tuple[int, int]  # offset in the record's data, size in bytes
# Event
_WALL_TIME, _STEP, _SUMMARY = 1, 2, 5
_WHAT = range(3, 10)  # the fields of which an event holds one
# Summary.Value
_TAG, _SIMPLE_VALUE, _NODE_NAME, _TENSOR, _METADATA = 1, 2, 7, 8, 9
_VALUES = frozenset({_SIMPLE_VALUE, 3, 4, 5, 6, _TENSOR})  # the fields of which a value holds one
# TensorProto
_DTYPE, _SHAPE, _DIMENSION, _TENSOR_CONTENT = 1, 2, 2, 4
_STRING = 7
# dtype → (number of the repeated field, wire type of one element, kind of one element, kind within tensor_content)
_DTYPES = {
    1: (5, FOUR, "<f4", "<f4"),
    2: (6, EIGHT, "<f8", "<f8"),
    3: (7, VARINT, "int32", "<i4"),
    4: (7, VARINT, "int32", "|u1"),
    5: (7, VARINT, "int32", "<i2"),
    6: (7, VARINT, "int32", "|i1"),
    9: (10, VARINT, "int64", "<i8"),
    10: (11, VARINT, "bool", "|b1"),
    14: (13, VARINT, "bfloat16", "<bf"),
    17: (7, VARINT, "int32", "<u2"),
    19: (13, VARINT, "float16", "<f2"),
    22: (16, VARINT, "uint32", "<u4"),
    23: (17, VARINT, "uint64", "<u8"),
}
_CONTEXT = frozenset({b"text", b"hparams"})  # plugins


@dataclass(frozen=True, slots=True)
class Value:
    """One scalar of an event: its tag, where that is, where its number is, and how it is written.

    `kind` is ``<f4`` and the like for a number of fixed size (``<bf``: bfloat16), or the name of a type that is written
    as a varint: ``int32``, ``int64``, ``uint32``, ``uint64``, ``bool``, ``float16``, ``bfloat16``.
    """

    tag: str
    tag_span: Span
    kind: str
    span: Span


@dataclass(slots=True)
class Event:
    """What `parse_event` found: spans of `wall_time` (8 bytes) and `step` (a varint), None where the event has none
    (both are then 0); the scalars in order; whether there is something `other` than scalars, and whether that may be
    `context`: a text or hyper-parameters. Strings without a plugin may be texts, as writers may name it only once.
    """

    wall_time: Span | None = None
    step: Span | None = None
    values: list[Value] = field(default_factory=list)
    other: bool = False
    context: bool = False


def parse_event(data: bytes) -> Event | None:
    """The scalars of one record's data, and what else it holds; None when it is not an `Event`."""
    event = Event()
    what = 0
    try:
        for number, wire, offset, size in fields_of(data, 0, len(data)):
            if number == _WALL_TIME and wire == EIGHT:
                event.wall_time = (offset, size)
            elif number == _STEP and wire == VARINT:
                event.step = (offset, size)
            elif number in _WHAT and wire == SIZED:
                if number != what:
                    what, event.values, event.other, event.context = number, [], False, False
                if number == _SUMMARY:
                    for inner in fields_of(data, offset, offset + size):
                        if inner[:2] == (1, SIZED):
                            _value(data, inner[2], inner[2] + inner[3], event)
                else:
                    event.other = True
    except (MalformedError, IndexError):
        return None
    event.other |= not event.values
    return event


def _value(data: bytes, start: int, stop: int, event: Event) -> None:
    """Add what one `Summary.Value` holds to `event`."""
    tag = node = (0, 0)
    kind, held, plugin = 0, (0, 0), b""
    tensors = 0
    for number, wire, offset, size in fields_of(data, start, stop):
        if number == _SIMPLE_VALUE:
            if wire == FOUR:
                kind, held, tensors = number, (offset, size), 0
        elif wire != SIZED:
            continue
        elif number == _TAG:
            tag = (offset, size)
        elif number == _NODE_NAME:
            node = (offset, size)
        elif number == _METADATA:
            plugin = plugin_of(data, offset, offset + size)[0] or plugin
        elif number in _VALUES:
            tensors = tensors + 1 if number == _TENSOR else 0
            kind, held = number, (offset, size)
    if plugin in _CONTEXT:
        event.context = event.other = True
    if kind == _SIMPLE_VALUE:
        event.values.append(_scalar(data, tag, "<f4", held))
        return
    single = kind == _TENSOR and tensors == 1 and plugin not in _CONTEXT
    scalar = _tensor(data, held[0], held[0] + held[1]) if single else None
    if scalar is None:
        event.other = True
    elif scalar[0] == "string":
        event.other = True
        event.context |= not plugin
    else:
        event.values.append(_scalar(data, tag if tag[1] else node, *scalar))


def _tensor(data: bytes, start: int, stop: int) -> tuple[str, Span] | None:
    """Kind and span of a tensor that is one number; of kind ``string`` for any tensor of these, None for others."""
    dtype = rank = 0
    content: Span | None = None
    repeated: list[Field] = []
    for number, wire, offset, size in fields_of(data, start, stop):
        if number == _DTYPE and wire == VARINT:
            dtype = number_at(data, offset)
        elif number == _SHAPE and wire == SIZED:
            rank += sum(inner[:2] == (_DIMENSION, SIZED) for inner in fields_of(data, offset, offset + size))
        elif number == _TENSOR_CONTENT and wire == SIZED:
            content = (offset, size)
        else:
            repeated.append((number, wire, offset, size))
    if dtype == _STRING:
        return "string", (start, stop - start)
    known = _DTYPES.get(dtype)
    if known is None or rank:
        return None
    wanted, element, kind, fixed = known
    if content is not None and content[1]:
        return (fixed, content) if content[1] == FIXED_SIZES[fixed] else None
    spans: list[Span] = []
    for number, wire, offset, size in repeated:
        if number != wanted:
            continue
        if wire == element:
            spans.append((offset, size))
        elif wire == SIZED:
            spans += _packed(data, offset, offset + size, element)
        if len(spans) > 1:
            return None
    return (kind, spans[0]) if spans else None


def _packed(data: bytes, start: int, stop: int, element: int) -> list[Span]:
    """Spans of the first two elements of a packed field; two are enough to know that it is not one number."""
    spans: list[Span] = []
    while start < stop and len(spans) < 2:
        size = {FOUR: 4, EIGHT: 8}.get(element, 1)
        if element == VARINT and data[start] >= 0x80:
            size = continued(data, start + 1, 0)[1] - start
        if start + size > stop:
            raise MalformedError
        spans.append((start, size))
        start += size
    return spans


def plugin_of(data: bytes, start: int, stop: int) -> tuple[bytes, bytes]:
    """Name and content of the plugin that the metadata of a value name; both empty where they name none."""
    name = content = b""
    for number, wire, offset, size in fields_of(data, start, stop):
        if number == 1 and wire == SIZED:
            for inner, inner_wire, begin, length in fields_of(data, offset, offset + size):
                if inner_wire == SIZED and inner == 1:
                    name = data[begin : begin + length]
                elif inner_wire == SIZED and inner == 2:
                    content = data[begin : begin + length]
    return name, content


def _scalar(data: bytes, tag: Span, kind: str, span: Span) -> Value:
    text = data[tag[0] : tag[0] + tag[1]].decode("utf-8", "backslashreplace")
    return Value(text, tag, kind, span)
