"""A library that was built for debugging is known by its code. Each is compiled by the test."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from heapwise.catalog import installed_peers
from heapwise.catalog.build_quality import build_quality

SOURCE = """
#include <assert.h>
#include <stddef.h>
static char memory[1 << 20];
static size_t used;
#define CHECK(x) assert((x)); assert(used <= sizeof memory); assert((used & 15) == 0)
void *malloc(size_t size) {
  CHECK(size < sizeof memory); void *p = memory + used; used += (size + 15) & ~(size_t)15; return p;
}
void free(void *p) { CHECK(p != memory - 1); }
void *calloc(size_t n, size_t size) { CHECK(n * size >= n || size == 0); return malloc(n * size); }
void *realloc(void *p, size_t size) { CHECK(size < sizeof memory); free(p); return malloc(size); }
"""
COMPILERS = [name for name in ("gcc", "clang-19", "clang") if shutil.which(name)]


def library(folder: Path, compiler: str, *flags: str) -> Path:
    (folder / "toy.c").write_text(SOURCE)
    out = folder / "libtoy.so"
    subprocess.run(
        [compiler, *flags, "-fno-builtin", "-fPIC", "-shared", "-o", out, folder / "toy.c"],
        check=True,
    )
    return out


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize(
    ("flags", "unoptimised"),
    [
        (["-O0"], True),
        (["-O0", "-fcf-protection"], True),
        ([], True),
        (["-O1"], False),
        (["-O2"], False),
        (["-O2", "-fno-omit-frame-pointer"], False),
        (["-O3", "-g"], False),
        (["-Os"], False),
        (["-O2", "-s"], False),
    ],
)
def test_optimisation_is_seen_in_the_code(
    tmp_path: Path, compiler: str, flags: list[str], unoptimised: bool
) -> None:
    assert build_quality(library(tmp_path, compiler, "-DNDEBUG", *flags)).unoptimised == unoptimised


@pytest.mark.parametrize("compiler", COMPILERS)
def test_assertions_are_counted(tmp_path: Path, compiler: str) -> None:
    assert build_quality(library(tmp_path, compiler, "-O2", "-DNDEBUG")).asserts == 0
    assert build_quality(library(tmp_path, compiler, "-O2")).asserts >= 6
    assert build_quality(library(tmp_path, compiler, "-O2", "-Wl,-z,now")).asserts >= 6


def test_no_installed_allocator_is_accused() -> None:
    """tcmalloc of Debian has one assertion: that is not a build for debugging."""
    for peer in installed_peers():
        if peer.path:
            found = build_quality(peer.path)
            assert not found.unoptimised, peer
            assert found.asserts <= 1, peer


def test_a_file_that_is_not_a_library_is_not_judged(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no library")
    assert not build_quality(tmp_path / "text").unoptimised
    assert not build_quality(tmp_path / "gone").unoptimised
