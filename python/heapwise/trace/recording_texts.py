"""What a trace says of the whole recording, in its texts of JSON.

Apart from the arrays of events: a program is recorded without numpy.
"""

from __future__ import annotations

import msgspec


class OtherProgram(msgspec.Struct, frozen=True):
    """A program without the recorder. program: a path, or a name as it was given to exec. preload:
    what became of the preloaded libraries: kept, dropped, changed, or silent (a variable that they
    need is gone); empty if that is not known."""

    program: str
    preload: str = ""


class Summary(msgspec.Struct, frozen=True):
    """Totals of the whole recording, kept or not. Sizes in bytes, times in seconds.

    forked_processes: children that made calls and were not recorded. other_program: what the
    process became in the end, without the recorder."""

    events: int = 0
    kept_events: int = 0
    windows: int = 1
    blocks: int = 0
    bytes: int = 0
    peak_live_bytes: int = 0
    peak_live_blocks: int = 0
    end_live_blocks: int = 0
    end_live_bytes: int = 0
    unknown_ends: int = 0
    lost_ends: int = 0
    late_events: int = 0
    threads: int = 0
    threads_missed: int = 0
    events_missed: int = 0
    other_processes: int = 0
    forked_processes: int = 0
    images: int = 0
    other_program: OtherProgram | None = None
    pauses: int = 0
    paused_s: float = 0.0
    ns_a_unit: float = 0.0
    wall_s: float = 0.0
    exit_code: int | None = None
    signal: int | None = None
    calls: list[int] = []
    commands: list[list[str]] = []


class TracedProcess(msgspec.Struct, frozen=True):
    """The process that a trace is of, when it began. argv is empty if /proc could not be read.

    first: it is the program that was started, not a child. forked: it began as a copy of its
    parent, so it may end blocks that its parent made."""

    pid: int = 0
    parent: int = 0
    first: bool = True
    forked: bool = False
    program: str = ""
    argv: list[str] = []


class ModuleFile(msgspec.Struct, frozen=True):
    """A mapped file without a build id, as it was when the recording ended. crc32: as zlib says."""

    path: str
    size: int
    crc32: int


class Modules(msgspec.Struct, frozen=True):
    """maps: lines of /proc/PID/maps, before them "build-id ADDRESS ID" for each object that has
    one; also "python ADDRESS NAME\\tFILE:LINE" for each frame of Python. sites: the addresses of
    all sites by their numbers. files: those without a build id; None in a trace that was made
    before there were any. perf_map: not in the file; where the names of compiled code are, or
    empty."""

    maps: str = ""
    sites: list[int] = []
    files: list[ModuleFile] | None = None
    perf_map: str = ""
