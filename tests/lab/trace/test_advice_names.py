"""Advice names the user's line, and has code for what stands there."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from heapwise.analysis.summary.pool_code import pool_code
from heapwise.model import PoolCandidate
from heapwise.study.replay.site_names import SiteNames
from heapwise.trace import open_trace
from heapwise.trace.contents import read_contents
from heapwise.trace.names.symbols import Symbols

Record = Callable[..., Path]

SOURCE = """
#include <forward_list>
#include <list>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
struct order { long id, price[5]; };
int main() {
  std::list<order> orders;
  std::forward_list<long> numbers;
  std::map<int, order> tree;
  std::set<short> keys;
  std::unordered_map<std::string, long> table;
  std::unordered_set<int> seen;
  for (int i = 0; i < 500; ++i) orders.push_back({i, {}});  // list
  for (int i = 0; i < 500; ++i) numbers.push_front(i);      // forward_list
  for (int i = 0; i < 500; ++i) tree[i] = {};               // map
  for (int i = 0; i < 500; ++i) keys.insert(short(i));      // set
  for (int i = 0; i < 500; ++i) table[std::to_string(i)] = i;  // unordered_map
  for (int i = 0; i < 500; ++i) seen.insert(i);             // unordered_set
  return 0;
}
"""
CONTAINERS = ("list", "forward_list", "map", "set", "unordered_map", "unordered_set")


@pytest.fixture
def advised(tmp_path: Path, record: Record) -> dict[str, str]:
    """The node at each line that is named."""
    source, program = tmp_path / "orders.cpp", tmp_path / "orders"
    source.write_text(SOURCE)
    subprocess.run(["c++", "-std=c++20", "-O1", "-g", str(source), "-o", str(program)], check=True)
    with open_trace(record(program, stack_every=1)) as opened:
        found = read_contents(opened)
        names = SiteNames(opened, found, Symbols(opened.modules))
        return {
            names.name(number): names.node(number)
            for number, site in found.sites.items()
            if site.count == 500
        }


def test_each_container_is_named_at_the_line_of_the_user(advised: dict[str, str]) -> None:
    lines = {
        text.rpartition("// ")[2]: f"orders.cpp:{number}"
        for number, text in enumerate(SOURCE.splitlines(), 1)
        if "// " in text
    }
    for container in CONTAINERS:
        [name] = [name for name, node in advised.items() if lines[container] in name and node]
        assert name.startswith("main ")


def test_the_code_for_a_container_compiles(advised: dict[str, str], tmp_path: Path) -> None:
    code = ["#include <string>", "struct order { long id, price[5]; };"]
    used = set()
    for number, node in enumerate(filter(None, advised.values())):
        lines = pool_code(
            PoolCandidate("candidate_1", "main", 64, 500, "unsynchronized", "", node=node)
        )
        code = [
            *(each for each in lines if each[0] == "#"),
            *code,
            f"namespace n{number} {{",
            *(each for each in lines if each[0] != "#"),
            "}",
        ]
        used |= {
            each
            for each in CONTAINERS
            if f"#include <{each.removeprefix('forward_')}>" in lines
            or f"#include <{each}>" in lines
        }
    assert used == set(CONTAINERS)
    root = Path(__file__).resolve().parents[3]
    done = subprocess.run(
        ["c++", "-std=c++20", "-fsyntax-only", f"-I{root / 'include'}", "-x", "c++", "-"],
        input="\n".join(code),
        text=True,
        check=False,
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr
