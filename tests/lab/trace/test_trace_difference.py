"""Two recordings beside each other."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from heapwise.report.trace_difference_page import difference_tree
from heapwise.trace import open_trace
from heapwise.trace.contents import read_contents
from heapwise.trace.names.call_stacks import CallStack, call_stacks
from heapwise.trace.names.named_sites import NamedSite
from heapwise.trace.names.symbols import Place, Symbols
from heapwise.trace.trace_difference import Amount, trace_difference

SOURCE = """\
#include <stdlib.h>
__attribute__((noinline)) void *same(void) { return malloc(100); }
__attribute__((noinline)) void *grows(void) { return malloc(5000); }
__attribute__((noinline)) void *kept(void) { return malloc(777); }
int main(int argc, char **argv) {
  free(same());
  for (int k = 0; k < (argc > 1 ? 9 : 4); ++k) free(grows());
  if (argc > 1) *(void *volatile *)argv = kept();
  return 0;
}
"""


@pytest.fixture
def traces(tmp_path: Path, record: Callable[..., Path]) -> tuple[Path, Path]:
    (tmp_path / "p.c").write_text(SOURCE)
    program = tmp_path / "p"
    words = ["cc", "-O1", "-g", "-fno-optimize-sibling-calls", "-o", program, tmp_path / "p.c"]
    subprocess.run(words, check=True, timeout=60)
    return record(program, stack_every=1), record(program, "more", stack_every=1)


def test_growth_is_named_with_its_bytes(
    traces: tuple[Path, Path], heapwise: Any, tmp_path: Path
) -> None:
    words = ["trace", *map(str, traces)]
    done = heapwise(*words, "--json", "--export", str(tmp_path / "x.folded"))
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [(site["function"], site["line"]) for site in found["sites"]] == [
        ("grows", "p.c:3"),
        ("kept", "p.c:4"),
    ]
    grows, kept = found["sites"]
    assert grows["second"]["bytes"] - grows["first"]["bytes"] == 5 * 5000
    assert grows["second"]["blocks"] - grows["first"]["blocks"] == 5
    assert kept["second"]["end_bytes"] == 777
    assert found["whole"]["second"]["bytes"] - found["whole"]["first"]["bytes"] == 25_777
    lines = (tmp_path / "x.folded").read_text().splitlines()
    [line] = [line for line in lines if "grows" in line]
    assert line.split()[-2:] == ["20000", "45000"]
    text = heapwise(*words).stdout
    assert "+24.4 KiB" in text
    assert "kept (p.c:4), new" in text
    assert "same" not in text


def test_equal_traces_differ_in_nothing(traces: tuple[Path, Path], heapwise: Any) -> None:
    done = heapwise("trace", str(traces[0]), str(traces[0]))
    assert "each call site asked for as much as before" in done.stdout


def test_a_form_that_two_traces_do_not_have_is_refused(
    traces: tuple[Path, Path], heapwise: Any
) -> None:
    done = heapwise("trace", *map(str, traces), "--export", "x.pb.gz")
    assert done.returncode == 2
    assert "--export FILE.folded" in done.stderr


def test_the_markdown_of_two_traces_begins_with_the_site_that_grew_most(
    traces: tuple[Path, Path], heapwise: Any, tmp_path: Path
) -> None:
    written = tmp_path / "grown.md"
    done = heapwise("trace", *map(str, traces), "--export", str(written), "-q")
    assert done.returncode == 0, done.stderr
    head, *lines = written.read_text(encoding="utf-8").splitlines()
    assert head == "## +25.2 KiB asked for; most of it by grows (p.c:3): +24.4 KiB"
    assert "| `grows (p.c:3)` | +24.4 KiB | +5 | 0 | 0 |" in lines
    assert "| `kept (p.c:4), new` | +777 B | +1 | 0 | +777 B |" in lines


def test_the_tree_of_two_traces_has_what_each_stack_asked_for_more_and_less(
    traces: tuple[Path, Path],
) -> None:
    def stacks_of(path: Path) -> list[CallStack]:
        with open_trace(path) as opened:
            return call_stacks(opened, read_contents(opened), Symbols(opened.modules))

    first, second = map(stacks_of, traces)
    root = difference_tree(first, second).sums
    assert (root["b"] - root["o"], root["g"], root["s"]) == (25_777, 25_777, 0)
    back = difference_tree(second, first).sums
    assert (back["g"], back["s"]) == (0, 25_777)


def test_a_function_whose_line_moved_is_one_call_site() -> None:
    before = [NamedSite(Place("/old/app", 16, "f", "a.c:1"), blocks=2, bytes=20)]
    after = [
        NamedSite(Place("/new/app", 32, "f", "a.c:9"), blocks=1, bytes=10),
        NamedSite(Place("/new/app", 48, "f", "a.c:12"), blocks=3, bytes=30),
    ]
    [site] = trace_difference(("a", "b"), before, after).sites
    assert site.grown == Amount(2, 20, 0, 0)
    assert site.line == ""


def test_the_line_that_asked_for_more_is_named_in_a_function_with_several() -> None:
    kept, grown = Place("/app", 16, "f", "a.c:4"), Place("/app", 32, "f", "a.c:6")
    before = [NamedSite(kept, blocks=2, bytes=20), NamedSite(grown, blocks=3, bytes=30)]
    moved = Place("/app", 32, "f", "a.c:7")
    after = [NamedSite(kept, blocks=2, bytes=20), NamedSite(moved, blocks=9, bytes=90)]
    [site] = trace_difference(("a", "b"), before, after).sites
    assert (site.name, site.grown) == ("f (a.c:7)", Amount(6, 60, 0, 0))


def test_two_builds_under_two_names_are_one_program() -> None:
    before = [NamedSite(Place("/a/old", 16, "f", "a.c:1"), blocks=2, bytes=20)]
    after = [NamedSite(Place("/a/new", 32, "f", "a.c:1"), blocks=5, bytes=50)]
    programs = ("/a/old", "/a/new")
    [site] = trace_difference(("a", "b"), before, after, programs).sites
    assert (site.module, site.grown) == ("new", Amount(3, 30, 0, 0))
    assert len(trace_difference(("a", "b"), before, after).sites) == 2
