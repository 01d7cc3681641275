"""The guards against elision, read in what the compilers make of them."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
COMPILERS = [name for name in ("g++", "clang++", "clang++-19", "clang++-16") if shutil.which(name)]

SOURCE = """
#include "harness/escape.hpp"
#include <cstdlib>
using namespace heapwise::bench;
void unguarded_pair() { std::free(std::malloc(64)); }
void guarded_pair() { void* block = std::malloc(64); escape(block); std::free(block); }
void touched_pair() {
  void* block = std::malloc(64); touch(block); escape(block); std::free(block);
}
void unkept_sum(int n) { int sum = 0; for (int i = 0; i < n; ++i) sum += i * i; }
void kept_sum(int n) { int sum = 0; for (int i = 0; i < n; ++i) sum += i * i; keep(sum); }
int cell;
void twice() { cell = 1; cell = 2; }
void twice_clobbered() { cell = 1; clobber(); cell = 2; }
void plain_branch(int n) { int sum = 1; keep(sum); if (n != 7) sum += 5; keep(sum); }
void forgetful_branch(int n) {
  int sum = 1; keep(sum); if (n != 7) { forget(sum); sum += 5; } keep(sum);
}
void plain_steps(unsigned n) { n = n * 1000003 + 7; n = n * 1000003 + 7; keep(n); }
void forgetful_steps(unsigned n) {
  n = n * 1000003 + 7; forget(n); n = n * 1000003 + 7; keep(n);
}
"""


@pytest.fixture(scope="module", params=COMPILERS)
def assembly(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    """The body of each function, by name."""
    folder = tmp_path_factory.mktemp("escape")
    (folder / "guards.cpp").write_text(SOURCE)
    subprocess.run(
        [
            request.param,
            "-std=c++20",
            "-O2",
            "-S",
            "-fno-asynchronous-unwind-tables",
            "-I",
            str(ROOT / "bench"),
            "guards.cpp",
            "-o",
            "guards.s",
        ],
        cwd=folder,
        check=True,
    )
    text = (folder / "guards.s").read_text()
    return dict(
        re.findall(r"^_Z\d+([a-z_]+?)[vij]:[^\n]*\n(.*?)^\s*\.size", text, flags=re.M | re.S)
    )


def stores(body: str, what: str) -> int:
    return len(re.findall(what, body))


def test_guarded_calls_stay(assembly: dict[str, str]) -> None:
    for name in ("guarded_pair", "touched_pair"):
        assert "malloc" in assembly[name]
        assert "free" in assembly[name]


def test_compilers_do_remove_what_is_not_guarded(assembly: dict[str, str]) -> None:
    """Otherwise the tests above would pass without any guard (GCC 12 and clang both do it)."""
    assert "malloc" not in assembly["unguarded_pair"]
    assert stores(assembly["twice"], r"mov[lb]?\s+\$") == 1


def test_touch_is_one_store(assembly: dict[str, str]) -> None:
    assert stores(assembly["touched_pair"], r"movb\s+\$1, \(%r") == 1
    assert stores(assembly["guarded_pair"], r"movb\s+\$1, \(%r") == 0


def test_clobber_keeps_both_stores(assembly: dict[str, str]) -> None:
    assert stores(assembly["twice_clobbered"], r"mov[lb]?\s+\$") == 2


def test_kept_value_is_computed(assembly: dict[str, str]) -> None:
    assert "mul" in assembly["kept_sum"]
    assert "mul" not in assembly["unkept_sum"]


def test_a_branch_that_forgets_stays_a_jump(assembly: dict[str, str]) -> None:
    """cpu/branch_prediction stands on it: without, compilers make a conditional move of it."""
    assert stores(assembly["forgetful_branch"], r"\sj[a-z]+\s") >= 1
    assert stores(assembly["plain_branch"], r"\sj[a-z]+\s") == 0


def test_steps_with_forgetting_between_them_stay_two(assembly: dict[str, str]) -> None:
    """cpu/ilp stands on it: clang makes one multiplication of the two."""
    assert stores(assembly["forgetful_steps"], r"\simul") == 2
