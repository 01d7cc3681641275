"""Stands in front of the linker while a program is built for ``--relink``.

The user's build calls the linker as always, and gets what it asked for. Then the same link is done
again under other layouts: the object files in random order, and padding between them. It is done at
once because compilers delete their temporary objects. The file is run by its path, for each link,
so it needs nothing but the standard library.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

FOLDER, PROGRAM, LAYOUTS = (
    "HEAPWISE_RELINK_FOLDER",
    "HEAPWISE_RELINK_PROGRAM",
    "HEAPWISE_RELINK_LAYOUTS",
)
"""Variables of the build: where layouts go, the name of the program, and how many it gets."""

TOOLS = "HEAPWISE_RELINK_TOOLS"
"""The folder of the files that call this one."""

DIRECTORIES = "HEAPWISE_RELINK_B"
"""The folders of -B, in which a compiler was told to look for its linker."""

RECORD = "link.json"

UNWANTED = {"-r", "-i", "--relocatable", "-shared", "--shared", "-Bshareable"}
"""Links whose result is not a program."""

VALUED = {
    *("-o", "-T", "-m", "-L", "-l", "-z", "-u", "-e", "-h", "-R", "-I", "-y", "-Y", "-A", "-b"),
    *("-rpath", "-soname", "-dynamic-linker", "-plugin", "-Map", "-init", "-fini", "--output"),
}
"""Options whose value is the next word."""

STARTS = ("crt", "Scrt", "gcrt", "rcrt", "Mcrt", "grcrt")
"""Names of objects of the C library and the compiler that have their place in the order."""

CODE = (".text.unlikely", ".text.startup", ".text.hot", ".text")
"""Sections that are padded: GNU ld sorts them apart."""

STEP = 16
"""Functions are aligned to this many bytes, so less padding changes nothing."""

FIRST_STEPS, OTHER_STEPS = 256, 8
"""Padding before the first object is up to a page; before others it is up to two cache lines."""

MOST_PADS = 64
PROPERTY = ".note.gnu.property"


def main(words: Sequence[str]) -> int:
    """words: the name of the linker, and its arguments."""
    name, *arguments = words
    real = _real(name)
    if real is None:
        print(f"{name}: not found", file=sys.stderr)
        return 127
    code = subprocess.run([real, *arguments], check=False).returncode
    expanded = expand(arguments)
    output = output_of(expanded)
    if code == 0 and FOLDER in os.environ and is_wanted(expanded, output, os.environ[PROGRAM]):
        folder = Path(tempfile.mkdtemp(dir=os.environ[FOLDER]))
        found = relink(real, name, expanded, Path(output), folder, int(os.environ[LAYOUTS]))
        (folder / RECORD).write_text(json.dumps(found))
    return code


def _real(name: str) -> str | None:
    """The linker that would have been called."""
    own = Path(os.environ.get(TOOLS, ""))
    places = f"{os.environ.get(DIRECTORIES, '')}:{os.environ.get('PATH', '')}".split(":")
    for place in filter(None, places):
        path = Path(place) / name
        if path.parent.resolve() != own.resolve() and os.access(path, os.X_OK):
            return str(path)
    return None


def expand(arguments: Sequence[str]) -> list[str]:
    """With the words of ``@file`` in its place."""
    import shlex

    found: list[str] = []
    for word in arguments:
        path = Path(word[1:])
        if word[:1] == "@" and path.is_file():
            found += expand(shlex.split(path.read_text(errors="surrogateescape")))
        else:
            found.append(word)
    return found


def output_of(arguments: Sequence[str]) -> str:
    for place, word in enumerate(arguments):
        if word in {"-o", "--output"} and place + 1 < len(arguments):
            return arguments[place + 1]
        if word.startswith("--output="):
            return word.partition("=")[2]
        if word.startswith("-o") and len(word) > 2 and not word.startswith("-oformat"):
            return word[2:]
    return "a.out"


def is_wanted(arguments: Sequence[str], output: str, program: str) -> bool:
    """Whether the result may be the program: builds link many others, such as tests. Cargo writes
    ``my_app-1f2e`` first, libtool ``.libs/lt-app``."""
    if UNWANTED & {*arguments}:
        return False
    found, wanted = (Path(name).name.replace("-", "_").lower() for name in (output, program))
    return wanted in found or found == "a.out"


def relink(
    real: str, name: str, arguments: Sequence[str], output: Path, folder: Path, layouts: int
) -> dict[str, object]:
    """What became of the layouts; ``error`` is "" if all were made."""
    found: dict[str, object] = {
        "output": str(output.absolute()),
        "sha256": hashlib.sha256(output.read_bytes()).hexdigest(),
        "linker": name,
        "error": "",
    }
    try:
        original = Elf(output.read_bytes())
        plan = Link.of(arguments, name)
        found |= {"objects": plan.movable, "functions": len(original.functions)}
        found["moved"] = min(
            (_one(real, plan, original, folder, layout) for layout in range(layouts)), default=0
        )
        found["method"] = plan.method
    except (NoLayout, OSError, ValueError, struct.error) as error:
        found["error"] = str(error)
    return found


class NoLayout(Exception):
    """A layout could not be made; the text says why."""


def _one(real: str, plan: Link, original: Elf, folder: Path, layout: int) -> int:
    """How many functions have another address within their page of 4 KiB than in the build."""
    target = folder / str(layout)
    side = Path(os.environ.get(FOLDER, "")).parent.name  # no layout of the base is of the new build
    for shuffles in (True, False):
        words = plan.words(random.Random(f"{side} {layout}"), folder, target, shuffles=shuffles)
        done = subprocess.run(
            [real, *words], check=False, capture_output=True, text=True, errors="replace"
        )
        if done.returncode == 0:
            linked = Elf(target.read_bytes())
            if original.has_same_functions(linked):
                target.chmod(0o755)
                return original.moved(linked)
            why = "the linker made other functions of the same objects"
        else:
            why = done.stderr.strip()[-1000:]
    raise NoLayout(f"layout {layout}: {why}")


@dataclass(frozen=True)
class Link:
    """The arguments of one link. runs: places of objects that stand side by side and may change
    places. fixed: of those, the ones whose order matters. sample: an object of the program."""

    arguments: list[str]
    runs: list[list[int]]
    fixed: frozenset[int]
    sample: bytes
    by_section: bool

    @classmethod
    def of(cls, arguments: Sequence[str], name: str) -> Link:
        words = without_side_files(arguments)
        places = [
            place
            for place, word in enumerate(words)
            if word.endswith((".o", ".obj", ".lo"))
            and not word.startswith("-")
            and (place == 0 or words[place - 1] not in VALUED)
            and not Path(word).name.startswith(STARTS)
        ]
        if not places:
            raise NoLayout("the link has no object file whose place could change")
        runs: list[list[int]] = []
        for place in places:
            if runs and runs[-1][-1] == place - 1:
                runs[-1].append(place)
            else:
                runs.append([place])
        fixed, sample = set(), b""
        for place in places:
            data = Path(words[place]).read_bytes()
            sections = Elf(data).names if data.startswith(b"\x7fELF") else None
            if sections is None or any(_is_ordered(section) for section in sections):
                fixed.add(place)
            if sections is not None and not sample:
                sample = data
        if not sample:
            raise NoLayout("no object file of the link is an ELF file")
        return cls(words, runs, frozenset(fixed), sample, "lld" in name)

    @property
    def movable(self) -> int:
        return sum(len(run) for run in self.runs)

    @property
    def method(self) -> str:
        ways = ["padding"]
        if any(len([p for p in run if p not in self.fixed]) > 1 for run in self.runs):
            ways.insert(0, "order of objects")
        if self.by_section:
            ways.insert(0, "order of functions")
        return ", ".join(ways)

    def words(
        self, chance: random.Random, folder: Path, output: Path, *, shuffles: bool
    ) -> list[str]:
        """The arguments of the link under another layout."""
        order = list(self.arguments)
        pads: dict[int, str] = {}
        symbols: list[str] = []
        for run in self.runs:
            loose = [place for place in run if place not in self.fixed]
            mixed = chance.sample(loose, len(loose)) if shuffles else loose
            for place, source in zip(loose, mixed, strict=True):
                order[place] = self.arguments[source]
            for place in run:
                if len(pads) < MOST_PADS:
                    steps = OTHER_STEPS if pads else FIRST_STEPS
                    sizes = [STEP * chance.randrange(steps) for _ in CODE]
                    names = [f"__heapwise_padding_{len(pads)}_{part}" for part in range(len(CODE))]
                    path = folder / f"padding_{len(pads)}.o"
                    path.write_bytes(padding_object(self.sample, sizes, names))
                    pads[place] = str(path)
                    symbols += names
        found: list[str] = []
        for place, word in enumerate(order):
            found += [pads[place], word] if place in pads else [word]
        found = _with_output(found, str(output))
        keeps = [word for symbol in symbols for word in ("-u", symbol)]
        if self.by_section and shuffles:
            keeps.append(f"--shuffle-sections=.text*={chance.randrange(1, 1 << 31)}")
        return [*keeps, *found]


def _is_ordered(section: str) -> bool:
    """Constructors run in the order of the link. Objects of link-time optimisation are made new."""
    return section.startswith((".init_array", ".ctors", ".fini_array", ".dtors", ".gnu.lto_"))


def without_side_files(arguments: Sequence[str]) -> list[str]:
    """Without maps and other files that the link writes beside its output."""
    found: list[str] = []
    skips = False
    for word in arguments:
        if skips:
            skips = False
        elif word in {"-Map", "--Map", "--dependency-file"}:
            skips = True
        elif not word.startswith(("-Map=", "--Map=", "--dependency-file=")):
            found.append(word)
    return found


def _with_output(arguments: list[str], output: str) -> list[str]:
    found: list[str] = []
    skips = False
    for word in arguments:
        if skips:
            skips = False
        elif word in {"-o", "--output"}:
            skips = True
        elif not (
            word.startswith("--output=") or (word.startswith("-o") and "oformat" not in word)
        ):
            found.append(word)
    return [*found, "-o", output]


HEADER, SECTION, SYMBOL = (
    struct.Struct("<16sHHIQQQIHHHHHH"),
    struct.Struct("<IIQQQQIIQQ"),
    struct.Struct("<IBBHQQ"),
)
PROGBITS, SYMTAB, STRTAB, NOTE = 1, 2, 3, 7
FUNCTION = 2


class Elf:
    """What is needed of an ELF file of 64 bit, least byte first."""

    def __init__(self, data: bytes) -> None:
        if data[:6] != b"\x7fELF\x02\x01":
            raise NoLayout("only ELF files of 64 bit, least byte first, can be linked again")
        self.data = data
        self.header = HEADER.unpack_from(data)
        at, size, count, names = self.header[6], *self.header[11:14]
        self.sections = [SECTION.unpack_from(data, at + size * k) for k in range(count)]
        table = self.sections[names] if count else None
        self.names = [self._string(table, s[0]) for s in self.sections] if table else []

    def _string(self, table: tuple[int, ...], at: int) -> str:
        begin = table[4] + at
        return self.data[begin : self.data.index(b"\0", begin)].decode(errors="replace")

    def contents(self, name: str) -> bytes:
        """The bytes of a section; empty without it."""
        if name not in self.names:
            return b""
        section = self.sections[self.names.index(name)]
        return self.data[section[4] : section[4] + section[5]]

    @property
    def functions(self) -> dict[tuple[str, int], list[int]]:
        """Name and size of each function of the program -> its addresses. Empty if stripped."""
        found: dict[tuple[str, int], list[int]] = {}
        for section in self.sections:
            if section[1] == SYMTAB:
                table = self.sections[section[6]]
                for at in range(section[4], section[4] + section[5], SYMBOL.size):
                    name, info, _, index, value, size = SYMBOL.unpack_from(self.data, at)
                    if info & 15 == FUNCTION and index and size:
                        found.setdefault((self._string(table, name), size), []).append(value)
        return found

    def has_same_functions(self, other: Elf) -> bool:
        """Whether both have the same. It is taken for granted of stripped files."""
        return {key: len(at) for key, at in self.functions.items()} == {
            key: len(at) for key, at in other.functions.items()
        }

    def moved(self, other: Elf) -> int:
        theirs = other.functions
        return sum(
            sorted(value % 4096 for value in at) != sorted(value % 4096 for value in theirs[key])
            for key, at in self.functions.items()
        )


def padding_object(sample: bytes, sizes: Sequence[int], symbols: Sequence[str]) -> bytes:
    """An object of the machine of ``sample`` with this many bytes in each section of code, and a
    hidden symbol at each of them, which keeps the section in the program."""
    model = Elf(sample)
    parts = [
        (name, PROGBITS, 6, bytes(size), 1, 0, 0, 0) for name, size in zip(CODE, sizes, strict=True)
    ]
    if note := model.contents(PROPERTY):  # without it the linker drops what it says of all objects
        parts.append((PROPERTY, NOTE, 2, note, 8, 0, 0, 0))
    parts.append((".note.GNU-stack", PROGBITS, 0, b"", 1, 0, 0, 0))
    strings, table = b"\0", SYMBOL.pack(0, 0, 0, 0, 0, 0)
    for place, symbol in enumerate(symbols):
        table += SYMBOL.pack(len(strings), 1 << 4, 2, place + 1, 0, 0)
        strings += symbol.encode() + b"\0"
    parts += [
        (".symtab", SYMTAB, 0, table, 8, len(parts) + 2, 1, SYMBOL.size),
        (".strtab", STRTAB, 0, strings, 1, 0, 0, 0),
    ]
    names = b"\0" + b"".join(part[0].encode() + b"\0" for part in parts) + b".shstrtab\0"
    parts.append((".shstrtab", STRTAB, 0, names, 1, 0, 0, 0))
    body, headers, at = b"", SECTION.pack(*(0,) * 10), 1
    for name, kind, flags, data, align, link, info, entry in parts:
        body += bytes(-(HEADER.size + len(body)) % 8)
        headers += SECTION.pack(
            at, kind, flags, 0, HEADER.size + len(body), len(data), link, info, align, entry
        )
        body, at = body + data, at + len(name) + 1
    body += bytes(-(HEADER.size + len(body)) % 8)
    head = model.header
    first = HEADER.pack(
        head[0], 1, head[2], 1, 0, 0, HEADER.size + len(body), head[7], 64, 0, 0, 64,
        len(parts) + 1, len(parts),
    )  # fmt: skip
    return first + body + headers


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
