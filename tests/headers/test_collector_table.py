"""docs/collector-beside-boehm.md has all functions of Boehm's interface, and of ours no others."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/collector-beside-boehm.md").read_text()
BOEHM = [Path("/usr/include/gc") / name for name in ("gc.h", "gc_typed.h")]

# What tests of compilers and other systems use: no program asks for it.
NOT_FOR_PROGRAMS = {"GC_noop1", "GC_win32_free_heap"}


def functions(headers: str) -> set[str]:
    """The functions that these headers declare."""
    without_comments = re.sub(r"/\*.*?\*/", "", headers, flags=re.S)
    code = re.sub(r"^\s*#(?:[^\n]*\\\n)*[^\n]*", "", without_comments, flags=re.M)
    return set(re.findall(r"GC_CALL\s+(GC_\w+)\s*\(", code))


def is_named(function: str, page: str) -> bool:
    """Whether the page has it; a pair of get and set is named once, debug functions are one row."""
    names = set(re.findall(r"GC_[A-Za-z_]+", page))
    setter = function.replace("GC_get_", "GC_set_")
    return function in names or setter in names or function.startswith("GC_debug_")


@pytest.mark.skipif(not BOEHM[0].exists(), reason="needs libgc-dev")
def test_every_function_of_boehms_is_in_the_table() -> None:
    declared = functions("".join(path.read_text() for path in BOEHM))
    assert len(declared) > 150
    missing = {each for each in declared - NOT_FOR_PROGRAMS if not is_named(each, PAGE)}
    assert missing == set()


def test_a_function_that_is_missing_is_found() -> None:
    declared = functions("GC_API void GC_CALL GC_new_one(void);\n/* GC_CALL GC_old( */\n")
    assert declared == {"GC_new_one"}
    assert not is_named("GC_new_one", PAGE)


def test_all_that_it_names_of_ours_is_there() -> None:
    c = "".join(
        (ROOT / "include/heapwise" / name).read_text() for name in ("gc.h", "gc_redirect.h")
    )
    cpp = (ROOT / "include/heapwise/gc.hpp").read_text()
    named = set(re.findall(r"heapwise_gc_\w+", PAGE))
    assert len(named) > 20
    assert {each for each in named if not re.search(rf"\b{each}\b", c)} == set()
    assert {each for each in re.findall(r"heapwise::(\w+)", PAGE) if each not in cpp} == set()
