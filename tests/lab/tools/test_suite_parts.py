"""What `make test` leaves out under a preset: it is there, and the long suite runs it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from suite.part import Lane, Part
from suite.parts import (
    MEASURING,
    NOT_SANITIZED,
    NOT_UNDER_QEMU,
    NOT_UNDER_TSAN,
    all_parts,
    long_parts,
)

ROOT = Path(__file__).parents[3]
RULES = ROOT / "cmake" / "unit_tests.cmake"
PRESETS = ("aarch64", "tsan", "asan")
LAYERS = {
    "aarch64": ("unit/detail/", "unit/os/", "unit/heap/", "unit/hybrid/", "unit/gc/", "unit/c_api"),
    "tsan": ("stress/pool_", "stress/hybrid_", "stress/heap_", "stress/gc_", "unit/gc/"),
    "asan": (
        "unit/detail/",
        "unit/os/",
        "unit/heap/",
        "unit/hybrid/",
        "unit/gc/",
        "unit/bench/",
        "unit/adapt/",
        "contract/pool_",
    ),
}
"""Of each of them some tests stay, with the beginning of their names."""

STARTS_A_THREAD = re.compile(r"\bstd::j?thread\b|\bpthread_create\b|\bfork\(|#include <thread>")


def left_out() -> dict[str, re.Pattern[str]]:
    """The expressions for each of the three presets, in their order in the file."""
    lists = re.findall(
        r"set\(\s+HEAPWISE_TESTS_LEFT_OUT\s+(.+?)\s+\)\n", RULES.read_text(), re.DOTALL
    )
    return {
        preset: re.compile("|".join(re.findall(r'"(.+)"', words)))
        for preset, words in zip(PRESETS, lists, strict=True)
    }


def sources() -> dict[str, Path]:
    """Each file of C++ tests by the name that the expressions are for."""
    folder = ROOT / "tests"
    files = [
        path for kind in ("unit", "contract", "stress") for path in (folder / kind).rglob("*.cpp")
    ]
    return {str(path.relative_to(folder).with_suffix("")): path for path in files}


def kept(preset: str) -> dict[str, Path]:
    """Those that the preset builds for `make test`."""
    labels = ran(preset, all_parts(ROOT, ROOT))
    return {
        name: path
        for name, path in sources().items()
        if not left_out()[preset].search(name)
        and any(name.startswith(label.replace("_", "/") + "/") for label in labels)
    }


def ran(preset: str, parts: list[Part]) -> set[str]:
    """The labels of the tests that ctest runs in this preset."""
    [command] = [
        part.command for part in parts if part.command[:3] == ["ctest", "--preset", preset]
    ]
    return set(command[command.index("--label-regex") + 1].split("|"))


@pytest.mark.parametrize("preset", PRESETS)
def test_each_expression_names_files(preset: str) -> None:
    for expression in left_out()[preset].pattern.split("|^"):
        words = "^" + expression.removeprefix("^")
        assert any(re.search(words, name) for name in sources()), expression


def test_the_build_with_all_tests_has_all() -> None:
    assert ran("dev", all_parts(ROOT, ROOT)) == {"unit", "contract", "stress"}
    presets = json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]
    lacking = {
        each["name"]
        for each in presets
        if each.get("cacheVariables", {}).get("HEAPWISE_ALL_TESTS") == "OFF"
    }
    assert lacking == set(PRESETS)


def test_the_thread_sanitizer_has_what_starts_threads() -> None:
    """Contracts have their threads in tests of stress; the rest of the files is named here."""
    elsewhere = ("contract/", "stress/heap_schedule", "stress/heap_shards_schedule", "unit/gc/")
    folders = ("contract/", "stress/", "unit/gc/")
    found = {
        name
        for name, path in sources().items()
        if name.startswith(folders)
        and not name.startswith(elsewhere)
        and STARTS_A_THREAD.search(path.read_text())
    }
    assert found
    assert found <= set(kept("tsan"))
    assert {
        "unit/gc/mark/marking_function_test",
        "unit/gc/threads/registration_test",
        "unit/gc/roots/roots_test",
        "unit/gc/threads/thread_end_test",
    } <= set(kept("tsan"))


def test_code_that_depends_on_a_processor_is_tested_for_each() -> None:
    names = set(kept("aarch64"))
    for folder in ("unit/os/", "unit/detail/"):
        assert {name for name in sources() if name.startswith(folder)} <= names
    assert {
        "unit/gc/roots/roots_test",
        "unit/gc/threads/signals_test",
        "unit/gc/roots/stacks_test",
        "unit/heap/central/bin_test",
        "unit/heap/cache/caches_test",
        "unit/heap_test",
        "contract/tagged_source_test",
    } <= names


@pytest.mark.parametrize("preset", PRESETS)
def test_each_layer_has_a_test_in_each_preset(preset: str) -> None:
    for layer in LAYERS[preset]:
        assert any(name.startswith(layer) for name in kept(preset)), layer


NAMES_OF_CASES = re.compile(r'TEST_CASE\w*\(\s*((?:"[^"\n]*"\s*)+)')


def cases() -> list[str]:
    """The names that ctest has for them, without the types of templates."""
    parts = re.compile(r'"([^"]*)"')
    return [
        f"{name}: " + "".join(parts.findall(words))
        for name, path in sources().items()
        for words in NAMES_OF_CASES.findall(path.read_text())
    ]


def test_no_name_of_a_case_has_a_semicolon() -> None:
    """CMake takes it for the end of the name: two tests would choose no case, and pass."""
    names = cases()
    assert len(names) > 500
    assert [name for name in names if ";" in name] == []


@pytest.mark.parametrize("names", [NOT_SANITIZED, NOT_UNDER_QEMU, NOT_UNDER_TSAN])
def test_each_case_that_a_preset_leaves_out_is_there(names: str) -> None:
    """A file that was moved, or a case with another name, would be run again, or never."""
    everything = cases()
    for each in re.split(r"\|(?![^(]*\))", names):
        assert any(re.search(each, case) for case in everything), each


def test_a_case_of_a_contract_that_a_part_leaves_out_is_a_test_of_its_own() -> None:
    """All other cases of a contract are one test, of which nothing can be left out."""
    apart = re.compile("|".join(re.findall(r'set\(alone "\*(.+)\*"\)', RULES.read_text())))
    names = [name for name in cases() if name.startswith("contract/")]
    for expression in (NOT_UNDER_QEMU, NOT_UNDER_TSAN):
        found = [
            name
            for name in names
            if re.search(expression, name)
            and not re.search(expression, name.partition(":")[0] + ": all cases")
        ]
        assert found
        assert [name for name in found if not apart.search(name)] == []


def configures(parts: list[Part], preset: str) -> list[Part]:
    return [part for part in parts if part.command[:3] == ["cmake", "--preset", preset]]


@pytest.mark.parametrize("preset", PRESETS)
def test_the_long_suite_has_what_the_usual_one_leaves_out(preset: str, tmp_path: Path) -> None:
    everything = "-DHEAPWISE_ALL_TESTS=ON"
    [usual] = configures(all_parts(ROOT, tmp_path), preset)
    [long] = configures(long_parts(ROOT, tmp_path), preset)
    assert everything not in usual.command
    assert everything in long.command
    assert ran(preset, all_parts(ROOT, tmp_path)) <= ran(preset, long_parts(ROOT, tmp_path))


def test_the_long_suite_runs_what_is_marked_so(tmp_path: Path) -> None:
    tests = ROOT / "tests"
    marked = {
        path.relative_to(tests).parts[0]
        for path in tests.rglob("test_*.py")
        if "mark.long" in path.read_text() and path != Path(__file__)
    }
    assert len(marked) > 3
    parts = {part.name: part for part in long_parts(ROOT, tmp_path)}
    run = {word for name in ("long tests", "long world") for word in parts[name].command}
    assert {f"tests/{folder}" for folder in marked} <= run
    # Those that also run alone are in this folder.
    alone = parts["long comparisons"].command
    assert (alone[-1], alone[alone.index("--dist") + 3]) == ("tests/lab/measured", "not slow")


def test_the_measuring_part_has_all_tests_that_run_alone(tmp_path: Path) -> None:
    files = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "tests").rglob("test_*.py")
        if "mark.alone" in path.read_text() and path != Path(__file__)
    }
    [part] = [part for part in all_parts(ROOT, tmp_path) if part.lane is Lane.ALONE]
    assert len(files) > 3
    assert [file for file in files if not file.startswith(MEASURING)] == []
    assert part.command[-len(MEASURING) :] == list(MEASURING)


def test_no_two_parts_have_a_name(tmp_path: Path) -> None:
    names = [part.name for part in (*all_parts(ROOT, tmp_path), *long_parts(ROOT, tmp_path))]
    assert sorted(names) == sorted(set(names))
