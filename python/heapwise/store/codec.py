"""Dataclasses to JSON and back, by msgspec, keeping keys that this version does not know."""

from __future__ import annotations

import dataclasses
import os
import stat
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

import msgspec

Record = TypeVar("Record")


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


def decode_object(text: bytes) -> dict[str, Any]:
    """ValueError when the text is no JSON object, or one nested without end."""
    try:
        document = msgspec.json.decode(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if not isinstance(document, dict):
        raise ValueError("not an object")
    return document


def convert(document: dict[str, Any], kind: type[Record]) -> Record:
    """ValueError when a field is missing or of another type; unknown keys are passed over."""
    return msgspec.convert(document, kind)


def merge_unknown(old: dict[str, Any], record: Any) -> dict[str, Any]:
    """``record`` as a document, with the keys of ``old`` that its dataclass does not have."""
    fresh: dict[str, Any] = {}
    hints = get_type_hints(type(record))
    for field in dataclasses.fields(record):
        value, before = getattr(record, field.name), old.get(field.name)
        if dataclasses.is_dataclass(hints[field.name]) and isinstance(before, dict):
            fresh[field.name] = merge_unknown(before, value)
        else:
            fresh[field.name] = msgspec.to_builtins(value)
    unknown = {key: value for key, value in old.items() if key not in fresh}
    return {**fresh, **unknown}
