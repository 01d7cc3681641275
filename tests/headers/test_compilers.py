"""All public headers and templates compile with the compilers that distributions have, with their
usual libraries and options. A compiler that cannot is told in one message."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
INCLUDE = ROOT / "include"
INSTANTIATIONS = Path(__file__).with_name("instantiations.cpp")
AGGREGATES = Path(__file__).with_name("aggregates.cpp")
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]
PLAIN = ["-fno-exceptions", "-fno-rtti"]

# Chosen for what they lack: clang 14 has no aggregates with parentheses and no sized deallocation,
# and libc++ 16 has no atomic_ref.
QUICK = [
    ["clang++-14"],
    ["clang++-16", "-stdlib=libc++", *PLAIN],
    ["g++", "-fno-sized-deallocation", "-Wuseless-cast"],
]
LONG = [
    ["clang++-15"],
    ["clang++-16"],
    ["clang++-19", "-fno-sized-deallocation"],
    ["g++-11", *PLAIN],
    ["g++-11", "-std=c++23"],
]

MAIN_HEADERS = [
    "heapwise.hpp",
    "pool.hpp",
    "typed_pool.hpp",
    "arena.hpp",
    "heap.hpp",
    "gc.hpp",
    "hybrid.hpp",
    "adapt/std_allocator.hpp",
    "thread/thread_cached.hpp",
]


def complaints(command: list[str], source: str) -> str:
    """What the compiler says of a source that it refuses."""
    assert shutil.which(command[0]), f"{command[0]} is not installed"
    words = [command[0], "-std=c++20", *command[1:], "-fsyntax-only", f"-I{INCLUDE}"]
    done = subprocess.run([*words, "-x", "c++", "-"], input=source, capture_output=True, text=True)
    return done.stderr if done.returncode else ""


@pytest.mark.parametrize(
    "command",
    [*QUICK, *(pytest.param(each, marks=pytest.mark.long) for each in LONG)],
    ids=[" ".join(each) for each in [*QUICK, *LONG]],
)
def test_all_headers_compile(command: list[str]) -> None:
    headers = sorted(path for ending in ("hpp", "h") for path in INCLUDE.rglob(f"*.{ending}"))
    includes = "".join(f"#include <{path.relative_to(INCLUDE)}>\n" for path in headers)
    source = includes + INSTANTIATIONS.read_text() + AGGREGATES.read_text()
    assert complaints([*command, *WARNINGS], source) == ""


@pytest.mark.parametrize("compiler", ["g++", "clang++-14"])
@pytest.mark.parametrize("header", MAIN_HEADERS)
def test_an_older_standard_is_told_in_one_message(compiler: str, header: str) -> None:
    said = complaints([compiler, "-std=c++17"], f"#include <heapwise/{header}>\n")
    errors = [line for line in said.splitlines() if "error: " in line]
    assert len(errors) == 2, said
    assert "Heapwise needs C++20. Compile with -std=c++20 or newer." in errors[0]
    assert "compile with -std=c++20" in errors[1]
