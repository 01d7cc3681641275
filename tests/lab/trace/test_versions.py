"""Traces of version 1 are read, too: they hold the sizes of new blocks in another column."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import zstandard

from heapwise.catalog import SCRIPT_MAKER, native_part
from heapwise.trace import open_trace
from heapwise.trace.columns import COLUMNS, KIND, MAKES, MORE, NUMBER, read_columns
from heapwise.trace.file import FRAME, HEADER, FrameKind, fnv

Record = Callable[..., Path]


@pytest.fixture
def traces(known: Path, record: Record, tmp_path: Path) -> tuple[Path, Path]:
    """One recording in today's version and in version 1. It resizes blocks."""
    today = record(known, "grow", "2000")
    old = tmp_path / "old.hwt"
    old.write_bytes(as_version_1(today))
    return today, old


def as_version_1(trace: Path) -> bytes:
    """The trace without its index."""
    content = trace.read_bytes()
    magic, version, length = HEADER.unpack_from(content)
    assert version > 1
    old = HEADER.pack(magic, 1, length) + content[HEADER.size : HEADER.size + length]
    with open_trace(trace) as opened:
        for frame in opened.frames:
            fields = list(FRAME.unpack_from(content, frame.offset - FRAME.size))
            stored = content[frame.offset : frame.offset + frame.stored_bytes]
            if frame.kind is FrameKind.EVENTS:
                raw = _with_sizes_apart(zstandard.decompress(stored), frame.count)
                stored = zstandard.compress(raw)
                fields[5:7] = len(raw), len(stored)
            head = FRAME.pack(*fields)[:-8]
            old += head + fnv(head).to_bytes(8, "little") + stored
    return old


def _with_sizes_apart(raw: bytes, count: int) -> bytes:
    columns, end = read_columns(raw, count)
    makes = MAKES[columns[KIND].astype(np.uint8)]
    columns[MORE] = np.where(makes, columns[NUMBER], columns[MORE])
    columns[NUMBER] = np.where(makes, 0, columns[NUMBER])
    width = 8
    planes = (
        column.astype("<u8").view(np.uint8).reshape(count, width).T.tobytes()
        for column in columns[:COLUMNS]
    )
    return b"".join(bytes([width]) + each for each in planes) + raw[end:]


def test_events_are_the_same(traces: tuple[Path, Path]) -> None:
    with open_trace(traces[0]) as today, open_trace(traces[1]) as old:
        for one, other in zip(today.events(), old.events(), strict=True):
            assert one.size.max() > 0
            for name in ("kind", "thread", "time", "block", "size", "site", "alignment"):
                assert np.array_equal(getattr(one, name), getattr(other, name)), name
            assert one.stacks == other.stacks


def test_the_player_makes_the_same_calls(traces: tuple[Path, Path], tmp_path: Path) -> None:
    scripts = []
    for number, trace in enumerate(traces):
        script = tmp_path / f"script{number}"
        subprocess.run(
            [str(native_part(SCRIPT_MAKER)), str(trace), "0", "10.0", str(script)],
            check=True,
            capture_output=True,
        )
        scripts.append(script.read_bytes())
    assert scripts[0] == scripts[1]
