"""Every public header compiles alone by two compilers: as C++20, the C ones also as C89 and C99.

A header is included twice, so a missing include guard shows. All headers together and explicit
instantiations of all public templates compile without exceptions and RTTI too.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
INCLUDE = ROOT / "include"
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]
CXX_COMPILERS = ["g++", "clang++-19"]
C_COMPILERS = ["gcc", "clang-19"]
C89 = ["-x", "c", "-std=c89", "-pedantic-errors", "-Wstrict-prototypes"]
C99 = ["-x", "c", "-std=c99", "-pedantic-errors", "-Wstrict-prototypes"]
CXX20 = ["-x", "c++", "-std=c++20"]
PLAIN = [*CXX20, "-fno-exceptions", "-fno-rtti"]
INSTANTIATIONS = Path(__file__).with_name("instantiations.cpp")

HPP = sorted(path.relative_to(INCLUDE).as_posix() for path in INCLUDE.rglob("*.hpp"))
H = sorted(path.relative_to(INCLUDE).as_posix() for path in INCLUDE.rglob("*.h"))

CASES = [
    *((header, compiler, CXX20) for header in HPP for compiler in CXX_COMPILERS),
    *((header, compiler, CXX20) for header in H for compiler in CXX_COMPILERS),
    *((header, compiler, C89) for header in H for compiler in C_COMPILERS),
    *((header, compiler, C99) for header in H for compiler in C_COMPILERS),
]


def complaints(header: str, compiler: str, language: list[str], include: Path) -> str:
    """What the compiler says of a source that has nothing but the header, twice."""
    source = f"#include <{header}>\n#include <{header}>\nextern int not_empty;\n"
    return complaints_of_source(source, compiler, language, include)


def complaints_of_source(source: str, compiler: str, language: list[str], include: Path) -> str:
    """What the compiler says of a source."""
    assert shutil.which(compiler), f"{compiler} is not installed"
    command = [compiler, *language, *WARNINGS, "-fsyntax-only", f"-I{include}", "-"]
    done = subprocess.run(command, input=source, capture_output=True, text=True)
    return done.stderr if done.returncode else ""


def is_read_elsewhere(header: str, compiler: str) -> bool:
    """clang reads all headers at once, in `make test` too; then `make test-long` reads each."""
    return compiler == "clang++-19" and header != "heapwise/heapwise.hpp"


@pytest.mark.parametrize(
    ("header", "compiler", "language"),
    [
        pytest.param(*case, marks=pytest.mark.long) if is_read_elsewhere(*case[:2]) else case
        for case in CASES
    ],
    ids=[f"{header}-{compiler}-{language[2][5:]}" for header, compiler, language in CASES],
)
def test_compiles_alone(header: str, compiler: str, language: list[str]) -> None:
    assert complaints(header, compiler, language, INCLUDE) == ""


@pytest.mark.parametrize("compiler", CXX_COMPILERS)
@pytest.mark.parametrize("language", [CXX20, PLAIN], ids=["usual", "plain"])
def test_templates_are_instantiated_as_a_whole(compiler: str, language: list[str]) -> None:
    everything = "".join(f"#include <{header}>\n" for header in [*HPP, *H])
    source = everything + INSTANTIATIONS.read_text()
    assert complaints_of_source(source, compiler, language, INCLUDE) == ""


def test_the_namespace_of_the_pools_has_the_version() -> None:
    """Two versions in one process must not share a symbol: their layouts may differ."""
    project = (ROOT / "CMakeLists.txt").read_text()
    version = re.search(r"^  VERSION (\d+)\.(\d+)", project, re.M)
    assert version
    wanted = f"inline v{version[1]}_{version[2]}"
    others = ("heap.hpp", "hybrid", "detail/heap_", "detail/size_classes", "detail/config.hpp")
    headers = [header for header in HPP if not header.removeprefix("heapwise/").startswith(others)]
    assert "heapwise/pool.hpp" in headers
    for header in headers:
        opened = re.findall(r"^namespace heapwise(.*) {$", (INCLUDE / header).read_text(), re.M)
        assert opened or header in ("heapwise/heapwise.hpp", "heapwise/standard.hpp"), header
        assert all(each in (f"::{wanted}", f"::detail::{wanted}") for each in opened), header


def test_there_are_headers() -> None:
    assert HPP
    assert H


@pytest.mark.parametrize(
    ("name", "text", "compiler", "language"),
    [
        ("needs_more.hpp", "#pragma once\nstd::size_t size();\n", "g++", CXX20),
        ("no_guard.hpp", "struct twice {};\n", "clang++-19", CXX20),
        ("narrows.hpp", "#pragma once\ninline char f(int i) { return i; }\n", "g++", CXX20),
        ("comment.h", "// not in C89\nint f(void);\n", "gcc", C89),
        ("inline.h", "inline int f(void) { return 0; }\n", "clang-19", C89),
        ("old.h", "int f();\n", "gcc", C99),
    ],
)
def test_a_bad_header_is_caught(
    tmp_path: Path, name: str, text: str, compiler: str, language: list[str]
) -> None:
    (tmp_path / name).write_text(text)
    assert complaints(name, compiler, language, tmp_path)
