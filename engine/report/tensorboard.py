"""A diagnosis as an event file of texts, for TensorBoard to show beside the curves."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from hashlib import sha256
from io import BytesIO
from typing import TYPE_CHECKING, Any

from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary, SummaryMetadata
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
from tensorboard.compat.proto.types_pb2 import DT_STRING
from tensorboard.summary.writer.record_writer import RecordWriter

from ..logs.find import OWN_EVENTS
from . import words
from .markdown import to_markdown
from .text import clean

if TYPE_CHECKING:
    from ..diagnosis.model import Diagnosis, RunDiagnosis

__all__ = ["file_name", "to_events"]

_VERSION = "brain.Event:2"
_TEXTS = "text"  # the plugin that shows them
_LAST_STEP = 2**63 - 1  # of an int64


def file_name(diagnosis: Diagnosis) -> str:
    """A name of its own for each time and path of a diagnosis: TensorBoard does not see that a file was replaced."""
    path = sha256(diagnosis.path.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"events.out.tfevents.{_created(diagnosis):.0f}.{path}{OWN_EVENTS}"


def to_events(diagnosis: Diagnosis) -> bytes:
    """The content of the file: a text for each run, worst first, in Markdown at the run's last step.

    The tag is ``rl-diagnose/`` and the name of the run.
    """
    content = BytesIO()
    writer = RecordWriter(content)
    runs = sorted(diagnosis.runs, key=words.severity)
    for event in (Event(file_version=_VERSION), *(_text_event(diagnosis, run) for run in runs)):
        event.wall_time = _created(diagnosis)
        writer.write(event.SerializeToString())
    return content.getvalue()


def _created(diagnosis: Diagnosis) -> float:
    return datetime.fromisoformat(diagnosis.created).timestamp()


def _text_event(diagnosis: Diagnosis, run: RunDiagnosis) -> Any:
    # What concerns all runs stands in the other reports; here each text is about its own run.
    text = to_markdown(replace(diagnosis, runs=(run,), notes=()))
    tensor = TensorProto(
        dtype=DT_STRING,
        tensor_shape=TensorShapeProto(dim=[TensorShapeProto.Dim(size=1)]),
        string_val=[text.encode("utf-8")],
    )
    metadata = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name=_TEXTS))
    value = Summary.Value(tag=f"rl-diagnose/{clean(run.id)}", metadata=metadata, tensor=tensor)
    step = min(max(int(run.last_step or 0.0), 0), _LAST_STEP)
    return Event(step=step, summary=Summary(value=[value]))
