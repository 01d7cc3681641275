"""The model to JSON and back, by msgspec, keeping keys that this version does not know."""

from __future__ import annotations

import dataclasses
import os
import stat
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from heapwise.model import Process, Sample
from heapwise.model.json_value import Json

DocumentT = TypeVar("DocumentT")


class _Kind(msgspec.Struct):
    kind: str


_KIND = msgspec.json.Decoder(_Kind)
_RECORDS: dict[str, msgspec.json.Decoder[Process] | msgspec.json.Decoder[Sample]] = {
    "process": msgspec.json.Decoder(Process),
    "sample": msgspec.json.Decoder(Sample),
}


def encode(record: Any) -> bytes:
    """One line of JSON without the line end. Bytes that are not UTF-8, as names of files can have
    them, are written as text: ``\\udcff``."""
    try:
        return msgspec.json.encode(record)
    except UnicodeEncodeError:
        return msgspec.json.encode(_encodable(msgspec.to_builtins(record)))


def _encodable(value: Any) -> Any:
    if isinstance(value, dict):
        return {_encodable(key): _encodable(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_encodable(inner) for inner in value]
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    return value


def read_regular(path: Path) -> bytes:
    """The whole file. ValueError if it is not a regular file: a device or a pipe may never end."""
    # Without waiting: opening a pipe that nobody writes to would not return.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ValueError("it is not a regular file")
    with os.fdopen(descriptor, "rb") as file:
        return file.read()


def decode_object(text: bytes) -> dict[str, Json]:
    """ValueError when the text is no JSON object, or one nested without end."""
    try:
        document = msgspec.json.decode(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if not isinstance(document, dict):
        raise ValueError("not an object")
    return document


def decode_record(line: bytes) -> Process | Sample:
    """ValueError for a line that is neither, or has a field of another type than the model."""
    try:
        decoder = _RECORDS.get(_KIND.decode(line).kind)
        if decoder is None:
            raise ValueError("neither a process nor a sample")
        return decoder.decode(line)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def convert(document: dict[str, Json], kind: type[DocumentT]) -> DocumentT:
    """ValueError when a field is missing or of another type; unknown keys are passed over."""
    return msgspec.convert(document, kind)


def merge_unknown(old: dict[str, Json], record: Any) -> dict[str, Json]:
    """``record`` as a document, with the keys of ``old`` that its type does not have."""
    fresh: dict[str, Json] = {}
    for name in _field_names(record):
        value, before = getattr(record, name), old.get(name)
        if _field_names(value) and isinstance(before, dict):
            fresh[name] = merge_unknown(before, value)
        else:
            fresh[name] = msgspec.to_builtins(value)
    unknown = {key: value for key, value in old.items() if key not in fresh}
    return {**fresh, **unknown}


def _field_names(value: Any) -> tuple[str, ...]:
    """The fields of a dataclass or a struct; none for any other value."""
    if isinstance(value, msgspec.Struct):
        return value.__struct_fields__
    if dataclasses.is_dataclass(value):
        return tuple(field.name for field in dataclasses.fields(value))
    return ()
