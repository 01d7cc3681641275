"""Heap profiles of other tools: profile.proto of pprof, and the text of tcmalloc and jemalloc."""

from __future__ import annotations

import zlib
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import msgspec

from heapwise.errors import Problem
from heapwise.trace.document import SourcePlace, source_place
from heapwise.trace.file import HEAP_PROFILES
from heapwise.trace.heap_text import read_text_profile
from heapwise.trace.names.symbols import Place
from heapwise.trace.names.wrappers import Wrappers
from heapwise.trace.pprof_file import read_pprof
from heapwise.trace.protobuf import Malformed

GZIP = HEAP_PROFILES[0]
PROTO_ENDS = (".pb", ".pprof", ".prof")

MOST_BYTES = 1 << 30
"""The largest unpacked profile; a larger one is refused."""

LACKS = (
    "Times, lifetimes, threads and hand-overs are not in such a file, and freed blocks have "
    "no end. heapwise replay and advise need a trace: heapwise record -- PROGRAM"
)
"""What a reader must know of every heap profile."""


@dataclass(frozen=True)
class StackValues:
    """places: the innermost first. values: one for each of the profile's kinds."""

    places: tuple[Place, ...]
    values: tuple[int, ...]


@dataclass(frozen=True)
class HeapProfile:
    """kinds: (name, unit) of the values, such as ("inuse_space", "bytes"). tool: what wrote it.
    less: an earlier profile whose values were taken off; None if none was."""

    path: Path
    tool: str
    kinds: tuple[tuple[str, str], ...]
    stacks: list[StackValues]
    less: Path | None = None

    @property
    def name(self) -> str:
        return f"{self.path} less {self.less}" if self.less else str(self.path)

    @property
    def words(self) -> str:
        """The files in the order of the command."""
        return f"{self.less} {self.path}" if self.less else str(self.path)

    def column(self, name: str) -> int | None:
        """Where a kind stands; None if the profile does not carry it."""
        return next((place for place, kind in enumerate(self.kinds) if kind[0] == name), None)

    def totals(self) -> list[int]:
        return [
            sum(stack.values[column] for stack in self.stacks) for column in range(len(self.kinds))
        ]


def is_heap_profile(path: Path) -> bool:
    """By its first bytes. A file that cannot be read is not."""
    try:
        with path.open("rb") as file:
            head = file.read(32)
    except OSError:
        return False
    return head.startswith(HEAP_PROFILES) or path.name.endswith(PROTO_ENDS)


def read_heap_profile(path: Path) -> HeapProfile:
    """Problem E062 if it is damaged, or not of a heap."""
    try:
        content = path.read_bytes()
        if content.startswith(GZIP):
            content = _unpacked(content)
        if content.startswith(HEAP_PROFILES):
            tool, kinds, found = read_text_profile(content.decode(errors="replace"))
        else:
            tool, kinds, found = read_pprof(content)
    except (OSError, zlib.error, IndexError, ValueError) as error:
        raise Problem("E062", f"{path} is not a heap profile that can be read: {error}") from error
    if not any(unit == "bytes" for _, unit in kinds):
        names = ", ".join(name for name, _ in kinds) or "nothing"
        raise Problem(
            "E062",
            f"{path} is a profile of {names}, not of a heap",
            do="give a heap profile, with values in bytes",
        )
    return HeapProfile(path, tool, kinds, [StackValues(places, values) for places, values in found])


def profile_difference(first: HeapProfile, second: HeapProfile) -> HeapProfile:
    """The second less the first, stack by stack. Problem E062 if they have no kind of value in
    bytes in common."""
    kinds = tuple(kind for kind in second.kinds if kind in first.kinds)
    if not any(unit == "bytes" for _, unit in kinds):
        raise Problem(
            "E062",
            f"{first.path} and {second.path} have no values in bytes in common",
            do="give two heap profiles of one tool",
        )
    sums: dict[tuple[Place, ...], list[int]] = defaultdict(lambda: [0] * len(kinds))
    for profile, sign in ((first, -1), (second, 1)):
        columns = [profile.kinds.index(kind) for kind in kinds]
        for stack in profile.stacks:
            values = sums[stack.places]
            for place, column in enumerate(columns):
                values[place] += sign * stack.values[column]
    stacks = [StackValues(places, tuple(values)) for places, values in sums.items() if any(values)]
    return HeapProfile(second.path, second.tool, kinds, stacks, first.path)


def _unpacked(content: bytes) -> bytes:
    unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    found = unpacker.decompress(content, MOST_BYTES)
    if unpacker.unconsumed_tail:
        raise Malformed(f"it is larger than {MOST_BYTES} bytes")
    if not unpacker.eof:
        raise Malformed("it is cut off")
    return found


def heap_sites(
    profile: HeapProfile, wrappers: Wrappers
) -> list[tuple[Place | None, tuple[int, ...]]]:
    """The sums of each call site, by the first frame that is not a wrapper."""
    sums: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0] * len(profile.kinds))
    places: dict[tuple[str, str], Place | None] = {}
    for stack in profile.stacks:
        place = stack.places[wrappers.beyond(stack.places)] if stack.places else None
        key = (place.name, place.line) if place else ("", "")
        places.setdefault(key, place)
        sums[key] = [one + other for one, other in zip(sums[key], stack.values, strict=True)]
    return [(places[key], tuple(values)) for key, values in sums.items()]


class HeapProfileSite(msgspec.Struct, frozen=True):
    """values: as ``kinds`` of the document says."""

    place: SourcePlace
    values: list[int]


class ValueKind(msgspec.Struct, frozen=True):
    """The name and the unit of a value."""

    name: str
    unit: str


class HeapProfileDocument(msgspec.Struct, frozen=True):
    """A heap profile of another tool. lacks: what it cannot say."""

    tool: str
    kinds: list[ValueKind]
    totals: list[int]
    sites: list[HeapProfileSite]
    lacks: str
    kind: str = "heap_profile"


def heap_profile_document(profile: HeapProfile, wrappers: Wrappers) -> HeapProfileDocument:
    return HeapProfileDocument(
        profile.tool,
        [ValueKind(*kind) for kind in profile.kinds],
        profile.totals(),
        [
            HeapProfileSite(source_place(place), list(values))
            for place, values in heap_sites(profile, wrappers)
        ],
        LACKS,
    )
