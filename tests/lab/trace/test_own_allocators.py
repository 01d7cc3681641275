"""Allocators of users: what they lack is not asked of the C library."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.usefixtures("built_native")

BARE = """
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
// Blocks that are never used again. The words before one mean to glibc that the block has a size
// with which no address is mapped.
static char* room;
static size_t used;
void* malloc(size_t bytes) {
  enum { all = 1 << 28 };
  if (!room) room = mmap(0, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  used = (used + 16 + 15) / 16 * 16;
  if (bytes > all - used) return errno = ENOMEM, (void*)0;
  char* block = room + used;
  ((size_t*)block)[-2] = bytes;
  ((size_t*)block)[-1] = 0xdeadbeefcafef0f1;
  used += bytes;
  return block;
}
void free(void* block) { (void)block; }
void* calloc(size_t count, size_t bytes) { return malloc(count * bytes); }
void* realloc(void* block, size_t bytes) {
  void* moved = malloc(bytes);
  const size_t before = block ? ((size_t*)block)[-2] : 0;
  return moved && block ? memcpy(moved, block, before < bytes ? before : bytes) : moved;
}
"""
USES = """
#include <stdlib.h>
int main(void) {
  for (int i = 0; i < 1000; ++i) {
    void* volatile block = malloc(100);
    block = realloc(block, 200);
    free(block);
  }
  return 0;
}
"""


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    """The allocator, and a program that uses it if it is preloaded."""
    library, program = tmp_path / "libbare.so", tmp_path / "uses"
    (tmp_path / "bare.c").write_text(BARE)
    (tmp_path / "uses.c").write_text(USES)
    cc = ["cc", "-O1", "-fno-builtin"]
    subprocess.run([*cc, "-shared", "-fPIC", tmp_path / "bare.c", "-o", library], check=True)
    subprocess.run([*cc, tmp_path / "uses.c", "-o", program], check=True)
    return library, program


def linked_with(library: Path, folder: Path) -> Path:
    """The program, linked with the allocator."""
    program = folder / "linked"
    here = f"-Wl,-rpath,{folder}"
    cc = ["cc", "-fno-builtin", folder / "uses.c", "-o", program, library, here]
    subprocess.run(cc, check=True)
    return program


def heapwise(folder: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "heapwise", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "HEAPWISE_STORE": str(folder / "store")},
    )


def test_calls_of_a_program_with_an_allocator_that_does_not_tell_sizes_are_recorded(
    places: tuple[Path, Path], tmp_path: Path
) -> None:
    linked = linked_with(places[0], tmp_path)
    done = heapwise(tmp_path, "record", "--stacks", "all", "--json", "-o", "t.hwt", "--", linked)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["summary"]["events"] >= 3000


def test_such_an_allocator_is_compared(places: tuple[Path, Path], tmp_path: Path) -> None:
    library, program = places
    mine = f"mine={library}"
    done = heapwise(
        tmp_path,
        *("compare", "--allocator", mine, "--allocators", "glibc,mine", "--runs", "1", "--json"),
        *("--", program),
    )
    assert done.returncode == 0, done.stderr
    runs = json.loads(done.stdout)
    assert runs["trust"]["checks"]


def test_the_allocator_that_a_program_is_linked_with_is_the_baseline(
    places: tuple[Path, Path], tmp_path: Path
) -> None:
    linked = linked_with(places[0], tmp_path)
    words = ["compare", "--allocators", "heapwise", "--runs", "1"]
    done = heapwise(tmp_path, *words, "--", linked)
    assert done.returncode == 0, done.stderr
    assert "malloc from libbare.so, can be replaced" in done.stdout + done.stderr
    assert "own (baseline)" in done.stdout + done.stderr
