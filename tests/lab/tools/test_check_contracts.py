"""Every public declaration states its contract, and one that does not is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from contracts.requirements import requirements
from contracts.rules import offences

ROOT = Path(__file__).resolve().parents[3]


def found(root: Path, text: str, name: str = "planted.hpp") -> list[str]:
    header = root / "include/heapwise" / name
    header.parent.mkdir(parents=True, exist_ok=True)
    header.write_text(text)
    return list(offences(root))


def in_namespace(text: str) -> str:
    return f"namespace heapwise {{\n{text}\n}}\n"


def test_each_public_declaration_of_the_tree_states_its_contract() -> None:
    assert list(offences(ROOT)) == []


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("int twice(int number);", "heapwise::planted:2: twice: no contract"),
        ("/// Doubles.\nint twice(int number);", '3: twice: does not say what it "Returns:"'),
        ("enum class side { left };", "2: side: no contract"),
        ("template <class T>\nclass box {};", "2: box: no contract"),
        (
            "/// A box.\nclass box {\n public:\n  /// Effects: empties it.\n  void clear();\n};",
            '3: box: does not state its "Thread safety:"',
        ),
        (
            "/// A box.\nstruct box {\n  [[nodiscard]] int size() const;\n};",
            "4: box::size: no contract",
        ),
        ("/// Returns: one.\nint one(int);\nint two(int);", "4: two: no contract"),
    ],
)
def test_a_planted_declaration_is_found(tmp_path: Path, text: str, missing: str) -> None:
    [line] = found(tmp_path, in_namespace(text))
    assert line == f"include/heapwise/planted.hpp:{missing.removeprefix('heapwise::planted:')}"


@pytest.mark.parametrize(
    "text",
    [
        "/// Returns: the sum.\nint sum(int, int);\n\nint sum(int, int, int);",
        "/// As malloc.\nvoid* one(int);\nvoid* two(int);",
        "/// Returns: one; `two` returns two.\nint one(int);\nint two(int);",
        "/// A box.\nclass box {\n public:\n  box(const box&) = delete;\n"
        " private:\n  int size();\n};",
        "namespace detail {\nint hidden(int);\n}",
        "class later;",
        "/// A box. Thread safety: none.\nclass box {\n public:\n  /// Effects: empties it.\n"
        "  void clear();\n};\n",
    ],
)
def test_a_declaration_that_another_covers_is_left_alone(tmp_path: Path, text: str) -> None:
    assert found(tmp_path, in_namespace(text)) == []


def test_a_macro_of_a_c_header_without_a_word_is_found(tmp_path: Path) -> None:
    guard = "#ifndef HEAPWISE_P_H\n#define HEAPWISE_P_H\n"
    macro = "#define HEAPWISE_INIT 0\n#endif\n"
    assert found(tmp_path, guard + macro, "p.h") == [
        "include/heapwise/p.h:3: HEAPWISE_INIT: no contract"
    ]
    assert found(tmp_path, f"{guard}/* Nothing. */\n{macro}", "p.h") == []


def test_headers_below_detail_are_not_public(tmp_path: Path) -> None:
    assert found(tmp_path, in_namespace("int hidden(int);"), "detail/planted.hpp") == []


def test_a_requirement_is_checked_where_its_function_expects_something(tmp_path: Path) -> None:
    folder = tmp_path / "src" / "heap"
    folder.mkdir(parents=True)
    (folder / "bin.hpp").write_text(
        "/// Effects: fills it. Requires: the lock.\nvoid fill() noexcept;\n\n"
        "/// Requires: no lock is held.\n[[nodiscard]] bool flush(int count) noexcept;\n\n"
        "/// Requires: a count above 0.\n"
        "inline int half(int count) noexcept {\n"
        '  expects(count > 0, "there is something");\n  return count / 2;\n}\n'
    )
    (folder / "bin.cpp").write_text(
        "void bin::fill() noexcept {\n  expects_held(lock_);\n}\n\n"
        "bool bin::flush(int count) noexcept {\n  fill();\n  return count > 0;\n}\n"
    )
    found = list(requirements(tmp_path))
    assert [(each.function, each.checked) for each in found] == [
        ("fill", True),
        ("flush", False),
        ("half", True),
    ]


def test_few_requirements_of_the_tree_are_not_checked() -> None:
    """They are about other threads, about what the caller does later, or about locks that are not
    held; or a function that is called checks them. The number may only fall."""
    unchecked = [each for each in requirements(ROOT) if not each.checked]
    assert len(unchecked) <= 88, "\n".join(f"{each.file}:{each.line}" for each in unchecked)
