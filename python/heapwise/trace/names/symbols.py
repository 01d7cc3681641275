"""From return addresses to functions and source lines, as far as the files still have them."""

from __future__ import annotations

import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from heapwise.trace.names.elf_tables import ElfTables
from heapwise.trace.names.module_identity import Match, ModuleIdentity
from heapwise.trace.names.perf_map import PerfMap
from heapwise.trace.names.replaced_bytes import file_of
from heapwise.trace.recording_texts import Modules
from heapwise.wording.lists import listed

if TYPE_CHECKING:
    from heapwise.trace.file import Trace


@dataclass(frozen=True)
class Place:
    """Where a call stands. function: empty if no symbol is known. line: ``file.c:12`` or empty.
    is_script: it is code of Python, which the interpreter runs."""

    module: str
    offset: int
    function: str = ""
    line: str = ""
    is_script: bool = False

    @property
    def name(self) -> str:
        """The function, or the file and the offset in it."""
        return self.function or f"{Path(self.module).name}+{self.offset:#x}"

    def __str__(self) -> str:
        return f"{self.name} ({self.line})" if self.line else self.name


@dataclass(frozen=True)
class Mapping:
    """A line of /proc/PID/maps: addresses of [start, end) hold the file from ``offset`` on.
    build_id: empty if it has none, or the trace does not say it."""

    start: int
    end: int
    offset: int
    path: str
    build_id: str = ""


BUILD_ID = "build-id"
PYTHON = "python "
"""Begins a line that says which frame of Python an address means."""


def read_mappings(text: str) -> list[Mapping]:
    """The mappings of code, in the order in which they were noted: later ones win. The build ids of
    all that is mapped stand before the lines of each look at the maps."""
    found: list[Mapping] = []
    ids: dict[int, str] = {}
    after_mapping = False
    for line in text.splitlines():
        words = line.split(maxsplit=5)
        try:
            if len(words) == 3 and words[0] == BUILD_ID:
                ids = {} if after_mapping else ids
                after_mapping = False
                ids[int(words[1], 16)] = words[2]
            elif len(words) == 6 and "-" in words[0]:
                start, end = (int(each, 16) for each in words[0].split("-"))
                build_id = next((own for at, own in ids.items() if start <= at < end), "")
                found.append(Mapping(start, end, int(words[2], 16), words[5], build_id))
                after_mapping = True
        except ValueError:
            continue
    return found


def read_python_frames(text: str) -> dict[int, Place]:
    """The addresses that stand for frames of Python: lines ``python ADDRESS NAME\\tFILE:LINE``."""
    found = {}
    for line in text.splitlines():
        address, _, meaning = line.removeprefix(PYTHON).partition(" ")
        name, tab, place = meaning.partition("\t")
        if not line.startswith(PYTHON) or not tab:
            continue
        file, _, number = place.rpartition(":")
        where = f"{Path(file).name}:{number}" if number != "0" else Path(file).name
        try:
            found[int(address, 16)] = Place(file, 0, name, where, is_script=True)
        except ValueError:
            continue
    return found


class Symbols:
    """Finds the places of addresses of one recorded process.

    A file that is not the recorded one any more gives no names: its addresses are offsets.
    """

    def __init__(self, modules: Modules) -> None:
        self._mappings = read_mappings(modules.maps)
        self._files = {each.path: each for each in modules.files or ()}
        self._is_noted = modules.files is not None
        self._modules: dict[tuple[str, str], Module] = {}
        self._places: dict[int, tuple[Place, ...]] = {
            address: (place,) for address, place in read_python_frames(modules.maps).items()
        }
        self._compiled = PerfMap.read(modules.perf_map) if modules.perf_map else None

    def learn(self, addresses: Iterable[int]) -> None:
        """Looks up many at once, which is what costs least."""
        wanted: dict[tuple[str, str], dict[int, int]] = defaultdict(dict)
        for address in set(addresses) - self._places.keys():
            mapping = self._mapping(address)
            if mapping is None:
                name = self._compiled.name(address - 1) if self._compiled else ""
                self._places[address] = (Place("", address, name),)
                continue
            # A return address follows the call: the byte before it belongs to the call.
            wanted[mapping.path, mapping.build_id][address] = (
                address - 1 - mapping.start + mapping.offset
            )
        for (path, build_id), offsets in wanted.items():
            self._places |= self._module(path, build_id).places(offsets)

    def notes(self, addresses: Iterable[int]) -> list[str]:
        """Sentences on the files of these addresses, if they have no names, or perhaps those of
        another build."""
        by_match: dict[Match, list[str]] = defaultdict(list)
        mappings = {mapping for address in addresses if (mapping := self._mapping(address))}
        for path, build_id in sorted({(each.path, each.build_id) for each in mappings}):
            by_match[self._module(path, build_id).match].append(Path(path).name)
        said = {
            Match.CHANGED: "is another build than the recorded one: call sites in it have no "
            "names, only offsets in the recorded file",
            Match.GONE: "is not there any more: call sites in it have no names, only offsets",
            Match.UNKNOWN: "may be another build than the recorded one, which this trace does not "
            "say",
        }
        return [
            f"{listed(sorted(by_match[match]))}: {text}"
            if len(by_match[match]) > 1
            else f"{by_match[match][0]} {text}"
            for match, text in said.items()
            if by_match[match]
        ]

    def place(self, address: int) -> Place:
        """Never fails: an address of nothing known is its own place."""
        return self.frames(address)[0]

    def frames(self, address: int) -> tuple[Place, ...]:
        """The place, and after it the functions into which it was inlined, the innermost first."""
        if address not in self._places:
            self.learn([address])
        return self._places[address]

    def _module(self, path: str, build_id: str) -> Module:
        identity = ModuleIdentity(build_id, self._files.get(path), self._is_noted)
        return self._modules.setdefault((path, build_id), Module(file_of(path), identity))

    def _mapping(self, address: int) -> Mapping | None:
        return next(
            (
                mapping
                for mapping in reversed(self._mappings)
                if mapping.start <= address < mapping.end
            ),
            None,
        )


def module_notes(trace: Trace) -> list[str]:
    """Sentences on the names of the call sites of a trace."""
    return Symbols(trace.modules).notes(trace.modules.sites)


@dataclass
class Module:
    """An executable or a library."""

    path: Path
    identity: ModuleIdentity

    @cached_property
    def match(self) -> Match:
        return self.identity.match(self.path)

    def places(self, offsets: dict[int, int]) -> dict[int, tuple[Place, ...]]:
        """By address, of file offsets by address."""
        if self.match in (Match.CHANGED, Match.GONE):
            return {
                address: (Place(str(self.path), offset),) for address, offset in offsets.items()
            }
        by_address = {address: self._virtual(offset) for address, offset in offsets.items()}
        virtuals = sorted(set(by_address.values()))
        lines = self._lines(virtuals)
        nameless = [
            each
            for each in virtuals
            if not all(function for function, _ in lines.get(each, [("", "")]))
        ]
        symbols = dict(
            zip(
                nameless, demangled([self._tables.function(each) for each in nameless]), strict=True
            )
        )
        return {
            address: tuple(
                Place(str(self.path), virtual, function or symbols[virtual], line)
                for function, line in lines.get(virtual, [("", "")])
            )
            for address, virtual in by_address.items()
        }

    @cached_property
    def _tables(self) -> ElfTables:
        return ElfTables(self.path)

    def _virtual(self, offset: int) -> int:
        for start, size, virtual in self._tables.loaded:
            if start <= offset < start + size:
                return offset - start + virtual
        return offset

    def _lines(self, virtual: list[int]) -> dict[int, list[tuple[str, str]]]:
        """(function, file:line) by address, the innermost inlined function first, of addr2line
        where it is installed."""
        tool = shutil.which("addr2line")
        if tool is None or not virtual or not self._tables.has_lines:
            return {}
        asked = "\n".join(f"{address:#x}" for address in virtual)
        try:
            said = subprocess.run(
                [tool, "-a", "-i", "-f", "-C", "-e", str(self.path)],
                input=asked,
                text=True,
                capture_output=True,
                timeout=60,
                check=False,
                errors="replace",
            ).stdout.splitlines()
        except (OSError, subprocess.TimeoutExpired):
            return {}
        return {
            address: frames
            for address, answer in inlined_frames(said).items()
            if (frames := _known_frames(answer))
        }


def inlined_frames(said: list[str]) -> dict[int, list[tuple[str, str]]]:
    """What ``addr2line -a -i -f`` says: an address, then a function and a line for each frame."""
    found: dict[int, list[tuple[str, str]]] = {}
    frames: list[tuple[str, str]] = []
    waiting: str | None = None
    for text in said:
        if waiting is not None:
            frames.append((waiting, text))
            waiting = None
        elif text.startswith("0x"):
            frames = found.setdefault(int(text, 16), [])
        else:
            waiting = text
    return found


def _known_frames(frames: list[tuple[str, str]]) -> list[tuple[str, str]]:
    found = []
    for function, line in frames:
        place = line.partition(" (")[0]
        # Without debug information it names the nearest symbol, however far that is.
        if not place.startswith("??") and not place.endswith((":?", ":0")):
            found.append((function, Path(place).name))
    return found


def demangled(names: Sequence[str]) -> list[str]:
    """With c++filt where it is installed."""
    mangled = [name for name in names if name.startswith("_Z")]
    tool = shutil.which("c++filt") if mangled else None
    if tool is None:
        return list(names)
    try:
        said = subprocess.run(
            [tool],
            input="".join(f"{name}\n" for name in mangled),
            text=True,
            capture_output=True,
            timeout=60,
            check=False,
        ).stdout.splitlines()
    except (OSError, subprocess.TimeoutExpired):
        return list(names)
    clear = dict(zip(mangled, said, strict=False))
    return [clear.get(name, name) or name for name in names]
