"""What `make test` leaves out under a preset: it is there, and the long suite runs it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from suite.part import Part
from suite.parts import NOT_UNDER_QEMU, NOT_UNDER_TSAN, all_parts, long_parts

ROOT = Path(__file__).parents[3]
RULES = ROOT / "cmake" / "unit_tests.cmake"
STARTS_A_THREAD = re.compile(r"\bstd::j?thread\b|\bpthread_create\b|\bfork\(|#include <thread>")


def left_out() -> list[re.Pattern[str]]:
    """The expressions for each of the two presets: first `aarch64`, then `tsan`."""
    lists = re.findall(r"set\(\s+HEAPWISE_TESTS_LEFT_OUT\s+(.+?)\s+\)\n", RULES.read_text(),
                       re.DOTALL)
    assert len(lists) == 2
    return [re.compile("|".join(re.findall(r'"(.+)"', words))) for words in lists]


def sources() -> dict[str, Path]:
    """Each file of C++ tests by the name that the expressions are for."""
    folder = ROOT / "tests"
    files = [path for kind in ("unit", "contract", "stress") for path in
             (folder / kind).rglob("*.cpp")]
    return {str(path.relative_to(folder).with_suffix("")): path for path in files}


@pytest.mark.parametrize("preset", [0, 1], ids=["aarch64", "tsan"])
def test_each_expression_names_files(preset: int) -> None:
    names = [name for name in sources() if left_out()[preset].search(name)]
    for expression in left_out()[preset].pattern.split("|^"):
        assert any(re.search(expression.removeprefix("^"), name) for name in names), expression


def test_no_contract_that_the_thread_sanitizer_lacks_starts_a_thread() -> None:
    expression = left_out()[1]
    found = {name for name, path in sources().items() if expression.search(name)
             and STARTS_A_THREAD.search(path.read_text())}
    assert found == set()


def test_the_collector_the_heap_and_the_system_are_tested_for_each_processor() -> None:
    kept = [name for name in sources() if not left_out()[0].search(name)]
    for folder in ("unit/gc/", "unit/heap/", "unit/os/", "unit/detail/"):
        assert [name for name in sources() if name.startswith(folder)] == [
            name for name in kept if name.startswith(folder)]


NAMES_OF_CASES = re.compile(r'TEST_CASE\w*\(\s*((?:"[^"\n]*"\s*)+)')


def cases() -> list[str]:
    """The names that ctest has for them, without the types of templates."""
    parts = re.compile(r'"([^"]*)"')
    return [f"{name}: " + "".join(parts.findall(words)) for name, path in sources().items()
            for words in NAMES_OF_CASES.findall(path.read_text())]


def test_no_name_of_a_case_has_a_semicolon() -> None:
    """CMake takes it for the end of the name: two tests would choose no case, and pass."""
    names = cases()
    assert len(names) > 500
    assert [name for name in names if ";" in name] == []


def test_a_case_of_a_contract_that_a_part_leaves_out_is_a_test_of_its_own() -> None:
    """All other cases of a contract are one test, of which nothing can be left out."""
    apart = re.compile("|".join(re.findall(r'set\(alone "\*(.+)\*"\)', RULES.read_text())))
    names = [name for name in cases() if name.startswith("contract/")]
    for expression in (NOT_UNDER_QEMU, NOT_UNDER_TSAN):
        found = [name for name in names if re.search(expression, name)
                 and not re.search(expression, name.partition(":")[0] + ": all cases")]
        assert found
        assert [name for name in found if not apart.search(name)] == []


def configures(parts: list[Part], preset: str) -> list[Part]:
    return [part for part in parts if part.command[:3] == ["cmake", "--preset", preset]]


@pytest.mark.parametrize("preset", ["aarch64", "tsan"])
def test_the_long_suite_has_what_the_usual_one_leaves_out(preset: str, tmp_path: Path) -> None:
    everything = "-DHEAPWISE_ALL_TESTS=ON"
    [usual] = configures(all_parts(ROOT, tmp_path), preset)
    [long] = configures(long_parts(ROOT, tmp_path), preset)
    assert everything not in usual.command
    assert everything in long.command


def test_no_two_parts_have_a_name(tmp_path: Path) -> None:
    names = [part.name for part in (*all_parts(ROOT, tmp_path), *long_parts(ROOT, tmp_path))]
    assert sorted(names) == sorted(set(names))
