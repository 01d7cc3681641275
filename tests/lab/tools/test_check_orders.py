"""check_orders.py finds the orders of atomic operations that no comment explains."""

from __future__ import annotations

from pathlib import Path

import pytest

import check_orders


def check(source: Path, text: str) -> tuple[int, int]:
    """The sites of a file with this text, and how many of them no comment explains."""
    source.write_text(text)
    sites = list(check_orders.sites_of(source))
    return len(sites), sum(not site.is_explained for site in sites)


@pytest.mark.parametrize(
    "text",
    [
        "a.store(1, std::memory_order_release);\n",
        "return a.load();\n",
        "flag.exchange(true);\n",
        "a.fetch_add(1);\n",
        "// Takes the next one.\na.load(std::memory_order_acquire);\n",
        "// Acquire: pairs with close.\nb();\n\na.load(std::memory_order_acquire);\n",
        "// Acquire: pairs with close.\nb();\n}\na.load(std::memory_order_acquire);\n",
        "if (!a.compare_exchange_weak(seen, next,\n    std::memory_order_acquire)) {\n",
    ],
)
def test_an_order_without_a_reason_is_found(tmp_path: Path, text: str) -> None:
    assert check(tmp_path / "a.cpp", text) == (1, 1)


@pytest.mark.parametrize(
    "text",
    [
        "a.load(std::memory_order_acquire);  // pairs with close\n",
        "// Release: pairs with open.\nb();\na.store(1, std::memory_order_release);\n",
        "a.store(at, std::memory_order_release);  // as in commit_to\n",
    ],
)
def test_an_order_with_a_reason_is_counted(tmp_path: Path, text: str) -> None:
    assert check(tmp_path / "a.cpp", text) == (1, 0)


@pytest.mark.parametrize(
    "text",
    [
        "a.load(std::memory_order_relaxed);\n",
        "a.fetch_add(1,\n    std::memory_order_relaxed);\n",
        "std::exchange(left, nullptr);\n",
        "queue.exchange(block, place);\n",
        "// a.load() would be slower.\n",
    ],
)
def test_other_lines_are_not_sites(tmp_path: Path, text: str) -> None:
    assert check(tmp_path / "a.cpp", text) == (0, 0)
