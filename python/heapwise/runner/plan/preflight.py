"""Can malloc be replaced in this program at all (V2)? Decided before anything is measured."""

from __future__ import annotations

import os
import shlex
import stat
import sys
from dataclasses import dataclass, field
from pathlib import Path

from heapwise.catalog import C_LIBRARY, ElfFacts, linked_allocator, read_elf
from heapwise.errors import Problem
from heapwise.model import Check
from heapwise.runner.process.script import find_program, interpreter_chain

SANITIZERS = ("asan", "tsan", "msan", "lsan", "hwasan", "ubsan_standalone")
OF_OTHER_USERS = ("sudo", "doas", "pkexec")
"""Programs that start the words after them as another user."""

TITLE = "The program's malloc can be replaced"
IMPOSSIBLE = {"E020", "E022", "E025", "E027"}
"""Obstacles with which no library is ever loaded. With the others, a library is loaded, and those
calls of malloc that reach it are measured; V1 fails if none can."""


@dataclass(frozen=True)
class Preflight:
    """``program`` is the absolute path, ``image`` the ELF file that counts.

    ``own_allocator`` says that malloc, as it is, does not come from the C library. ``linked`` is
    the library that it comes from then, in whose place another one can be preloaded.
    """

    program: Path
    image: Path
    sentence: str
    checks: list[Check] = field(default_factory=list)
    own_allocator: bool = False
    linked: str = ""


def preflight(name: str, *, force: bool = False) -> Preflight:
    """Problems E010 and E02x; with ``force`` the latter become a V2 that warns or fails."""
    program = find_program(name)
    chain = interpreter_chain(program)
    image = chain[-1]
    facts = read_elf(image, symbols=True)
    via = f"script run by {image}, which is what counts; " if len(chain) > 1 else ""
    problem = obstacle(name if len(chain) == 1 else str(image), image, facts)
    if problem is None:
        return _supported(program, image, facts, via)
    if not force or facts is None:
        raise problem
    sentence = f"{via}{problem.what}; measured nevertheless"
    return Preflight(program, image, sentence, [_forced(problem)], True)


def look(name: str) -> Preflight:
    """Looks at a program that keeps the malloc it has, so that nothing is an obstacle. Problems:
    E010, and E026 for a file that the kernel does not start."""
    program = find_program(name)
    chain = interpreter_chain(program)
    if read_elf(chain[-1]) is None:
        raise _not_a_program(str(chain[-1]))
    via = f"script run by {chain[-1]}, " if len(chain) > 1 else ""
    own = Check(
        "V2", TITLE, "unavailable", "Does not apply: each program ran with the malloc that it has."
    )
    return Preflight(program, chain[-1], f"{via}with the malloc that it has", [own], True)


def _not_a_program(name: str) -> Problem:
    return Problem(
        "E026",
        f"{name} is not an ELF program and has no interpreter line",
        do="begin the script with a line such as #!/bin/sh, or name its interpreter before it: "
        f"sh {shlex.quote(name)}",
    )


def obstacle(name: str, image: Path, facts: ElfFacts | None) -> Problem | None:
    """The first reason for which preloading cannot work, with the way out."""
    if facts is None:
        return _not_a_program(name)
    for look in (_architecture, _privileged, _sanitizer, _go, _static, _musl, _own_allocator):
        if problem := look(name, image, facts):
            return problem
    return None


def _forced(problem: Problem) -> Check:
    if problem.id in IMPOSSIBLE:
        return Check(
            "V2",
            TITLE,
            "fail",
            f"Impossible: {problem.what}. It was measured "
            "nevertheless, but no allocator can be loaded into it.",
        )
    return Check(
        "V2",
        TITLE,
        "warn",
        f"Partial: {problem.what}. It was measured "
        "nevertheless. Only those of its calls that reach the loaded malloc are measured "
        "with the allocators.",
    )


def _supported(program: Path, image: Path, facts: ElfFacts | None, via: str) -> Preflight:
    assert facts is not None
    notes = []
    if "malloc" not in facts.wanted:
        notes.append("it does not call malloc itself, only libraries do")
    if via:
        notes.append("programs that the script starts are measured with it")
    linked = linked_allocator(image, facts)
    source = f"malloc from {linked or C_LIBRARY}"
    sentence = f"{via}dynamic ELF, {source}, can be replaced"
    detail = f"{image}: dynamic ELF, {source}" + "".join(f"; {note}" for note in notes)
    check = Check("V2", TITLE, "pass", f"{detail}.")
    return Preflight(program, image, sentence, [check], bool(linked), linked)


def _architecture(name: str, image: Path, facts: ElfFacts) -> Problem | None:
    own = read_elf(sys.executable)
    if own is None or (facts.machine, facts.bits) == (own.machine, own.bits):
        return None
    return Problem(
        "E025",
        f"{name} is built for {facts.machine} ({facts.bits} bit), "
        f"the allocators here for {own.machine} ({own.bits} bit)",
    )


def _privileged(name: str, image: Path, facts: ElfFacts) -> Problem | None:
    mode = image.stat().st_mode
    if mode & stat.S_ISUID or (mode & stat.S_ISGID and mode & stat.S_IXGRP):
        bit = "setuid" if mode & stat.S_ISUID else "setgid"
        if Path(name).name in OF_OTHER_USERS:
            return Problem(
                "E022",
                f"{name} is {bit}, and starts other programs",
                do=f"let it start heapwise: {Path(name).name} heapwise VERB -- PROGRAM",
            )
        return Problem("E022", f"{name} is {bit}")
    try:
        capable = bool(os.getxattr(image, "security.capability"))
    except OSError:
        return None
    return Problem("E022", f"{name} has file capabilities") if capable else None


def _sanitizer(name: str, image: Path, facts: ElfFacts) -> Problem | None:
    symbols = sorted(word for word in facts.defined | facts.wanted if word.startswith("__"))
    libraries = [
        library
        for library in facts.needed
        if any(f"lib{word}." in library or f"clang_rt.{word}" in library for word in SANITIZERS)
    ]
    if not symbols and not libraries:
        return None
    return Problem("E024", f"{name} is built with a sanitizer ({(symbols + libraries)[0]})")


def _go(name: str, image: Path, facts: ElfFacts) -> Problem | None:
    return Problem("E023", f"{name} is a Go program") if facts.go else None


def is_loader(facts: ElfFacts) -> bool:
    """Whether it is glibc's loader. It runs the program that its first argument names, and loads
    what LD_PRELOAD names into it (ld.so(8))."""
    return facts.soname.startswith(("ld-linux", "ld64", "ld.so"))


def _static(name: str, image: Path, facts: ElfFacts) -> Problem | None:
    if facts.interpreter or is_loader(facts):
        return None
    kind = "a static position-independent program" if facts.dynamic else "statically linked"
    return Problem("E020", f"{name} is {kind}")


def _musl(name: str, image: Path, facts: ElfFacts) -> Problem | None:
    if "ld-musl" not in facts.interpreter:
        return None
    return Problem("E027", f"{name} is linked against musl ({facts.interpreter})")


def _own_allocator(name: str, image: Path, facts: ElfFacts) -> Problem | None:
    if is_loader(facts):
        return None  # glibc before 2.31 has a malloc in it, until that of the program is loaded
    symbols = sorted(word for word in facts.defined if not word.startswith("__"))
    if symbols:
        which = max(symbols, key=len)
        return Problem(
            "E021", f"{name} has its own allocator inside ({_maker(which)}symbol {which})"
        )
    return None


def _maker(symbol: str) -> str:
    makers = {
        "_rjem": "jemalloc, ",
        "je_": "jemalloc, ",
        "mi_": "mimalloc, ",
        "_mi_": "mimalloc, ",
        "tc_": "tcmalloc, ",
        "TCM": "tcmalloc, ",
        "sn_": "snmalloc, ",
        "rp": "rpmalloc, ",
        "scudo": "Scudo, ",
        "scalable": "tbbmalloc, ",
        "hoard": "Hoard, ",
    }
    return next((maker for start, maker in makers.items() if symbol.startswith(start)), "")
