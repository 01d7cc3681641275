"""Operators new and delete: those that a program replaces, and those that find no memory.

What happens under the C library is what has to happen under the heap.
"""

from __future__ import annotations

import shutil
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
PLUGIN = ["-shared", "-fPIC"]
STATIC_RUNTIME = ["-static-libstdc++"]
LLVM = "clang++-16"  # Debian's libc++ that is in tools/packages

Linked = Callable[..., Path]


@pytest.fixture(scope="session")
def linked(native: Path, compiled: Any) -> Linked:
    """Compiles a program and links it with the library."""

    def build(source: Path, *flags: str) -> Path:
        folder = f"-L{native}", f"-Wl,-rpath,{native}"
        program: Path = compiled(source, *flags, *folder, "-lheapwise-malloc")
        return program

    return build


@pytest.mark.parametrize("pair", range(4))
def test_derived_operators_call_those_that_the_program_replaced(
    host: Any, profile: Any, compiled: Any, pair: int
) -> None:
    program = compiled(HERE / "replaced.cpp", f"-DREPLACED={pair}", "-Wno-mismatched-new-delete")
    wanted = host.run(program)
    done = profile.run(program)
    assert (wanted.status, wanted.err) == (0, "")
    assert (done.status, done.out, done.err) == (0, wanted.out, "")


@pytest.mark.parametrize("pair", range(4))
def test_they_do_so_in_a_program_that_is_linked_with_the_library(
    host: Any, compiled: Any, linked: Linked, pair: int
) -> None:
    flags = f"-DREPLACED={pair}", "-Wno-mismatched-new-delete"
    wanted = host.run(compiled(HERE / "replaced.cpp", *flags))
    done = host.run(linked(HERE / "replaced.cpp", *flags))
    assert (done.status, done.out, done.err) == (0, wanted.out, "")


def test_they_call_those_of_a_library_that_is_preloaded_in_front(
    profile: Any, compiled: Any
) -> None:
    tracker = compiled(HERE / "tracker.cpp", *PLUGIN)
    program = compiled(HERE / "replaced.cpp", "-DREPLACED=2", "-Wno-mismatched-new-delete")
    done = profile.run(program, LD_PRELOAD=f"{tracker}:{profile.library}")
    assert (done.status, done.err) == (0, "")


@pytest.fixture(scope="session")
def without_memory(host: Any, compiled: Any) -> bytes:
    """What the program prints under the C library."""
    done = host.run(compiled(HERE / "no_memory.cpp"))
    assert (done.status, done.err) == (0, "")
    assert b"bad_alloc" in done.out
    out: bytes = done.out
    return out


def test_operators_without_memory(profile: Any, compiled: Any, without_memory: bytes) -> None:
    done = profile.run(compiled(HERE / "no_memory.cpp"))
    assert (done.status, done.out, done.err) == (0, without_memory, "")


@pytest.mark.parametrize("flags", [[], STATIC_RUNTIME], ids=["shared", "static"])
def test_a_plugin_may_bring_the_runtime_for_itself(
    profile: Any, compiled: Any, without_memory: bytes, flags: list[str]
) -> None:
    plugin = compiled(HERE / "no_memory.cpp", *PLUGIN, *flags)
    done = profile.run(compiled(HERE / "host.c"), plugin)
    assert (done.status, done.out, done.err) == (0, without_memory, "")


@pytest.mark.parametrize("flags", [[], STATIC_RUNTIME], ids=["shared", "static"])
def test_a_program_that_is_linked_with_the_library(
    host: Any, linked: Linked, without_memory: bytes, flags: list[str]
) -> None:
    done = host.run(linked(HERE / "no_memory.cpp", *flags))
    assert (done.status, done.out, done.err) == (0, without_memory, "")
    done = host.run(linked(HERE / "few_names.cpp", *flags))
    assert (done.status, done.out, done.err) == (0, b"bad_alloc\n", "")


@pytest.mark.parametrize("flags", [[], PLUGIN], ids=["program", "plugin"])
def test_the_runtime_of_llvm(
    profile: Any, compiled: Any, without_memory: bytes, tmp_path: Path, flags: list[str]
) -> None:
    assert shutil.which(LLVM), f"{LLVM} is not installed"
    built = tmp_path / "built"
    source = HERE / "no_memory.cpp"
    command = [LLVM, "-std=c++20", "-stdlib=libc++", *flags, source, "-o", built]
    done = replace(profile, library=None).run(*command)
    assert done.status == 0, done.err
    ran = [compiled(HERE / "host.c"), built] if flags else [built]
    done = profile.run(*ran)
    assert (done.status, done.out, done.err) == (0, without_memory, "")


def test_a_process_without_a_runtime_ends_with_a_message(profile: Any, compiled: Any) -> None:
    """Nobody catches there. The forms that throw nothing return NULL."""
    program = compiled(HERE / "no_runtime.c")
    assert profile.run(program, "nothrow").status == 0
    done = profile.run(program, "throwing")
    assert done.status == -signal.SIGABRT
    assert "bad_alloc" in done.err
