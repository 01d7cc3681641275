"""Parameters and variables of C++ have nouns for names."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.tree import text_files
from names.declarations import declarations

ROOT = Path(__file__).resolve().parents[3]
FOLDERS = ("bench/", "experiments/", "include/", "src/", "tests/", "trees/")
NOT_NOUNS = {"of", "given", "yields", "made", "gone", "moved", "found"}

LEFT = ("tests/data/",)
"""What still has such names. The test fails if a place of this list has none any more."""


def offences() -> list[str]:
    """``name:line: word`` for each parameter and each variable."""
    return [
        f"{file.name}:{declared.line}: {declared.name}"
        for file in text_files(ROOT)
        if file.name.startswith(FOLDERS) and file.name.endswith((".hpp", ".cpp", ".h", ".c"))
        for declared in declarations(file.text, NOT_NOUNS)
    ]


def test_no_parameter_and_no_variable_is_a_preposition_or_a_participle() -> None:
    every = offences()
    assert [line for line in every if not line.startswith(LEFT)] == []
    assert [place for place in LEFT if not any(line.startswith(place) for line in every)] == []


@pytest.mark.parametrize(
    "text",
    [
        "void size(int of);",
        "void size(const int& of) {}",
        "int size(block *given);",
        "int f() { int made = 1; }",
        "int f() { auto* const made = g(); }",
        "int f() { for (int gone : all) {} }",
        "int f() { const auto [found, is_new] = g(); }",
        "int f() { auto& [first, found] = g(); }",
        "int f() { std::vector<int> moved; }",
        "int f() { run([](int moved) {}); }",
        "int f() { piece gone{1}; piece made(2); }",
        "template <int moved> void f();",
        "template <class... Given> void f(Given&&... given);",
        "struct box { box(int of) : size{of} {} int size; };",
        "struct box { int f() { int found; } };",
        "namespace a { int found; }",
        'extern "C" { int twice(int of); }',
        'extern "C" int twice(int of) { return 2 * of; }',
        "#define TWICE(x) x\nint f(int of);",
    ],
)
def test_a_planted_name_is_found(text: str) -> None:
    assert len({declared.line for declared in declarations(text, NOT_NOUNS)}) == 1


@pytest.mark.parametrize(
    "text",
    [
        "struct box { int made; const char* found = nullptr; };",
        "struct cell { static cell of(int size); };",
        "template <class T> struct box final : base<T> { T made; };",
        "struct found { int here; };",
        "found look_up(const void* block);",
        "place of(int block) { return place{block}; }",
        "enum stage { made, gone };",
        "int f() { return found + made; }",
        "int f() { take(size * of); take(size & of); }",
        "int f() { here.made = there->found; }",
        "int f() { return blocks[of]; }",
        "// int made;\n/* int gone; */",
        'const char* text = "int made;";',
        'auto text = R"x(int made; ")x";',
        "#include <found>",
    ],
)
def test_other_names_are_left_alone(text: str) -> None:
    assert list(declarations(text, NOT_NOUNS)) == []
