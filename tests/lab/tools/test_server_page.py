"""The page of servers: what it prints of a run, and of one without a sound sample."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from synthetic import compare_run

from heapwise.evidence import Evidence
from heapwise.model import Cell, Finding, LoadFacts, ServerOptions
from heapwise.report import View

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools"))

from servers.page import memory_page, page, rate_of, told_of
from servers.sampling import CROWD, WATCHERS, table


def test_a_server_without_a_figure_has_no_table() -> None:
    stored = compare_run()
    text = page({"redis": View(Evidence(replace(stored, samples=[])))})
    assert "## redis" in text
    assert "| allocator |\n" not in text
    assert "## The machine" in text


def test_sampling_has_an_interval_beside_that_of_the_same_twice() -> None:
    each = {"wall_s": 1.0, "cpu_s": 1.0, "share": 0.0005}
    rounds = [
        {"plain": each, "plain again": each, "looked at": {**each, "wall_s": 1.01 + 0.001 * number}}
        for number in range(5)
    ]
    text = "\n".join(table({"rounds": rounds}))
    assert "| plain again over plain, wall_s | +0.000 % |" in text
    assert "| looked at over plain, wall_s | +1.200 % |" in text
    assert "0.050 %" in text
    assert "looked at by" not in text


def test_the_cost_of_many_watchers_is_divided_by_their_number() -> None:
    each = {"wall_s": 1.0, "cpu_s": 1.0, "share": 0.0005}
    rounds = [
        {
            "plain": each,
            "plain again": each,
            "looked at": each,
            CROWD: {**each, "wall_s": 1.01**WATCHERS},
        }
        for _ in range(5)
    ]
    text = "\n".join(table({"rounds": rounds}))
    assert f"| {CROWD} over plain, divided by {WATCHERS}, wall_s | +1.000 % |" in text


def test_the_rate_of_a_load_stands_beside_its_share() -> None:
    stored = compare_run()
    load = LoadFacts(generator="sysbench", open_loop=True, intended_rate=14_676)
    processes = [
        replace(
            process, parameters={"load": "70%"}, facts=structs.replace(process.facts, load=load)
        )
        for process in stored.processes
    ]
    view = View(Evidence(replace(stored, processes=processes)))
    assert rate_of(view, "70%") == ", 14,676 requests/s"
    assert rate_of(view, "capacity") == ""


def test_a_page_says_how_long_servers_worked_and_were_idle() -> None:
    stored = compare_run()
    options = ServerOptions(ready="tcp:1", load=["wrk"], load_s=3.0, idle_s=1.5)
    plan = replace(
        stored.run.plan, options=structs.replace(stored.run.plan.options, server=options)
    )
    stored = replace(stored, run=replace(stored.run, plan=plan))
    text = page({"redis": View(Evidence(stored))})
    assert "Each load took 3 s, and the idle phase 1.5 s." in text


def test_allocators_that_do_not_differ_share_a_line() -> None:
    def finding(quantity: str, name: str, verdict: Any, sentence: str) -> Finding:
        return Finding(
            Cell("nginx", "{}", quantity), name, "glibc", None, None, None, verdict, sentence
        )

    assert told_of(
        [
            finding("throughput", "a", "cannot tell", "throughput: cannot tell a from glibc yet."),
            finding("throughput", "b", "better", "throughput: b 1.20x faster than glibc."),
            finding("throughput", "c", "cannot tell", "throughput: cannot tell c from glibc yet."),
            finding(
                "after_idle", "a", "no difference", "memory: no difference between a and glibc."
            ),
            finding("after_idle", "b", "not measured", "memory: b was not measured."),
        ]
    ) == [
        "throughput: b 1.20x faster than glibc.",
        "throughput: cannot tell yet whether these differ from glibc: a, c.",
        "memory: b was not measured.",
        "memory: no difference from glibc: a.",
    ]


def test_a_page_of_memory_has_no_times(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("servers.page.CAPACITY", "")  # as the load of a run without a server
    monkeypatch.setattr("servers.page.SPEED", {"wall_time": "time"})
    monkeypatch.setattr("servers.page.MEMORY", {"peak_memory": "peak memory"})
    runs = {"redis": View(Evidence(compare_run()))}
    assert "| allocator | time | peak memory |" in page(runs)
    assert "| allocator | peak memory |" in memory_page(runs)
