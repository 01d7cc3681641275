"""A trace file: its header, its frames, and what can still be read of a damaged one.

docs/trace-format.md describes the format; bench/trace/file.hpp has the same structures.
"""

from __future__ import annotations

import os
import shlex
import shutil
import struct
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import zstandard

from heapwise.errors import Problem
from heapwise.model.json_value import Json
from heapwise.processors import usable_processors
from heapwise.trace.columns import (
    Damaged,
    Events,
    Extras,
    LiveBlocks,
    live_of,
    read_columns,
    read_extras,
    split_columns,
)
from heapwise.trace.names.perf_map import kept_map, perf_map_of
from heapwise.trace.recording_texts import Modules, Summary, TracedProcess
from heapwise.trace.running import mappings_now, names_beside, running_process

MAGIC = b"HWTRACE\n"
HEAP_PROFILES = (b"\x1f\x8b", b"heap profile:", b"heap_v2/")
"""How files of pprof, gperftools and jemalloc begin."""

PROGRAMS = (b"\x7fELF", b"#!")

VERSION = 2
FRAME_MAGIC = 0x4D52_4648
TRAILER_MAGIC = 0x444E_4548
HEADER = struct.Struct("<8sII")
FRAME = struct.Struct("<IHHIIIIQQQQQQQ")
TRAILER = struct.Struct("<QQQII")
MOST_RAW_BYTES = 1 << 31
"""A frame that says it is larger is damaged."""

MOST_WORKERS = 4
"""Threads that decode frames ahead of the reader."""

ARRAYS_BYTES = 8 << 20
"""More than the arrays of a frame take: 65,536 events and 8 bytes in each of eight arrays."""

USUAL_ARRAYS = ("kind", "thread", "time", "block", "size", "site", "makes", "ends")
"""The arrays of Events: what most readers ask for."""


class FrameKind(IntEnum):
    """What a frame holds."""

    EVENTS = 1
    LIVE = 2
    MODULES = 3
    SUMMARY = 4


@dataclass(frozen=True)
class Frame:
    """The header of a frame. offset: of its stored bytes in the file."""

    kind: FrameKind
    window: int
    count: int
    raw_bytes: int
    stored_bytes: int
    number: int
    first_time: int
    first_block: int
    first_event: int
    live_blocks: int
    live_bytes: int
    offset: int


@dataclass
class Trace:
    """An open trace. Use ``open_trace``, and ``with``.

    version: of the format. about: what was recorded, as the recorder wrote it. summary: None in a
    trace whose recorder was killed. damage: what could not be read, in words; empty for a whole
    file. file: its descriptor.
    """

    path: Path
    version: int
    about: dict[str, Json]
    frames: list[Frame]
    summary: Summary | None
    modules: Modules
    damage: str
    file: int
    running: int = 0
    """The process, if it still runs; its trace grows. 0: it has ended."""

    _sites: dict[int, int] = field(default_factory=dict)

    def __enter__(self) -> Trace:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.file)

    def events(self, ahead: Sequence[str] = USUAL_ARRAYS) -> Iterator[Events]:
        """The events that were kept, a frame at a time. A damaged frame ends it: see ``damage``.

        Threads decode the frames that come next, a few of them, so memory does not grow. ``ahead``
        names the arrays that they decode; others are decoded when they are asked for.
        """
        workers = min(MOST_WORKERS, len(usable_processors()))
        _keep_freed_memory()
        wanted = (frame for frame in self.frames if frame.kind is FrameKind.EVENTS)
        with ThreadPoolExecutor(workers) as pool:
            following = deque(
                (frame, pool.submit(self._decoded, frame, ahead))
                for frame in islice(wanted, workers)
            )
            try:
                while following:
                    frame, decoded = following.popleft()
                    events, extras = decoded.result()
                    del decoded
                    following.extend(
                        (each, pool.submit(self._decoded, each, ahead))
                        for each in islice(wanted, 1)
                    )
                    self.learn_sites(extras.first_site, extras.sites)
                    yield events
            except Damaged as error:
                self.damage = self.damage or f"frame {frame.number}: {error}"
            finally:
                pool.shutdown(cancel_futures=True)

    def _decoded(self, frame: Frame, arrays: Sequence[str] = ()) -> tuple[Events, Extras]:
        raw = self._raw(frame)
        columns, at = split_columns(raw, frame.count)
        extras = read_extras(raw, at)
        events = Events(
            columns,
            extras.stacks,
            window=frame.window,
            first_event=frame.first_event,
            first_time=frame.first_time,
            first_block=frame.first_block,
            version=self.version,
        )
        for name in arrays:
            getattr(events, name)
        return events, extras

    def learn_sites(self, first: int, addresses: Sequence[int]) -> None:
        """The return addresses of call sites, from number ``first`` on."""
        self._sites.update(enumerate(addresses, first))

    def live_of(self, frame: Frame) -> LiveBlocks:
        """The live blocks at the begin of a window. Raises Damaged."""
        return live_of(read_columns(self._raw(frame), frame.count)[0])

    def site_address(self, number: int) -> int | None:
        """The return address of a site; None if the part of the file that says it is lost."""
        if number < len(self.modules.sites):
            return self.modules.sites[number]
        return self._sites.get(number)

    @property
    def process(self) -> TracedProcess | None:
        """None if the trace does not say it."""
        try:
            return msgspec.convert(self.about["process"], TracedProcess)
        except (KeyError, msgspec.ValidationError):
            return None

    @property
    def command(self) -> list[str]:
        """The program and its arguments: of a child the last that it was, through every exec."""
        process = self.process
        if process is None or process.first:
            found = self.about.get("command", [])
            return found if isinstance(found, list) else []
        if self.summary and self.summary.commands:
            return self.summary.commands[-1]
        return process.argv

    @property
    def ns_a_unit(self) -> float:
        """Nanoseconds of one unit of time; 0 if the trace was cut off before it was known."""
        return self.summary.ns_a_unit if self.summary else 0.0

    @property
    def sample_every(self) -> int:
        """For a profile, the mean number of bytes from one sample to the next. 0 of a trace that
        holds every call."""
        found = self.about.get("sample_every", 0)
        return found if isinstance(found, int) and found > 0 else 0

    def _raw(self, frame: Frame) -> bytes:
        return _raw(self.file, frame)


def open_trace(path: Path) -> Trace:
    """Problems: E062 if there is no such file, if it is not a trace, or too new."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError as error:
        name = shlex.quote(str(path))
        program = shutil.which(path) is not None
        raise Problem(
            "E062",
            f"there is no file {path}" + (" here, but a program" if program else ""),
            why="A trace is a file that heapwise record has written.",
            do=f"heapwise record -o {name}.hwt -- {name} && heapwise VERB {name}.hwt"
            if program
            else f"heapwise record -o {name} -- PROGRAM",
        ) from error
    except OSError as error:
        raise Problem(
            "E062",
            f"{path} cannot be read: {error.strerror}",
            why="A trace is read from its file.",
            do=f"make it readable, for example by chmod +r {path}",
        ) from error
    try:
        return _open(path, file)
    except BaseException:
        os.close(file)
        raise


def _open(path: Path, file: int) -> Trace:
    size = os.fstat(file).st_size
    head = os.pread(file, HEADER.size, 0)
    if head.startswith(HEAP_PROFILES):
        raise Problem(
            "E062",
            f"{path} is a heap profile of another tool, not a trace",
            why="It has sums of call stacks and no calls, so nothing can be played.",
            do="heapwise trace shows it; heapwise record -- PROGRAM writes a trace",
        )
    if head.startswith(PROGRAMS):
        name = shlex.quote(path.name)
        program = name if path.is_absolute() else f"./{shlex.quote(str(path))}"
        raise Problem(
            "E062",
            f"{path} is a program, not a trace",
            why="A trace is written while the program runs.",
            do=f"heapwise record -o {name}.hwt -- {program}",
        )
    if len(head) < HEADER.size or head[:8] != MAGIC:
        raise Problem(
            "E062",
            f"{path} is not a trace",
            why="It does not begin as a trace does.",
            do="heapwise record -o FILE.hwt -- PROGRAM writes one",
        )
    _, version, length = HEADER.unpack(head)
    if version > VERSION:
        raise Problem(
            "E062",
            f"{path} has version {version}; this program reads up to {VERSION}",
            do="use the heapwise that recorded it, or a newer one",
        )
    try:
        about = msgspec.json.decode(
            os.pread(file, min(length, size), HEADER.size), type=dict[str, Any]
        )
    except (msgspec.DecodeError, UnicodeDecodeError, ValueError) as error:
        raise Problem("E062", f"{path} is damaged: its header cannot be read ({error})") from error
    first = HEADER.size + length
    frames = _indexed(file, size)
    damage = ""
    if frames is None:
        frames, damage = _scanned(file, first, size)
    modules, summary = Modules(), None
    for frame in frames:
        try:
            if frame.kind is FrameKind.MODULES:
                modules = msgspec.json.decode(_raw(file, frame), type=Modules)
            elif frame.kind is FrameKind.SUMMARY:
                summary = msgspec.json.decode(_raw(file, frame), type=Summary)
        except (Damaged, msgspec.DecodeError, UnicodeDecodeError) as error:
            damage = damage or f"frame {frame.number}: {error}"
    running = running_process(about) if summary is None else 0
    if running:
        modules = Modules(maps=names_beside(path) or mappings_now(running))
    kept = kept_map(path)
    names = str(kept) if kept.is_file() else perf_map_of(about)
    modules = msgspec.structs.replace(modules, perf_map=names)
    return Trace(path, version, about, frames, summary, modules, damage, file, running)


def _indexed(file: int, size: int) -> list[Frame] | None:
    """The frames that the index lists; None if it is not there or damaged."""
    if size < TRAILER.size:
        return None
    offset, count, hash_, _, magic = TRAILER.unpack(
        os.pread(file, TRAILER.size, size - TRAILER.size)
    )
    if magic != TRAILER_MAGIC or offset + count * 8 + TRAILER.size != size:
        return None
    index = os.pread(file, count * 8, offset)
    if len(index) != count * 8 or fnv(index) != hash_:
        return None
    frames = [_frame_at(file, at, size) for at in struct.unpack(f"<{count}Q", index)]
    return None if None in frames else [frame for frame in frames if frame]


def _scanned(file: int, first: int, size: int) -> tuple[list[Frame], str]:
    """Frame after frame, as far as they are whole."""
    frames: list[Frame] = []
    at = first
    while at < size:
        frame = _frame_at(file, at, size)
        if frame is None or (frames and frame.number <= frames[-1].number):
            break
        frames.append(frame)
        at = frame.offset + frame.stored_bytes
    found = f"{len(frames)} frame{'' if len(frames) == 1 else 's'} found"
    return frames, (
        "the file ends without an index, so the program still runs or the recorder "
        f"was ended; {found}"
    )


def _frame_at(file: int, at: int, size: int) -> Frame | None:
    head = os.pread(file, FRAME.size, at) if 0 <= at < size else b""
    if len(head) < FRAME.size or fnv(head[:-8]) != int.from_bytes(head[-8:], "little"):
        return None
    (
        magic,
        kind,
        _,
        window,
        count,
        raw_bytes,
        stored_bytes,
        number,
        first_time,
        first_block,
        first_event,
        live_blocks,
        live_bytes,
        _,
    ) = FRAME.unpack(head)
    offset = at + FRAME.size
    if (
        magic != FRAME_MAGIC
        or kind not in iter(FrameKind)
        or offset + stored_bytes > size
        or raw_bytes > MOST_RAW_BYTES
    ):
        return None
    return Frame(
        FrameKind(kind),
        window,
        count,
        raw_bytes,
        stored_bytes,
        number,
        first_time,
        first_block,
        first_event,
        live_blocks,
        live_bytes,
        offset,
    )


def _keep_freed_memory() -> None:
    """Lets the C library keep what the arrays of a frame took, for those of the next frame.

    glibc gives memory at the end of a heap back, and each page of it then costs a fault when it is
    used again. It keeps twice the size of the largest mapping that was freed (mallopt(3),
    M_MMAP_THRESHOLD). This one is never touched, so it takes no memory.
    """
    np.empty(ARRAYS_BYTES, np.uint8)


UNKNOWN_SIZE = -1
"""The size of what was compressed piece by piece, as zstandard says it."""


def _raw(file: int, frame: Frame) -> bytes:
    stored = os.pread(file, frame.stored_bytes, frame.offset)
    try:
        # Looked at first: memory of that size is asked for, however large a damaged one is.
        if zstandard.frame_content_size(stored) not in (UNKNOWN_SIZE, frame.raw_bytes):
            raise Damaged("it is not as long as it says")
        raw = zstandard.ZstdDecompressor().decompress(stored, max_output_size=frame.raw_bytes)
    except zstandard.ZstdError as error:
        raise Damaged(str(error)) from error
    if len(raw) != frame.raw_bytes:
        raise Damaged("it is shorter than it says")
    return raw


def fnv(data: bytes) -> int:
    """FNV-1a with 64 bits (draft-eastlake-fnv)."""
    found = 0xCBF2_9CE4_8422_2325
    for byte in data:
        found = (found ^ byte) * 0x100_0000_01B3 & 0xFFFF_FFFF_FFFF_FFFF
    return found
