"""The files of a reproduced report: a table of all figures, pictures, and the page of the run."""

from __future__ import annotations

import csv
import io
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import pytest
from msgspec import structs
from synthetic import pool_run

from heapwise.analysis import analyse
from heapwise.analysis.reproduction import Reproduced, reproduce
from heapwise.catalog import choose_published
from heapwise.evidence import Evidence
from heapwise.figures.svg import plain_colours
from heapwise.model import Reproduction
from heapwise.report import View, build_page
from heapwise.report.reproduction import can_raster, charts, figures_csv, raster, svg


@pytest.fixture(scope="module")
def found() -> Reproduced:
    evidence = Evidence(pool_run(rounds=6))
    return reproduce(evidence, choose_published("pool-vs-malloc"), analyse(evidence).trust)


def test_the_table_has_a_line_for_every_figure(found: Reproduced) -> None:
    lines = list(csv.DictReader(io.StringIO(figures_csv(found))))
    assert len(lines) == 33
    ratio = next(line for line in lines if line["row"] == "bulk-alloc")
    assert float(ratio["low"]) < float(ratio["ours"]) < float(ratio["high"])
    assert float(ratio["published"]) == 11.015
    lost = next(line for line in lines if line["row"].startswith("interleaved"))
    assert lost["ours"] == ""
    assert "is not in this run" in lost["note"]


def test_every_picture_of_a_report_is_drawn(found: Reproduced) -> None:
    drawn = charts(found)
    assert [chart.name for chart in drawn] == ["time-per-operation", "headline-ratios"]
    for chart in drawn:
        text = plain_colours(svg(chart))
        assert ElementTree.fromstring(text).tag.endswith("svg")
        assert "var(" not in text
    assert len(drawn[0].marks) == 30
    assert {mark.name for mark in drawn[1].marks} == {"bulk-alloc", "bulk-free", "interleaved"}


def test_lines_of_a_report_are_drawn_over_its_rows() -> None:
    evidence = Evidence(pool_run(rounds=6))
    report = choose_published("allocatorbench")
    chart = next(chart for chart in charts(reproduce(evidence, report, analyse(evidence).trust))
                 if chart.name == "scaling_rl_small")
    assert chart.slots == ["1", "2", "4", "8", "16"]
    assert {line.name for line in chart.lines} == {"System", "Baseline", "Sharded"}
    assert chart.lines[0].values == [13.7, 19.1, None, None, None]


@pytest.mark.skipif(not can_raster(), reason="matplotlib, which is optional, is not installed")
def test_pictures_for_papers(found: Reproduced) -> None:
    for chart in charts(found):
        assert raster(chart, "png").startswith(b"\x89PNG")
        assert raster(chart, "pdf").startswith(b"%PDF")


def test_the_page_of_the_run_has_the_report() -> None:
    stored = pool_run(rounds=6)
    options = structs.replace(stored.run.plan.options,
                              reproduction=Reproduction("pool-vs-malloc", {}))
    run = replace(stored.run, plan=replace(stored.run.plan, options=options))
    page = build_page([View(Evidence(replace(stored, run=run)))])
    section = page[page.index('<section id="published-'):].partition("</section>")[0]
    for text in ("Pool allocator against malloc, one thread", "bulk, malloc, free", "44.463",
                 "not possible here", "Intel Core i5-6600K at 3.50 GHz", "8.053"):
        assert text in section, text
    gone = replace(run, plan=replace(run.plan, options=structs.replace(
        options, reproduction=Reproduction("no-such-report", {}))))
    assert "published-" not in build_page([View(Evidence(replace(stored, run=gone)))])
