"""Texts and hyper-parameters of sound records, as TensorBoard's text and hparams plugins keep them."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .event import plugin_of
from .wire import EIGHT, SIZED, VARINT, MalformedError, fields_of, number_at

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Context"]

# Event, Summary, Summary.Value, TensorProto
_WALL_TIME, _SUMMARY, _VALUE, _TAG, _TENSOR, _METADATA, _STRINGS = 1, 5, 1, 1, 8, 9, 8
_STRING_TYPE = 1, 7  # field and number of the data type
_TEXT_SUFFIX = "/text_summary"  # of torch and tensorboardX
# HParamsPluginData, SessionStartInfo, and the kinds of google.protobuf.Value
_SESSION_TAG = b"_hparams_/session_start_info"
_SESSION, _HPARAMS, _KEY, _HELD = 3, 1, 1, 2
_NUMBER, _STRING, _BOOL = (2, EIGHT), (3, SIZED), (4, VARINT)

Setting = float | bool | str


class _UnusualError(ValueError):
    """The record is not of the form that writers of texts and hyper-parameters give it."""


@dataclass(slots=True)
class Context:
    """What records said so far. Texts are kept by tag, the latest of each with its wall time; `hparams` by name."""

    hparams: dict[str, Setting] = field(default_factory=dict)
    _texts: dict[str, tuple[float, str]] = field(default_factory=dict)
    _text_tags: set[str] = field(default_factory=set)

    def take(self, data: bytes) -> bool:
        """Take in one record's data; False, with nothing taken, when it is not of the usual form."""
        try:
            values = list(_values(data))
            wall = _wall_time(data)
            hparams = [
                _session(plugin[1]) for tag, plugin, _ in values if plugin[0] == b"hparams" and tag == _SESSION_TAG
            ]
            texts = [
                (tag.decode(), plugin[0] == b"text", _strings(tensor))
                for tag, plugin, tensor in values
                if plugin[0] in (b"text", b"")
            ]
            if any(named and len(strings) != 1 for _, named, strings in texts):
                return False
        except (MalformedError, _UnusualError, UnicodeDecodeError, IndexError):
            return False
        for found in hparams:
            if not self.hparams:  # the first counts, as in TensorBoard
                self.hparams = found
        for tag, named, strings in texts:
            if named:
                self._text_tags.add(tag)
            if len(strings) == 1 and wall >= self._texts.get(tag, (wall, ""))[0]:
                self._texts[tag] = wall, strings[0]
        return True

    def texts(self) -> dict[str, str]:
        """The last text of each tag that the text plugin was named for, by tag without its ``/text_summary`` suffix."""
        return {
            tag.removesuffix(_TEXT_SUFFIX): text for tag, (_, text) in self._texts.items() if tag in self._text_tags
        }


def _values(data: bytes) -> Iterator[tuple[bytes, tuple[bytes, bytes], bytes]]:
    """Tag, plugin (name and content) and tensor of each value of an event."""
    for number, wire, offset, size in fields_of(data, 0, len(data)):
        if (number, wire) != (_SUMMARY, SIZED):
            continue
        for value, value_wire, start, length in fields_of(data, offset, offset + size):
            if (value, value_wire) != (_VALUE, SIZED):
                continue
            parts = {part: (begin, begin + long) for part, _, begin, long in fields_of(data, start, start + length)}
            tag, tensor, metadata = (parts.get(part, (0, 0)) for part in (_TAG, _TENSOR, _METADATA))
            yield data[slice(*tag)], plugin_of(data, *metadata), data[slice(*tensor)]


def _wall_time(data: bytes) -> float:
    wall = 0.0
    for number, wire, offset, _ in fields_of(data, 0, len(data)):
        if (number, wire) == (_WALL_TIME, EIGHT):
            (wall,) = struct.unpack_from("<d", data, offset)
    return wall


def _strings(tensor: bytes) -> list[str]:
    """The strings of a tensor; none when it holds numbers."""
    fields = fields_of(tensor, 0, len(tensor))
    if _STRING_TYPE not in {(number, number_at(tensor, at)) for number, wire, at, _ in fields if wire == VARINT}:
        return []
    return [tensor[at : at + size].decode() for number, wire, at, size in fields if (number, wire) == (_STRINGS, SIZED)]


def _session(data: bytes) -> dict[str, Setting]:
    """Hyper-parameters of an ``HParamsPluginData``."""
    found: dict[str, Setting] = {}
    for number, wire, offset, size in fields_of(data, 0, len(data)):
        if (number, wire) != (_SESSION, SIZED):
            continue
        for part, part_wire, start, length in fields_of(data, offset, offset + size):
            if (part, part_wire) == (_HPARAMS, SIZED):
                entry = {
                    key: data[begin : begin + long] for key, _, begin, long in fields_of(data, start, start + length)
                }
                found[entry.get(_KEY, b"").decode()] = _setting(entry.get(_HELD, b""))
    return found


def _setting(data: bytes) -> Setting:
    fields = fields_of(data, 0, len(data))
    if len(fields) == 1:
        number, wire, offset, size = fields[0]
        if (number, wire) == _NUMBER:
            return float(struct.unpack_from("<d", data, offset)[0])
        if (number, wire) == _STRING:
            return data[offset : offset + size].decode()
        if (number, wire) == _BOOL:
            return number_at(data, offset) != 0
    raise _UnusualError
