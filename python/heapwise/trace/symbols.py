"""From return addresses to functions and source lines, as far as the files still have them."""

from __future__ import annotations

import shutil
import subprocess
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection


@dataclass(frozen=True)
class Place:
    """Where a call stands. function: empty if no symbol is known. line: ``file.c:12`` or empty."""

    module: str
    offset: int
    function: str = ""
    line: str = ""

    @property
    def name(self) -> str:
        """The function, or the file and the offset in it."""
        return self.function or f"{Path(self.module).name}+{self.offset:#x}"

    def __str__(self) -> str:
        return f"{self.name} ({self.line})" if self.line else self.name


@dataclass(frozen=True)
class Mapping:
    """A line of /proc/PID/maps: addresses of [start, end) hold the file from ``offset`` on."""

    start: int
    end: int
    offset: int
    path: str


def read_mappings(text: str) -> list[Mapping]:
    """Of code, in the order in which they were noted: later ones win."""
    found = []
    for line in text.splitlines():
        words = line.split(maxsplit=5)
        if len(words) == 6 and "-" in words[0]:
            start, _, end = words[0].partition("-")
            try:
                found.append(Mapping(int(start, 16), int(end, 16), int(words[2], 16), words[5]))
            except ValueError:
                continue
    return found


class Symbols:
    """Finds the places of addresses of one recorded process."""

    def __init__(self, maps: str) -> None:
        self._mappings = read_mappings(maps)
        self._modules: dict[str, Module] = {}
        self._places: dict[int, tuple[Place, ...]] = {}

    def learn(self, addresses: Iterable[int]) -> None:
        """Looks up many at once, which is what costs least."""
        wanted: dict[str, dict[int, int]] = defaultdict(dict)
        for address in set(addresses) - self._places.keys():
            mapping = self._mapping(address)
            if mapping is None:
                self._places[address] = (Place("", address),)
                continue
            # A return address follows the call: the byte before it belongs to the call.
            wanted[mapping.path][address] = address - 1 - mapping.start + mapping.offset
        for path, offsets in wanted.items():
            module = self._modules.setdefault(path, Module(Path(path)))
            self._places |= module.places(offsets)

    def place(self, address: int) -> Place:
        """Never fails: an address of nothing known is its own place."""
        return self.frames(address)[0]

    def frames(self, address: int) -> tuple[Place, ...]:
        """The place, and after it the functions into which it was inlined, the innermost first."""
        if address not in self._places:
            self.learn([address])
        return self._places[address]

    def _mapping(self, address: int) -> Mapping | None:
        return next((mapping for mapping in reversed(self._mappings)
                     if mapping.start <= address < mapping.end), None)


@dataclass
class Module:
    """An executable or a library."""

    path: Path

    def places(self, offsets: dict[int, int]) -> dict[int, tuple[Place, ...]]:
        """By address, of file offsets by address."""
        by_address = {address: self._virtual(offset) for address, offset in offsets.items()}
        lines = self._lines(sorted(set(by_address.values())))
        found = {}
        for address, virtual in by_address.items():
            found[address] = tuple(
                Place(str(self.path), virtual, function or self._symbol(virtual), line)
                for function, line in lines.get(virtual, [("", "")]))
        return found

    @cached_property
    def _segments(self) -> list[tuple[int, int, int]]:
        """(file offset, size, virtual address) of what is loaded."""
        try:
            with self.path.open("rb") as file:
                return [(s["p_offset"], s["p_filesz"], s["p_vaddr"])
                        for s in ELFFile(file).iter_segments("PT_LOAD")]
        except (OSError, ELFError):
            return []

    def _virtual(self, offset: int) -> int:
        for start, size, virtual in self._segments:
            if start <= offset < start + size:
                return int(offset - start + virtual)
        return offset

    @cached_property
    def _symbols(self) -> list[tuple[int, int, str]]:
        """(address, end, name), by address."""
        found = []
        try:
            with self.path.open("rb") as file:
                for section in ELFFile(file).iter_sections():
                    if isinstance(section, SymbolTableSection):
                        found += [
                            (s["st_value"], s["st_value"] + max(1, s["st_size"]), s.name)
                            for s in section.iter_symbols()
                            if s["st_info"]["type"] in ("STT_FUNC", "STT_GNU_IFUNC")
                            and s["st_value"]]
        except (OSError, ELFError):
            return []
        return sorted(found)

    def _symbol(self, virtual: int) -> str:
        at = bisect_right(self._symbols, (virtual, 1 << 64, "")) - 1
        if at < 0:
            return ""
        start, end, name = self._symbols[at]
        return demangled(name) if start <= virtual < end else ""

    def _lines(self, virtual: list[int]) -> dict[int, list[tuple[str, str]]]:
        """(function, file:line) by address, the innermost inlined function first, of addr2line
        where it is installed."""
        tool = shutil.which("addr2line")
        if tool is None or not virtual or not self.path.exists():
            return {}
        asked = "\n".join(f"{address:#x}" for address in virtual)
        try:
            said = subprocess.run([tool, "-a", "-i", "-f", "-C", "-e", str(self.path)], input=asked,
                                  text=True, capture_output=True, timeout=60, check=False,
                                  errors="replace").stdout.splitlines()
        except (OSError, subprocess.TimeoutExpired):
            return {}
        return {address: frames for address, answer in inlined_frames(said).items()
                if (frames := _known_frames(answer))}


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


def demangled(name: str) -> str:
    """With c++filt where it is installed."""
    tool = shutil.which("c++filt") if name.startswith("_Z") else None
    if tool is None:
        return name
    try:
        said = subprocess.run([tool, name], text=True, capture_output=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return name
    return said.stdout.strip() or name
