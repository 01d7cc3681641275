"""A run of the heap family as a page: the table that is read first, the pictures, the folds."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser

import pytest
from synthetic import compare_run, pool_run
from synthetic_heap import MIX, SPEED, Heap, experiment_of, heap_run

from heapwise.document import DRAWING, Folded, Heading, Plot, TextTable
from heapwise.evidence import Evidence
from heapwise.model import Quantity
from heapwise.report import View, build_page
from heapwise.report.formats import find_formats
from heapwise.report.sections import experiments, heaps, standing
from heapwise.store import StoredRun

LOST = heap_run(
    Heap(
        threads=(1, 16),
        lost=lambda e, s, p: s == "malloc@jemalloc" and p.get("threads") == 16,
        bend=lambda e, s, p, q, v: v * 0.2 if s == "heap_inlined" else v,
        extra=[
            experiment_of(
                "heap/pair", [Quantity("alloc_free", "ns/op", "lower")], [*SPEED, "heap_inlined"]
            ),
            experiment_of(
                "heap/size_shift", [Quantity("resident_over_live", "x", "lower")], list(SPEED)
            ),
        ],
    )
)
VIEW = View(Evidence(LOST))
"""Computes what it shows when it is first asked for it."""


@cache
def page() -> str:
    return build_page([VIEW])


@cache
def page_of_two() -> str:
    """Of runs with one and with two threads."""
    return build_page([View(Evidence(heap_run(Heap(threads=(1, 2)))))])


class Text(HTMLParser):
    """The words of every cell of the tables that are matrices, row by row."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self._inside = self._cell = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self._inside = "matrix" in (dict(attrs).get("class") or "")
        if self._inside and tag == "tr":
            self.rows.append([])
        self._cell = self._inside and tag in ("td", "th")
        if self._cell:
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        if self._inside and self.rows and self.rows[-1]:
            self.rows[-1][-1] = f"{self.rows[-1][-1]} {data.strip()}".strip()


def matrix() -> list[list[str]]:
    parser = Text()
    parser.feed(page())
    return parser.rows


def test_the_first_table_has_a_row_for_each_cell_and_a_column_for_each_subject() -> None:
    rows = matrix()
    assert rows[0] == [
        "row",
        "heap_inlined",
        "heapwise",
        "mimalloc",
        "tcmalloc",
        "jemalloc",
        "glibc",
        "best value",
    ]
    first = next(r for r in rows if r[0] == "rl_small throughput, threads 1")
    assert first[1:3] == ["", "1.00"]
    assert float(first[6]) == pytest.approx(1.9, abs=0.02)
    assert first[-1].endswith("Mops/s")


def test_a_subject_that_ran_out_of_time_is_shown_and_has_no_mean() -> None:
    rows = matrix()
    lost = next(r for r in rows if r[0] == "rl_small throughput, threads 16")
    assert lost[5] == "timed out"
    mean = next(r for r in rows if r[0] == "geometric mean")
    assert mean[5] == ""
    assert float(mean[6]) > 1.5


def standing_tables() -> dict[str, TextTable]:
    tables = [part for part in standing.tell(VIEW) if isinstance(part, TextTable)]
    return {table.folded.partition(",")[0]: table for table in tables}


def test_memory_that_an_experiment_asks_for_first_stands_with_the_peaks() -> None:
    tables = standing_tables()
    assert list(tables)[:2] == ["Speed", "Memory"]
    names = {line[0].text for line in tables["Memory"].lines}
    assert "size_shift resident over live" in names
    assert "rl_small peak memory, threads 1" in names
    assert "rl_small resident over live, threads 1" not in names
    assert [table.is_open for table in tables.values()] == [True, True, False, False]


def test_the_interval_of_a_heap_that_is_compiled_in_holds_its_factor_below_one() -> None:
    head, *lines = standing_tables()["Speed"].lines
    (pair,) = (line for line in lines if line[0].text.startswith("pair "))
    cell = pair[[word.text for word in head].index("heap_inlined")]
    low, high = map(float, re.search(r", ([\d.]+) to ([\d.]+) times", cell.hint).groups())
    assert low <= float(cell.value) <= high < 1


def test_nothing_sets_ours_apart_in_tables_and_figures() -> None:
    html = page()
    tables = html[html.index('class="matrix') : html.index(">Ratios</h2>")]
    classes = set(re.findall(r'<t[dh][^>]*class="([^"]+)"', tables))
    assert not [c for c in classes if "ours" in c or "heapwise" in c]


def test_a_comparison_a_smoke_run_and_a_single_row_have_no_such_table() -> None:
    assert standing.tell(View(Evidence(compare_run()))) == []
    smoke = replace(LOST, run=replace(LOST.run, plan=replace(LOST.run.plan, smoke=True)))
    assert standing.tell(View(Evidence(smoke))) == []
    assert heaps.tell(View(Evidence(smoke))) == []
    assert heaps.tell(View(Evidence(pool_run(6)))) == []
    assert standing.tell(View(Evidence(pool_run(6, threads=[1, 2]))))


def test_the_three_pictures_of_the_report_and_the_maps() -> None:
    found = heaps.tell(VIEW)
    captions = [part.caption for part in found if isinstance(part, Plot)]
    assert [c.partition(":")[0] for c in captions] == [
        "Throughput by workload, one thread",
        "Throughput by workload, 16 threads",
        "Mean times by experiment",
        "Overhead by workload",
        "Scaling",
    ]
    assert all("95 % intervals" in c and "every sample" in c for c in captions)
    (maps,) = (part for part in found if isinstance(part, Folded))
    assert [part.text for part in maps.passages if isinstance(part, Heading)][:2] == [
        "heap/rl_small: throughput, threads 1",
        "heap/rl_small: throughput, threads 16",
    ]


def test_the_first_picture_is_the_map_over_all_rows() -> None:
    html = page_of_two()
    hero = html[html.index('<figure class="hero">') : html.index('aria-label="Reasons')]
    assert "geometric means over 8 rows of 4 experiments" in hero
    assert "speed · faster" in hero


def test_many_tables_fold_and_the_first_quantity_keeps_its_dots() -> None:
    *first, more = figures_of(heap_run(), "heap/rl_small")
    assert [is_drawn(part) for part in first] == [True] * 3
    assert more.title.startswith("Other quantities")
    rest = [part for part in more.passages if isinstance(part, Folded)]
    assert len(rest) == 3 * (len(MIX) - 1)
    assert not any(map(is_drawn, rest))
    few = figures_of(pool_run(6, threads=[1, 2]), "pool/concurrent")
    assert few
    assert all(map(is_drawn, few))


LIMITS = "What it isolates, and what it does not show"


def figures_of(stored: StoredRun, experiment: str) -> list[Folded]:
    """What can be opened of an experiment, except for its sentences."""
    found: dict[str, list[Folded]] = {}
    for part in experiments.tell(View(Evidence(stored))):
        if isinstance(part, Heading):
            parts = found.setdefault(part.text, [])
        elif isinstance(part, Folded) and part.title != LIMITS and "comparisons" not in part.title:
            parts.append(part)
    return found[experiment]


def is_drawn(part: Folded) -> bool:
    """It has a forest, or a dot for every sample."""
    return any(
        isinstance(each, Plot)
        or (isinstance(each, TextTable) and any(cell.mark == DRAWING for cell in each.head))
        for each in part.passages
    )


def test_an_allocator_of_our_name_is_not_a_command() -> None:
    html = page_of_two()
    title = html[html.index('<h1 class="answer">') : html.index("</h1>")]
    assert "malloc@heapwise in" in title
    assert "<code>" not in title


def raw(stored: StoredRun) -> list[dict[str, str]]:
    text = find_formats()["allocatorbench"].write(View(Evidence(stored)))
    return list(csv.DictReader(io.StringIO(text)))


def test_the_csv_of_the_report_has_every_repeat_and_what_was_lost() -> None:
    lines = raw(LOST)
    assert len(lines) == len(LOST.processes)
    assert list(lines[0])[:3] == ["workload", "allocator", "threads"]
    sample = next(s for s in LOST.samples if s.experiment == "heap/rl_small")
    line = next(x for x in lines if int(x["process"]) == sample.process)
    assert (line["workload"], line["allocator"]) == (
        "rl_small",
        sample.subject.removeprefix("malloc@"),
    )
    assert float(line["throughput_ops_per_s"]) == pytest.approx(sample.values["throughput"] * 1e6)
    for column, quantity in (
        ("alloc_p50_ns", "alloc_p50"),
        ("free_p99_ns", "free_p99"),
        ("overhead_ratio", "overhead_ratio"),
        ("peak_live_bytes", "peak_live"),
    ):
        assert float(line[column]) == pytest.approx(sample.values[quantity])
    assert (line["status"], line["kept"], line["warm_up"]) == ("ok", "1", "0")
    lost = [x for x in lines if x["status"] == "timed_out"]
    assert len(lost) == 8 * 4
    assert {x["throughput_ops_per_s"] for x in lost} == {""}
    pair = next(x for x in lines if x["workload"] == "pair")
    assert pair["others"].startswith("alloc_free=")
    assert pair["threads"] == "1"


def test_the_csv_of_the_report_of_other_runs_is_empty_where_they_have_no_such_figure() -> None:
    lines = raw(pool_run())
    assert {x["throughput_ops_per_s"] for x in lines} == {""}
    assert {x["warm_up"] for x in lines} == {"0", "1"}
    assert all(x["parameters"] == "block_size=64" for x in lines)


def test_a_run_of_the_baselines_control_alone_has_a_page_without_figures_of_heaps() -> None:
    both = {f"malloc@glibc{end}" for end in ("", "-control")}
    (name,) = both & {p.subject for p in LOST.processes if p.subject.endswith("-control")}
    alone = replace(
        LOST,
        processes=[p for p in LOST.processes if p.subject == name],
        samples=[s for s in LOST.samples if s.subject == name],
    )
    view = View(Evidence(alone))
    assert heaps.tell(view) == []
    assert build_page([view])
