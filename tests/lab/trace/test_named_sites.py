"""Wrappers are skipped, and the peak and the end are those of the program."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from heapwise.errors import Problem
from heapwise.trace import open_trace
from heapwise.trace.contents import read_contents
from heapwise.trace.names.call_stacks import call_stacks
from heapwise.trace.names.named_sites import NamedSite, named_sites
from heapwise.trace.names.symbols import Place, Symbols
from heapwise.trace.names.wrappers import Wrappers, bare_name
from heapwise.trace.spread import Spread

Record = Callable[..., Path]

SOURCE = Path(__file__).resolve().parents[2] / "data" / "recorded" / "wrapped.cpp"


@pytest.fixture(scope="session")
def wrapped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("recorded") / "wrapped"
    subprocess.run(
        [
            "c++",
            "-O2",
            "-g",
            "-fno-builtin",
            "-fno-optimize-sibling-calls",
            "-std=c++20",
            str(SOURCE),
            "-o",
            str(program),
        ],
        check=True,
    )
    return program


def sites_of(trace: Path, skip: list[str]) -> dict[str, NamedSite]:
    with open_trace(trace) as opened:
        found = read_contents(opened)
        stacks = call_stacks(opened, found, Symbols(opened.modules))
        assert opened.summary is not None
        assert found.peak.bytes == opened.summary.peak_live_bytes
        assert sum(stack.peak_bytes for stack in stacks) == found.peak.bytes
        assert sum(stack.end_bytes for stack in stacks) == opened.summary.end_live_bytes
        return {
            bare_name(site.place.function): site
            for site in named_sites(found, stacks, Wrappers(skip))
            if site.place
        }


def test_the_site_is_the_first_frame_that_is_not_a_wrapper(wrapped: Path, record: Record) -> None:
    found = sites_of(record(wrapped), [])
    assert found["own_layer"].blocks == 100
    assert "xmalloc" in " ".join(found["own_layer"].wrappers)
    vectors = found["fill_vectors"]
    assert (vectors.blocks, vectors.bytes) == (20, 20_000_000)
    assert vectors.place is not None
    assert vectors.place.line.startswith("wrapped.cpp:")


def test_a_wrapper_of_the_user_is_skipped_as_well(wrapped: Path, record: Record) -> None:
    found = sites_of(record(wrapped), ["own_layer"])
    assert "own_layer" not in found
    table = found["load_table"]
    assert (table.blocks, table.bytes) == (100, 500_000)
    assert (table.end_blocks, table.end_bytes) == (10, 50_000)


def test_sites_that_live_at_the_peak_are_not_those_that_allocated_most(
    wrapped: Path, record: Record
) -> None:
    found = sites_of(record(wrapped), ["own_layer"])
    assert found["fill_vectors"].peak_bytes == 1_000_000
    assert found["load_table"].peak_bytes == 0


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (
            "void std::vector<int, std::allocator<int> >::_M_realloc_insert<int>(iterator, int&&)",
            "std::vector::_M_realloc_insert",
        ),
        ("operator new[](unsigned long)", "operator new[]"),
        ("xmalloc.isra.0", "xmalloc"),
        ("(anonymous namespace)::xmalloc(unsigned long)", "xmalloc"),
        ("Table::rows(std::vector<int> const&) const", "Table::rows"),
    ],
)
def test_a_name_without_arguments(function: str, name: str) -> None:
    assert bare_name(function) == name


@pytest.mark.parametrize(
    "function",
    [
        "xmalloc",
        "operator new(unsigned long)",
        "std::allocator<int>::allocate(unsigned long)",
        "g_malloc",
        "PyMem_RawMalloc",
        "std::make_unique<int>(int&&)",
        "Perl_safesysmalloc",
        "<str as alloc::borrow::ToOwned>::to_owned",
        "<alloc::string::String as core::convert::From<&str>>::from",
        "alloc::fmt::format::format_inner",
        "hashbrown::raw::RawTable<T,A>::reserve_rehash",
    ],
)
def test_wrappers_are_known(function: str) -> None:
    assert function in Wrappers()


@pytest.mark.parametrize(
    "function",
    [
        "",
        "main",
        "parse",
        "int count(std::vector<int>)",
        "malloc_table",
        "app::allocated(int)",
        "load_std::file",
        "<app::Name as core::convert::From<&str>>::from",
        "serde_json::value::de::parse",
    ],
)
def test_other_functions_are_not_wrappers(function: str) -> None:
    assert function not in Wrappers()


def test_a_stack_of_wrappers_keeps_its_innermost_frame() -> None:
    assert Wrappers().beyond([Place("", 1, "xmalloc"), Place("", 2, "operator new")]) == 0
    assert Wrappers().beyond([Place("", 1, "xmalloc"), Place("a", 2)]) == 0
    assert Wrappers().beyond([Place("", 1, "xmalloc"), Place("a", 2, "main")]) == 1


def test_a_pattern_that_is_not_valid_is_refused() -> None:
    with pytest.raises(Problem, match="--skip"):
        Wrappers(["("])


def test_quantiles_are_at_most_a_64th_too_large() -> None:
    random = np.random.default_rng(1)
    numbers = np.exp(random.uniform(0, 30, 20_000)).astype(np.uint64)
    spread = Spread()
    for part in np.split(numbers, 10):
        spread.add(part, part)
    order = np.sort(numbers)
    sums = np.cumsum(order.astype(float))
    for share in (0.01, 0.5, 0.9, 0.99, 1.0):
        true = int(order[int(np.ceil(share * len(order))) - 1])
        assert true <= (spread.quantile(share) or 0) <= true * (1 + 1 / 64)
        true = int(order[np.searchsorted(sums, share * sums[-1] * (1 - 1e-9))])
        assert true <= (spread.quantile(share, by_weight=True) or 0) <= true * (1 + 1 / 64)
    assert Spread().quantile(0.5) is None


def test_the_first_stack_of_a_site_stands_for_one_block(tmp_path: Path, record: Record) -> None:
    """One block by one caller, then 20,000 by another: the first must not get half of them."""
    source, program = tmp_path / "shared.cpp", tmp_path / "shared"
    source.write_text("""#include <cstdlib>
[[gnu::noinline]] void* xmalloc(std::size_t bytes) { void* volatile p = malloc(bytes); return p; }
[[gnu::noinline]] void once() { void* volatile p = xmalloc(100000); free(p); }
[[gnu::noinline]] void often() {
  for (int i = 0; i < 20000; ++i) { void* volatile p = xmalloc(100); free(p); }
}
int main() { once(); often(); }
""")
    subprocess.run(
        ["c++", "-O1", "-g", "-fno-builtin", str(source), "-o", str(program)], check=True
    )
    found = sites_of(record(program, stack_every=256), [])
    assert found["once"].estimated
    assert found["once"].blocks <= 10
    assert 90_000 <= found["once"].bytes <= 110_000
    assert found["once"].blocks + found["often"].blocks == 20_001
